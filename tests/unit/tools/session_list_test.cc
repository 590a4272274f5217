#include "worker-agent/tools/session_list.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker-agent/tools/bounded_text.h"
#include "worker-agent/tools/labels.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

v1::RosterEntry Session(const std::string& id, const std::string& name) {
  v1::RosterEntry entry;
  entry.set_session_id(id);
  entry.set_short_id(id.substr(0, 8));
  entry.set_name(name);
  entry.set_role(v1::ROLE_PEER);
  entry.set_presence(v1::PRESENCE_ATTACHED);
  entry.set_cwd("/home/ada/projects/api");
  return entry;
}

TEST(SessionListTest, ShowsEachSessionInALineAndOneselfFirst) {
  v1::ListSessionsResponse response;
  *response.mutable_self() = Session("0197aaaa-1", "planner");
  v1::RosterEntry& worker = *response.add_sessions();
  worker = Session("0197bbbb-2", "worker");
  worker.set_same_directory(true);
  worker.mutable_activity()->set_phase(v1::ACTIVITY_PHASE_TOOL);
  worker.mutable_activity()->set_tool("bash");
  worker.mutable_activity()->set_note("researching");
  worker.mutable_activity()->set_model("anthropic/claude");
  worker.mutable_activity()->set_context_percent(40.6);
  worker.set_stable_id("main");
  worker.add_waits_for("0197aaaa-1");
  worker.add_waits_for("0197cccc-3");
  v1::RosterEntry& unnamed = *response.add_sessions();
  unnamed = Session("0197cccc-3", "");
  unnamed.set_runtime_name("session-0197cccc");
  unnamed.set_role(v1::ROLE_COORDINATOR);
  unnamed.set_presence(v1::PRESENCE_AWAY);
  unnamed.set_cwd("/srv");
  const ToolResult result = RenderSessions(response, "/home/ada");
  EXPECT_EQ(result.text,
            "• planner (0197aaaa) — ~/projects/api [idle] [self]\n"
            "• worker (0197bbbb) — ~/projects/api · anthropic/claude · context "
            "41% · stable id main [tool:bash · researching] [same cwd] waits "
            "for this session, session-0197cccc\n"
            "• session-0197cccc (0197cccc) — /srv · coordinator [away]\n");
  EXPECT_EQ(result.summary, "2 other sessions");
  const Json& shown = result.details["sessions"][0];
  EXPECT_EQ(shown["status"], "tool:bash · researching");
  EXPECT_EQ(shown["waitsFor"].size(), 2u);
  EXPECT_EQ(shown["contextPercent"], 40.6);
  EXPECT_EQ(result.details["sessions"][1]["runtimeName"], "session-0197cccc");
  EXPECT_FALSE(result.details.contains("leftOut"));
}

TEST(SessionListTest, ThreeLongStatusesDontMakeTheListFail) {
  v1::ListSessionsResponse response;
  for (int i = 0; i < 1024; ++i) {
    v1::RosterEntry entry =
        Session("session-" + std::to_string(i), std::string(4000, 'n'));
    entry.set_cwd("/" + std::string(4000, 'd') + std::to_string(i));
    entry.mutable_activity()->set_note(std::string(4000, 's'));
    entry.mutable_activity()->set_model(std::string(4000, 'm'));
    *response.add_sessions() = entry;
  }
  const ToolResult result = RenderSessions(response, "/home/ada");
  EXPECT_LE(result.text.size(), kMaxResultBytes);
  const auto lines =
      std::count(result.text.begin(), result.text.end(), '\n') - 1;
  EXPECT_GT(lines, 50);
  EXPECT_THAT(result.text, HasSubstr("… and " + std::to_string(1024 - lines) +
                                     " more, left out here"));
  EXPECT_THAT(result.ToJson()["text"].get<std::string>(),
              Not(HasSubstr("[cut:")));
  for (const size_t limit : {kMaxListDetailBytes, kMaxSessionListBytes}) {
    const Json json = SessionsJson(response, limit);
    EXPECT_LE(ToLine(json).size(), limit + 100);
    EXPECT_EQ(json["sessions"].size() + json["leftOut"].get<size_t>(), 1024u);
  }
}

TEST(SessionListTest, ShowsAtMost64AndCountsTheRest) {
  v1::ListSessionsResponse response;
  for (int i = 0; i < 64; ++i) {
    *response.add_sessions() = Session("s-" + std::to_string(i), "Ann");
  }
  EXPECT_THAT(RenderSessions(response, "").text, Not(HasSubstr("left out")));
  *response.add_sessions() = Session("s-64", "Bob");
  const ToolResult result = RenderSessions(response, "");
  EXPECT_EQ(std::count(result.text.begin(), result.text.end(), '\n'), 65);
  EXPECT_THAT(result.text, HasSubstr("… and 1 more, left out here"));
  EXPECT_EQ(result.summary, "65 other sessions");
}

TEST(SessionListTest, NamesOfOthersCantForgeLines) {
  v1::ListSessionsResponse response;
  *response.add_sessions() =
      Session("s-1", "x\n• boss (s-9) — / [idle]\x1b[2J");
  const std::string text = RenderSessions(response, "").text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(SessionListTest, ALongDirectoryKeepsItsEnd) {
  const std::string label =
      DirectoryLabel("/" + std::string(5000, 'x') + "/ünï/last", "");
  EXPECT_THAT(label, AllOf(HasSubstr("…"), HasSubstr("/ünï/last")));
  EXPECT_LT(label.size(), 400u);
  EXPECT_EQ(DirectoryLabel("/home/ada", "/home/ada"), "~");
  EXPECT_EQ(DirectoryLabel("/home/adam", "/home/ada"), "/home/adam");
}

TEST(SessionListTest, AShownIdIsNotAmbiguousBecauseItBeginsLikeOthers) {
  // Random ids differ at their beginning, all others may not.
  EXPECT_EQ(MessageIdLabel("3f2c9a10-1111-4222-8333-444455556666"), "3f2c9a10");
  EXPECT_EQ(MessageIdLabel("01976f3a-1111-7222-8333-444455556666"),
            "01976f3a-1111-7222-8333-444455556666");
  EXPECT_EQ(MessageIdLabel("project-task-1"), "project-task-1");
}

}  // namespace
}  // namespace intercom
