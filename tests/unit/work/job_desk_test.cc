#include "broker/work/job_desk.h"

#include <string>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/job_rig.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class JobDeskTest : public JobRig {
 protected:
  // A job of w-2, whose host was process 77.
  JobRow Row(const std::string& id, v1::Job::Kind kind, v1::Job::State state) {
    JobRow job;
    job.job_id = id;
    job.kind = kind;
    job.root = root_;
    job.session_id = "w-2";
    job.name = "Builder";
    job.state = state;
    job.created_at = job.updated_at = clock_.Now();
    job.identity.set_host_pid(77);
    job.identity.set_host_start_ticks(770);
    job.identity.mutable_pane()->set_pane("%7");
    return job;
  }
  // Leaves a job and starts a broker that finds it.
  void Leave(const std::string& id, v1::Job::Kind kind, v1::Job::State state) {
    JobRig::Leave(Row(id, kind, state));
    StartAnew();
  }
  std::vector<std::string> List(const CallerEvidence& caller,
                                const std::string& directory = "",
                                int limit = 0) {
    v1::ListJobsRequest request;
    request.set_directory(directory);
    request.set_limit(limit);
    const auto response =
        Ask<v1::ListJobsResponse>(job_desk_, &JobDesk::List, caller, request);
    EXPECT_THAT(response, IsOk());
    std::vector<std::string> ids;
    if (!response.ok()) return ids;
    for (const v1::Job& job : response->jobs()) ids.push_back(job.job_id());
    return ids;
  }
  absl::StatusOr<v1::GetJobResponse> Get(const std::string& id) {
    v1::GetJobRequest request;
    request.set_job_id(id);
    return Ask<v1::GetJobResponse>(job_desk_, &JobDesk::Get, Person(), request);
  }
  absl::StatusOr<v1::ResolveJobResponse> Resolve(
      const std::string& id, const CallerEvidence& caller = Person()) {
    v1::ResolveJobRequest request;
    request.set_job_id(id);
    return Ask<v1::ResolveJobResponse>(job_desk_, &JobDesk::Resolve, caller,
                                       request);
  }
};

TEST_F(JobDeskTest, ListsTheNewestFirstAndOnlyOfTheCallersWorkspace) {
  JobRig::Leave(Row("job-0001", v1::Job::KIND_STOP, v1::Job::STATE_SUCCEEDED));
  clock_.Advance(absl::Seconds(1));
  JobRig::Leave(Row("job-0002", v1::Job::KIND_CLOSE, v1::Job::STATE_FAILED));
  JobRow elsewhere =
      Row("job-0003", v1::Job::KIND_CLOSE, v1::Job::STATE_FAILED);
  elsewhere.root = "/elsewhere";
  elsewhere.created_at += absl::Seconds(1);
  JobRig::Leave(elsewhere);
  EXPECT_THAT(List(CallOf(worker_)), ElementsAre("job-0002", "job-0001"));
  EXPECT_THAT(List(Person()), ElementsAre("job-0003", "job-0002", "job-0001"));
  EXPECT_THAT(List(Person(), root_, 1), ElementsAre("job-0002"));
  v1::ListJobsRequest nowhere;
  nowhere.set_directory(dir_.path());
  EXPECT_THAT(
      Ask<v1::ListJobsResponse>(job_desk_, &JobDesk::List, Person(), nowhere),
      FailsWith(absl::StatusCode::kNotFound, "NO_WORKSPACE"));
}

TEST_F(JobDeskTest, AnonymousSessionsSeeNoJobs) {
  const TestSession anonymous = Join("x-1");
  v1::ListJobsRequest request;
  EXPECT_THAT(
      Ask<v1::ListJobsResponse>(job_desk_, &JobDesk::List, CallOf(anonymous),
                                request),
      FailsWith(absl::StatusCode::kPermissionDenied, "ANONYMOUS_SENDER"));
}

