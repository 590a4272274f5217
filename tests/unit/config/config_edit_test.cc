#include "broker/config/config_edit.h"

#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "broker/config/workspace_config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/config/sample_config.h"

namespace intercom {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

v1::AgentEntry Worker(const std::string& id, const std::string& name) {
  v1::AgentEntry agent;
  agent.set_session_id(id);
  agent.set_name(name);
  agent.set_description("Builds.");
  agent.set_port(4712);
  agent.set_project_directory("apps/build");
  return agent;
}

// What a line diff shows: common head and tail lines are left out.
std::vector<std::string> Diff(const std::string& before,
                              const std::string& after) {
  const std::vector<std::string> a = absl::StrSplit(before, '\n');
  const std::vector<std::string> b = absl::StrSplit(after, '\n');
  size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
    ++tail;
  }
  std::vector<std::string> diff;
  for (size_t i = head; i < a.size() - tail; ++i) diff.push_back("-" + a[i]);
  for (size_t i = head; i < b.size() - tail; ++i) diff.push_back("+" + b[i]);
  return diff;
}

TEST(ConfigEdit, AChangedPortChangesOneLine) {
  const auto edited = SetPort(kSample, "w-1", 5000);

  ASSERT_THAT(edited, IsOk());
  EXPECT_THAT(Diff(kSample, *edited),
              ElementsAre("-      \"port\": 4712,", "+      \"port\": 5000,"));
}

TEST(ConfigEdit, ANewWorkerAddsItsLinesInTheStyleOfTheFile) {
  const auto edited = UpsertWorker(kSample, Worker("w-2", "Tests"));

  ASSERT_THAT(edited, IsOk());
  EXPECT_THAT(Diff(kSample, *edited),
              ElementsAre("+    },", "+    {", "+      \"sessionId\": \"w-2\",",
                          "+      \"name\": \"Tests\",",
                          "+      \"coordinator\": false,",
                          "+      \"description\": \"Builds.\",",
                          "+      \"port\": 4712,",
                          "+      \"projectDirectory\": \"apps/build\""));
}

TEST(ConfigEdit, AKnownWorkerKeepsHandoffCloseJobAndUnknownKeys) {
  v1::AgentEntry agent = Worker("w-1", "Builder");
  agent.set_port(4799);

  const auto edited = UpsertWorker(kSample, agent);

  ASSERT_THAT(edited, IsOk());
  EXPECT_EQ(*edited,
            With(With(kSample, "\"Ärger\"", "\"Builder\""), "4712", "4799"));
}

TEST(ConfigEdit, WhatChangesNothingReturnsItsInput) {
  EXPECT_EQ(*SetPort(kSample, "c-1", 4711), kSample);
  EXPECT_EQ(*UpsertWorker(kSample, Worker("w-1", "Ärger")), kSample);
}

// The sample as another editor writes it.
std::string Restyled(const std::string& indent, const std::string& newline,
                     const std::string& start, const std::string& end) {
  std::string text = start;
  for (std::string_view rest = kSample; !rest.empty();) {
    const size_t newline_at = rest.find('\n');
    const std::string_view line = rest.substr(0, newline_at);
    rest.remove_prefix(newline_at + 1);
    const size_t spaces = line.find_first_not_of(' ');
    for (size_t i = 0; i < spaces; i += 2) text += indent;
    text += line.substr(spaces);
    text += rest.empty() ? end : newline;
  }
  return text;
}

TEST(ConfigEdit, KeepsIndentLineEndsByteOrderMarkAndTheEndOfTheFile) {
  for (const std::string indent : {"  ", "    ", "\t"}) {
    for (const std::string newline : {"\n", "\r\n"}) {
      for (const std::string start : {"", "\xEF\xBB\xBF"}) {
        for (const std::string end : {"", "\n"}) {
          const std::string before = Restyled(indent, newline, start, end);
          const std::string i2 = newline + indent + indent;
          const std::string i3 = i2 + indent;
          std::string want = before;
          const std::string added =
              "," + i2 + "{" + i3 + "\"sessionId\": \"w-2\"," + i3 +
              "\"name\": \"T\"," + i3 + "\"coordinator\": false," + i3 +
              "\"description\": \"Builds.\"," + i3 + "\"port\": 4712," + i3 +
              "\"projectDirectory\": \"apps/build\"" + i2 + "}";
          want.insert(before.rfind(newline + indent + "]"), added);

          EXPECT_EQ(*UpsertWorker(before, Worker("w-2", "T")), want);
        }
      }
    }
  }
}

