#ifndef PI_INTERCOM_TESTS_SUPPORT_JOB_RIG_H_
#define PI_INTERCOM_TESTS_SUPPORT_JOB_RIG_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "broker/work/job_desk.h"
#include "broker/work/launch_waits.h"
#include "tests/support/fake_processes.h"
#include "tests/support/work_rig.h"

namespace intercom {

// The desks of jobs, with a coordinator c-1 and workers w-1 "Reviewer" and w-2
// "Builder", of which the first two are attached. Processes run as the test
// says; each host is a process of its own.
class JobRig : public WorkRig {
 protected:
  JobRig() {
    registrar_.AddObserver(launches_);
    registrar_.AddObserver(waits_);
    jobs_.AddOnChanged([this](const JobRow& job) { waits_.OnJobChanged(job); });
    registrar_.AddObserver(stops_);
    registrar_.AddObserver(closes_);
    registrar_.SetOnAdmit([this](const v1::Hello& hello,
                                 const std::string& root, Effects& effects) {
      return launches_.OnAdmit(hello, root, effects);
    });
    mirror_.AddOnChanged(
        [this](const Workspace& workspace) { record_.OnMirrored(workspace); });
    WriteConfig(root_, ConfigText({{"c-1", "Coordinator"},
                                   {"w-1", "Reviewer"},
                                   {"w-2", "Builder"}}));
    coordinator_ = Join("c-1");
    worker_ = JoinWorker();
  }
  ~JobRig() override { runner_->Stop(); }

  // A host that knows how to stop and to close.
  v1::Hello WorkerHello(const std::string& session_id, int64_t pid = 0) {
    v1::Hello hello = HelloOf(session_id, pid);
    hello.set_host_start_ticks(hello.host_pid() * 10);
    hello.add_capabilities("stop");
    hello.add_capabilities("close");
    return hello;
  }
  TestSession JoinAs(const v1::Hello& hello) {
    auto session = TryAttach(hello);
    EXPECT_THAT(session, IsOk());
    if (!session.ok()) return {{}, std::make_shared<RecordingLink>()};
    processes_.Start(hello.host_pid(), hello.host_start_ticks());
    SayPresent(*session, {});
    return *session;
  }
  TestSession JoinWorker(const std::string& session_id = "w-1") {
    return JoinAs(WorkerHello(session_id));
  }
  int64_t PidOf(const std::string& session_id) {
    return OnState([&] { return roster_.Find(session_id)->host_pid; });
  }

  // Calls a method of a desk; the answer comes when it comes.
  template <typename Response, typename Desk, typename Method, typename Request>
  Answer<absl::StatusOr<Response>> Post(Desk& desk, Method method,
                                        const CallerEvidence& evidence,
                                        const Request& request) {
    Answer<absl::StatusOr<Response>> answer;
    (desk.*method)(evidence, request, answer.Callback());
    return answer;
  }
  template <typename Response, typename Desk, typename Method, typename Request>
  absl::StatusOr<Response> Ask(Desk& desk, Method method,
                               const CallerEvidence& evidence,
                               const Request& request) {
    auto response = Post<Response>(desk, method, evidence, request).Wait();
    Sync();
    return response;
  }

  // The delivery id of a run that the coordinator opened and w-1 has.
  std::string OpenRunning(const std::string& id) {
    v1::SendRequest request;
    *request.mutable_envelope() = Message(id);
    request.set_to("Reviewer");
    request.set_reach(v1::REACH_ACCOUNT);
    request.mutable_run();
    RecordAnswer answer;
    mail_.Send(CallOf(coordinator_), request, answer.Callback());
    const auto record = answer.Wait();
    EXPECT_THAT(record, IsOk());
    if (!record.ok()) return "";
    Sync();
    SayReceipt(worker_, record->delivery_id(), v1::Receipt::EVENT_INJECTED);
    return record->delivery_id();
  }
  void SayRun(const std::string& delivery_id, v1::RunEvent::Event event) {
    v1::RunEvent said;
    said.set_delivery_id(delivery_id);
    said.set_event(event);
    run_desk_.OnEvent(worker_.key, said);
    Sync();
  }
  RunRow RunOf(const std::string& delivery_id) {
    return OnState([&] {
      return run_store_.FindByDelivery(delivery_id).value().value_or(RunRow());
    });
  }
  int SettledInNews() {
    const auto frames = coordinator_.link->Of(v1::AttachResponse::kRunNews);
    return frames.empty() ? 0 : frames.back().run_news().settled_size();
  }

