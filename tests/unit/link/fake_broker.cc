#include "tests/unit/link/fake_broker.h"

#include <chrono>
#include <fstream>
#include <optional>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/home.h"
#include "grpcpp/ext/health_check_service_server_builder_option.h"
#include "grpcpp/server_builder.h"
#include "tests/unit/link/fake_attachment.h"
#include "tests/unit/link/fake_peers.h"
#include "tests/unit/link/fake_work.h"
#include "worker-agent/link/broker_address.h"

namespace intercom {
namespace {

constexpr char kToken[] = "account-token";
constexpr char kSessionToken[] = "session-token-";

std::string Metadata(const grpc::CallbackServerContext& context,
                     const char* key) {
  const auto found = context.client_metadata().find(key);
  return found == context.client_metadata().end()
             ? ""
             : std::string(found->second.data(), found->second.size());
}

grpc::Status ToGrpc(grpc::CallbackServerContext* context,
                    const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  context->AddTrailingMetadata("intercom-reason", ReasonOf(status));
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      MessageOf(status));
}

}  // namespace

class FakeBroker::Session : public v1::SessionService::CallbackService {
 public:
  explicit Session(FakeBroker& broker) : broker_(broker) {}

  grpc::ServerBidiReactor<v1::AttachRequest, v1::AttachResponse>* Attach(
      grpc::CallbackServerContext* context) override {
    broker_.Note([&](Seen& seen) {
      seen.authorizations.push_back(Metadata(*context, "authorization"));
    });
    auto* attachment = new FakeAttachment(broker_);
    const grpc::Status status = broker_.Admit(context, "");
    if (!status.ok()) attachment->Close(status);
    return attachment;
  }

 private:
  FakeBroker& broker_;
};

class FakeBroker::Workspace : public v1::WorkspaceService::CallbackService {
 public:
  explicit Workspace(FakeBroker& broker) : broker_(broker) {}

  grpc::ServerUnaryReactor* GetWorkspace(
      grpc::CallbackServerContext* context,
      const v1::GetWorkspaceRequest* request,
      v1::GetWorkspaceResponse* response) override {
    response->set_root("/home/ada/space");
    v1::RosterEntry& entry = *response->add_entries();
    entry.set_session_id("session-2");
    entry.set_name("Builder 🛠");
    entry.set_role(v1::ROLE_WORKER);
    entry.set_presence(v1::PRESENCE_ATTACHED);
    entry.set_project_directory(".");
    return Finish(context, "GetWorkspace " + request->directory());
  }

  grpc::ServerUnaryReactor* ConfigureWorker(
      grpc::CallbackServerContext* context,
      const v1::ConfigureWorkerRequest* request,
      v1::ConfigureWorkerResponse* response) override {
    response->mutable_entry()->set_session_id(request->session_id());
    response->mutable_entry()->set_name(request->name());
    response->set_attached(true);
    response->set_changed(true);
    response->set_known(true);
    return Finish(context, "ConfigureWorker " + request->name());
  }

  grpc::ServerUnaryReactor* ReloadWorker(
      grpc::CallbackServerContext* context,
      const v1::ReloadWorkerRequest* request,
      v1::ReloadWorkerResponse* response) override {
    response->mutable_entry()->set_name(request->to());
    return Finish(context, "ReloadWorker " + request->to());
  }

  grpc::ServerUnaryReactor* RequestStatus(
      grpc::CallbackServerContext* context,
      const v1::RequestStatusRequest* request,
      v1::RequestStatusResponse* response) override {
    response->mutable_entry()->set_name(request->to());
    response->set_report_requested(true);
    return Finish(context, "RequestStatus " + request->to());
  }

  grpc::ServerUnaryReactor* ReportWork(
      grpc::CallbackServerContext* context,
      const v1::ReportWorkRequest* request,
      v1::ReportWorkResponse* response) override {
    return broker_.Serve(context, "ReportWork", *request, response);
  }

