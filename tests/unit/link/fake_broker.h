#ifndef PI_INTERCOM_TESTS_UNIT_LINK_FAKE_BROKER_H_
#define PI_INTERCOM_TESTS_UNIT_LINK_FAKE_BROKER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "broker/base/mutex.h"
#include "google/protobuf/message.h"
#include "grpcpp/server.h"
#include "intercom/v1/inspect.grpc.pb.h"
#include "intercom/v1/message.grpc.pb.h"
#include "intercom/v1/session.grpc.pb.h"
#include "intercom/v1/work.grpc.pb.h"
#include "intercom/v1/workspace.grpc.pb.h"

namespace intercom {

class FakeAsks;
class FakeAttachment;
class FakeMonitorPanes;
class FakeRoster;
class FakeRuns;
class FakeWork;

// A broker in this process that keeps the promises of the protos and nothing on
// disk: it welcomes, accepts each envelope id once, and notes what it got.
// Tests tell it what to send, to refuse or to keep back. Thread-safe.
class FakeBroker {
 public:
  struct Options {
    std::string home;
    // Listens on 127.0.0.1 too, and writes endpoint.json and token.
    bool tcp = false;
  };

  // What it got so far.
  struct Seen {
    // Every frame of every stream in the order of arrival.
    std::vector<v1::AttachRequest> frames;
    // The `authorization` of each stream.
    std::vector<std::string> authorizations;
    // Requests of unary calls, as text.
    std::vector<std::string> calls;
    int streams_ended = 0;
    // Frames that gRPC took for sending.
    int64_t frames_written = 0;

    std::vector<v1::Hello> Hellos() const;
    std::vector<v1::Submit> Submits() const;
    std::vector<v1::Receipt> Receipts() const;
    int Count(v1::AttachRequest::FrameCase frame) const;
  };

  explicit FakeBroker(Options options);
  ~FakeBroker();

  int port() const { return port_; }

  // Waits, at most 30 s, until what it got satisfies `done`.
  bool Await(const std::function<bool(const Seen&)>& done);
  Seen seen();

  // Attaches and unary calls fail with this until it is OK again.
  void Refuse(absl::Status status);
  // The Welcome of later attaches; the token is filled in.
  void SetWelcome(v1::Welcome welcome);
  // Deliveries that the Reconcile of later attaches names.
  void SetReconcile(std::vector<std::string> delivery_ids);
  // Answers no submit, and does not accept it either.
  void IgnoreSubmits(bool ignore);
  // The next submit is refused with this.
  void RefuseSubmit(absl::Status status);
  // What later records of accepted envelopes say beside the usual.
  void SetAccepted(v1::DeliveryRecord more);
  // Accepts submits, but breaks the stream instead of answering.
  void BreakAtSubmit(bool value);
  // The next `count` unary calls are done, but their connection breaks before
  // the answer.
  void BreakCalls(int count);
  // What the calls of that name are answered with, one after the other and the
  // last one for ever: for those that have no answer of their own.
  void AddAnswer(const std::string& call,
                 const google::protobuf::Message& answer);
  // The same for an error.
  void AddError(const std::string& call, absl::Status error);
  // Calls of that name are noted, and answered when they are released.
  void Hold(const std::string& call);
  void Release(const std::string& call);
  // Sends to that name reach a session only with REACH_ACCOUNT.
  void SetElsewhere(const std::string& name);
  // What an accepted envelope's record says while the recipient is away.
  void SetWaitReason(v1::WaitReason reason);
  // Accepted envelopes, each id once.
  std::set<std::string> accepted();

  // Sends a frame on the live stream. False if there is none.
  bool Send(v1::AttachResponse frame);
  bool Deliver(const std::string& envelope_id, const std::string& text);
  // Ends the live streams with UNAVAILABLE.
  void BreakStreams();

  // For the services: notes a call as "Name fields of the request", and answers
  // it as AddAnswer() and the like said.
  grpc::ServerUnaryReactor* Serve(grpc::CallbackServerContext* context,
                                  const std::string& name,
                                  const google::protobuf::Message& request,
                                  google::protobuf::Message* response);

 private:
  friend class FakeAttachment;
  class Session;
  class Workspace;
  class Message;
  class Inspection;
  using Scripted =
      absl::StatusOr<std::shared_ptr<const google::protobuf::Message>>;
  struct Held {
    grpc::ServerUnaryReactor* reactor;
    grpc::Status status;
  };

  void Note(const std::function<void(Seen&)>& change);
  // Handles one frame of `attachment`.
  void Handle(FakeAttachment* attachment, const v1::AttachRequest& frame);
  bool IsElsewhere(const v1::SendRequest& request) ABSL_LOCKS_EXCLUDED(mu_);
  v1::DeliveryRecord Accept(const v1::Envelope& envelope,
                            const std::string& to);
  // OK or the refusal, with its reason in the call's trailer.
  // UNAVAILABLE instead of OK while calls break.
  grpc::Status Answer(const grpc::Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  grpc::Status Admit(grpc::CallbackServerContext* context,
                     const std::string& call);

  const Options options_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<Message> message_;
  std::unique_ptr<Inspection> inspection_;
  std::unique_ptr<FakeWork> work_;
  std::unique_ptr<FakeMonitorPanes> monitor_panes_;
  std::unique_ptr<FakeAsks> asks_;
  std::unique_ptr<FakeRoster> roster_;
  std::unique_ptr<FakeRuns> runs_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;

  Mutex mu_;
  CondVar changed_;
  Seen seen_ ABSL_GUARDED_BY(mu_);
  absl::Status refusal_ ABSL_GUARDED_BY(mu_);
  v1::Welcome welcome_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> reconcile_ ABSL_GUARDED_BY(mu_);
  bool ignore_submits_ ABSL_GUARDED_BY(mu_) = false;
  bool break_at_submit_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<absl::Status> refused_submits_ ABSL_GUARDED_BY(mu_);
  v1::DeliveryRecord accepted_more_ ABSL_GUARDED_BY(mu_);
  int break_calls_ ABSL_GUARDED_BY(mu_) = 0;
  std::string elsewhere_ ABSL_GUARDED_BY(mu_);
  v1::WaitReason wait_reason_ ABSL_GUARDED_BY(mu_) =
      v1::WAIT_REASON_UNSPECIFIED;
  std::map<std::string, v1::DeliveryRecord> records_ ABSL_GUARDED_BY(mu_);
  int64_t epoch_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<std::string, std::deque<Scripted>> answers_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, std::vector<Held>> held_ ABSL_GUARDED_BY(mu_);
  std::set<FakeAttachment*> live_ ABSL_GUARDED_BY(mu_);
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_UNIT_LINK_FAKE_BROKER_H_
