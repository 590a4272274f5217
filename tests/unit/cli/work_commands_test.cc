#include "worker-agent/cli/work_commands.h"

#include <sstream>
#include <string>
#include <vector>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/cli/fake_work_services.h"
#include "worker-agent/cli/arguments.h"
#include "worker-agent/cli/commands.h"
#include "worker-agent/cli/work_report.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

google::protobuf::Timestamp Ago(absl::Duration age) {
  google::protobuf::Timestamp time;
  time.set_seconds(absl::ToUnixSeconds(kNow - age));
  return time;
}

v1::WorkerStatus Worker(const std::string& name) {
  v1::WorkerStatus worker;
  worker.set_session_id("id of " + name);
  worker.set_name(name);
  worker.set_observed_status(v1::OBSERVED_STATUS_IDLE);
  worker.set_evidence(v1::OBSERVATION_EVIDENCE_RECENT);
  *worker.mutable_observed_at() = Ago(absl::Seconds(5));
  worker.set_observation_age_seconds(5);
  worker.mutable_connection()->set_state(v1::Connection::STATE_CONNECTED);
  worker.mutable_connection()->set_reason("attached");
  return worker;
}

// --- Arguments

TEST(WorkArgumentsTest, ReadsEveryCommand) {
  struct Case {
    std::vector<std::string> words;
    std::string command;
  };
  for (const Case& c : std::vector<Case>{
           {{"workers", "--probe", "Builder", "-C", "/w"}, "workers"},
           {{"jobs", "--all", "--limit", "200"}, "jobs"},
           {{"job", "show", "abcdef"}, "job show"},
           {{"job", "resolve", "abcdef"}, "job resolve"},
           {{"coordinator", "take", "-C", "/w"}, "coordinator take"},
           {{"observations", "--session", "s", "--limit", "500"},
            "observations"}}) {
    const ParsedArguments parsed = ParseArguments(c.words);
    ASSERT_TRUE(parsed.arguments.has_value()) << parsed.error;
    EXPECT_EQ(parsed.arguments->command, c.command) << c.words[0];
  }
}

TEST(WorkArgumentsTest, MisuseIsExitCodeTwo) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{
           {"job"},
           {"job", "resolve"},
           {"job", "resolve", "abcdef", "--yes"},
           {"coordinator"},
           {"coordinator", "take", "--yes"},
           {"jobs", "--limit", "201"},
           {"observations", "--limit", "501"}}) {
    EXPECT_EQ(ParseArguments(words).exit_code, kExitUsage);
  }
}

// --- Reports

TEST(WorkReportTest, TheStatusPageIsATableWithReportsBelow) {
  v1::GetWorkerStatusResponse response;
  *response.add_workers() = Worker("Builder");
  v1::WorkerStatus& other = *response.add_workers();
  other = Worker("Reviewer");
  other.mutable_connection()->set_state(v1::Connection::STATE_DISCONNECTED);
  other.mutable_connection()->set_reason("away");
  other.set_stale(true);
  other.set_evidence(v1::OBSERVATION_EVIDENCE_STALE);
  other.set_observation_age_seconds(600);
  other.mutable_report()->set_status(v1::Report::STATUS_NEEDS_DECISION);
  other.mutable_report()->set_summary("left or right?");
  other.mutable_report()->set_overdue(true);
  *other.mutable_report()->mutable_reported_at() = Ago(absl::Minutes(12));
  response.add_errors("Reviewer could not be probed in time");
  EXPECT_EQ(
      WorkersReport(response, kNow, Terminal(false)),
      "WORKER    CONNECTION           STATUS  SEEN       EVIDENCE  REPORT\n"
      "Builder   connected, attached  idle    5s         recent\n"
      "Reviewer  disconnected, away   idle    10m (old)  stale     "
      "needs_decision, overdue\n"
      "Reviewer needs_decision 12m ago, overdue: left or right?\n"
      "Not known: Reviewer could not be probed in time\n");
}

