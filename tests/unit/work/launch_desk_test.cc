#include "broker/work/launch_desk.h"

#include <filesystem>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/job_rig.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using Step = v1::AdvanceLaunchRequest;

class LaunchDeskTest : public JobRig {
 protected:
  using BeginAnswer = absl::StatusOr<v1::BeginLaunchResponse>;

  static v1::BeginLaunchRequest Create(const std::string& job_id = "job-1") {
    v1::BeginLaunchRequest request;
    request.set_job_id(job_id);
    request.set_launcher("tmux");
    return request;
  }
  static v1::BeginLaunchRequest Resume(const std::string& worker = "Builder",
                                       const std::string& job_id = "job-1") {
    v1::BeginLaunchRequest request = Create(job_id);
    request.set_resume(worker);
    request.set_confirm_closed(true);
    return request;
  }
  BeginAnswer Begin(const v1::BeginLaunchRequest& request) {
    return Ask<v1::BeginLaunchResponse>(launches_, &LaunchDesk::Begin,
                                        CallOf(coordinator_), request);
  }
  absl::StatusOr<v1::AdvanceLaunchResponse> Say(
      Step::Step step, const std::string& job_id = "job-1", int64_t pid = 0) {
    v1::AdvanceLaunchRequest request;
    request.set_job_id(job_id);
    request.set_step(step);
    request.set_host_pid(pid);
    request.set_host_start_ticks(pid * 10);
    return Ask<v1::AdvanceLaunchResponse>(launches_, &LaunchDesk::Advance,
                                          CallOf(coordinator_), request);
  }
  // Begins and submits.
  std::string Submit(const v1::BeginLaunchRequest& request) {
    const auto begun = Begin(request);
    EXPECT_THAT(begun, IsOk());
    EXPECT_THAT(Say(Step::STEP_SUBMITTING, request.job_id()), IsOk());
    return begun.ok() ? begun->launch_token() : "";
  }
  TestSession JoinWithToken(const std::string& session_id,
                            const std::string& token) {
    v1::Hello hello = WorkerHello(session_id);
    hello.set_launch_token(token);
    return JoinAs(hello);
  }
  v1::Job::State State(const std::string& job_id = "job-1") {
    return JobOf(job_id).state;
  }
  std::string Reason(const std::string& job_id = "job-1") {
    return JobOf(job_id).reason;
  }
  // Begins a resume of which the first look at the config sees it as it is, and
  // the one after the check of the directory sees `changed`.
  BeginAnswer BeginWhileConfigChanges(const std::string& changed) {
    // Holds the lane until both the first look and the change wait in it.
    std::promise<void> release;
    std::shared_future<void> released = release.get_future().share();
    lanes_.Update(
        root_,
        [released](const ReadConfig& read) -> absl::StatusOr<std::string> {
          released.wait();
          return read.bytes;
        },
        nullptr, [](auto) {});
    const auto begin = Post<v1::BeginLaunchResponse>(
        launches_, &LaunchDesk::Begin, CallOf(coordinator_), Resume());
    Sync();
    lanes_.Update(
        root_,
        [changed](const ReadConfig&) -> absl::StatusOr<std::string> {
          return changed;
        },
        nullptr, [](auto) {});
    release.set_value();
    const auto begun = begin.Wait();
    Sync();
    return begun;
  }
  void Look() {
    OnState([&] {
      job_desk_.Tick();
      return true;
    });
    Sync();
  }
};

// --- Create

TEST_F(LaunchDeskTest, ACreateHandsOutWhatIsNeededToLaunch) {
  std::filesystem::create_directories(root_ + "/apps/build");
  v1::BeginLaunchRequest request = Create();
  request.set_project_directory("apps/./build");
  const auto begun = Begin(request);
  ASSERT_THAT(begun, IsOk());
  EXPECT_EQ(begun->directory(), root_ + "/apps/build");
  EXPECT_EQ(begun->workspace_root(), root_);
  EXPECT_EQ(begun->title(), "Intercom (anonymous)");
  EXPECT_THAT(begun->session_id(), IsEmpty());
  EXPECT_EQ(begun->launch_token().size(), 64u);
  EXPECT_EQ(begun->job().kind(), v1::Job::KIND_CREATE);
  EXPECT_EQ(begun->job().state(), v1::Job::STATE_REQUESTED);
  EXPECT_EQ(begun->job().launcher(), "tmux");
  EXPECT_FALSE(begun->job().has_deadline_at());
  EXPECT_FALSE(begun->job().fences());
  // The secret itself is nowhere on disk.
  const JobRow row = JobOf("job-1");
  EXPECT_THAT(row.launch_token_hash, Not(IsEmpty()));
  EXPECT_NE(row.launch_token_hash, begun->launch_token());
}

