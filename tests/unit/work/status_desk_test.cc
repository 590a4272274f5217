#include "broker/work/status_desk.h"

#include <string>
#include <vector>

#include "broker/base/proto_time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/work_rig.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr v1::ActivityPhase kTool = v1::ACTIVITY_PHASE_TOOL;
constexpr v1::ActivityPhase kIdle = v1::ACTIVITY_PHASE_IDLE;

// A coordinator, which is attached, and workers w-1 to w-5.
class StatusDeskTest : public WorkRig {
 protected:
  StatusDeskTest() {
    std::vector<TestAgent> team = {{"c-1", "Coordinator"}};
    for (const char* number : {"1", "2", "3", "4", "5"}) {
      team.push_back(
          {std::string("w-") + number, std::string("Worker ") + number});
    }
    WriteConfig(root_, ConfigText(team));
    coordinator_ = Join("c-1");
  }

  // As long ago that a session that does not come back is away.
  void LetTheBrokerAge() { Advance(StatusDesk::kReturnTime); }
  absl::StatusOr<v1::GetWorkerStatusResponse> Page(
      const v1::GetWorkerStatusRequest& request = {}) {
    return CallOn(status_desk_, &StatusDesk::GetWorkerStatus,
                  CallOf(coordinator_), request);
  }
  v1::WorkerStatus StatusOf(const std::string& name) {
    v1::GetWorkerStatusRequest request;
    request.set_name(name);
    const auto page = Page(request);
    EXPECT_THAT(page, IsOk());
    EXPECT_EQ(page->workers_size(), 1);
    return page->workers(0);
  }
  // Begins a probe of all; the answer comes later.
  Answer<absl::StatusOr<v1::GetWorkerStatusResponse>> BeginProbe() {
    Answer<absl::StatusOr<v1::GetWorkerStatusResponse>> answer;
    v1::GetWorkerStatusRequest request;
    request.set_probe(true);
    status_desk_.GetWorkerStatus(CallOf(coordinator_), request,
                                 answer.Callback());
    return answer;
  }
  void SayProbed(const TestSession& session, const std::string& session_id) {
    const auto frames = session.link->WaitFor(v1::AttachResponse::kControl);
    v1::ControlResult result;
    result.set_control_id(frames.back().control().control_id());
    result.set_ok(true);
    result.mutable_status()->set_session_id(session_id);
    controls_.OnResult(session.key, result);
    Sync();
  }
  static std::vector<std::string> Ids(const v1::GetWorkerStatusResponse& page) {
    std::vector<std::string> ids;
    for (const v1::WorkerStatus& worker : page.workers()) {
      ids.push_back(worker.session_id());
    }
    return ids;
  }
  static std::string ConnectionOf(const v1::WorkerStatus& worker) {
    return v1::Connection::State_Name(worker.connection().state()) + " " +
           worker.connection().reason();
  }

  TestSession coordinator_;
};

// --- Pages

TEST_F(StatusDeskTest, APageFollowsTheConfigWithTheDisconnectedLast) {
  LetTheBrokerAge();
  Join("w-4");
  Join("w-2");
  const auto page = Page();
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(Ids(*page), ElementsAre("w-2", "w-4", "w-1", "w-3", "w-5"));
  EXPECT_EQ(page->total_in_snapshot(), 5);
  EXPECT_FALSE(page->has_next_offset());
  EXPECT_EQ(FromProto(page->at()), clock_.Now());
  EXPECT_THAT(page->errors(), IsEmpty());
}

