#ifndef PI_INTERCOM_TESTS_SUPPORT_BROKER_CLIENT_H_
#define PI_INTERCOM_TESTS_SUPPORT_BROKER_CLIENT_H_

#include <fcntl.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/create_channel_posix.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "broker/base/home.h"
#include "broker/base/mutex.h"
#include "intercom/v1/ask.grpc.pb.h"
#include "intercom/v1/channel.grpc.pb.h"
#include "intercom/v1/inspect.grpc.pb.h"
#include "intercom/v1/message.grpc.pb.h"
#include "intercom/v1/monitor.grpc.pb.h"
#include "intercom/v1/roster.grpc.pb.h"
#include "intercom/v1/run.grpc.pb.h"
#include "intercom/v1/session.grpc.pb.h"
#include "intercom/v1/work.grpc.pb.h"
#include "intercom/v1/workspace.grpc.pb.h"
#include "tests/support/recording_link.h"

namespace intercom {

// How a call ended: the code and the broker's stable reason.
struct CallEnd {
  grpc::StatusCode code = grpc::StatusCode::OK;
  std::string reason;
  std::string message;

  static CallEnd Of(const grpc::Status& status,
                    const grpc::ClientContext& context) {
    CallEnd end{status.error_code(), "", status.error_message()};
    const auto& trailers = context.GetServerTrailingMetadata();
    if (const auto found = trailers.find("intercom-reason");
        found != trailers.end()) {
      end.reason.assign(found->second.data(), found->second.size());
    }
    return end;
  }
  bool ok() const { return code == grpc::StatusCode::OK; }
};
inline void PrintTo(const CallEnd& end, std::ostream* out) {
  *out << end.code << " " << end.reason << " " << end.message;
}

// One connection to a broker. Calls block.
class BrokerClient {
 public:
  // Connects to the Unix socket of `home`; each client has a connection of its
  // own.
  static std::shared_ptr<BrokerClient> OverUnix(const std::string& home) {
    const std::string path = SocketPath(home);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(descriptor, reinterpret_cast<sockaddr*>(&address),
                sizeof(address)) != 0) {
      std::abort();
    }
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
    return std::shared_ptr<BrokerClient>(new BrokerClient(
        grpc::CreateInsecureChannelFromFd("broker", descriptor), ""));
  }
  // An empty token sends none.
  static std::shared_ptr<BrokerClient> OverTcp(int port,
                                               const std::string& token) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    // What is not read soon fills a window of fixed size.
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    return std::shared_ptr<BrokerClient>(new BrokerClient(
        grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port),
                                  grpc::InsecureChannelCredentials(),
                                  arguments),
        token));
  }

  void Prepare(grpc::ClientContext& context) const {
    if (!token_.empty()) {
      context.AddMetadata("authorization", "Bearer " + token_);
    }
    if (!session_token_.empty()) {
      context.AddMetadata("intercom-session", session_token_);
    }
  }
  // From now on calls carry this session's token.
  void ActAs(const std::string& session_token) {
    session_token_ = session_token;
  }

  // Calls `method` of `stub`.
  template <typename Stub, typename Request, typename Response>
  CallEnd Call(Stub& stub,
               grpc::Status (Stub::*method)(grpc::ClientContext*,
                                            const Request&, Response*),
               const Request& request, Response& response) {
    grpc::ClientContext context;
    Prepare(context);
    const grpc::Status status = (stub.*method)(&context, request, &response);
    return CallEnd::Of(status, context);
  }
  CallEnd Send(const std::string& to, const v1::Envelope& envelope,
               const std::string& directory, v1::DeliveryRecord* record) {
    v1::SendRequest request;
    *request.mutable_envelope() = envelope;
    request.set_to(to);
    request.set_directory(directory);
    v1::SendResponse response;
    const CallEnd end =
        Call(*messages, &v1::MessageService::Stub::Send, request, response);
    if (record != nullptr) *record = response.record();
    return end;
  }
  // Sends to whomever `to` and `cwd` name in the account.
  CallEnd SendAnywhere(const std::string& to, const v1::Envelope& envelope,
                       v1::DeliveryRecord* record = nullptr,
                       const std::string& cwd = "") {
    v1::SendRequest request;
    *request.mutable_envelope() = envelope;
    request.set_to(to);
    request.set_cwd(cwd);
    request.set_reach(v1::REACH_ACCOUNT);
    v1::SendResponse response;
    const CallEnd end =
        Call(*messages, &v1::MessageService::Stub::Send, request, response);
    if (record != nullptr) *record = response.record();
    return end;
  }
  CallEnd ListSessions(const v1::ListSessionsRequest& request,
                       v1::ListSessionsResponse& response) {
    return Call(*roster, &v1::RosterService::Stub::ListSessions, request,
                response);
  }
  CallEnd Get(const std::string& id, v1::DeliveryRecord& record) {
    v1::GetMessageRequest request;
    request.set_id(id);
    v1::GetMessageResponse response;
    const CallEnd end = Call(*messages, &v1::MessageService::Stub::GetMessage,
                             request, response);
    record = response.record();
    return end;
  }
  CallEnd GetBroker(v1::GetBrokerResponse& response) {
    return Call(*inspection, &v1::InspectionService::Stub::GetBroker,
                v1::GetBrokerRequest(), response);
  }

  const std::shared_ptr<grpc::Channel> channel;
  const std::unique_ptr<v1::SessionService::Stub> sessions;
  const std::unique_ptr<v1::MessageService::Stub> messages;
  const std::unique_ptr<v1::RosterService::Stub> roster;
  const std::unique_ptr<v1::AskService::Stub> asks;
  const std::unique_ptr<v1::ChannelService::Stub> channels;
  const std::unique_ptr<v1::MonitorPaneService::Stub> monitors;
  const std::unique_ptr<v1::RunService::Stub> runs;
  const std::unique_ptr<v1::WorkspaceService::Stub> workspaces;
  const std::unique_ptr<v1::WorkService::Stub> work;
  const std::unique_ptr<v1::InspectionService::Stub> inspection;

 private:
  BrokerClient(std::shared_ptr<grpc::Channel> to, std::string token)
      : channel(std::move(to)),
        sessions(v1::SessionService::NewStub(channel)),
        messages(v1::MessageService::NewStub(channel)),
        roster(v1::RosterService::NewStub(channel)),
        asks(v1::AskService::NewStub(channel)),
        channels(v1::ChannelService::NewStub(channel)),
        monitors(v1::MonitorPaneService::NewStub(channel)),
        runs(v1::RunService::NewStub(channel)),
        workspaces(v1::WorkspaceService::NewStub(channel)),
        work(v1::WorkService::NewStub(channel)),
        inspection(v1::InspectionService::NewStub(channel)),
        token_(std::move(token)) {}

  const std::string token_;
  std::string session_token_;
};