TEST_F(LaunchDeskTest, ASessionHasSoManyHeadlessWorkersAndNoMore) {
  v1::BeginLaunchRequest request = Create("job-1");
  request.set_launcher("headless");
  request.set_most_headless(2);
  EXPECT_THAT(Begin(request), IsOk());
  request.set_job_id("job-2");
  EXPECT_THAT(Begin(request), IsOk());
  request.set_job_id("job-3");
  EXPECT_THAT(Begin(request),
              FailsWith(absl::StatusCode::kResourceExhausted, "HEADLESS_FULL"));
  // A repeat asks for nothing more, and other launchers have no such limit.
  request.set_job_id("job-2");
  EXPECT_THAT(Begin(request), IsOk());
  request.set_job_id("job-4");
  request.set_launcher("tmux");
  EXPECT_THAT(Begin(request), IsOk());
  request.set_job_id("job-5");
  request.set_most_headless(65);
  EXPECT_THAT(Begin(request), FailsWith(absl::StatusCode::kInvalidArgument,
                                        "MOST_HEADLESS_INVALID"));
}

TEST_F(LaunchDeskTest, HeadlessWorkersCountUntilTheirHostsEnd) {
  v1::BeginLaunchRequest request = Create("job-1");
  request.set_launcher("headless");
  request.set_most_headless(1);
  const auto begun = Begin(request);
  ASSERT_THAT(begun, IsOk());
  v1::Hello hello = WorkerHello("h-1");
  hello.set_launch_token(begun->launch_token());
  const TestSession headless = JoinAs(hello);
  request.set_job_id("job-2");
  EXPECT_THAT(Begin(request),
              FailsWith(absl::StatusCode::kResourceExhausted, "HEADLESS_FULL"));
  // Its agent is away, its host works on.
  const int64_t pid = PidOf("h-1");
  Detach(headless);
  EXPECT_THAT(Begin(request),
              FailsWith(absl::StatusCode::kResourceExhausted, "HEADLESS_FULL"));
  processes_.End(pid);
  EXPECT_THAT(Begin(request), IsOk());
}

TEST_F(LaunchDeskTest, TheConfigsMultiplexerLaunchesUnlessTheCallNamesOne) {
  v1::BeginLaunchRequest request = Create();
  request.clear_launcher();
  EXPECT_THAT(Begin(request), FailsWith(absl::StatusCode::kFailedPrecondition,
                                        "LAUNCHER_NONE"));
  request.set_launcher("herdr");
  EXPECT_THAT(Begin(request), IsOk());
  request = Create("job-2");
  request.set_launcher("screen");
  EXPECT_THAT(Begin(request), FailsWith(absl::StatusCode::kInvalidArgument,
                                        "LAUNCHER_UNKNOWN"));
  EXPECT_EQ(JobOf("job-2").job_id, "");
}

TEST_F(LaunchDeskTest, ADirectoryOutsideOrNoneIsNotLaunchedIn) {
  std::filesystem::create_directory_symlink(dir_.path(), root_ + "/out");
  for (const auto& [directory, reason] :
       std::vector<std::pair<std::string, std::string>>{
           {"/tmp", "DIRECTORY_OUTSIDE"},
           {"../x", "DIRECTORY_OUTSIDE"},
           {"out", "DIRECTORY_OUTSIDE"},
           {"missing", "NO_DIRECTORY"}}) {
    v1::BeginLaunchRequest request = Create();
    request.set_project_directory(directory);
    EXPECT_EQ(ReasonOf(Begin(request).status()), reason) << directory;
  }
  EXPECT_EQ(JobOf("job-1").job_id, "");
}

