#include "worker-agent/link/session_calls.h"

#include <utility>

#include "broker/base/error.h"
#include "intercom/v1/ask.grpc.pb.h"
#include "intercom/v1/message.grpc.pb.h"
#include "intercom/v1/monitor.grpc.pb.h"
#include "intercom/v1/roster.grpc.pb.h"
#include "intercom/v1/run.grpc.pb.h"
#include "intercom/v1/work.grpc.pb.h"
#include "intercom/v1/workspace.grpc.pb.h"
#include "worker-agent/link/channel.h"
#include "worker-agent/link/open_calls.h"

namespace intercom {

struct SessionCalls::Connection {
  std::unique_ptr<v1::WorkspaceService::Stub> workspace;
  std::unique_ptr<v1::WorkService::Stub> work;
  std::unique_ptr<v1::MessageService::Stub> message;
  std::unique_ptr<v1::AskService::Stub> ask;
  std::unique_ptr<v1::RosterService::Stub> roster;
  std::unique_ptr<v1::RunService::Stub> run;
  std::unique_ptr<v1::MonitorPaneService::Stub> monitor;
  std::shared_ptr<OpenCalls> calls;
  std::string bearer_token;
  std::string session_token;
};

namespace {

constexpr absl::Duration kUsual = absl::Seconds(10);
// The broker waits 8 s for the worker's host.
constexpr absl::Duration kStop = absl::Seconds(12);
// A session has 20 s to come up.
constexpr absl::Duration kLaunchWait = absl::Seconds(25);
// Probes take 4 s together.
constexpr absl::Duration kStatus = absl::Seconds(8);
// 10 s longer than the longest wait.
constexpr absl::Duration kAwait = absl::Seconds(25);

// What a broken connection leaves open.
enum class Kind {
  // Nothing: a question, or a call that is made again with the same id.
  kRepeatable,
  // Whether the change was made.
  kChange,
};

// One call. Lives by itself until gRPC is done with it.
template <typename Request, typename Response>
class UnaryCall : public grpc::ClientUnaryReactor {
 public:
  UnaryCall(Request request, std::shared_ptr<OpenCalls> calls,
            std::function<void(absl::StatusOr<Response>)> done)
      : request_(std::move(request)),
        calls_(std::move(calls)),
        done_(std::move(done)) {}

  grpc::ClientContext& context() { return context_; }
  const Request* request() const { return &request_; }
  Response* response() { return &response_; }
  // Keeps this object and what it needs until the end of the call.
  void Hold(std::shared_ptr<void> self,
            std::shared_ptr<const void> connection) {
    self_ = std::move(self);
    connection_ = std::move(connection);
  }

  void OnDone(const grpc::Status& status) override {
    if (status.ok()) {
      done_(std::move(response_));
    } else {
      done_(FromGrpc(status, context_));
    }
    // This object may be gone as soon as it is handed over.
    const std::shared_ptr<OpenCalls> calls = calls_;
    calls->Finished(&context_, std::move(self_));
  }

