#ifndef PI_INTERCOM_TESTS_SUPPORT_RUN_RIG_H_
#define PI_INTERCOM_TESTS_SUPPORT_RUN_RIG_H_

#include <memory>
#include <string>
#include <vector>

#include "broker/work/run_text.h"
#include "broker/work/run_watch.h"
#include "tests/support/fake_processes.h"
#include "tests/support/work_rig.h"

namespace intercom {

// Runs, with a coordinator c-1 and workers w-1 "Builder" and w-2 "Tester",
// whose hosts are processes that run as the test says.
class RunRig : public WorkRig {
 protected:
  RunRig() {
    registrar_.AddObserver(run_watch_);
    // A host shows the id of the launch that opened it.
    registrar_.SetOnAdmit([](const v1::Hello& hello, const std::string&,
                             Effects&) -> absl::StatusOr<std::string> {
      return hello.launch_token();
    });
    heirs_.SetOnMoved([this](const std::string& from, const std::string& to) {
      asks_.OnMailMoved(from, to);
      runs_.OnMailMoved(from, to);
    });
    WriteConfig(root_, ConfigText({{"c-1", "Coordinator"},
                                   {"w-1", "Builder"},
                                   {"w-2", "Tester"}}));
    coordinator_ = Join("c-1");
    worker_ = JoinWorker("w-1");
    other_ = JoinWorker("w-2");
  }
  ~RunRig() override { runner_->Stop(); }

  v1::Hello WorkerHello(const std::string& session_id, int64_t pid = 0) {
    v1::Hello hello = HelloOf(session_id, pid);
    hello.set_host_start_ticks(hello.host_pid() * 10);
    hello.add_capabilities("stop");
    return hello;
  }
  TestSession JoinAs(const v1::Hello& hello,
                     const std::vector<std::string>& present = {}) {
    auto session = TryAttach(hello);
    EXPECT_THAT(session, IsOk());
    if (!session.ok()) return {{}, std::make_shared<RecordingLink>()};
    processes_.Start(hello.host_pid(), hello.host_start_ticks());
    SayPresent(*session, present);
    return *session;
  }
  TestSession JoinWorker(const std::string& session_id) {
    return JoinAs(WorkerHello(session_id));
  }
  // A session without an entry whose host `requester` launched headless.
  TestSession JoinHeadless(const std::string& session_id,
                           const std::string& requester) {
    JobRow job;
    job.job_id = "job-of-" + session_id;
    job.kind = v1::Job::KIND_OPEN;
    job.state = v1::Job::STATE_SUCCEEDED;
    job.requested_by = requester;
    job.launcher = "headless";
    job.created_at = job.updated_at = clock_.Now();
    EXPECT_THAT(OnState([&] { return job_store_.Put(job); }), IsOk());
    v1::Hello hello = WorkerHello(session_id);
    hello.set_session_name(session_id + " by name");
    hello.set_launch_token(job.job_id);
    return JoinAs(hello);
  }

  v1::SendRequest Opening(const std::string& to, const std::string& id,
                          const std::string& label = "") {
    v1::SendRequest request;
    *request.mutable_envelope() = Message(id);
    request.set_to(to);
    request.set_reach(v1::REACH_ACCOUNT);
    request.mutable_run()->set_label(label);
    return request;
  }
  absl::StatusOr<v1::DeliveryRecord> Send(const TestSession& sender,
                                          const v1::SendRequest& request) {
    RecordAnswer answer;
    mail_.Send(CallOf(sender), request, answer.Callback());
    auto record = answer.Wait();
    Sync();
    return record;
  }
  using WorkRig::Send;
  // The delivery id of a new run that the coordinator opens.
  std::string Open(const std::string& to, const std::string& id,
                   const std::string& label = "") {
    const auto record = Send(coordinator_, Opening(to, id, label));
    EXPECT_THAT(record, IsOk());
    if (record.ok()) run_id_ = record->run_id();
    return record.ok() ? record->delivery_id() : "";
  }
  // The same, put into the worker's session w-1.
  std::string OpenRunning(const std::string& id) {
    const std::string delivery_id = Open("Builder", id);
    SayReceipt(worker_, delivery_id, v1::Receipt::EVENT_INJECTED);
    return delivery_id;
  }