  grpc::ServerUnaryReactor* GetWorkerStatus(
      grpc::CallbackServerContext* context,
      const v1::GetWorkerStatusRequest* request,
      v1::GetWorkerStatusResponse* response) override {
    return broker_.Serve(context, "GetWorkerStatus", *request, response);
  }

  grpc::ServerUnaryReactor* RemoveWorker(
      grpc::CallbackServerContext* context,
      const v1::RemoveWorkerRequest* request,
      v1::RemoveWorkerResponse* response) override {
    return broker_.Serve(context, "RemoveWorker", *request, response);
  }

  grpc::ServerUnaryReactor* SetMultiplexer(
      grpc::CallbackServerContext* context,
      const v1::SetMultiplexerRequest* request,
      v1::SetMultiplexerResponse* response) override {
    return broker_.Serve(context, "SetMultiplexer", *request, response);
  }

  grpc::ServerUnaryReactor* Register(grpc::CallbackServerContext* context,
                                     const v1::RegisterRequest* request,
                                     v1::RegisterResponse* response) override {
    return broker_.Serve(context, "Register", *request, response);
  }

  grpc::ServerUnaryReactor* ReportStatus(
      grpc::CallbackServerContext* context,
      const v1::ReportStatusRequest* request,
      v1::ReportStatusResponse* response) override {
    *response->mutable_status() = request->status();
    response->set_reported(true);
    return Finish(context, std::string("ReportStatus ") +
                               (request->status().busy() ? "busy" : "idle"));
  }

 private:
  grpc::ServerUnaryReactor* Finish(grpc::CallbackServerContext* context,
                                   const std::string& call) {
    auto* reactor = context->DefaultReactor();
    reactor->Finish(broker_.Answer(broker_.Admit(
        context, call + " by " + Metadata(*context, "intercom-session"))));
    return reactor;
  }

  FakeBroker& broker_;
};

class FakeBroker::Message : public v1::MessageService::CallbackService {
 public:
  explicit Message(FakeBroker& broker) : broker_(broker) {}

  grpc::ServerUnaryReactor* Send(grpc::CallbackServerContext* context,
                                 const v1::SendRequest* request,
                                 v1::SendResponse* response) override {
    grpc::Status status = broker_.Admit(
        context, "Send " + request->to() + " " + request->envelope().text());
    if (status.ok() && broker_.IsElsewhere(*request)) {
      status = ToGrpc(context, Error(absl::StatusCode::kNotFound,
                                     "UNKNOWN_RECIPIENT", "not here"));
    }
    if (status.ok()) {
      *response->mutable_record() =
          broker_.Accept(request->envelope(), request->to());
    }
    auto* reactor = context->DefaultReactor();
    reactor->Finish(broker_.Answer(status));
    return reactor;
  }

  grpc::ServerUnaryReactor* GetMessage(
      grpc::CallbackServerContext* context,
      const v1::GetMessageRequest* request,
      v1::GetMessageResponse* response) override {
    grpc::Status status = broker_.Admit(context, "GetMessage " + request->id());
    bool found = false;
    {
      MutexLock lock(broker_.mu_);
      for (const auto& [id, record] : broker_.records_) {
        if (!id.starts_with(request->id())) continue;
        *response->mutable_record() = record;
        found = true;
      }
    }
    if (status.ok() && !found) {
      context->AddTrailingMetadata("intercom-reason", "UNKNOWN_ENVELOPE");
      status = grpc::Status(grpc::StatusCode::NOT_FOUND, "no such message");
    }
    auto* reactor = context->DefaultReactor();
    reactor->Finish(status);
    return reactor;
  }

  grpc::ServerUnaryReactor* WithdrawMessage(
      grpc::CallbackServerContext* context,
      const v1::WithdrawMessageRequest* request,
      v1::WithdrawMessageResponse* response) override {
    return broker_.Serve(context, "WithdrawMessage", *request, response);
  }