  // The controls of a kind that a session was sent, in order.
  std::vector<v1::Control> ControlsOf(const TestSession& session,
                                      v1::Control::Kind kind) {
    Sync();
    std::vector<v1::Control> found;
    for (const auto& frame : session.link->Of(v1::AttachResponse::kControl)) {
      if (frame.control().kind() == kind) found.push_back(frame.control());
    }
    return found;
  }
  // Answers the last control of a kind with `result`, whose id is set here.
  void AnswerLast(const TestSession& session, v1::Control::Kind kind,
                  v1::ControlResult result) {
    const auto controls = ControlsOf(session, kind);
    ASSERT_FALSE(controls.empty());
    result.set_control_id(controls.back().control_id());
    controls_.OnResult(session.key, result);
    Sync();
  }
  static v1::ControlResult Ok() {
    v1::ControlResult result;
    result.set_ok(true);
    return result;
  }
  static v1::ControlResult Refusal(const std::string& error) {
    v1::ControlResult result;
    result.set_error(error);
    return result;
  }
  void SayEvent(const TestSession& session, const std::string& job_id,
                v1::JobEvent::Event event, const std::string& detail = "") {
    v1::JobEvent said;
    said.set_job_id(job_id);
    said.set_event(event);
    said.set_detail(detail);
    job_desk_.OnEvent(session.key, said);
    Sync();
  }

  // How a job is, on disk.
  JobRow JobOf(const std::string& job_id) {
    return OnState(
        [&] { return job_store_.Find(job_id).value().value_or(JobRow()); });
  }
  // Puts a job on disk, as an earlier broker has left it.
  void Leave(const JobRow& job) {
    EXPECT_THAT(OnState([&] { return job_store_.Put(job); }), IsOk());
  }
  // What a broker does when it starts.
  void StartAnew() {
    EXPECT_THAT(OnState([&] { return job_desk_.Load(); }), IsOk());
    Sync();
  }
  // From now on no job can be stored in `state`, as on a full disk.
  void BreakStorage(v1::Job::State state) {
    EXPECT_THAT(OnState([&] {
                  return runner_->database().Execute(
                      "CREATE TEMP TRIGGER broken BEFORE UPDATE ON main.jobs "
                      "WHEN NEW.state = " +
                      std::to_string(state) +
                      " BEGIN SELECT RAISE(ABORT, 'no room'); END");
                }),
                IsOk());
  }
  void MendStorage() {
    EXPECT_THAT(OnState([&] {
                  return runner_->database().Execute("DROP TRIGGER broken");
                }),
                IsOk());
  }
  // Texts of the notices of a topic that the coordinator was sent.
  std::vector<std::string> NoticesOf(const std::string& topic) {
    Sync();
    std::vector<std::string> texts;
    for (const v1::Delivery& delivery : coordinator_.link->deliveries()) {
      if (delivery.envelope().topic() != topic) continue;
      EXPECT_FALSE(delivery.envelope().quiet());
      texts.push_back(delivery.envelope().text());
    }
    return texts;
  }

  FakeProcesses processes_;
  ProcessWatch watch_{*runner_, clock_, processes_.TicksOf()};
  Jobs jobs_{*runner_, job_store_, fences_, clock_};
  JobNews job_news_{*runner_, mirror_, dispatcher_, jobs_};
  CloseRecord record_{*runner_, lanes_, mirror_};
  LaunchWaits waits_{*runner_, workspaces_, roster_, job_store_};
  LaunchDesk launches_{*runner_,   lanes_, workspaces_, roster_, session_store_,
                       job_store_, jobs_,  fences_,     watch_,  job_news_,
                       headless_,  clock_, random_};
  StopDesk stops_{*runner_,  workspaces_, roster_, job_store_, jobs_,  fences_,
                  controls_, job_news_,   watch_,  clock_,     random_};
  CloseDesk closes_{*runner_,  workspaces_, mirror_, roster_,   job_store_,
                    handoffs_, jobs_,       fences_, controls_, dispatcher_,
                    record_,   job_news_,   watch_,  clock_,    random_};
  JobDesk job_desk_{*runner_,  workspaces_, roster_, job_store_, jobs_, fences_,
                    launches_, stops_,      closes_, watch_,     clock_};
  TestSession coordinator_;
  TestSession worker_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_SUPPORT_JOB_RIG_H_
