#include "worker-agent/cli/session_commands.h"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "broker/base/home.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/cli/command_rig.h"
#include "tests/unit/cli/fake_work_services.h"
#include "worker-agent/cli/arguments.h"
#include "worker-agent/cli/command_table.h"
#include "worker-agent/cli/commands.h"
#include "worker-agent/cli/inspect_report.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// --- The table

TEST(CommandTableTest, EveryCommandIsWhatIsParsedUnderItsName) {
  for (const CommandSpec& command : AllCommands()) {
    EXPECT_FALSE(command.summary.empty()) << command.name;
    EXPECT_TRUE(command.run) << command.name;
    EXPECT_EQ(FindCommand(command.name), &command);
    Arguments arguments;
    const auto parser = MakeParser(arguments);
    std::istringstream words(command.name);
    CLI::App* app = parser.get();
    for (std::string word; words >> word;) app = app->get_subcommand(word);
    EXPECT_EQ(app->get_description(), command.summary);
  }
  EXPECT_EQ(FindCommand("nonsense"), nullptr);
}

TEST(CommandTableTest, EveryGroupHasASummary) {
  Arguments arguments;
  const auto parser = MakeParser(arguments);
  for (const CLI::App* app : parser->get_subcommands({})) {
    EXPECT_NE(app->get_description(), "") << app->get_name();
  }
}

TEST(CommandTableTest, AWorkspaceIsNamedByAnyOfItsOptions) {
  for (const char* option : {"-w", "--workspace", "-C", "--directory"}) {
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"list"},
                                               {"send", "B", "x"},
                                               {"ask", "B", "x"},
                                               {"history"},
                                               {"runs"},
                                               {"config", "check"},
                                               {"broker", "start"}}) {
      std::vector<std::string> all = words;
      all.insert(all.end(), {option, "/w"});
      const ParsedArguments parsed = ParseArguments(all);
      ASSERT_TRUE(parsed.arguments.has_value()) << parsed.error;
      EXPECT_EQ(parsed.arguments->directory, "/w") << words[0];
    }
  }
}

TEST(CommandTableTest, WordsThatAreNoneAreMisuse) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{
           {"history", "--state", "nonsense"},
           {"history", "--kind", "asks"},
           {"history", "--since", "yesterday"},
           {"history", "--limit", "201"},
           {"deliveries", "--limit", "501"},
           {"inbox", "--limit", "0"},
           {"config"},
           {"reply", "abcdef"}}) {
    EXPECT_EQ(ParseArguments(words).exit_code, kExitUsage) << words[0];
  }
}

// --- Commands

class SessionCommandsTest : public CommandRig {
 protected:
  SessionCommandsTest() {
    v1::RosterEntry& here = *broker_.workspace.add_entries();
    here.set_session_id("w-1-of-the-team");
    here.set_name("Builder");
    here.mutable_report()->set_status(v1::Report::STATUS_BLOCKED);
    here.mutable_report()->set_summary("no\nkey");
    v1::RosterEntry& there = *broker_.sessions.add_sessions();
    there.set_session_id("far-away-session");
    there.set_short_id("far-away");
    there.set_name("Far");
    there.set_role(v1::ROLE_PEER);
    there.set_presence(v1::PRESENCE_ATTACHED);
    there.set_cwd("/home/ada/far");
  }

  FakeWorkServices broker_{home_.path().string()};
};

TEST_F(SessionCommandsTest, HistoryAsksForWhatWasTyped) {
  EXPECT_EQ(
      Run({"history", "-w", "/w", "--containing", "Needle", "--since",
           "2026-01-31T00:00Z", "--until", "2026-02-01 00:00:00Z", "--state",
           "seen,expired", "--kind", "ask,reply", "--limit", "7"}),
      kExitOk);
  EXPECT_THAT(
      broker_.calls(),
      ElementsAre("ListMessages directory: \"/w\" page_size: 7 containing: "
                  "\"Needle\" kinds: ENVELOPE_KIND_ASK kinds: "
                  "ENVELOPE_KIND_REPLY states: DELIVERY_STATE_SEEN ends: "
                  "DELIVERY_END_EXPIRED since { seconds: 1769817600 } until { "
                  "seconds: 1769904000 }"));
}