 private:
  grpc::ClientContext context_;
  const Request request_;
  Response response_;
  const std::shared_ptr<OpenCalls> calls_;
  const std::function<void(absl::StatusOr<Response>)> done_;
  std::shared_ptr<void> self_;
  std::shared_ptr<const void> connection_;
};

// A change whose connection broke may have been made.
template <typename Response>
SessionCalls::Answer<Response> Unknown(SessionCalls::Answer<Response> answer) {
  return [answer = std::move(answer)](absl::StatusOr<Response> response) {
    if (ReasonOf(response.status()) == "BROKER_UNREACHABLE") {
      response = Error(absl::StatusCode::kUnavailable, "OUTCOME_UNKNOWN",
                       "the connection broke before the broker answered; "
                       "whether it took effect is unknown, intercom_list shows "
                       "how things are");
    }
    answer(std::move(response));
  };
}

}  // namespace

SessionCalls::SessionCalls(std::shared_ptr<grpc::Channel> channel,
                           std::shared_ptr<OpenCalls> calls,
                           std::string bearer_token, std::string session_token,
                           std::shared_ptr<PostGate> gate)
    : connection_(std::make_shared<const Connection>(Connection{
          v1::WorkspaceService::NewStub(channel),
          v1::WorkService::NewStub(channel),
          v1::MessageService::NewStub(channel),
          v1::AskService::NewStub(channel), v1::RosterService::NewStub(channel),
          v1::RunService::NewStub(channel),
          v1::MonitorPaneService::NewStub(channel), std::move(calls),
          std::move(bearer_token), std::move(session_token)})),
      gate_(std::move(gate)) {}

SessionCalls::~SessionCalls() = default;

template <typename Response, typename Request>
SessionCalls::Stop SessionCalls::Call(Request request,
                                      Answer<Response> answer) {
  if (Spec<Request>::kKind == Kind::kChange) {
    answer = Unknown(std::move(answer));
  }
  auto call = std::make_shared<UnaryCall<Request, Response>>(
      std::move(request), connection_->calls,
      [gate = gate_, answer](absl::StatusOr<Response> response) {
        gate->Post([answer, response = std::move(response)]() mutable {
          answer(std::move(response));
        });
      });
  call->Hold(call, connection_);
  connection_->calls->Opened(&call->context());
  SetTimeout(call->context(), Spec<Request>::kTimeout);
  AddIdentity(call->context(), connection_->bearer_token,
              connection_->session_token);
  Spec<Request>::Start(*connection_, &call->context(), call->request(),
                       call->response(), call.get());
  call->StartCall();
  return [weak = std::weak_ptr(call)] {
    if (const auto call = weak.lock()) call->context().TryCancel();
  };
}

// The table: a call of a stub, its time, and what a broken connection means.
#define INTERCOM_CALL(stub, Name, timeout, kind)                           \
  template <>                                                              \
  struct SessionCalls::Spec<v1::Name##Request> {                           \
    static constexpr absl::Duration kTimeout = timeout;                    \
    static constexpr Kind kKind = kind;                                    \
    static void Start(const Connection& connection,                        \
                      grpc::ClientContext* context,                        \
                      const v1::Name##Request* request,                    \
                      v1::Name##Response* response,                        \
                      grpc::ClientUnaryReactor* reactor) {                 \
      connection.stub->async()->Name(context, request, response, reactor); \
    }                                                                      \
  };                                                                       \
  template SessionCalls::Stop SessionCalls::Call(                          \
      v1::Name##Request, SessionCalls::Answer<v1::Name##Response>);

INTERCOM_CALL(workspace, GetWorkspace, kUsual, Kind::kRepeatable)
INTERCOM_CALL(workspace, GetWorkerStatus, kStatus, Kind::kRepeatable)
INTERCOM_CALL(workspace, RequestStatus, kUsual, Kind::kRepeatable)
INTERCOM_CALL(workspace, ConfigureWorker, kUsual, Kind::kChange)
INTERCOM_CALL(workspace, ReloadWorker, kUsual, Kind::kChange)
INTERCOM_CALL(workspace, RemoveWorker, kUsual, Kind::kChange)
INTERCOM_CALL(workspace, SetMultiplexer, kUsual, Kind::kChange)
INTERCOM_CALL(workspace, ReportStatus, kUsual, Kind::kChange)
INTERCOM_CALL(workspace, ReportWork, kUsual, Kind::kChange)
INTERCOM_CALL(workspace, Register, kUsual, Kind::kChange)
INTERCOM_CALL(monitor, ClaimMonitorPane, kUsual, Kind::kRepeatable)
INTERCOM_CALL(monitor, AdvanceMonitorPane, kUsual, Kind::kRepeatable)
INTERCOM_CALL(work, BeginLaunch, kUsual, Kind::kRepeatable)
INTERCOM_CALL(work, AdvanceLaunch, kUsual, Kind::kRepeatable)
INTERCOM_CALL(work, AwaitLaunch, kLaunchWait, Kind::kRepeatable)
INTERCOM_CALL(work, StopWorker, kStop, Kind::kChange)
INTERCOM_CALL(work, CloseWorker, kUsual, Kind::kChange)
INTERCOM_CALL(work, ReportHandoff, kUsual, Kind::kChange)
INTERCOM_CALL(message, GetMessage, kUsual, Kind::kRepeatable)
INTERCOM_CALL(message, WithdrawMessage, kUsual, Kind::kRepeatable)
INTERCOM_CALL(ask, AwaitReply, kAwait, Kind::kRepeatable)
INTERCOM_CALL(ask, ListAsks, kUsual, Kind::kRepeatable)
INTERCOM_CALL(roster, ListSessions, kUsual, Kind::kRepeatable)
INTERCOM_CALL(run, ListRuns, kUsual, Kind::kRepeatable)
INTERCOM_CALL(run, GetRun, kUsual, Kind::kRepeatable)
INTERCOM_CALL(run, AwaitRuns, kAwait, Kind::kRepeatable)
// A second one means something else than the first.
INTERCOM_CALL(run, StopRun, kStop, Kind::kChange)
INTERCOM_CALL(run, AddNote, kUsual, Kind::kRepeatable)
INTERCOM_CALL(run, DrainInbox, kUsual, Kind::kRepeatable)
INTERCOM_CALL(run, GetNote, kUsual, Kind::kRepeatable)

#undef INTERCOM_CALL

}  // namespace intercom
