#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/job_rig.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Step = v1::AdvanceLaunchRequest;
using Waited = absl::StatusOr<v1::AwaitLaunchResponse>;

// A directory outside the workspace, where projects are opened.
class LaunchOpenTest : public JobRig {
 protected:
  LaunchOpenTest() {
    std::filesystem::create_directories(elsewhere_);
    peer_ = JoinAt("p-1", elsewhere_);
  }

  TestSession JoinAt(const std::string& session_id,
                     const std::string& directory,
                     const std::string& token = "") {
    v1::Hello hello = WorkerHello(session_id);
    hello.set_cwd(directory);
    hello.set_workspace_mode(v1::WORKSPACE_MODE_NEVER);
    hello.set_launch_token(token);
    return JoinAs(hello);
  }
  v1::BeginLaunchRequest Open(const std::string& job_id = "job-1") {
    v1::BeginLaunchRequest request;
    request.set_job_id(job_id);
    request.set_open_directory(elsewhere_);
    return request;
  }
  absl::StatusOr<v1::BeginLaunchResponse> Begin(
      const TestSession& session, const v1::BeginLaunchRequest& request) {
    return Ask<v1::BeginLaunchResponse>(launches_, &LaunchDesk::Begin,
                                        CallOf(session), request);
  }
  absl::Status Say(const TestSession& session, Step::Step step,
                   const std::string& job_id = "job-1") {
    v1::AdvanceLaunchRequest request;
    request.set_job_id(job_id);
    request.set_step(step);
    request.set_detail("as the test says");
    return Ask<v1::AdvanceLaunchResponse>(launches_, &LaunchDesk::Advance,
                                          CallOf(session), request)
        .status();
  }
  Answer<Waited> Wait(const TestSession& session, int seconds,
                      const std::string& job_id = "job-1") {
    v1::AwaitLaunchRequest request;
    request.set_job_id(job_id);
    request.mutable_wait()->set_seconds(seconds);
    auto answer = Post<v1::AwaitLaunchResponse>(waits_, &LaunchWaits::Await,
                                                CallOf(session), request);
    Sync();
    return answer;
  }
  // Begins and submits; the secret of the launch.
  std::string Submit(const TestSession& session) {
    const auto begun = Begin(session, Open());
    EXPECT_THAT(begun, IsOk());
    EXPECT_THAT(Say(session, Step::STEP_SUBMITTING), IsOk());
    EXPECT_THAT(Say(session, Step::STEP_LAUNCHED), IsOk());
    return begun.ok() ? begun->launch_token() : "";
  }

  const std::string elsewhere_ = root_ + "-elsewhere/a project";
  TestSession peer_;
};

TEST_F(LaunchOpenTest, AnySessionOpensAProjectPaneInAnyDirectory) {
  v1::BeginLaunchRequest request = Open();
  request.set_open_directory(elsewhere_ + "/.");
  const auto begun = Begin(peer_, request);
  ASSERT_THAT(begun, IsOk());
  EXPECT_EQ(begun->directory(), elsewhere_);
  EXPECT_THAT(begun->workspace_root(), IsEmpty());
  EXPECT_EQ(begun->title(), "Intercom: a project");
  EXPECT_EQ(begun->launch_token().size(), 64u);
  EXPECT_EQ(begun->job().kind(), v1::Job::KIND_OPEN);
  EXPECT_EQ(begun->job().launcher(), "herdr");
  EXPECT_FALSE(begun->job().fences());
}

TEST_F(LaunchOpenTest, InAWorkspaceItsMultiplexerOpensUnlessTheCallNamesOne) {
  EXPECT_THAT(
      Begin(worker_, Open()),
      FailsWith(absl::StatusCode::kFailedPrecondition, "LAUNCHER_NONE"));
  v1::BeginLaunchRequest request = Open();
  request.set_launcher("tmux");
  const auto begun = Begin(worker_, request);
  ASSERT_THAT(begun, IsOk());
  EXPECT_EQ(begun->job().launcher(), "tmux");
}

TEST_F(LaunchOpenTest, ADirectoryThatIsNotThereOpensNothing) {
  v1::BeginLaunchRequest request = Open();
  request.set_open_directory(elsewhere_ + "/missing");
  EXPECT_FALSE(Begin(peer_, request).ok());
  request.set_open_directory("relative");
  EXPECT_THAT(
      Begin(peer_, request),
      FailsWith(absl::StatusCode::kInvalidArgument, "DIRECTORY_INVALID"));
  EXPECT_EQ(JobOf("job-1").job_id, "");
}