  grpc::ServerUnaryReactor* ListInbox(
      grpc::CallbackServerContext* context, const v1::ListInboxRequest* request,
      v1::ListInboxResponse* response) override {
    return broker_.Serve(context, "ListInbox", *request, response);
  }

  grpc::ServerUnaryReactor* MarkRead(grpc::CallbackServerContext* context,
                                     const v1::MarkReadRequest* request,
                                     v1::MarkReadResponse* response) override {
    return broker_.Serve(context, "MarkRead", *request, response);
  }

  grpc::ServerUnaryReactor* ListMessages(
      grpc::CallbackServerContext* context,
      const v1::ListMessagesRequest* request,
      v1::ListMessagesResponse* response) override {
    {
      MutexLock lock(broker_.mu_);
      // Two a page.
      const std::string& after = request->page_token();
      for (const auto& [id, record] : broker_.records_) {
        if (id <= after || response->records_size() == request->page_size()) {
          continue;
        }
        if (response->records_size() == 2) {
          response->set_next_page_token(response->records(1).delivery_id());
          break;
        }
        *response->add_records() = record;
      }
    }
    auto* reactor = context->DefaultReactor();
    reactor->Finish(
        broker_.Admit(context, "ListMessages " + request->directory() + " " +
                                   std::to_string(request->page_size())));
    return reactor;
  }

 private:
  FakeBroker& broker_;
};

class FakeBroker::Inspection : public v1::InspectionService::CallbackService {
 public:
  explicit Inspection(FakeBroker& broker) : broker_(broker) {}

  grpc::ServerUnaryReactor* GetBroker(
      grpc::CallbackServerContext* context, const v1::GetBrokerRequest* request,
      v1::GetBrokerResponse* response) override {
    response->set_version("0.0.0-fake");
    response->set_port(broker_.port());
    response->set_home(broker_.options_.home);
    return Finish(context);
  }
  grpc::ServerUnaryReactor* ListAttachments(
      grpc::CallbackServerContext* context,
      const v1::ListAttachmentsRequest* request,
      v1::ListAttachmentsResponse* response) override {
    response->add_entries()->set_session_id("session-1");
    return Finish(context);
  }
  grpc::ServerUnaryReactor* ListMailboxes(
      grpc::CallbackServerContext* context,
      const v1::ListMailboxesRequest* request,
      v1::ListMailboxesResponse* response) override {
    v1::MailboxSummary& mailbox = *response->add_mailboxes();
    mailbox.set_recipient_session_id("session-3");
    mailbox.set_envelopes(7);
    return Finish(context);
  }

 private:
  grpc::ServerUnaryReactor* Finish(grpc::CallbackServerContext* context) {
    auto* reactor = context->DefaultReactor();
    reactor->Finish(broker_.Admit(context, "Inspect"));
    return reactor;
  }

  FakeBroker& broker_;
};

std::vector<v1::Hello> FakeBroker::Seen::Hellos() const {
  std::vector<v1::Hello> hellos;
  for (const auto& frame : frames) {
    if (frame.has_hello()) hellos.push_back(frame.hello());
  }
  return hellos;
}

std::vector<v1::Submit> FakeBroker::Seen::Submits() const {
  std::vector<v1::Submit> submits;
  for (const auto& frame : frames) {
    if (frame.has_submit()) submits.push_back(frame.submit());
  }
  return submits;
}

std::vector<v1::Receipt> FakeBroker::Seen::Receipts() const {
  std::vector<v1::Receipt> receipts;
  for (const auto& frame : frames) {
    if (frame.has_receipt()) receipts.push_back(frame.receipt());
  }
  return receipts;
}

int FakeBroker::Seen::Count(v1::AttachRequest::FrameCase wanted) const {
  int count = 0;
  for (const auto& frame : frames) {
    if (frame.frame_case() == wanted) ++count;
  }
  return count;
}