TEST(WorkReportTest, WhatIsUncertainIsCalledSo) {
  v1::GetWorkerStatusResponse response;
  v1::WorkerStatus& worker = *response.add_workers();
  worker.set_name("Builder");
  worker.set_evidence(v1::OBSERVATION_EVIDENCE_MISSING);
  EXPECT_THAT(
      WorkersReport(response, kNow, Terminal(false)),
      AllOf(HasSubstr("never"), HasSubstr("missing"), HasSubstr("unknown")));
  *worker.mutable_observed_at() = Ago(-absl::Hours(1));
  EXPECT_THAT(WorkersReport(response, kNow, Terminal(false)),
              HasSubstr("clock was set"));
}

TEST(WorkReportTest, HandoffsAndNamesAreMadeSafe) {
  v1::GetWorkerStatusResponse response;
  v1::WorkerStatus& worker = *response.add_workers();
  worker = Worker("Evil\x1b[2J");
  worker.mutable_handoff()->set_summary("done\n\x1b]0;title\x07 all");
  *worker.mutable_handoff()->mutable_updated_at() = Ago(absl::Hours(2));
  const std::string text = WorkersReport(response, kNow, Terminal(false));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("Evil left a handoff 2h ago: done all\n"));
}

TEST(WorkReportTest, NoWorkersAreSaidToBeNone) {
  EXPECT_EQ(WorkersReport({}, kNow, Terminal(false)), "No workers.\n");
  EXPECT_EQ(JobsReport({}, kNow), "No jobs.\n");
  EXPECT_EQ(ObservationsReport({}), "Nothing was observed.\n");
}

// --- Commands

class WorkCommandsTest : public ::testing::Test {
 protected:
  WorkCommandsTest() {
    v1::Job& job = *broker_.job.mutable_job();
    job.set_job_id("3f2c9a10-1111");
    job.set_kind(v1::Job::KIND_CLOSE);
    job.set_workspace_root("/home/ada/space");
    job.set_session_id("w-1");
    job.set_name("Reviewer");
    job.set_state(v1::Job::STATE_UNCERTAIN);
    job.set_reason("close_unverified");
    job.set_detail("The pane is gone, its process is not.");
    job.set_fences(true);
    broker_.job.set_host_alive(true);
    broker_.job.mutable_identity()->set_host_pid(4242);
    v1::Pane& pane = *broker_.job.mutable_identity()->mutable_pane();
    pane.set_launcher("tmux");
    pane.set_pane("%7");
    pane.set_workspace("team");
    *broker_.jobs.add_jobs() = job;

    broker_.workspace.set_root("/home/ada/space");
    broker_.workspace.set_coordinator_session_id("c-1");
    broker_.workspace.set_claimed_coordinator_session_id("x-9");
    v1::RosterEntry& entry = *broker_.workspace.add_entries();
    entry.set_session_id("c-1");
    entry.set_name("Coordinator");
    entry.set_role(v1::ROLE_COORDINATOR);
    entry.set_presence(v1::PRESENCE_ATTACHED);
    entry.set_host_pid(77);
  }

  int Run(std::vector<std::string> words, const std::string& input = "",
          bool can_ask = true) {
    words.insert(words.begin(), {"--home", home_.path().string()});
    const ParsedArguments parsed = ParseArguments(words);
    if (!parsed.arguments.has_value()) return parsed.exit_code;
    std::istringstream in(input);
    out_.str("");
    err_.str("");
    return RunCommand(*parsed.arguments, in, out_, err_,
                      Terminal(/*colour=*/false, can_ask));
  }
  // Calls that change something.
  std::vector<std::string> Changes() {
    std::vector<std::string> changes;
    for (const std::string& call : broker_.calls()) {
      if (call.starts_with("Resolve") || call.starts_with("Confirm")) {
        changes.push_back(call);
      }
    }
    return changes;
  }

