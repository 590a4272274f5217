// One launch, one stop and one close, over the wire and with real processes.

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "broker/base/process.h"
#include "intercom/v1/work.grpc.pb.h"
#include "tests/integration/broker_fixture.h"

extern char** environ;

namespace intercom {
namespace {

using ::testing::HasSubstr;

// A process that does nothing until it is ended. No child of a fork, which
// would hold this process's connections open.
class IdleProcess {
 public:
  IdleProcess() {
    char name[] = "sleep";
    char forever[] = "infinity";
    char* arguments[] = {name, forever, nullptr};
    if (posix_spawnp(&pid_, name, nullptr, nullptr, arguments, environ) != 0) {
      std::abort();
    }
  }
  ~IdleProcess() { End(); }

  void End() {
    if (pid_ == 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  int64_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

class JobsOverTheWireTest : public BrokerFixture {
 protected:
  using Stub = v1::WorkService::Stub;

  JobsOverTheWireTest() {
    StartBroker();
    // Its agent agrees to every host, and closes every pane.
    coordinator_ = Attach("c-1", [](AttachClient& client, const Frame& frame) {
      if (!frame.has_control()) return;
      v1::AttachRequest answer = AnswerTo(frame);
      answer.mutable_control_result()->set_pane_gone(true);
      client.Write(answer);
    });
    calls_ = Tcp();
    calls_->ActAs(coordinator_->frames.welcome().session_token());
  }

  // A worker whose host is `process`.
  std::unique_ptr<AttachClient> AttachWorker(const IdleProcess& process,
                                             AttachClient::OnFrame on_frame) {
    auto client = std::make_unique<AttachClient>(Tcp(), std::move(on_frame));
    v1::Hello hello = HelloOf("w-1", process.pid());
    hello.set_host_start_ticks(StartTicksOf(process.pid()));
    hello.add_capabilities("stop");
    hello.add_capabilities("close");
    EXPECT_TRUE(client->SayHello(hello));
    client->StartReading();
    client->frames.WaitFor(Frame::kReconcile);
    EXPECT_TRUE(client->SayPresent({}));
    return client;
  }
  static v1::AttachRequest AnswerTo(const Frame& frame) {
    v1::AttachRequest request;
    request.mutable_control_result()->set_control_id(
        frame.control().control_id());
    request.mutable_control_result()->set_ok(true);
    return request;
  }
  static v1::AttachRequest EventOf(const std::string& job_id,
                                   v1::JobEvent::Event event) {
    v1::AttachRequest request;
    request.mutable_job_event()->set_job_id(job_id);
    request.mutable_job_event()->set_event(event);
    return request;
  }
  template <typename Request, typename Response>
  CallEnd Call(grpc::Status (Stub::*method)(grpc::ClientContext*,
                                            const Request&, Response*),
               const Request& request, Response& response,
               std::shared_ptr<BrokerClient> as = nullptr) {
    if (as == nullptr) as = calls_;
    return as->Call(*as->work, method, request, response);
  }
  v1::Job JobOf(const std::string& id) {
    v1::GetJobRequest request;
    request.set_job_id(id);
    v1::GetJobResponse response;
    EXPECT_TRUE(Call(&Stub::GetJob, request, response, Unix()).ok());
    return response.job();
  }

  std::unique_ptr<AttachClient> coordinator_;
  std::shared_ptr<BrokerClient> calls_;
};

TEST_F(JobsOverTheWireTest, ALaunchIsSubmittedAndNamedByTheSessionThatComes) {
  v1::BeginLaunchRequest begin;
  begin.set_job_id("00000000-0000-4000-8000-000000000001");
  begin.set_launcher("tmux");
  v1::BeginLaunchResponse begun;
  ASSERT_TRUE(Call(&Stub::BeginLaunch, begin, begun).ok());
  EXPECT_EQ(begun.directory(), root_);
  v1::AdvanceLaunchRequest advance;
  advance.set_job_id(begin.job_id());
  advance.set_step(v1::AdvanceLaunchRequest::STEP_SUBMITTING);
  v1::AdvanceLaunchResponse advanced;
  ASSERT_TRUE(Call(&Stub::AdvanceLaunch, advance, advanced).ok());
  EXPECT_EQ(advanced.job().state(), v1::Job::STATE_SUBMITTED);

  AttachClient fresh(Tcp());
  v1::Hello hello = HelloOf("x-1");
  hello.set_start_reason(v1::START_REASON_STARTUP);
  hello.set_launch_token(begun.launch_token());
  fresh.SayHello(hello);
  fresh.StartReading();
  fresh.frames.WaitFor(Frame::kWelcome);
  const auto deliveries = coordinator_->frames.WaitFor(Frame::kDelivery);
  EXPECT_THAT(deliveries[0].delivery().envelope().text(),
              HasSubstr("launched as job " + begin.job_id()));
  EXPECT_EQ(JobOf(begin.job_id()).state(), v1::Job::STATE_SUCCEEDED);
  EXPECT_EQ(JobOf(begin.job_id()).session_id(), "x-1");
}

TEST_F(JobsOverTheWireTest, AStopReturnsWhenTheHostStandsStill) {
  IdleProcess host;
  const auto worker =
      AttachWorker(host, [](AttachClient& client, const Frame& frame) {
        if (frame.control().kind() != v1::Control::KIND_STOP) return;
        client.Write(AnswerTo(frame));
        client.Write(
            EventOf(frame.control().job_id(), v1::JobEvent::EVENT_STOPPED));
      });
  v1::StopWorkerRequest request;
  request.set_to("Reviewer");
  v1::StopWorkerResponse response;
  ASSERT_TRUE(Call(&Stub::StopWorker, request, response).ok());
  EXPECT_EQ(response.job().state(), v1::Job::STATE_SUCCEEDED);
}

TEST_F(JobsOverTheWireTest, ACloseEndsTheHostAndItsPaneAfterTheHandoff) {
  IdleProcess host;
  std::shared_ptr<BrokerClient> as_worker = Tcp();
  std::thread reporter;
  const auto worker =
      AttachWorker(host, [&](AttachClient& client, const Frame& frame) {
        if (frame.has_welcome()) {
          as_worker->ActAs(frame.welcome().session_token());
        }
        if (frame.has_delivery()) {
          // The model writes; a call of its own, as its agent makes it.
          const std::string job_id = frame.delivery().envelope().envelope_id();
          reporter = std::thread([&, job_id] {
            v1::ReportHandoffRequest report;
            report.set_job_id(job_id);
            report.set_summary("all done");
            v1::ReportHandoffResponse reported;
            EXPECT_TRUE(
                Call(&Stub::ReportHandoff, report, reported, as_worker).ok());
            client.Write(EventOf(job_id, v1::JobEvent::EVENT_SETTLED));
          });
        }
        if (!frame.has_control()) return;
        v1::AttachRequest answer = AnswerTo(frame);
        v1::ControlResult& result = *answer.mutable_control_result();
        if (frame.control().kind() == v1::Control::KIND_PREPARE_CLOSE) {
          v1::HostIdentity& identity = *result.mutable_identity();
          identity.set_session_id("w-1");
          identity.set_host_pid(host.pid());
          identity.set_host_start_ticks(StartTicksOf(host.pid()));
          identity.mutable_pane()->set_launcher("tmux");
          identity.mutable_pane()->set_pane("%1");
        }
        result.set_nonce(frame.control().nonce());
        client.Write(answer);
        if (frame.control().kind() == v1::Control::KIND_COMMIT_CLOSE)
          host.End();
      });
  v1::CloseWorkerRequest request;
  request.set_to("Reviewer");
  v1::CloseWorkerResponse response;
  ASSERT_TRUE(Call(&Stub::CloseWorker, request, response).ok());
  const std::string id = response.job().job_id();
  // The coordinator hears of the end.
  const auto deliveries = coordinator_->frames.WaitFor(Frame::kDelivery);
  EXPECT_THAT(deliveries[0].delivery().envelope().text(),
              HasSubstr("Reviewer is closed"));
  EXPECT_EQ(JobOf(id).state(), v1::Job::STATE_SUCCEEDED);
  reporter.join();
}

TEST_F(JobsOverTheWireTest, ARestartInterruptsACloseAndAsksNobodyAgain) {
  IdleProcess host;
  auto worker = AttachWorker(host, nullptr);
  v1::CloseWorkerRequest request;
  request.set_to("Reviewer");
  v1::CloseWorkerResponse response;
  ASSERT_TRUE(Call(&Stub::CloseWorker, request, response).ok());
  worker->frames.WaitFor(Frame::kControl);
  const std::string id = response.job().job_id();
  RestartBroker();
  EXPECT_EQ(JobOf(id).state(), v1::Job::STATE_INTERRUPTED);
  worker = AttachWorker(host, nullptr);
  // It is told that it is over, and nothing else before its next mail.
  v1::DeliveryRecord record;
  ASSERT_TRUE(Unix()->Send("Reviewer", Message("e1"), root_, &record).ok());
  worker->frames.WaitFor(Frame::kDelivery);
  const auto controls = worker->frames.Of(Frame::kControl);
  ASSERT_EQ(controls.size(), 1u);
  EXPECT_EQ(controls[0].control().kind(), v1::Control::KIND_END_CLOSE);
}

TEST_F(JobsOverTheWireTest, APersonListsJobsAndASessionDoesNotResolveThem) {
  v1::BeginLaunchRequest begin;
  begin.set_job_id("00000000-0000-4000-8000-000000000001");
  begin.set_launcher("tmux");
  v1::BeginLaunchResponse begun;
  ASSERT_TRUE(Call(&Stub::BeginLaunch, begin, begun).ok());
  v1::ListJobsResponse listed;
  ASSERT_TRUE(
      Call(&Stub::ListJobs, v1::ListJobsRequest(), listed, Unix()).ok());
  ASSERT_EQ(listed.jobs_size(), 1);
  EXPECT_EQ(listed.jobs(0).job_id(), begin.job_id());
  v1::ResolveJobRequest resolve;
  resolve.set_job_id(begin.job_id());
  v1::ResolveJobResponse resolved;
  EXPECT_THAT(
      Call(&Stub::ResolveJob, resolve, resolved),
      EndsWithReason(grpc::StatusCode::PERMISSION_DENIED, "NOT_PERMITTED"));
  EXPECT_THAT(
      Call(&Stub::ResolveJob, resolve, resolved, Unix()),
      EndsWithReason(grpc::StatusCode::FAILED_PRECONDITION, "JOB_PENDING"));
}

}  // namespace
}  // namespace intercom