TEST_F(SessionCommandsTest, ASessionIsFoundByNameHereThenInTheAccount) {
  const std::string me = "person:" + std::to_string(getuid());
  for (const auto& [name, id] :
       std::vector<std::pair<std::string, std::string>>{
           {"builder", "w-1-of-the-team"},
           {"Far", "far-away-session"},
           {"far-aw", "far-away-session"},
           {"person", me},
           {"long-gone-session", "long-gone-session"}}) {
    EXPECT_EQ(Run({"history", "--session", name}), kExitOk);
    EXPECT_EQ(broker_.calls().back(),
              "ListMessages session_id: \"" + id + "\" page_size: 20")
        << name;
    // A slip of the pen is not told as that nothing is there.
    EXPECT_EQ(err_.str(), name == "long-gone-session"
                              ? "Nobody is called \"long-gone-session\" now; "
                                "it is taken for a session id.\n"
                              : "");
  }
}

TEST_F(SessionCommandsTest, ANameOfTwoSessionsIsRefused) {
  v1::RosterEntry& other = *broker_.sessions.add_sessions();
  other.set_session_id("another");
  other.set_name("far");
  EXPECT_EQ(Run({"history", "--session", "Far"}), kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("2 sessions are meant by \"Far\""));
}

TEST_F(SessionCommandsTest, DeliveriesFollowTheirPages) {
  for (int i = 1; i <= 3; ++i) {
    v1::DeliverySummary& one = *broker_.deliveries.add_deliveries();
    one.set_delivery_id("w-1/id-" + std::to_string(i));
    one.set_kind(v1::ENVELOPE_KIND_MESSAGE);
    one.set_state(v1::DELIVERY_STATE_ACCEPTED);
    one.set_wait_reason(v1::WAIT_REASON_AWAY);
    one.mutable_sender()->set_name("Builder");
    one.set_recipient_name("Far\x1b[2J");
  }
  EXPECT_EQ(Run({"deliveries", "--waiting", "--all", "--limit", "2"}), kExitOk);
  EXPECT_THAT(broker_.calls(),
              ElementsAre("ListDeliveries waiting: true page_size: 2",
                          "ListDeliveries waiting: true page_size: 1 "
                          "page_token: \"1\""));
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("id-1"), HasSubstr("id-2"), HasSubstr("away"),
                    Not(HasSubstr("id-3")), Not(HasSubstr("\x1b")),
                    Not(HasSubstr("unnamed"))));
}

TEST_F(SessionCommandsTest, SessionsAreThoseOfTheAccount) {
  EXPECT_EQ(Run({"sessions", "--away"}), kExitOk);
  EXPECT_THAT(broker_.calls(), ElementsAre("ListSessions with_away: true"));
  EXPECT_EQ(out_.str(),
            "NAME  ROLE  STATUS  DIRECTORY      SESSION\n"
            "Far   peer  idle    /home/ada/far  far-away\n");
}

TEST_F(SessionCommandsTest, RunsAreOfAWorkspaceOrASession) {
  v1::Run& run = *broker_.runs.add_runs();
  run.set_run_id("run-12");
  run.set_label("parser");
  run.set_state(v1::Run::STATE_RUNNING);
  run.set_supervisor_name("Lead");
  run.set_worker_name("Builder");
  run.set_stalled(true);
  broker_.runs.set_left_out(3);
  EXPECT_EQ(Run({"runs", "--open", "-w", "/w"}), kExitOk);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("run-12"), HasSubstr("parser"),
                                HasSubstr("stalled"), HasSubstr("and 3 more")));
  EXPECT_EQ(Run({"runs", "--session", "Far"}), kExitOk);
  EXPECT_THAT(broker_.calls(),
              AllOf(Contains("ListAllRuns directory: \"/w\" open: true limit: "
                             "20"),
                    Contains("ListAllRuns session_id: \"far-away-session\" "
                             "limit: 20")));
}