  static v1::RunEvent Event(const std::string& delivery_id,
                            v1::RunEvent::Event event,
                            const std::string& text = "", int64_t turns = 0) {
    v1::RunEvent said;
    said.set_delivery_id(delivery_id);
    said.set_event(event);
    said.set_turns(turns);
    said.mutable_result()->set_text(text);
    return said;
  }
  void Say(const TestSession& session, const v1::RunEvent& event) {
    run_desk_.OnEvent(session.key, event);
    Sync();
  }
  void SayDone(const std::string& delivery_id, const std::string& text = "") {
    Say(worker_, Event(delivery_id, v1::RunEvent::EVENT_DONE, text));
  }
  enum class Told { kAnnounced, kCollected, kStalled };
  void SayTold(const TestSession& session, Told what,
               const std::vector<std::string>& run_ids) {
    v1::RunsTold told;
    for (const std::string& id : run_ids) {
      if (what == Told::kAnnounced) told.add_announced(id);
      if (what == Told::kCollected) told.add_collected(id);
      if (what == Told::kStalled) told.add_stalled(id);
    }
    run_desk_.OnTold(session.key, told);
    Sync();
  }

  // Time passes, and the broker notices.
  void Pass(absl::Duration by) {
    clock_.Advance(by);
    runner_->WakeTimers();
    Sync();
    runner_->PostTask([this] {
      asks_.Tick();
      run_watch_.Tick();
    });
    Sync();
  }

  // How a run is, on disk.
  RunRow RowOf(const std::string& delivery_id) {
    return OnState([&] {
      return run_store_.FindByDelivery(delivery_id).value().value_or(RunRow());
    });
  }
  v1::Run::State StateOf(const std::string& delivery_id) {
    return RowOf(delivery_id).state;
  }
  std::string ReasonFor(const std::string& delivery_id) {
    return RowOf(delivery_id).reason;
  }
  std::string TextOf(const std::string& delivery_id) {
    const int64_t number = RowOf(delivery_id).number;
    return OnState([&] { return run_store_.Result(number).value().text(); });
  }
  absl::StatusOr<v1::ListRunsResponse> List(
      const TestSession& session, const std::vector<std::string>& ids = {}) {
    v1::ListRunsRequest request;
    for (const std::string& id : ids) request.add_run_ids(id);
    return CallOn(run_desk_, &RunDesk::ListRuns, CallOf(session), request);
  }
  absl::StatusOr<v1::GetRunResponse> Get(const TestSession& session,
                                         const std::string& run_id) {
    v1::GetRunRequest request;
    request.set_run_id(run_id);
    return CallOn(run_desk_, &RunDesk::GetRun, CallOf(session), request);
  }
  // What a session was told last; empty for nothing.
  static v1::RunNews NewsOf(const TestSession& session) {
    const auto frames = session.link->Of(v1::AttachResponse::kRunNews);
    return frames.empty() ? v1::RunNews() : frames.back().run_news();
  }
  static v1::OpenRuns OpenRunsOf(const TestSession& session) {
    const auto frames = session.link->Of(v1::AttachResponse::kOpenRuns);
    return frames.empty() ? v1::OpenRuns() : frames.back().open_runs();
  }
  static std::vector<std::string> IdsOf(
      const google::protobuf::RepeatedPtrField<v1::Run>& runs) {
    std::vector<std::string> ids;
    for (const v1::Run& run : runs) ids.push_back(run.run_id());
    return ids;
  }
  // Those that the last news name as settled.
  static std::vector<std::string> SettledIds(const TestSession& session) {
    std::vector<std::string> ids;
    const v1::RunNews news = NewsOf(session);
    for (const v1::SettledRun& settled : news.settled()) {
      ids.push_back(settled.run().run_id());
    }
    return ids;
  }
  std::vector<v1::Control> StopsOf(const TestSession& session) {
    Sync();
    std::vector<v1::Control> found;
    for (const auto& frame : session.link->Of(v1::AttachResponse::kControl)) {
      if (frame.control().kind() == v1::Control::KIND_STOP) {
        found.push_back(frame.control());
      }
    }
    return found;
  }
  void AnswerStop(const TestSession& session, bool ok = true) {
    const auto stops = StopsOf(session);
    ASSERT_FALSE(stops.empty());
    v1::ControlResult result;
    result.set_control_id(stops.back().control_id());
    result.set_ok(ok);
    if (!ok) result.set_error("no way");
    controls_.OnResult(session.key, result);
    Sync();
  }
  using StopAnswer = Answer<absl::StatusOr<v1::StopRunResponse>>;
  StopAnswer PostStop(const std::string& run_id,
                      const std::string& request_id = "") {
    v1::StopRunRequest request;
    request.set_run_id(run_id);
    request.set_request_id(request_id);
    StopAnswer answer;
    run_stops_.StopRun(CallOf(coordinator_), request, answer.Callback());
    Sync();
    return answer;
  }

  FakeProcesses processes_;
  ProcessWatch watch_{*runner_, clock_, processes_.TicksOf()};
  RunWatch run_watch_{*runner_,   roster_,    session_store_, runs_,
                      run_store_, run_stops_, run_teller_,    dispatcher_,
                      watch_,     clock_};
  TestSession coordinator_, worker_, other_;
  // That of the run opened last.
  std::string run_id_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_SUPPORT_RUN_RIG_H_