TEST_F(LaunchDeskTest, OnlyTheCoordinatorLaunches) {
  EXPECT_THAT(Ask<v1::BeginLaunchResponse>(launches_, &LaunchDesk::Begin,
                                           CallOf(worker_), Create()),
              FailsWith(absl::StatusCode::kPermissionDenied, "NOT_PERMITTED"));
}

TEST_F(LaunchDeskTest, ARepeatIsTheSameJobWithItsTokenWhileItMayBeLaunched) {
  const auto first = Begin(Create());
  const auto again = Begin(Create());
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->launch_token(), first->launch_token());
  EXPECT_EQ(again->directory(), first->directory());
  ASSERT_THAT(Say(Step::STEP_SUBMITTING), IsOk());
  const auto late = Begin(Create());
  ASSERT_THAT(late, IsOk());
  EXPECT_EQ(late->job().state(), v1::Job::STATE_SUBMITTED);
  EXPECT_THAT(late->launch_token(), IsEmpty());
  EXPECT_THAT(OnState([&] { return job_store_.Open().value(); }), SizeIs(1));
}

TEST_F(LaunchDeskTest, AnIdStandsForOneJob) {
  ASSERT_THAT(Begin(Create()), IsOk());
  EXPECT_THAT(Begin(Resume()),
              FailsWith(absl::StatusCode::kAlreadyExists, "JOB_ID_REUSED"));
  v1::BeginLaunchRequest request = Create("");
  EXPECT_THAT(Begin(request),
              FailsWith(absl::StatusCode::kInvalidArgument, "JOB_ID_INVALID"));
}

TEST_F(LaunchDeskTest, SixtyFourLaunchesOfAWorkspaceArePendingAtMost) {
  for (int i = 0; i < 64; ++i) {
    ASSERT_THAT(Begin(Create("job-" + std::to_string(i))), IsOk());
  }
  EXPECT_THAT(Begin(Create("job-64")),
              FailsWith(absl::StatusCode::kResourceExhausted, "JOBS_FULL"));
  ASSERT_THAT(Say(Step::STEP_NOT_SUBMITTED, "job-7"), IsOk());
  EXPECT_THAT(Begin(Create("job-64")), IsOk());
}

// --- What becomes of it

TEST_F(LaunchDeskTest, TheSessionThatCarriesTheTokenEndsTheLaunch) {
  const std::string token = Submit(Create());
  const TestSession fresh = JoinWithToken("x-1", token);
  EXPECT_EQ(State(), v1::Job::STATE_SUCCEEDED);
  EXPECT_EQ(JobOf("job-1").session_id, "x-1");
  const v1::RosterEntry entry = OnState([&] {
    return view_.Describe("x-1", mirror_.Find(root_).get(), nullptr);
  });
  EXPECT_EQ(entry.launch_job_id(), "job-1");
  ASSERT_THAT(NoticesOf("REGISTRATION"), SizeIs(1));
  EXPECT_THAT(
      NoticesOf("REGISTRATION")[0],
      HasSubstr("launched as job job-1, by Coordinator's create_worker"));
  // It is the session's for as long as that host shows it.
  Detach(fresh);
  JoinWithToken("x-1", token);
  EXPECT_EQ(OnState([&] { return roster_.Find("x-1")->launch_job_id; }),
            "job-1");
}

TEST_F(LaunchDeskTest, AnUnknownTokenIsNoRefusalAndNoLaunch) {
  Submit(Create());
  JoinWithToken("x-1", "guess");
  EXPECT_EQ(OnState([&] { return roster_.Find("x-1")->launch_job_id; }), "");
  EXPECT_EQ(State(), v1::Job::STATE_SUBMITTED);
  EXPECT_THAT(NoticesOf("REGISTRATION")[0], Not(HasSubstr("launched")));
}

TEST_F(LaunchDeskTest, ATokenOfAnotherWorkspaceIsNone) {
  const std::string token = Submit(Create());
  const std::string other = dir_ / "other";
  WriteConfig(other, ConfigText({{"o-1", "Coordinator"}}));
  v1::Hello hello = WorkerHello("x-1");
  hello.set_cwd(other);
  hello.set_launch_token(token);
  JoinAs(hello);
  EXPECT_EQ(State(), v1::Job::STATE_SUBMITTED);
}