TEST(ConfigEdit, AFileInOneLineStaysInOneLine) {
  const std::string entry =
      R"({"sessionId":"c-1","name":"Coordinator","coordinator":true,)"
      R"("description":"Leads.","port":4711,"projectDirectory":"."})";
  const std::string before = R"({"version":1,"agents":[)" + entry + "]}";

  EXPECT_EQ(*UpsertWorker(before, Worker("w-2", "T")),
            R"({"version":1,"agents":[)" + entry +
                R"(, {"sessionId":"w-2","name":"T","coordinator":false,)"
                R"("description":"Builds.","port":4712,)"
                R"("projectDirectory":"apps/build"}]})");
}

TEST(ConfigEdit, AnEntryALineGetsAnEntryALine) {
  const std::string entry =
      R"({"sessionId":"c-1","name":"Coordinator","coordinator":true,)"
      R"("description":"Leads.","port":4711,"projectDirectory":"."})";
  const std::string before =
      "{\n \"version\": 1,\n \"agents\": [\n  " + entry + "\n ]\n}";

  const auto edited = UpsertWorker(before, Worker("w-2", "T"));

  ASSERT_THAT(edited, IsOk());
  EXPECT_THAT(
      Diff(before, *edited),
      ElementsAre("-  " + entry, "+  " + entry + ",",
                  "+  {\"sessionId\":\"w-2\",\"name\":\"T\","
                  "\"coordinator\":false,\"description\":\"Builds.\","
                  "\"port\":4712,\"projectDirectory\":\"apps/build\"}"));
}