TEST_F(JobDeskTest, AJobIsFoundByTheBeginningOfItsId) {
  JobRig::Leave(Row("abcdef-1", v1::Job::KIND_STOP, v1::Job::STATE_FAILED));
  JobRig::Leave(Row("abcdef-2", v1::Job::KIND_STOP, v1::Job::STATE_FAILED));
  EXPECT_EQ(Get("abcdef-1")->job().job_id(), "abcdef-1");
  EXPECT_THAT(Get("abcdef"),
              FailsWith(absl::StatusCode::kFailedPrecondition, "AMBIGUOUS_ID"));
  EXPECT_THAT(Get("abcde"),
              FailsWith(absl::StatusCode::kInvalidArgument, "ID_TOO_SHORT"));
  EXPECT_THAT(Get("xxxxxx"),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_JOB"));
}

TEST_F(JobDeskTest, AJobIsShownWithWhatIsKnownOfItsWorkerNow) {
  JobRig::Leave(Row("close-01", v1::Job::KIND_CLOSE, v1::Job::STATE_UNCERTAIN));
  auto shown = Get("close-01");
  ASSERT_THAT(shown, IsOk());
  EXPECT_FALSE(shown->attached());
  EXPECT_TRUE(shown->has_host_alive());
  EXPECT_FALSE(shown->host_alive());
  EXPECT_EQ(shown->identity().pane().pane(), "%7");
  processes_.Start(77, 770);
  JoinWorker("w-2");
  shown = Get("close-01");
  EXPECT_TRUE(shown->attached());
  EXPECT_TRUE(shown->host_alive());
  JobRow unknown = Row("close-02", v1::Job::KIND_CLOSE, v1::Job::STATE_FAILED);
  unknown.identity.Clear();
  JobRig::Leave(unknown);
  EXPECT_FALSE(Get("close-02")->has_host_alive());
}

TEST_F(JobDeskTest, LookingAtALaunchTellsWhetherItsProcessLives) {
  Leave("launch-1", v1::Job::KIND_RESUME, v1::Job::STATE_SUBMITTED);
  EXPECT_EQ(Get("launch-1")->job().state(), v1::Job::STATE_FAILED);
  EXPECT_EQ(Get("launch-1")->job().reason(), "process_ended");
}

TEST_F(JobDeskTest, OnlyAPersonResolves) {
  Leave("close-01", v1::Job::KIND_CLOSE, v1::Job::STATE_UNCERTAIN);
  for (const TestSession& session : {coordinator_, worker_}) {
    EXPECT_THAT(
        Resolve("close-01", CallOf(session)),
        FailsWith(absl::StatusCode::kPermissionDenied, "NOT_PERMITTED"));
  }
  EXPECT_EQ(JobOf("close-01").state, v1::Job::STATE_UNCERTAIN);
}

TEST_F(JobDeskTest, AResolvedCloseWhoseHostIsGoneIsClosed) {
  Leave("close-01", v1::Job::KIND_CLOSE, v1::Job::STATE_UNCERTAIN);
  const auto resolved = Resolve("close-01");
  ASSERT_THAT(resolved, IsOk());
  EXPECT_EQ(resolved->job().state(), v1::Job::STATE_SUCCEEDED);
  EXPECT_EQ(resolved->job().reason(), "resolved");
  EXPECT_THAT(resolved->job().detail(), HasSubstr("person:"));
  EXPECT_THAT(fences_.Check(root_, "w-2"), IsOk());
  // That it was uncertain, and how it ended.
  EXPECT_THAT(NoticesOf("CLOSE"), SizeIs(2));
  EXPECT_THAT(ReadConfigNow(), IsOk());
  EXPECT_THAT(ReadText(ConfigPath(root_)), HasSubstr("\"state\": \"closed\""));
}

TEST_F(JobDeskTest, AResolvedCloseWhoseHostLivesFailedAndItsMailFlows) {
  processes_.Start(77, 770);
  Leave("close-01", v1::Job::KIND_CLOSE, v1::Job::STATE_UNCERTAIN);
  const TestSession builder = JoinWorker("w-2");
  ASSERT_THAT(Send(CallOf(coordinator_), "Builder", Message("e1")), IsOk());
  EXPECT_THAT(builder.link->deliveries(), IsEmpty());
  EXPECT_EQ(Resolve("close-01")->job().state(), v1::Job::STATE_FAILED);
  EXPECT_THAT(ControlsOf(builder, v1::Control::KIND_END_CLOSE), SizeIs(1));
  EXPECT_THAT(builder.link->texts(), ElementsAre("text of e1"));
}

TEST_F(JobDeskTest, ALaunchThatNeverAttachedIsResolvedAsFailed) {
  processes_.Start(77, 770);
  Leave("launch-1", v1::Job::KIND_RESUME, v1::Job::STATE_SUBMITTED);
  EXPECT_THAT(
      fences_.Check(root_, "w-2"),
      FailsWith(absl::StatusCode::kFailedPrecondition, "WORKER_FENCED"));
  EXPECT_EQ(Resolve("launch-1")->job().state(), v1::Job::STATE_FAILED);
  EXPECT_THAT(fences_.Check(root_, "w-2"), IsOk());
}

TEST_F(JobDeskTest, WhatHasEndedOrStillRunsIsNotResolved) {
  JobRig::Leave(Row("close-01", v1::Job::KIND_CLOSE, v1::Job::STATE_FAILED));
  EXPECT_THAT(Resolve("close-01"),
              FailsWith(absl::StatusCode::kFailedPrecondition, "JOB_ENDED"));
  JobRig::Leave(
      Row("close-02", v1::Job::KIND_CLOSE, v1::Job::STATE_AWAITING_HANDOFF));
  EXPECT_THAT(Resolve("close-02"),
              FailsWith(absl::StatusCode::kFailedPrecondition, "JOB_PENDING"));
  // A full id, so that nobody resolves another one.
  EXPECT_THAT(Resolve("close-0"),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_JOB"));
}

TEST_F(JobDeskTest, ObserversHearOfEachChangeAfterItIsKept) {
  std::vector<std::string> seen;
  OnState([&] {
    jobs_.AddOnChanged([&](const JobRow& job) {
      seen.push_back(job.job_id + " " + std::to_string(job.state));
    });
    return true;
  });
  Leave("close-01", v1::Job::KIND_CLOSE, v1::Job::STATE_UNCERTAIN);
  EXPECT_THAT(seen, IsEmpty());
  ASSERT_THAT(Resolve("close-01"), IsOk());
  EXPECT_THAT(seen, ElementsAre("close-01 8"));
}

}  // namespace
}  // namespace intercom