TEST_F(SessionCommandsTest, AsksSayWhoWaitsForWhom) {
  v1::Ask& ask = *broker_.asks.add_asks();
  ask.set_delivery_id("w-1/a-1");
  ask.mutable_asker()->set_name("Builder");
  ask.set_recipient_name("Far");
  ask.set_state(v1::Ask::STATE_TIMED_OUT);
  ask.set_delivery_state(v1::DELIVERY_STATE_SEEN);
  EXPECT_EQ(Run({"asks", "--all"}), kExitOk);
  EXPECT_THAT(broker_.calls(), ElementsAre("ListOpenAsks "));
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("a-1"), HasSubstr("over"), HasSubstr("seen")));
}

TEST_F(SessionCommandsTest, ReportsAreThoseOfTheWorkspace) {
  EXPECT_EQ(Run({"reports", "-w", "/w"}), kExitOk);
  EXPECT_THAT(broker_.calls(), ElementsAre("GetWorkspace directory: \"/w\""));
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("Builder blocked"), HasSubstr("\n  no key\n")));
}

TEST_F(SessionCommandsTest, ChannelsAreListedWithTheirOwners) {
  v1::ChannelSummary& channel = *broker_.channels.add_channels();
  channel.set_namespace_("team.notes");
  channel.add_member_session_ids("w-1");
  channel.mutable_owner()->set_session_id("w-1");
  channel.set_revision(4);
  EXPECT_EQ(Run({"channels"}), kExitOk);
  EXPECT_EQ(out_.str(),
            "NAMESPACE   MEMBERS  OWNER  REVISION\n"
            "team.notes  1        w-1    4\n");
}

TEST_F(SessionCommandsTest, WhatThereIsNoneOfIsSaidToBeNone) {
  EXPECT_EQ(RunsReport({}, absl::UnixEpoch()), "No runs.\n");
  EXPECT_EQ(AsksReport({}, absl::UnixEpoch()),
            "No questions wait for an answer.\n");
  EXPECT_EQ(ReportsReport({}, absl::UnixEpoch(), Terminal(false)),
            "No reports.\n");
  EXPECT_EQ(ChannelsReport({}), "No channels.\n");
  EXPECT_EQ(DeliveriesReport({}, absl::UnixEpoch()), "No deliveries.\n");
  EXPECT_EQ(SessionsReport({}), "No sessions.\n");
}

TEST_F(SessionCommandsTest, AConfigWithNotesIsNoFailure) {
  broker_.config.set_file("/w/.pi-intercom/config.json");
  broker_.config.set_agents(2);
  broker_.config.set_multiplexer("tmux");
  v1::ConfigFinding& note = *broker_.config.add_findings();
  note.set_severity(v1::ConfigFinding::SEVERITY_NOTE);
  note.set_message("/color is kept");
  note.set_remedy("Nothing.");
  EXPECT_EQ(Run({"config", "check", "-w", "/w"}), kExitOk);
  EXPECT_EQ(out_.str(),
            "/w/.pi-intercom/config.json\n"
            "note: /color is kept\n"
            "  Nothing.\n"
            "Valid: 2 agents, workers open in tmux.\n");
}

TEST_F(SessionCommandsTest, AConfigThatCantBeUsedIsExitCodeOne) {
  v1::ConfigFinding& error = *broker_.config.add_findings();
  error.set_severity(v1::ConfigFinding::SEVERITY_ERROR);
  error.set_message("line 2, column 3: nonsense");
  EXPECT_EQ(Run({"config", "check"}), kExitFailed);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("error: line 2, column 3: nonsense"),
                                Not(HasSubstr("Valid"))));
  EXPECT_EQ(err_.str(), "intercom: the config can't be used\n");
}

TEST_F(SessionCommandsTest, TheTokenIsPrintedWithoutABroker) {
  EXPECT_EQ(Run({"token"}), kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("intercom broker start"));
  std::ofstream(TokenPath(home_.path().string())) << "secret-token\n";
  EXPECT_EQ(Run({"token"}), kExitOk);
  EXPECT_EQ(out_.str(), "secret-token\n");
  EXPECT_THAT(broker_.calls(), IsEmpty());
}

}  // namespace
}  // namespace intercom