FakeBroker::FakeBroker(Options options)
    : options_(std::move(options)),
      session_(std::make_unique<Session>(*this)),
      workspace_(std::make_unique<Workspace>(*this)),
      message_(std::make_unique<Message>(*this)),
      inspection_(std::make_unique<Inspection>(*this)),
      work_(std::make_unique<FakeWork>(*this)),
      monitor_panes_(std::make_unique<FakeMonitorPanes>(*this)),
      asks_(std::make_unique<FakeAsks>(*this)),
      roster_(std::make_unique<FakeRoster>(*this)),
      runs_(std::make_unique<FakeRuns>(*this)) {
  v1::Welcome welcome;
  welcome.set_role(v1::ROLE_COORDINATOR);
  welcome.set_workspace_root("/home/ada/space");
  for (const char* operation :
       {"worker.configure", "worker.reload", "message.send", "roster.list",
        "status.request", "status.report"}) {
    welcome.add_operations(operation);
  }
  SetWelcome(std::move(welcome));
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // The clients ping often.
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 100);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  builder.AddListeningPort(UnixAddress(options_.home).target,
                           grpc::InsecureServerCredentials());
  if (options_.tcp) {
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                             &port_);
  }
  builder.RegisterService(session_.get());
  builder.RegisterService(workspace_.get());
  builder.RegisterService(message_.get());
  builder.RegisterService(inspection_.get());
  builder.RegisterService(work_.get());
  builder.RegisterService(monitor_panes_.get());
  builder.RegisterService(asks_.get());
  builder.RegisterService(roster_.get());
  builder.RegisterService(runs_.get());
  server_ = builder.BuildAndStart();
  if (options_.tcp) {
    std::ofstream(TokenPath(options_.home)) << kToken << "\n";
    std::ofstream(EndpointPath(options_.home))
        << "{\"port\": " << port_ << "}\n";
  }
}

FakeBroker::~FakeBroker() {
  server_->Shutdown(std::chrono::system_clock::now());
  server_->Wait();
}

void FakeBroker::Note(const std::function<void(Seen&)>& change) {
  MutexLock lock(mu_);
  change(seen_);
  changed_.NotifyAll();
}

bool FakeBroker::Await(const std::function<bool(const Seen&)>& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  MutexLock lock(mu_);
  while (!done(seen_)) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left.count() <= 0) return false;
    changed_.WaitFor(mu_, left);
  }
  return true;
}

FakeBroker::Seen FakeBroker::seen() {
  MutexLock lock(mu_);
  return seen_;
}

void FakeBroker::Refuse(absl::Status status) {
  MutexLock lock(mu_);
  refusal_ = std::move(status);
}

void FakeBroker::SetWelcome(v1::Welcome welcome) {
  MutexLock lock(mu_);
  welcome_ = std::move(welcome);
}

void FakeBroker::SetReconcile(std::vector<std::string> delivery_ids) {
  MutexLock lock(mu_);
  reconcile_ = std::move(delivery_ids);
}

void FakeBroker::IgnoreSubmits(bool ignore) {
  MutexLock lock(mu_);
  ignore_submits_ = ignore;
}

void FakeBroker::BreakCalls(int count) {
  MutexLock lock(mu_);
  break_calls_ = count;
}

grpc::Status FakeBroker::Answer(const grpc::Status& status) {
  MutexLock lock(mu_);
  if (!status.ok() || break_calls_ == 0) return status;
  --break_calls_;
  return {grpc::StatusCode::UNAVAILABLE, "Socket closed"};
}

void FakeBroker::AddAnswer(const std::string& call,
                           const google::protobuf::Message& answer) {
  std::shared_ptr<google::protobuf::Message> copy(answer.New());
  copy->CopyFrom(answer);
  MutexLock lock(mu_);
  answers_[call].emplace_back(std::move(copy));
}