  TempDir home_;
  FakeWorkServices broker_{home_.path().string()};
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(WorkCommandsTest, AHeadlessJobNamesTheProcessThatHostsIt) {
  v1::Pane& pane = *broker_.job.mutable_identity()->mutable_pane();
  pane.Clear();
  pane.set_launcher("headless");
  pane.set_pid(4321);
  EXPECT_EQ(Run({"job", "show", "3f2c9a10"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("process 4321; kill 4321 ends the worker"));
  broker_.job.set_host_alive(false);
  EXPECT_EQ(Run({"job", "show", "3f2c9a10"}), 0);
  EXPECT_THAT(out_.str(), Not(HasSubstr("kill")));
}

TEST_F(WorkCommandsTest, WorkersAreOfADirectoryAndAllPages) {
  for (int i = 0; i < 45; ++i) {
    broker_.workers.push_back(Worker("Worker " + std::to_string(i)));
  }
  EXPECT_EQ(Run({"workers", "--probe", "-C", "/home/ada/space/"}), kExitOk);
  EXPECT_THAT(broker_.calls(),
              ElementsAre("GetWorkerStatus limit: 20 probe: true directory: "
                          "\"/home/ada/space\"",
                          "GetWorkerStatus offset: 20 limit: 20 probe: true "
                          "directory: \"/home/ada/space\"",
                          "GetWorkerStatus offset: 40 limit: 20 probe: true "
                          "directory: \"/home/ada/space\""));
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("Worker 0 "), HasSubstr("Worker 44")));
}

TEST_F(WorkCommandsTest, OneWorkerIsAskedByName) {
  EXPECT_EQ(Run({"workers", "Builder"}), kExitOk);
  EXPECT_THAT(broker_.calls()[0], HasSubstr("name: \"Builder\""));
}

TEST_F(WorkCommandsTest, EveryCommandHasJson) {
  broker_.workers.push_back(Worker("Builder"));
  broker_.observations.add_observations()->set_kind("attached");
  EXPECT_EQ(Run({"--json", "workers"}), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("\"observedStatus\": "));
  EXPECT_EQ(Run({"--json", "jobs"}), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("\"jobId\": \"3f2c9a10-1111\""));
  EXPECT_EQ(Run({"--json", "job", "show", "3f2c9a"}), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("\"hostAlive\": true"));
  EXPECT_EQ(Run({"--json", "observations"}), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("\"kind\": \"attached\""));
  // The question does not spoil it.
  EXPECT_EQ(Run({"--json", "job", "resolve", "3f2c9a"}, "y\n"), kExitOk);
  EXPECT_THAT(out_.str(), StartsWith("{"));
  EXPECT_EQ(Run({"--json", "coordinator", "take"}, "y\n"), kExitOk);
  EXPECT_THAT(out_.str(), StartsWith("{"));
}

TEST_F(WorkCommandsTest, JobsAreOfADirectoryOrOfAll) {
  EXPECT_EQ(Run({"jobs", "-C", "/home/ada"}), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("3f2c9a10  close  Reviewer  uncertain  "
                                    "close_unverified"));
  EXPECT_EQ(Run({"jobs", "--all"}), kExitOk);
  EXPECT_THAT(broker_.calls(),
              ElementsAre("ListJobs directory: \"/home/ada\" limit: 20",
                          "ListJobs limit: 20"));
}

TEST_F(WorkCommandsTest, AJobShowsWhatAPersonNeedsToJudgeIt) {
  EXPECT_EQ(Run({"job", "show", "3f2c9a"}), kExitOk);
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("uncertain, close_unverified\n"),
                    HasSubstr("The pane is gone, its process is not.\n"),
                    HasSubstr("Reviewer, session w-1\n"),
                    HasSubstr("Session       not attached\n"),
                    HasSubstr("Host          process 4242 still runs\n"),
                    HasSubstr("Pane          tmux pane %7 in team\n"),
                    HasSubstr("Fences        its worker")));
}

TEST_F(WorkCommandsTest, ObservationsAreATable) {
  v1::Observation& row = *broker_.observations.add_observations();
  *row.mutable_at() = Ago(absl::ZeroDuration());
  row.set_session_id("w-1");
  row.set_kind("report");
  row.set_phase("blocked");
  row.set_outcome("ok");
  EXPECT_EQ(Run({"observations", "--session", "w-1", "--limit", "7"}), kExitOk);
  EXPECT_EQ(out_.str(),
            "AT                    SESSION  KIND    PHASE    OUTCOME\n"
            "2027-01-15 08:00:00Z  w-1      report  blocked  ok\n");
  EXPECT_THAT(broker_.calls(),
              Contains("ListObservations session_id: \"w-1\" limit: 7"));
}