TEST_F(StatusDeskTest, PagesAreCutFromTheSavedOrderAndCompleteTogether) {
  LetTheBrokerAge();
  Join("w-2");
  Join("w-5");
  v1::GetWorkerStatusRequest request;
  request.set_limit(2);
  const auto first = Page(request);
  EXPECT_THAT(Ids(*first), ElementsAre("w-2", "w-1"));
  EXPECT_EQ(first->next_offset(), 2);
  request.set_offset(2);
  const auto second = Page(request);
  EXPECT_THAT(Ids(*second), ElementsAre("w-3", "w-4"));
  EXPECT_EQ(second->offset(), 2);
  request.set_offset(second->next_offset());
  const auto last = Page(request);
  EXPECT_THAT(Ids(*last), ElementsAre("w-5"));
  EXPECT_FALSE(last->has_next_offset());
}

TEST_F(StatusDeskTest, BehindTheLastThereIsAnEmptyPage) {
  v1::GetWorkerStatusRequest request;
  request.set_offset(50);
  const auto page = Page(request);
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(Ids(*page), IsEmpty());
  EXPECT_FALSE(page->has_next_offset());
}

TEST_F(StatusDeskTest, PagesOutOfRangeAreRefused) {
  struct Case {
    int offset;
    int limit;
  };
  for (const Case& c : {Case{-1, 0}, {0, -1}, {0, 21}}) {
    v1::GetWorkerStatusRequest request;
    request.set_offset(c.offset);
    request.set_limit(c.limit);
    EXPECT_THAT(Page(request),
                FailsWith(absl::StatusCode::kInvalidArgument, "PAGE_INVALID"));
  }
}

TEST_F(StatusDeskTest, AnUnsaidLimitIsTen) {
  std::vector<TestAgent> team = {{"c-1", "Coordinator"}};
  for (int i = 0; i < 25; ++i) {
    team.push_back({"v-" + std::to_string(i), "Many " + std::to_string(i)});
  }
  WriteConfig(root_, ConfigText(team));
  const auto page = Page();
  EXPECT_EQ(page->workers_size(), 10);
  EXPECT_EQ(page->next_offset(), 10);
  v1::GetWorkerStatusRequest request;
  request.set_limit(20);
  EXPECT_EQ(Page(request)->workers_size(), 20);
}