void FakeBroker::AddError(const std::string& call, absl::Status error) {
  MutexLock lock(mu_);
  answers_[call].emplace_back(std::move(error));
}

void FakeBroker::Hold(const std::string& call) {
  MutexLock lock(mu_);
  held_[call];
}

void FakeBroker::Release(const std::string& call) {
  std::vector<Held> released;
  {
    MutexLock lock(mu_);
    released.swap(held_[call]);
    held_.erase(call);
  }
  for (const Held& held : released) held.reactor->Finish(held.status);
}

grpc::ServerUnaryReactor* FakeBroker::Serve(
    grpc::CallbackServerContext* context, const std::string& name,
    const google::protobuf::Message& request,
    google::protobuf::Message* response) {
  auto* reactor = context->DefaultReactor();
  grpc::Status status = Admit(context, name + " " + request.ShortDebugString());
  bool is_held = false;
  {
    MutexLock lock(mu_);
    std::deque<Scripted>& answers = answers_[name];
    if (status.ok() && !answers.empty()) {
      const Scripted answer = answers.front();
      if (answers.size() > 1) answers.pop_front();
      if (answer.ok()) {
        response->CopyFrom(**answer);
      } else {
        status = ToGrpc(context, answer.status());
      }
    }
    if (const auto held = held_.find(name); held != held_.end()) {
      held->second.push_back({reactor, status});
      is_held = true;
    }
  }
  if (!is_held) reactor->Finish(Answer(status));
  return reactor;
}

void FakeBroker::SetElsewhere(const std::string& name) {
  MutexLock lock(mu_);
  elsewhere_ = name;
}

bool FakeBroker::IsElsewhere(const v1::SendRequest& request) {
  MutexLock lock(mu_);
  return request.to() == elsewhere_ && !elsewhere_.empty() &&
         request.reach() != v1::REACH_ACCOUNT;
}

void FakeBroker::RefuseSubmit(absl::Status status) {
  MutexLock lock(mu_);
  refused_submits_.push_back(std::move(status));
}

void FakeBroker::SetAccepted(v1::DeliveryRecord more) {
  MutexLock lock(mu_);
  accepted_more_ = std::move(more);
}

void FakeBroker::BreakAtSubmit(bool value) {
  MutexLock lock(mu_);
  break_at_submit_ = value;
}

void FakeBroker::SetWaitReason(v1::WaitReason reason) {
  MutexLock lock(mu_);
  wait_reason_ = reason;
}

std::set<std::string> FakeBroker::accepted() {
  MutexLock lock(mu_);
  std::set<std::string> ids;
  for (const auto& [id, record] : records_) ids.insert(id);
  return ids;
}

bool FakeBroker::Send(v1::AttachResponse frame) {
  // Held over the call: an attachment must not end meanwhile.
  MutexLock lock(mu_);
  if (live_.empty()) return false;
  (*live_.begin())->Send(std::move(frame));
  return true;
}

