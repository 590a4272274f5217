#ifndef PI_INTERCOM_TESTS_UNIT_WORK_CLOSE_RIG_H_
#define PI_INTERCOM_TESTS_UNIT_WORK_CLOSE_RIG_H_

#include <string>

#include "gmock/gmock.h"
#include "tests/support/job_rig.h"

namespace intercom {

// Closes of w-1, driven step by step.
class CloseRig : public JobRig {
 protected:
  using Control = v1::Control;

  absl::StatusOr<v1::CloseWorkerResponse> Close(
      const std::string& to = "Reviewer") {
    v1::CloseWorkerRequest request;
    request.set_to(to);
    return Ask<v1::CloseWorkerResponse>(closes_, &CloseDesk::Close,
                                        CallOf(coordinator_), request);
  }
  // Requests a close of w-1 and keeps its id.
  void Begin() {
    const auto response = Close();
    ASSERT_THAT(response, IsOk());
    job_id_ = response->job().job_id();
  }

  // The identity of the worker's host, in a pane.
  v1::HostIdentity Identity() {
    v1::HostIdentity identity;
    identity.set_session_id("w-1");
    identity.set_session_file("/sessions/w-1.jsonl");
    identity.set_host_pid(PidOf("w-1"));
    identity.set_host_start_ticks(identity.host_pid() * 10);
    identity.mutable_pane()->set_launcher("tmux");
    identity.mutable_pane()->set_pane("%7");
    return identity;
  }
  void SayPrepared(const v1::HostIdentity& identity) {
    v1::ControlResult result = Ok();
    *result.mutable_identity() = identity;
    AnswerLast(worker_, Control::KIND_PREPARE_CLOSE, result);
  }
  void SayInspected() {
    AnswerLast(coordinator_, Control::KIND_INSPECT_HOST, Ok());
  }
  Answer<absl::StatusOr<v1::ReportHandoffResponse>> PostReport(
      const std::string& summary = "all is done") {
    v1::ReportHandoffRequest request;
    request.set_job_id(job_id_);
    request.set_summary(summary);
    return Post<v1::ReportHandoffResponse>(closes_, &CloseDesk::ReportHandoff,
                                           CallOf(worker_), request);
  }
  absl::StatusOr<v1::ReportHandoffResponse> Report(
      const std::string& summary = "all is done") {
    auto response = PostReport(summary).Wait();
    Sync();
    return response;
  }
  void SaySettled() { SayEvent(worker_, job_id_, v1::JobEvent::EVENT_SETTLED); }
  void SayCommitted() {
    v1::ControlResult result = Ok();
    result.set_nonce(
        ControlsOf(worker_, Control::KIND_COMMIT_CLOSE).back().nonce());
    AnswerLast(worker_, Control::KIND_COMMIT_CLOSE, result);
  }
  // The host ends, and somebody looks.
  void EndHost() {
    processes_.End(host_pid_);
    Detach(worker_, v1::Goodbye::REASON_QUIT);
    Advance(ProcessWatch::kEvery);
  }
  void SayPaneClosed(bool is_gone = true) {
    v1::ControlResult result = Ok();
    result.set_pane_gone(is_gone);
    AnswerLast(coordinator_, Control::KIND_CLOSE_PANE, result);
  }

  // Drives a close of w-1 up to a state; CLOSING means that the host is about
  // to be told to end.
  void DriveTo(v1::Job::State state) {
    Begin();
    if (state == v1::Job::STATE_REQUESTED) return;
    host_pid_ = PidOf("w-1");
    SayPrepared(Identity());
    SayInspected();
    if (state == v1::Job::STATE_AWAITING_HANDOFF) return;
    ASSERT_THAT(Report(), IsOk());
    if (state == v1::Job::STATE_AWAITING_SETTLEMENT) return;
    SaySettled();
    if (state == v1::Job::STATE_READY) return;
    SayInspected();
  }
  // To the moment in which the host was told to end.
  void DriveToCommit() {
    DriveTo(v1::Job::STATE_CLOSING);
    SayInspected();
    ASSERT_THAT(ControlsOf(worker_, Control::KIND_COMMIT_CLOSE),
                ::testing::SizeIs(1));
  }

  v1::Job::State State() { return JobOf(job_id_).state; }
  std::string Reason() { return JobOf(job_id_).reason; }
  // Ended without a close: the host takes mail again, and nothing was
  // irrevocable.
  void ExpectOver(v1::Job::State state, const std::string& reason) {
    EXPECT_EQ(State(), state);
    EXPECT_EQ(Reason(), reason);
    EXPECT_THAT(fences_.Check(root_, "w-1"), IsOk());
    EXPECT_THAT(ControlsOf(coordinator_, Control::KIND_CLOSE_PANE),
                ::testing::IsEmpty());
    EXPECT_THAT(NoticesOf("CLOSE"), ::testing::SizeIs(1));
  }
  // The config's text once everything posted before is published.
  std::string Published() {
    EXPECT_THAT(ReadConfigNow(), IsOk());
    return ReadText(ConfigPath(root_));
  }

  std::string job_id_;
  int64_t host_pid_ = 0;
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_UNIT_WORK_CLOSE_RIG_H_