TEST_F(LaunchDeskTest, ASessionMayBeFasterThanTheLaunchersWord) {
  const std::string token = Submit(Create());
  JoinWithToken("x-1", token);
  const auto launched = Say(Step::STEP_LAUNCHED, "job-1", 77);
  ASSERT_THAT(launched, IsOk());
  EXPECT_EQ(launched->job().state(), v1::Job::STATE_SUCCEEDED);
  EXPECT_THAT(Say(Step::STEP_SUBMITTING),
              FailsWith(absl::StatusCode::kFailedPrecondition, "JOB_ENDED"));
}

TEST_F(LaunchDeskTest, WhatWasNotSubmittedIsOver) {
  ASSERT_THAT(Begin(Create()), IsOk());
  ASSERT_THAT(Say(Step::STEP_SUBMITTING), IsOk());
  v1::AdvanceLaunchRequest request;
  request.set_job_id("job-1");
  request.set_step(Step::STEP_NOT_SUBMITTED);
  request.set_reason("LAUNCHER_MISSING");
  request.set_detail("tmux is not installed");
  ASSERT_THAT(Ask<v1::AdvanceLaunchResponse>(launches_, &LaunchDesk::Advance,
                                             CallOf(coordinator_), request),
              IsOk());
  EXPECT_EQ(State(), v1::Job::STATE_FAILED);
  EXPECT_EQ(Reason(), "launcher_missing");
  EXPECT_EQ(JobOf("job-1").detail, "tmux is not installed");
  EXPECT_THAT(Say(Step::STEP_LAUNCHED),
              FailsWith(absl::StatusCode::kFailedPrecondition, "JOB_ENDED"));
}

TEST_F(LaunchDeskTest, WhatMayHaveBeenSubmittedIsUncertainUntilItAttaches) {
  const std::string token = Submit(Create());
  ASSERT_THAT(Say(Step::STEP_UNKNOWN), IsOk());
  EXPECT_EQ(State(), v1::Job::STATE_UNCERTAIN);
  EXPECT_THAT(Say(Step::STEP_SUBMITTING),
              FailsWith(absl::StatusCode::kFailedPrecondition, "JOB_ENDED"));
  JoinWithToken("x-1", token);
  EXPECT_EQ(State(), v1::Job::STATE_SUCCEEDED);
}