bool FakeBroker::Deliver(const std::string& envelope_id,
                         const std::string& text) {
  v1::AttachResponse frame;
  v1::Delivery& delivery = *frame.mutable_delivery();
  delivery.set_delivery_id("session-2/" + envelope_id);
  delivery.mutable_envelope()->set_envelope_id(envelope_id);
  delivery.mutable_envelope()->set_kind(v1::ENVELOPE_KIND_MESSAGE);
  delivery.mutable_envelope()->set_text(text);
  delivery.mutable_sender()->set_session_id("session-2");
  delivery.mutable_sender()->set_name("Builder");
  delivery.mutable_sender()->set_role(v1::ROLE_WORKER);
  delivery.mutable_sender()->set_origin(v1::ORIGIN_SESSION);
  delivery.mutable_accepted_at()->set_seconds(1'800'000'000);
  return Send(std::move(frame));
}

void FakeBroker::BreakStreams() {
  MutexLock lock(mu_);
  for (FakeAttachment* attachment : live_) {
    attachment->Close(grpc::Status(grpc::StatusCode::UNAVAILABLE, "broken"));
  }
}

grpc::Status FakeBroker::Admit(grpc::CallbackServerContext* context,
                               const std::string& call) {
  MutexLock lock(mu_);
  if (!call.empty()) seen_.calls.push_back(call);
  changed_.NotifyAll();
  absl::Status status = refusal_;
  if (context->peer().starts_with("ipv4:") &&
      Metadata(*context, "authorization") != std::string("Bearer ") + kToken) {
    status = Error(absl::StatusCode::kUnauthenticated, "TOKEN_INVALID",
                   "the account's token is missing");
  }
  return ToGrpc(context, status);
}

v1::DeliveryRecord FakeBroker::Accept(const v1::Envelope& envelope,
                                      const std::string& to) {
  MutexLock lock(mu_);
  const auto [found, is_new] = records_.try_emplace(envelope.envelope_id());
  v1::DeliveryRecord& record = found->second;
  if (is_new) {
    record.set_delivery_id("session-1/" + envelope.envelope_id());
    record.set_sequence(static_cast<int64_t>(records_.size()));
    *record.mutable_envelope() = envelope;
    record.set_recipient_session_id("session-2");
    record.set_recipient_name(to);
    record.set_state(v1::DELIVERY_STATE_ACCEPTED);
    record.set_wait_reason(wait_reason_);
    v1::DeliveryMark& mark = *record.add_marks();
    mark.set_state(v1::DELIVERY_STATE_ACCEPTED);
    mark.mutable_at()->set_seconds(1'800'000'000);
    mark.set_evidence("on disk");
    record.MergeFrom(accepted_more_);
  }
  return record;
}

void FakeBroker::Handle(FakeAttachment* attachment,
                        const v1::AttachRequest& frame) {
  bool ignore = false;
  bool break_now = false;
  std::optional<absl::Status> refused;
  v1::AttachResponse welcome;
  v1::AttachResponse reconcile;
  {
    MutexLock lock(mu_);
    seen_.frames.push_back(frame);
    changed_.NotifyAll();
    ignore = ignore_submits_;
    break_now = break_at_submit_;
    if (frame.has_submit() && !refused_submits_.empty()) {
      refused = refused_submits_.front();
      refused_submits_.pop_front();
    }
    if (frame.has_hello()) {
      *welcome.mutable_welcome() = welcome_;
      welcome.mutable_welcome()->set_epoch(++epoch_);
      welcome.mutable_welcome()->set_session_token(kSessionToken +
                                                   std::to_string(epoch_));
      welcome.mutable_welcome()->set_port(port_);
      for (const std::string& id : reconcile_) {
        reconcile.mutable_reconcile()->add_delivery_ids(id);
      }
      reconcile.mutable_reconcile();
    }
  }
  if (frame.has_hello()) {
    attachment->Send(std::move(welcome));
    attachment->Send(std::move(reconcile));
  } else if (frame.has_submit() && !ignore) {
    v1::AttachResponse answer;
    answer.mutable_submitted()->set_envelope_id(
        frame.submit().envelope().envelope_id());
    if (refused.has_value()) {
      v1::Failure& failure = *answer.mutable_submitted()->mutable_failure();
      failure.set_code(static_cast<int>(refused->code()));
      failure.set_reason(ReasonOf(*refused));
      failure.set_message(MessageOf(*refused));
    } else {
      *answer.mutable_submitted()->mutable_record() =
          Accept(frame.submit().envelope(), frame.submit().to());
    }
    if (break_now) {
      attachment->Close(grpc::Status(grpc::StatusCode::UNAVAILABLE, "broken"));
    } else {
      attachment->Send(std::move(answer));
    }
  } else if (frame.has_goodbye()) {
    attachment->Close(grpc::Status::OK);
  }
}

}  // namespace intercom