TEST_F(StatusDeskTest, AWorkerIsFoundByNameInAnyCaseOrById) {
  EXPECT_EQ(StatusOf("WORKER 3").session_id(), "w-3");
  EXPECT_EQ(StatusOf("w-3").name(), "Worker 3");
  v1::GetWorkerStatusRequest request;
  request.set_name("nobody");
  EXPECT_THAT(Page(request),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_WORKER"));
}

TEST_F(StatusDeskTest, AnInvalidConfigIsServedFromTheLastGoodOneAndSaysSo) {
  ASSERT_THAT(Page(), IsOk());
  WriteConfig(root_, "{ broken");
  const auto page = Page();
  ASSERT_THAT(page, IsOk());
  EXPECT_EQ(page->total_in_snapshot(), 5);
  ASSERT_THAT(page->errors(), SizeIs(1));
  EXPECT_THAT(page->errors(0), HasSubstr("config is invalid"));
}

TEST_F(StatusDeskTest, APersonNamesADirectory) {
  v1::GetWorkerStatusRequest request;
  EXPECT_THAT(
      CallOn(status_desk_, &StatusDesk::GetWorkerStatus, Person(), request),
      FailsWith(absl::StatusCode::kFailedPrecondition, "NO_WORKSPACE"));
  request.set_directory(root_);
  EXPECT_THAT(
      CallOn(status_desk_, &StatusDesk::GetWorkerStatus, Person(), request),
      IsOk());
}

// --- What is known of a worker

TEST_F(StatusDeskTest, AnAttachedWorkerIsSeenNow) {
  const TestSession worker = Join("w-1");
  SayActivity(worker, kTool, "Running command");
  Advance(absl::Hours(2));
  const v1::WorkerStatus status = StatusOf("w-1");
  EXPECT_EQ(status.observed_status(), v1::OBSERVED_STATUS_WORKING);
  EXPECT_EQ(status.last_activity(), "Running command");
  EXPECT_EQ(FromProto(status.last_activity_at()),
            clock_.Now() - absl::Hours(2));
  EXPECT_EQ(FromProto(status.observed_at()), clock_.Now());
  EXPECT_EQ(status.evidence(), v1::OBSERVATION_EVIDENCE_RECENT);
  EXPECT_EQ(ConnectionOf(status), "STATE_CONNECTED attached");
  EXPECT_EQ(FromProto(status.connection().checked_at()), clock_.Now());
}

TEST_F(StatusDeskTest, AWorkerThatLeftIdleWasIdle) {
  LetTheBrokerAge();
  const TestSession worker = Join("w-1");
  SayActivity(worker, kIdle, "Turn settled");
  Advance(absl::Minutes(5));
  Detach(worker);
  const absl::Time left = clock_.Now();
  Advance(absl::Seconds(30));
  const v1::WorkerStatus status = StatusOf("w-1");
  EXPECT_EQ(status.observed_status(), v1::OBSERVED_STATUS_IDLE);
  EXPECT_EQ(FromProto(status.observed_at()), left);
  EXPECT_EQ(status.observation_age_seconds(), 30);
  EXPECT_EQ(status.last_activity(), "Turn settled");
  EXPECT_EQ(ConnectionOf(status), "STATE_DISCONNECTED away");
  Advance(absl::Seconds(31));
  EXPECT_TRUE(StatusOf("w-1").stale());
  EXPECT_EQ(StatusOf("w-1").evidence(), v1::OBSERVATION_EVIDENCE_STALE);
}

TEST_F(StatusDeskTest, AWorkerThatLeftBusyIsUnknown) {
  LetTheBrokerAge();
  const TestSession worker = Join("w-1");
  SayActivity(worker, kTool, "Running command");
  Detach(worker);
  const v1::WorkerStatus status = StatusOf("w-1");
  EXPECT_EQ(status.observed_status(), v1::OBSERVED_STATUS_UNSPECIFIED);
  EXPECT_EQ(status.evidence(), v1::OBSERVATION_EVIDENCE_CONFLICTING);
  EXPECT_EQ(status.last_activity(), "Running command");
}

TEST_F(StatusDeskTest, AWorkerThatNeverCameIsMissing) {
  const v1::WorkerStatus status = StatusOf("w-1");
  EXPECT_EQ(status.evidence(), v1::OBSERVATION_EVIDENCE_MISSING);
  EXPECT_EQ(ConnectionOf(status), "STATE_DISCONNECTED away");
  EXPECT_FALSE(status.has_observed_at());
}

TEST_F(StatusDeskTest, AClockThatWasSetBackIsUncertain) {
  LetTheBrokerAge();
  const TestSession worker = Join("w-1");
  SayActivity(worker, kIdle);
  Detach(worker);
  clock_.Jump(-absl::Hours(1));
  const v1::WorkerStatus status = StatusOf("w-1");
  EXPECT_EQ(status.evidence(), v1::OBSERVATION_EVIDENCE_CLOCK_UNCERTAIN);
  EXPECT_EQ(status.observed_status(), v1::OBSERVED_STATUS_UNSPECIFIED);
  EXPECT_FALSE(status.has_observation_age_seconds());
}

TEST_F(StatusDeskTest, AWorkerThatIsReloadedIsRestartingForFiveSeconds) {
  LetTheBrokerAge();
  const TestSession worker = Join("w-1");
  Detach(worker, v1::Goodbye::REASON_RELOAD);
  EXPECT_EQ(ConnectionOf(StatusOf("w-1")), "STATE_RESTARTING restarting");
  Advance(absl::Seconds(5));
  EXPECT_EQ(ConnectionOf(StatusOf("w-1")), "STATE_DISCONNECTED away");
}

TEST_F(StatusDeskTest, AYoungBrokerDoesNotKnowWhoComesBack) {
  // An earlier broker knew w-1; w-2 it never saw.
  OnState([&] {
    SessionRow row;
    row.session_id = "w-1";
    row.workspace_root = root_;
    row.attached_at = row.last_seen_at = clock_.Now() - absl::Seconds(1);
    return session_store_.Attach(row).ok();
  });
  EXPECT_EQ(ConnectionOf(StatusOf("w-1")), "STATE_UNSPECIFIED broker_started");
  EXPECT_EQ(ConnectionOf(StatusOf("w-2")), "STATE_DISCONNECTED away");
  Advance(absl::Seconds(15) - absl::Milliseconds(1));
  EXPECT_EQ(ConnectionOf(StatusOf("w-1")), "STATE_UNSPECIFIED broker_started");
  Advance(absl::Milliseconds(1));
  EXPECT_EQ(ConnectionOf(StatusOf("w-1")), "STATE_DISCONNECTED away");
}

TEST_F(StatusDeskTest, WhoLeftThisYoungBrokerIsAway) {
  Detach(Join("w-1"));
  EXPECT_EQ(ConnectionOf(StatusOf("w-1")), "STATE_DISCONNECTED away");
}

TEST_F(StatusDeskTest, ReportHandoffCloseJobAndMailAreShown) {
  LetTheBrokerAge();
  const TestSession worker = Join("w-1");
  EXPECT_THAT(ReportWork(worker, v1::Report::STATUS_BLOCKED, "stuck"), IsOk());
  HandoffIs("w-1", "half done");
  Advance(absl::Seconds(1));
  CloseJobIs("w-1", v1::Job::STATE_SUCCEEDED);
  Detach(worker);
  EXPECT_THAT(Accept(Message("e1"), "c-1", "w-1"), IsOk());
  Advance(absl::Minutes(10));
  const v1::WorkerStatus status = StatusOf("w-1");
  EXPECT_EQ(status.report().summary(), "stuck");
  EXPECT_TRUE(status.report().overdue());
  EXPECT_EQ(status.handoff().summary(), "half done");
  EXPECT_EQ(status.close_job().state(), v1::Job::STATE_SUCCEEDED);
  EXPECT_EQ(status.observed_status(), v1::OBSERVED_STATUS_CLOSED);
  EXPECT_EQ(status.waiting(), 1);
}

TEST_F(StatusDeskTest, WhatTheFileRecordsIsShownWhereThereIsNothingElse) {
  LetTheBrokerAge();
  std::string config = ReadText(ConfigPath(root_));
  const std::string name = "\"name\": \"Worker 1\",";
  config.insert(
      config.find(name) + name.size(),
      " \"handoff\": {\"version\": 1, \"jobId\": \"old-1\", \"summary\": "
      "\"Left it tidy.\", \"updatedAt\": \"2026-01-31T12:00:00Z\"}, "
      "\"closeJob\": {\"jobId\": \"old-1\", \"state\": \"uncertain\", "
      "\"createdAt\": \"2026-01-31T12:00:00Z\", \"updatedAt\": "
      "\"2026-01-31T12:01:00Z\", \"deadlineAt\": \"2026-01-31T12:02:00Z\", "
      "\"reason\": \"close_unverified\"},");
  WriteConfig(root_, config);
  const v1::WorkerStatus recorded = StatusOf("w-1");
  EXPECT_EQ(recorded.handoff().summary(), "Left it tidy.");
  EXPECT_EQ(recorded.close_job().state(), v1::Job::STATE_UNCERTAIN);
  EXPECT_EQ(recorded.close_job().reason(), "close_unverified");
  EXPECT_FALSE(recorded.close_job().fences());
  HandoffIs("w-1", "Left it tidier.");
  CloseJobIs("w-1", v1::Job::STATE_FAILED);
  const v1::WorkerStatus own = StatusOf("w-1");
  EXPECT_EQ(own.handoff().summary(), "Left it tidier.");
  EXPECT_EQ(own.close_job().state(), v1::Job::STATE_FAILED);
}

TEST_F(StatusDeskTest, AClearedReportIsShownAsATombstone) {
  const TestSession worker = Join("w-1");
  EXPECT_THAT(ReportWork(worker, v1::Report::STATUS_CLEAR, ""), IsOk());
  EXPECT_EQ(StatusOf("w-1").report().status(), v1::Report::STATUS_CLEAR);
}

TEST_F(StatusDeskTest, AClosedWorkerThatIsBackIsAsItSays) {
  CloseJobIs("w-1", v1::Job::STATE_SUCCEEDED);
  Advance(absl::Minutes(1));
  SayActivity(Join("w-1"), kIdle);
  EXPECT_EQ(StatusOf("w-1").observed_status(), v1::OBSERVED_STATUS_IDLE);
}

// --- Probes

TEST_F(StatusDeskTest, AProbeTellsWhoAnswersAndWhoDoesNot) {
  LetTheBrokerAge();
  const TestSession answers = Join("w-1");
  const TestSession silent = Join("w-2");
  const TestSession other = Join("w-3");
  SayActivity(answers, kIdle);
  SayActivity(silent, kIdle);
  SayActivity(other, kIdle);
  const auto answer = BeginProbe();
  SayProbed(answers, "w-1");
  SayProbed(other, "w-9");
  EXPECT_EQ(answer.count(), 0);
  Advance(absl::Milliseconds(750));
  const auto page = answer.Wait();
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(Ids(*page), ElementsAre("w-1", "w-2", "w-3", "w-4", "w-5"));
  EXPECT_EQ(ConnectionOf(page->workers(0)), "STATE_CONNECTED answered");
  EXPECT_EQ(page->workers(0).observed_status(), v1::OBSERVED_STATUS_IDLE);
  EXPECT_EQ(ConnectionOf(page->workers(1)), "STATE_DISCONNECTED timeout");
  EXPECT_EQ(ConnectionOf(page->workers(2)),
            "STATE_DISCONNECTED identity_mismatch");
  for (const int contradicted : {1, 2}) {
    EXPECT_EQ(page->workers(contradicted).evidence(),
              v1::OBSERVATION_EVIDENCE_CONFLICTING);
    EXPECT_EQ(page->workers(contradicted).observed_status(),
              v1::OBSERVED_STATUS_UNSPECIFIED);
  }
  EXPECT_EQ(ConnectionOf(page->workers(3)), "STATE_DISCONNECTED away");
}

TEST_F(StatusDeskTest, WhoLeavesDuringAProbeIsAway) {
  LetTheBrokerAge();
  const TestSession worker = Join("w-1");
  const auto answer = BeginProbe();
  worker.link->WaitFor(v1::AttachResponse::kControl);
  Detach(worker);
  EXPECT_EQ(ConnectionOf(answer.Wait()->workers(0)), "STATE_DISCONNECTED away");
}

TEST_F(StatusDeskTest, WhoCouldNotBeProbedIsNamed) {
  const TestSession worker = Join("w-1");
  const auto answer = BeginProbe();
  v1::ControlResult result;
  result.set_control_id(worker.link->WaitFor(v1::AttachResponse::kControl)[0]
                            .control()
                            .control_id());
  result.set_error("no session");
  controls_.OnResult(worker.key, result);
  const auto page = answer.Wait();
  EXPECT_EQ(ConnectionOf(page->workers(0)), "STATE_UNSPECIFIED not_checked");
  EXPECT_THAT(page->errors(), ElementsAre(HasSubstr("Worker 1")));
}

TEST_F(StatusDeskTest, WithoutAProbeNobodyIsAsked) {
  const TestSession worker = Join("w-1");
  ASSERT_THAT(Page(), IsOk());
  EXPECT_THAT(worker.link->Of(v1::AttachResponse::kControl), IsEmpty());
}

}  // namespace
}  // namespace intercom