TEST_F(LaunchDeskTest, OnlyWhoBeganALaunchAdvancesIt) {
  ASSERT_THAT(Begin(Create()), IsOk());
  v1::AdvanceLaunchRequest request;
  request.set_job_id("job-1");
  request.set_step(Step::STEP_SUBMITTING);
  EXPECT_THAT(Ask<v1::AdvanceLaunchResponse>(launches_, &LaunchDesk::Advance,
                                             CallOf(worker_), request),
              FailsWith(absl::StatusCode::kPermissionDenied, "NOT_PERMITTED"));
  EXPECT_THAT(Say(Step::STEP_SUBMITTING, "job-2"),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_JOB"));
  EXPECT_THAT(Say(Step::STEP_UNSPECIFIED),
              FailsWith(absl::StatusCode::kInvalidArgument, "STEP_INVALID"));
  EXPECT_EQ(State(), v1::Job::STATE_REQUESTED);
}

TEST_F(LaunchDeskTest, AnUnsubmittedLaunchEndsAfterAMinute) {
  ASSERT_THAT(Begin(Create("job-1")), IsOk());
  Submit(Create("job-2"));
  Advance(LaunchDesk::kSubmitWithin);
  EXPECT_EQ(State("job-1"), v1::Job::STATE_INTERRUPTED);
  EXPECT_EQ(State("job-2"), v1::Job::STATE_SUBMITTED);
  EXPECT_THAT(Say(Step::STEP_SUBMITTING),
              FailsWith(absl::StatusCode::kFailedPrecondition, "JOB_ENDED"));
}

TEST_F(LaunchDeskTest, AnUnsubmittedLaunchEndsWithItsCoordinator) {
  ASSERT_THAT(Begin(Create("job-1")), IsOk());
  Submit(Create("job-2"));
  Detach(coordinator_);
  EXPECT_EQ(State("job-1"), v1::Job::STATE_INTERRUPTED);
  EXPECT_EQ(State("job-2"), v1::Job::STATE_SUBMITTED);
}

TEST_F(LaunchDeskTest, ALaunchWhoseProcessIsGoneCameToNothing) {
  Submit(Create());
  ASSERT_THAT(Say(Step::STEP_LAUNCHED, "job-1", 77), IsOk());
  processes_.Start(77, 770);
  Look();
  EXPECT_EQ(State(), v1::Job::STATE_SUBMITTED);
  processes_.End(77);
  Look();
  EXPECT_EQ(State(), v1::Job::STATE_FAILED);
  EXPECT_EQ(Reason(), "process_ended");
  ASSERT_THAT(NoticesOf("LAUNCH"), SizeIs(1));
  EXPECT_THAT(NoticesOf("LAUNCH")[0],
              HasSubstr("process 77 ended before its session attached"));
}

TEST_F(LaunchDeskTest, ALaunchOfWhichNothingIsKnownStays) {
  Submit(Create());
  ASSERT_THAT(Say(Step::STEP_LAUNCHED), IsOk());
  Look();
  Advance(absl::Hours(24));
  EXPECT_EQ(State(), v1::Job::STATE_SUBMITTED);
}

TEST_F(LaunchDeskTest, ALaunchThatDoesNotAttachIsToldOnce) {
  Submit(Create());
  v1::AdvanceLaunchRequest request;
  request.set_job_id("job-1");
  request.set_step(Step::STEP_LAUNCHED);
  request.mutable_pane()->set_launcher("tmux");
  request.mutable_pane()->set_pane("%7");
  ASSERT_THAT(Ask<v1::AdvanceLaunchResponse>(launches_, &LaunchDesk::Advance,
                                             CallOf(coordinator_), request),
              IsOk());
  Advance(LaunchDesk::kSlowAfter - absl::Seconds(1));
  Look();
  EXPECT_THAT(NoticesOf("LAUNCH"), IsEmpty());
  Advance(absl::Seconds(1));
  Look();
  ASSERT_THAT(NoticesOf("LAUNCH"), SizeIs(1));
  EXPECT_THAT(NoticesOf("LAUNCH")[0], HasSubstr("tmux pane %7"));
  EXPECT_THAT(NoticesOf("LAUNCH")[0], HasSubstr("intercom job show job-1"));
  EXPECT_EQ(State(), v1::Job::STATE_SUBMITTED);
  Look();
  StartAnew();
  Look();
  EXPECT_THAT(NoticesOf("LAUNCH"), SizeIs(1));
}

TEST_F(LaunchDeskTest, SlowLaunchesAreToldEachForItself) {
  Submit(Create("job-1"));
  Submit(Create("job-2"));
  Detach(coordinator_);
  Advance(LaunchDesk::kSlowAfter);
  Look();
  coordinator_ = Join("c-1");
  Sync();
  EXPECT_THAT(NoticesOf("LAUNCH"), SizeIs(2));
}

TEST_F(LaunchDeskTest, ALaunchThatHasAttachedIsNotToldOf) {
  JoinWithToken("x-1", Submit(Create()));
  Advance(LaunchDesk::kSlowAfter);
  Look();
  EXPECT_THAT(NoticesOf("LAUNCH"), IsEmpty());
}

TEST_F(LaunchDeskTest, ALaunchThatCannotBeStoredIsNotHandedOut) {
  EXPECT_THAT(OnState([&] {
                return runner_->database().Execute(
                    "CREATE TEMP TRIGGER full BEFORE INSERT ON main.jobs "
                    "BEGIN SELECT RAISE(ABORT, 'no room'); END");
              }),
              IsOk());
  EXPECT_FALSE(Begin(Create()).ok());
}

TEST_F(LaunchDeskTest, ASubmissionThatCannotBeStoredIsNotMade) {
  ASSERT_THAT(Begin(Create()), IsOk());
  BreakStorage(v1::Job::STATE_SUBMITTED);
  EXPECT_FALSE(Say(Step::STEP_SUBMITTING).ok());
  MendStorage();
  EXPECT_EQ(State(), v1::Job::STATE_REQUESTED);
}

TEST_F(LaunchDeskTest, ARestartInterruptsWhatWasNotSubmittedAndKeepsTheRest) {
  ASSERT_THAT(Begin(Create("job-1")), IsOk());
  const std::string token = Submit(Create("job-2"));
  StartAnew();
  EXPECT_EQ(State("job-1"), v1::Job::STATE_INTERRUPTED);
  EXPECT_EQ(State("job-2"), v1::Job::STATE_SUBMITTED);
  JoinWithToken("x-1", token);
  EXPECT_EQ(State("job-2"), v1::Job::STATE_SUCCEEDED);
}

// --- Resume

TEST_F(LaunchDeskTest, AResumeOpensTheSavedSessionInItsDirectory) {
  const auto begun = Begin(Resume());
  ASSERT_THAT(begun, IsOk());
  EXPECT_EQ(begun->session_id(), "w-2");
  EXPECT_EQ(begun->title(), "Builder");
  EXPECT_EQ(begun->directory(), root_);
  EXPECT_EQ(begun->job().kind(), v1::Job::KIND_RESUME);
  EXPECT_TRUE(begun->job().fences());
}

TEST_F(LaunchDeskTest, AResumeLeavesTheConfigByteIdentical) {
  const std::string before = ReadText(ConfigPath(root_));
  JoinWithToken("w-2", Submit(Resume()));
  EXPECT_EQ(State(), v1::Job::STATE_SUCCEEDED);
  EXPECT_THAT(ReadConfigNow(), IsOk());
  EXPECT_EQ(ReadText(ConfigPath(root_)), before);
}

TEST_F(LaunchDeskTest, AStatusAskedUnderASubmittedResumeLeavesItsFence) {
  Submit(Resume());
  v1::RequestStatusRequest request;
  request.set_to("Builder");
  const auto status =
      Call(&WorkerDesk::RequestStatus, CallOf(coordinator_), request);
  ASSERT_THAT(status, IsOk());
  EXPECT_FALSE(status->report_requested());
  EXPECT_EQ(State(), v1::Job::STATE_SUBMITTED);
  EXPECT_THAT(
      fences_.Check(root_, "w-2"),
      FailsWith(absl::StatusCode::kFailedPrecondition, "WORKER_FENCED"));
}

TEST_F(LaunchDeskTest, AResumeNeedsConfirmation) {
  v1::BeginLaunchRequest request = Resume();
  request.set_confirm_closed(false);
  EXPECT_THAT(Begin(request), FailsWith(absl::StatusCode::kInvalidArgument,
                                        "CONFIRMATION_MISSING"));
  EXPECT_EQ(JobOf("job-1").job_id, "");
}

TEST_F(LaunchDeskTest, OnlyConfiguredWorkersAreResumed) {
  EXPECT_THAT(Begin(Resume("Nobody")),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_WORKER"));
  EXPECT_THAT(Begin(Resume("Coordinator")),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        "TARGET_IS_COORDINATOR"));
}

TEST_F(LaunchDeskTest, AnOpenSessionIsNotResumed) {
  EXPECT_THAT(
      Begin(Resume("Reviewer")),
      FailsWith(absl::StatusCode::kFailedPrecondition, "WORKER_ATTACHED"));
}

TEST_F(LaunchDeskTest, ASessionWhoseLastHostLivesIsNotResumed) {
  const int64_t pid = PidOf("w-1");
  Detach(worker_);
  const auto refused = Begin(Resume("Reviewer"));
  EXPECT_THAT(refused,
              FailsWith(absl::StatusCode::kFailedPrecondition, "HOST_ALIVE"));
  EXPECT_THAT(MessageOf(refused.status()),
              HasSubstr("end process " + std::to_string(pid)));
  // Another process of that id is none of its.
  processes_.Start(pid, 1);
  EXPECT_THAT(Begin(Resume("Reviewer")), IsOk());
}

TEST_F(LaunchDeskTest, ConcurrentAndUncertainResumesAreFenced) {
  ASSERT_THAT(Begin(Resume("Builder", "job-1")), IsOk());
  EXPECT_THAT(
      Begin(Resume("Builder", "job-2")),
      FailsWith(absl::StatusCode::kFailedPrecondition, "WORKER_FENCED"));
  ASSERT_THAT(Say(Step::STEP_UNKNOWN), IsOk());
  const auto refused = Begin(Resume("Builder", "job-3"));
  EXPECT_THAT(refused, FailsWith(absl::StatusCode::kFailedPrecondition,
                                 "WORKER_FENCED"));
  EXPECT_THAT(MessageOf(refused.status()),
              HasSubstr("intercom job resolve job-1"));
}

TEST_F(LaunchDeskTest, TwoResumesAtOnceAreOne) {
  const auto first = Post<v1::BeginLaunchResponse>(
      launches_, &LaunchDesk::Begin, CallOf(coordinator_),
      Resume("Builder", "job-1"));
  const auto second = Post<v1::BeginLaunchResponse>(
      launches_, &LaunchDesk::Begin, CallOf(coordinator_),
      Resume("Builder", "job-2"));
  EXPECT_NE(first.Wait().ok(), second.Wait().ok());
}

TEST_F(LaunchDeskTest, TheSessionThatIsBackEndsTheResumeHoweverItCame) {
  Submit(Resume());
  JoinWorker("w-2");
  EXPECT_EQ(State(), v1::Job::STATE_SUCCEEDED);
  EXPECT_THAT(fences_.Check(root_, "w-2"), IsOk());
}

TEST_F(LaunchDeskTest, AnAttachBeforeTheSubmissionLaunchesNothingMore) {
  ASSERT_THAT(Begin(Resume()), IsOk());
  JoinWorker("w-2");
  EXPECT_EQ(State(), v1::Job::STATE_INTERRUPTED);
  EXPECT_EQ(Reason(), "session_attached");
  EXPECT_THAT(Say(Step::STEP_SUBMITTING),
              FailsWith(absl::StatusCode::kFailedPrecondition, "JOB_ENDED"));
}

TEST_F(LaunchDeskTest, AResumeThatOpenedAnotherSessionFailed) {
  const std::string token = Submit(Resume());
  JoinWithToken("x-1", token);
  EXPECT_EQ(State(), v1::Job::STATE_FAILED);
  EXPECT_EQ(Reason(), "other_session");
  EXPECT_THAT(JobOf("job-1").detail, HasSubstr("x-1"));
  EXPECT_THAT(fences_.Check(root_, "w-2"), IsOk());
}

TEST_F(LaunchDeskTest, ARepeatOfAResumeWhoseProcessIsGoneIsANewOne) {
  Submit(Resume());
  processes_.Start(77, 770);
  ASSERT_THAT(Say(Step::STEP_LAUNCHED, "job-1", 77), IsOk());
  EXPECT_THAT(
      Begin(Resume("Builder", "job-2")),
      FailsWith(absl::StatusCode::kFailedPrecondition, "WORKER_FENCED"));
  processes_.End(77);
  EXPECT_THAT(Begin(Resume("Builder", "job-2")), IsOk());
  EXPECT_EQ(Reason("job-1"), "process_ended");
}

TEST_F(LaunchDeskTest, ARemovalDuringTheCheckPreventsTheLaunch) {
  EXPECT_THAT(BeginWhileConfigChanges(
                  ConfigText({{"c-1", "Coordinator"}, {"w-1", "Reviewer"}})),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_WORKER"));
  EXPECT_EQ(JobOf("job-1").job_id, "");
}

TEST_F(LaunchDeskTest, AChangedEndpointDuringTheCheckPreventsTheLaunch) {
  std::string changed = ReadText(ConfigPath(root_));
  const std::string port = std::to_string(kTestPort);
  changed.replace(changed.rfind(port), port.size(), "4712");
  EXPECT_THAT(BeginWhileConfigChanges(changed),
              FailsWith(absl::StatusCode::kAborted, "WORKER_CHANGED"));
  EXPECT_EQ(JobOf("job-1").job_id, "");
}

TEST_F(LaunchDeskTest, AClosingWorkerIsNotResumed) {
  JobRow job;
  job.job_id = "close-1";
  job.kind = v1::Job::KIND_CLOSE;
  job.root = root_;
  job.session_id = "w-2";
  job.name = "Builder";
  job.state = v1::Job::STATE_CLOSING;
  job.created_at = job.updated_at = clock_.Now();
  job.deadline_at = clock_.Now();
  Leave(job);
  StartAnew();
  EXPECT_THAT(Begin(Resume()), FailsWith(absl::StatusCode::kFailedPrecondition,
                                         "WORKER_FENCED"));
}

}  // namespace
}  // namespace intercom