TEST_F(WorkCommandsTest, ResolveShowsTheEvidenceAsksAndEnds) {
  EXPECT_EQ(Run({"job", "resolve", "3f2c9a"}, "y\n"), kExitOk);
  EXPECT_THAT(err_.str(),
              AllOf(HasSubstr("process 4242 still runs"), HasSubstr("[y/N]")));
  EXPECT_THAT(Changes(), ElementsAre("ResolveJob job_id: \"3f2c9a10-1111\""));
  EXPECT_EQ(out_.str(), "Job 3f2c9a10-1111 is failed now.\n");
}

TEST_F(WorkCommandsTest, AnythingButAYesChangesNothing) {
  for (const char* answer : {"", "\n", "n\n", "no\n", "yep\n", " y\n"}) {
    EXPECT_EQ(Run({"job", "resolve", "3f2c9a"}, answer), kExitFailed);
    EXPECT_THAT(err_.str(), HasSubstr("nothing was done"));
    EXPECT_EQ(Run({"coordinator", "take"}, answer), kExitFailed);
  }
  EXPECT_THAT(Changes(), IsEmpty());
}

TEST_F(WorkCommandsTest, WithoutATerminalNobodyIsAsked) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"job", "resolve", "3f2c9a"},
                                             {"coordinator", "take"}}) {
    EXPECT_EQ(Run(words, "y\n", /*can_ask=*/false), kExitFailed);
    EXPECT_THAT(err_.str(), HasSubstr("no terminal"));
  }
  EXPECT_THAT(broker_.calls(), IsEmpty());
}

TEST_F(WorkCommandsTest, AJobThatCannotBeResolvedIsNotAskedAbout) {
  for (const auto state : {v1::Job::STATE_CLOSING, v1::Job::STATE_SUCCEEDED}) {
    broker_.job.mutable_job()->set_state(state);
    EXPECT_EQ(Run({"job", "resolve", "3f2c9a"}, "y\n"), kExitFailed);
    EXPECT_THAT(err_.str(), Not(HasSubstr("[y/N]")));
  }
  EXPECT_THAT(Changes(), IsEmpty());
  broker_.job.mutable_job()->set_state(v1::Job::STATE_SUBMITTED);
  EXPECT_EQ(Run({"job", "resolve", "3f2c9a"}, "yes\n"), kExitOk);
}

TEST_F(WorkCommandsTest, TakeShowsBothSessionsAsksAndConfirms) {
  EXPECT_EQ(Run({"coordinator", "take", "-C", "/home/ada/space"}, "y\n"),
            kExitOk);
  EXPECT_THAT(
      err_.str(),
      AllOf(HasSubstr("Coordinates   c-1, Coordinator, coordinator, attached"),
            HasSubstr("process 77"),
            HasSubstr("Config names  x-9, not attached\n"),
            HasSubstr("Make session x-9 the coordinator? [y/N]")));
  EXPECT_THAT(Changes(),
              ElementsAre("ConfirmCoordinator directory: \"/home/ada/space\" "
                          "coordinator_session_id: \"x-9\""));
  EXPECT_EQ(out_.str(), "Session x-9 coordinates /home/ada/space now.\n");
}

TEST_F(WorkCommandsTest, TheListTellsOfACoordinatorThatWaitsForAWord) {
  broker_.workspace.set_config_error("the config names session x-9");
  EXPECT_EQ(Run({"list"}), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("Notice: the config names session x-9\n"));
}

TEST_F(WorkCommandsTest, WhereThereIsNothingToTakeThatIsSaid) {
  broker_.workspace.clear_claimed_coordinator_session_id();
  EXPECT_EQ(Run({"coordinator", "take"}, "y\n"), kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("there is nothing to take"));
  broker_.workspace.set_stale(true);
  broker_.workspace.set_config_error("line 3");
  EXPECT_EQ(Run({"coordinator", "take"}, "y\n"), kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("line 3"));
  EXPECT_THAT(Changes(), IsEmpty());
}

TEST_F(WorkCommandsTest, ARefusalOfTheBrokerIsToldAfterTheYes) {
  broker_.refusal =
      Error(absl::StatusCode::kPermissionDenied, "NOT_PERMITTED", "a shell");
  EXPECT_EQ(Run({"coordinator", "take"}, "y\n"), kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("intercom: a shell"));
  EXPECT_THAT(out_.str(), IsEmpty());
}

}  // namespace
}  // namespace intercom