// One Attach stream. A thread reads its frames into `frames` and shows each to
// `on_frame`, unless it does not read at all.
class AttachClient {
 public:
  using OnFrame = std::function<void(AttachClient&, const v1::AttachResponse&)>;

  explicit AttachClient(std::shared_ptr<BrokerClient> client,
                        OnFrame on_frame = nullptr)
      : client_(std::move(client)), on_frame_(std::move(on_frame)) {
    client_->Prepare(context_);
    stream_ = client_->sessions->Attach(&context_);
  }
  ~AttachClient() {
    context_.TryCancel();
    End();
  }

  // False when the stream has ended. Thread-safe.
  bool Write(const v1::AttachRequest& frame) {
    MutexLock lock(write_mu_);  // gRPC takes one write at a time.
    return stream_->Write(frame);
  }
  bool SayHello(const v1::Hello& hello) {
    v1::AttachRequest frame;
    *frame.mutable_hello() = hello;
    return Write(frame);
  }
  bool SayPresent(const std::vector<std::string>& ids) {
    v1::AttachRequest frame;
    frame.mutable_present();
    for (const std::string& id : ids) {
      frame.mutable_present()->add_delivery_ids(id);
    }
    return Write(frame);
  }
  bool SayReceipt(const std::string& id, v1::Receipt::Event event) {
    v1::AttachRequest frame;
    frame.mutable_receipt()->set_delivery_id(id);
    frame.mutable_receipt()->set_event(event);
    return Write(frame);
  }
  bool Submit(const std::string& to, const v1::Envelope& envelope) {
    v1::AttachRequest frame;
    *frame.mutable_submit()->mutable_envelope() = envelope;
    frame.mutable_submit()->set_to(to);
    return Write(frame);
  }
  bool SayGoodbye(v1::Goodbye::Reason reason) {
    v1::AttachRequest frame;
    frame.mutable_goodbye()->set_reason(reason);
    return Write(frame);
  }

  // Reads one frame, before StartReading. False at the end.
  bool ReadOne() {
    v1::AttachResponse frame;
    if (!stream_->Read(&frame)) return false;
    frames.Send(frame);
    return true;
  }
  void StartReading() {
    reader_ = std::thread([this] {
      v1::AttachResponse frame;
      while (stream_->Read(&frame)) {
        if (on_frame_) on_frame_(*this, frame);
        frames.Send(frame);
      }
    });
  }
  // Waits for the end of the stream.
  CallEnd End() {
    if (ended_.has_value()) return *ended_;
    if (!reader_.joinable()) StartReading();
    reader_.join();
    ended_ = CallEnd::Of(stream_->Finish(), context_);
    return *ended_;
  }
  void Cancel() { context_.TryCancel(); }

  RecordingLink frames;

 private:
  const std::shared_ptr<BrokerClient> client_;
  const OnFrame on_frame_;
  grpc::ClientContext context_;
  std::unique_ptr<
      grpc::ClientReaderWriter<v1::AttachRequest, v1::AttachResponse>>
      stream_;
  Mutex write_mu_;
  std::thread reader_;
  std::optional<CallEnd> ended_;
};

// A call in raw bytes, for services of which there are no stubs.
class RawCall {
 public:
  RawCall(const std::shared_ptr<grpc::Channel>& channel,
          const std::string& method)
      : stub_(channel) {
    stream_ = stub_.PrepareCall(&context_, method, &queue_);
    stream_->StartCall(this);
    Next();
  }
  ~RawCall() {
    context_.TryCancel();
    grpc::Status status;
    stream_->Finish(&status, this);
    Next();
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
  }
  bool Write(const std::string& bytes) {
    grpc::Slice slice(bytes);
    stream_->Write(grpc::ByteBuffer(&slice, 1), this);
    return Next();
  }
  bool HalfClose() {
    stream_->WritesDone(this);
    return Next();
  }
  // nullopt at the end.
  std::optional<std::string> Read() {
    grpc::ByteBuffer buffer;
    stream_->Read(&buffer, this);
    if (!Next()) return std::nullopt;
    std::vector<grpc::Slice> slices;
    if (!buffer.Dump(&slices).ok()) return std::nullopt;
    std::string bytes;
    for (const grpc::Slice& slice : slices) {
      bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
    }
    return bytes;
  }

 private:
  bool Next() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_SUPPORT_BROKER_CLIENT_H_