v1::Job CloseJob(const std::string& session_id, v1::Job::State state,
                 const std::string& reason = "") {
  v1::Job job;
  job.set_job_id("job-2");
  job.set_session_id(session_id);
  job.set_state(state);
  job.set_reason(reason);
  job.mutable_created_at()->set_seconds(1'800'000'000);
  job.mutable_updated_at()->set_seconds(1'800'000'001);
  job.mutable_updated_at()->set_nanos(250'000'000);
  job.mutable_deadline_at()->set_seconds(1'800'000'120);
  return job;
}

v1::Handoff HandoffOf(const std::string& summary) {
  v1::Handoff handoff;
  handoff.set_job_id("job-2");
  handoff.set_summary(summary);
  handoff.mutable_updated_at()->set_seconds(1'800'000'001);
  return handoff;
}

// The sample without handoff and closeJob.
std::string WithoutJob() {
  std::string text = kSample;
  const size_t from = text.find(",\n      \"handoff\"");
  return text.erase(from, text.rfind("\n    }") - from);
}

TEST(ConfigEdit, ACloseJobAddsItsLinesBehindTheEntry) {
  const auto edited = SetCloseJob(
      WithoutJob(), CloseJob("w-1", v1::Job::STATE_REQUESTED), nullptr);

  ASSERT_THAT(edited, IsOk());
  EXPECT_THAT(
      Diff(WithoutJob(), *edited),
      ElementsAre("-      \"projectDirectory\": \"apps/build\"",
                  "+      \"projectDirectory\": \"apps/build\",",
                  "+      \"closeJob\": {", "+        \"jobId\": \"job-2\",",
                  "+        \"state\": \"requested\",",
                  "+        \"createdAt\": \"2027-01-15T08:00:00.000Z\",",
                  "+        \"updatedAt\": \"2027-01-15T08:00:01.250Z\",",
                  "+        \"deadlineAt\": \"2027-01-15T08:02:00.000Z\"",
                  "+      }"));
}

TEST(ConfigEdit, ACloseJobThatGoesOnChangesTwoLines) {
  v1::Job job = CloseJob("w-1", v1::Job::STATE_REQUESTED);
  const std::string before = *SetCloseJob(WithoutJob(), job, nullptr);
  job.set_state(v1::Job::STATE_AWAITING_HANDOFF);
  job.mutable_updated_at()->set_seconds(1'800'000'002);

  EXPECT_THAT(
      Diff(before, *SetCloseJob(before, job, nullptr)),
      ElementsAre("-        \"state\": \"requested\",",
                  "-        \"createdAt\": \"2027-01-15T08:00:00.000Z\",",
                  "-        \"updatedAt\": \"2027-01-15T08:00:01.250Z\",",
                  "+        \"state\": \"awaiting_handoff\",",
                  "+        \"createdAt\": \"2027-01-15T08:00:00.000Z\",",
                  "+        \"updatedAt\": \"2027-01-15T08:00:02.250Z\","));
}

TEST(ConfigEdit, AHandoffAndItsJobAreOneEdit) {
  const v1::Handoff handoff = HandoffOf("done \"so\" far\n{");
  const auto edited = SetCloseJob(
      WithoutJob(), CloseJob("w-1", v1::Job::STATE_AWAITING_SETTLEMENT),
      &handoff);

  ASSERT_THAT(edited, IsOk());
  EXPECT_THAT(*edited, HasSubstr("\"apps/build\",\n      \"handoff\": {\n"
                                 "        \"version\": 1,\n"
                                 "        \"jobId\": \"job-2\",\n"
                                 "        \"summary\": \"done \\\"so\\\" "
                                 "far\\n{\",\n"));
  EXPECT_THAT(*edited, HasSubstr("\"state\": \"awaiting_settlement\""));
  EXPECT_THAT(WorkspaceConfig::Parse(*edited, "x"), IsOk());
}

TEST(ConfigEdit, AReasonComesAndGoesWithItsLine) {
  const std::string running =
      *SetCloseJob(kSample, CloseJob("w-1", v1::Job::STATE_READY), nullptr);
  const std::string failed = *SetCloseJob(
      running, CloseJob("w-1", v1::Job::STATE_FAILED, "commit_rejected"),
      nullptr);

  EXPECT_EQ(running.find("reason"), std::string::npos);
  EXPECT_THAT(failed, HasSubstr("08:02:00.000Z\",\n        \"reason\": "
                                "\"commit_rejected\"\n      }\n    }\n"));
  EXPECT_EQ(
      *SetCloseJob(failed, CloseJob("w-1", v1::Job::STATE_READY), nullptr),
      running);
}

TEST(ConfigEdit, TheSameCloseJobAgainChangesNothing) {
  const v1::Handoff handoff = HandoffOf("done");
  const v1::Job job = CloseJob("w-1", v1::Job::STATE_AWAITING_SETTLEMENT);
  const std::string once = *SetCloseJob(kSample, job, &handoff);
  EXPECT_EQ(*SetCloseJob(once, job, &handoff), once);
}

TEST(ConfigEdit, EveryStateOfACloseJobIsAWordOfTheFile) {
  for (const auto& [state, word] :
       std::vector<std::pair<v1::Job::State, std::string>>{
           {v1::Job::STATE_REQUESTED, "requested"},
           {v1::Job::STATE_AWAITING_HANDOFF, "awaiting_handoff"},
           {v1::Job::STATE_AWAITING_SETTLEMENT, "awaiting_settlement"},
           {v1::Job::STATE_READY, "ready"},
           {v1::Job::STATE_CLOSING, "closing"},
           {v1::Job::STATE_SUCCEEDED, "closed"},
           {v1::Job::STATE_FAILED, "failed"},
           {v1::Job::STATE_TIMED_OUT, "timed_out"},
           {v1::Job::STATE_INTERRUPTED, "interrupted"},
           {v1::Job::STATE_UNCERTAIN, "uncertain"}}) {
    const auto edited = SetCloseJob(kSample, CloseJob("w-1", state), nullptr);
    ASSERT_THAT(edited, IsOk());
    EXPECT_THAT(*edited, HasSubstr("\"state\": \"" + word + "\""));
  }
}

TEST(ConfigEdit, ACloseJobKeepsTheStyleOfTheFile) {
  const std::string entry =
      R"({"sessionId":"c-1","name":"Coordinator","coordinator":true,)"
      R"("description":"Leads.","port":4711,"projectDirectory":"."})";
  std::string worker = With(With(entry, "c-1", "w-1"), "Coordinator", "T");
  worker = With(worker, "true", "false");
  const std::string before =
      R"({"version":1,"agents":[)" + entry + "," + worker + "]}";

  const auto edited =
      SetCloseJob(before, CloseJob("w-1", v1::Job::STATE_READY), nullptr);

  ASSERT_THAT(edited, IsOk());
  EXPECT_THAT(*edited,
              HasSubstr(R"("projectDirectory":".", "closeJob": {"jobId":)"
                        R"("job-2","state":"ready",)"));
  EXPECT_EQ(edited->find('\n'), std::string::npos);
}

TEST(ConfigEdit, ACloseJobOfNobodyIsNotRecorded) {
  EXPECT_THAT(
      SetCloseJob(kSample, CloseJob("w-9", v1::Job::STATE_READY), nullptr),
      FailsWith(absl::StatusCode::kNotFound, "NO_ENTRY"));
}

TEST(ConfigEdit, TheDashboardPortGoesWithItsCommaWhereverItStands) {
  const std::string without =
      With(kSample, "\".\",\n      \"dashboardPort\": 8080", "\".\"");
  EXPECT_EQ(*DropDashboardPort(kSample), without);
  EXPECT_EQ(*DropDashboardPort(without), without);
  const std::string first =
      With(without, "{\n      \"sessionId\": \"c-1\"",
           "{\n      \"dashboardPort\": 8080,\n      \"sessionId\": \"c-1\"");
  EXPECT_EQ(*DropDashboardPort(first), without);
}

TEST(ConfigEdit, ARemovedWorkerTakesItsLinesAndNoOthers) {
  const auto added = UpsertWorker(kSample, Worker("w-2", "Tests"));
  ASSERT_THAT(added, IsOk());
  // The last, with the comma before it.
  EXPECT_EQ(*RemoveWorker(*added, "w-2"), kSample);
  // One in the middle, with its handoff and closeJob.
  const auto removed = RemoveWorker(*added, "w-1");
  ASSERT_THAT(removed, IsOk());
  EXPECT_THAT(Diff(*added, *removed), Each(StartsWith("-")));
  const auto config = WorkspaceConfig::Parse(*removed, "x");
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->agents().size(), 2u);
  EXPECT_THAT(*removed, HasSubstr("\"futureSetting\": {\"ratio\": 1.10"));
}

TEST(ConfigEdit, AWorkerBeforeTheCoordinatorIsRemovedToo) {
  const std::string worker =
      R"({"sessionId":"w-1","name":"W","coordinator":false,)"
      R"("description":"d","port":1,"projectDirectory":"."})";
  const std::string leads =
      R"({"sessionId":"c-1","name":"Coordinator","coordinator":true,)"
      R"("description":"d","port":1,"projectDirectory":"."})";
  for (const std::string between : {"", " ", "\r\n  "}) {
    EXPECT_EQ(*RemoveWorker("{\"version\":1,\"agents\":[" + worker + "," +
                                between + leads + "]}\n",
                            "w-1"),
              "{\"version\":1,\"agents\":[" + leads + "]}\n");
  }
}

TEST(ConfigEdit, RemovalKeepsIndentLineEndsByteOrderMarkAndTheEndOfTheFile) {
  for (const std::string indent : {"  ", "    ", "\t"}) {
    for (const std::string newline : {"\n", "\r\n"}) {
      for (const std::string start : {"", "\xEF\xBB\xBF"}) {
        for (const std::string end : {"", "\n"}) {
          const std::string before = Restyled(indent, newline, start, end);
          EXPECT_EQ(
              *RemoveWorker(*UpsertWorker(before, Worker("w-2", "T")), "w-2"),
              before);
        }
      }
    }
  }
}

TEST(ConfigEdit, TheCoordinatorAndStrangersAreNotRemoved) {
  EXPECT_THAT(RemoveWorker(kSample, "c-1"),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        "TARGET_IS_COORDINATOR"));
  EXPECT_THAT(RemoveWorker(kSample, "w-9"),
              FailsWith(absl::StatusCode::kNotFound, "NO_ENTRY"));
}

TEST(ConfigEdit, AChangedLauncherChangesOneLine) {
  const auto edited = SetMultiplexer(kSample, "none");
  ASSERT_THAT(edited, IsOk());
  EXPECT_THAT(Diff(kSample, *edited),
              ElementsAre("-  \"multiplexer\": \"tmux\",",
                          "+  \"multiplexer\": \"none\","));
  EXPECT_EQ(*SetMultiplexer(kSample, "tmux"), kSample);
}

TEST(ConfigEdit, AMissingLauncherComesBehindTheVersion) {
  const std::string without =
      With(kSample, "  \"multiplexer\": \"tmux\",\n", "");
  const auto edited = SetMultiplexer(without, "tmux");
  ASSERT_THAT(edited, IsOk());
  EXPECT_THAT(Diff(without, *edited),
              ElementsAre("+  \"multiplexer\": \"tmux\","));
  const std::string line =
      R"({"version":1,"agents":[{"sessionId":"c-1","name":"Coordinator",)"
      R"("coordinator":true,"description":"d","port":1,)"
      R"("projectDirectory":"."}]})";
  EXPECT_EQ(*SetMultiplexer(line, "none"),
            With(line, "1,", "1, \"multiplexer\": \"none\","));
  // The version may be the last.
  const std::string last =
      With(With(line, "\"version\":1,", ""), "]}", "],\"version\":1}");
  EXPECT_EQ(*SetMultiplexer(last, "none"),
            With(last, ":1}", ":1, \"multiplexer\": \"none\"}"));
}

TEST(ConfigEdit, AConfigOfTheReferenceSystemsSurvivesEveryEdit) {
  const std::string id = "0199a1c2-7d31-7000-8000-3f2c9a10aa0";
  const std::string before = kReferenceConfig;
  EXPECT_EQ(*SetPort(before, id + "2", 50000), With(before, "49153", "50000"));
  EXPECT_EQ(*SetMultiplexer(before, "tmux"),
            With(before, "\"herdr\"", "\"tmux\""));
  EXPECT_EQ(*DropDashboardPort(before),
            With(before, ",\n      \"dashboardPort\": 49200", ""));
  v1::AgentEntry worker = Worker(id + "2", "Pages");
  worker.set_description("Builds the pages.");
  worker.set_port(49153);
  worker.set_project_directory("apps/web");
  EXPECT_EQ(*UpsertWorker(before, worker),
            With(before, "\"Frontend\"", "\"Pages\""));
  EXPECT_EQ(*RemoveWorker(*UpsertWorker(before, Worker("w-9", "New")), "w-9"),
            before);
  const auto removed = RemoveWorker(before, id + "3");
  ASSERT_THAT(removed, IsOk());
  EXPECT_EQ(before.substr(0, removed->rfind("\n  ]")),
            removed->substr(0, removed->rfind("\n  ]")));
}

TEST(ConfigEdit, AnUnknownLauncherIsTheCallersMistake) {
  EXPECT_THAT(SetMultiplexer(kSample, "screen"),
              FailsWith(absl::StatusCode::kInvalidArgument, "ENTRY_INVALID"));
}

TEST(ConfigEdit, ATextWithQuotesAndBracketsIsEscapedAndSkipped) {
  v1::AgentEntry agent = Worker("w-1", "Ärger");
  agent.set_description("\"}],\\ \n{ 🛰");

  const auto once = UpsertWorker(kSample, agent);
  ASSERT_THAT(once, IsOk());
  const auto twice = SetPort(*once, "w-1", 1);

  ASSERT_THAT(twice, IsOk());
  const auto config = WorkspaceConfig::Parse(*twice, "x");
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->agents()[1].description(), "\"}],\\ \n{ 🛰");
  EXPECT_EQ(config->agents()[1].port(), 1);
}

TEST(ConfigEdit, WhatTheFileSaysOfACloseFencesNothing) {
  for (const std::string state :
       {"requested", "awaiting_handoff", "awaiting_settlement", "ready",
        "closing", "uncertain", "closed", "failed"}) {
    const std::string before = With(kSample, "\"closed\"", "\"" + state + "\"");

    EXPECT_EQ(*UpsertWorker(before, Worker("w-1", "New")),
              With(before, "\"Ärger\"", "\"New\""));
  }
}

TEST(ConfigEdit, TheCoordinatorIsNoWorker) {
  EXPECT_THAT(UpsertWorker(kSample, Worker("c-1", "New")),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        "TARGET_IS_COORDINATOR"));
}

TEST(ConfigEdit, AResultThatBreaksARuleIsTheCallersMistake) {
  for (const std::string name : {"coordinator", "äRGER", "", " x", "\xff"}) {
    EXPECT_THAT(UpsertWorker(kSample, Worker("w-2", name)),
                FailsWith(absl::StatusCode::kInvalidArgument, "ENTRY_INVALID"));
  }
  EXPECT_THAT(SetPort(kSample, "w-1", 0),
              FailsWith(absl::StatusCode::kInvalidArgument, "ENTRY_INVALID"));
  EXPECT_THAT(NewConfig("", 1),
              FailsWith(absl::StatusCode::kInvalidArgument, "ENTRY_INVALID"));
  EXPECT_THAT(SetPort(kSample, "w-9", 1),
              FailsWith(absl::StatusCode::kNotFound, "NO_ENTRY"));
}

TEST(ConfigEdit, AnInvalidFileIsNotEdited) {
  EXPECT_THAT(
      SetPort("{", "w-1", 1),
      FailsWith(absl::StatusCode::kFailedPrecondition, "CONFIG_INVALID"));
}

TEST(ConfigEdit, AFreshConfigHasItsCoordinator) {
  const auto bytes = NewConfig("s-1", 4711);

  ASSERT_THAT(bytes, IsOk());
  EXPECT_EQ(bytes->substr(0, 19), "{\n  \"version\": 1,\n ");
  EXPECT_EQ(bytes->back(), '\n');
  const auto config = WorkspaceConfig::Parse(*bytes, "x");
  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->coordinator().session_id(), "s-1");
  EXPECT_EQ(config->coordinator().port(), 4711);
  EXPECT_EQ(config->multiplexer(), "herdr");
}

}  // namespace
}  // namespace intercom