TEST_F(LaunchOpenTest, ARepeatGetsTheSameLaunchUntilItIsSubmitted) {
  const auto first = Begin(peer_, Open());
  const auto again = Begin(peer_, Open());
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->launch_token(), first->launch_token());
  EXPECT_EQ(again->directory(), elsewhere_);
  EXPECT_THAT(Say(peer_, Step::STEP_SUBMITTING), IsOk());
  const auto late = Begin(peer_, Open());
  ASSERT_THAT(late, IsOk());
  EXPECT_THAT(late->launch_token(), IsEmpty());
  // The id is the caller's own.
  EXPECT_THAT(Begin(worker_, Open()),
              FailsWith(absl::StatusCode::kAlreadyExists, "JOB_ID_REUSED"));
}

TEST_F(LaunchOpenTest, WhoWaitsLearnsWhichSessionAttached) {
  const std::string token = Submit(peer_);
  const auto answer = Wait(peer_, 30);
  EXPECT_EQ(answer.count(), 0);
  JoinAt("new-1", elsewhere_, token);
  const Waited waited = answer.Wait();
  ASSERT_THAT(waited, IsOk());
  EXPECT_EQ(waited->session_id(), "new-1");
  EXPECT_EQ(waited->job().state(), v1::Job::STATE_SUCCEEDED);
  // Who asks later learns the same.
  EXPECT_EQ(Wait(peer_, 0).Wait()->session_id(), "new-1");
}

TEST_F(LaunchOpenTest, AWaitEndsWithItsTimeAndWithAFailedLaunch) {
  Submit(peer_);
  const auto answer = Wait(peer_, 20);
  Advance(absl::Seconds(20));
  const Waited waited = answer.Wait();
  ASSERT_THAT(waited, IsOk());
  EXPECT_THAT(waited->session_id(), IsEmpty());
  EXPECT_EQ(waited->job().state(), v1::Job::STATE_SUBMITTED);

  const auto second = Wait(peer_, 20);
  EXPECT_THAT(Say(peer_, Step::STEP_NOT_SUBMITTED), IsOk());
  EXPECT_EQ(second.Wait()->job().state(), v1::Job::STATE_FAILED);
}

TEST_F(LaunchOpenTest, OnlyWhoBeganALaunchWaitsForIt) {
  Submit(peer_);
  EXPECT_THAT(Wait(worker_, 0).Wait(),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_JOB"));
  EXPECT_THAT(Wait(peer_, 31).Wait(),
              FailsWith(absl::StatusCode::kInvalidArgument, "WAIT_INVALID"));
}

TEST_F(LaunchOpenTest, ABrokerThatLeavesAnswersWhoWaits) {
  Submit(peer_);
  const auto answer = Wait(peer_, 30);
  OnState([&] {
    waits_.Drain();
    return true;
  });
  EXPECT_EQ(answer.Wait()->job().state(), v1::Job::STATE_SUBMITTED);
}

TEST_F(LaunchOpenTest, ASessionHasAtMost16PanesOnTheirWay) {
  for (int i = 0; i < LaunchDesk::kMaxOpening; ++i) {
    ASSERT_THAT(Begin(peer_, Open("job-" + std::to_string(i))), IsOk());
  }
  EXPECT_THAT(Begin(peer_, Open("one-more")),
              FailsWith(absl::StatusCode::kResourceExhausted, "JOBS_FULL"));
}

TEST_F(LaunchOpenTest, ASlowPaneIsNoNewsForACoordinator) {
  v1::BeginLaunchRequest request = Open();
  request.set_launcher("tmux");
  request.set_open_directory(root_);
  ASSERT_THAT(Begin(worker_, request), IsOk());
  ASSERT_THAT(Say(worker_, Step::STEP_SUBMITTING), IsOk());
  Advance(absl::Seconds(100));
  OnState([&] {
    job_desk_.Tick();
    return true;
  });
  Sync();
  EXPECT_THAT(NoticesOf("LAUNCH"), IsEmpty());
}

}  // namespace
}  // namespace intercom
