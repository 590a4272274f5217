#include "broker/rpc/attach_stream.h"

#include <utility>

#include "broker/base/error.h"
#include "broker/rpc/status_conversion.h"

namespace intercom {

// What gRPC owns: lives until OnDone, and only forwards.
class AttachStream::CallReactor final : public Reactor {
 public:
  CallReactor(grpc::CallbackServerContext& context,
              std::shared_ptr<AttachStream> stream)
      : context_(context), stream_(std::move(stream)) {}

  void OnReadDone(bool ok) override {
    stream_->OnRead(ok, std::move(request_));
  }
  void OnWriteDone(bool ok) override { stream_->OnWritten(ok); }
  void OnCancel() override { stream_->OnCancelled(); }
  void OnDone() override {
    // However it ended, the session has left.
    stream_->Leave(v1::Goodbye::REASON_UNSPECIFIED);
    delete this;
  }

  void Read() {
    request_.Clear();
    StartRead(&request_);
  }
  void FinishWith(const absl::Status& status) {
    if (!status.ok()) {
      context_.AddTrailingMetadata(kReasonMetadata, WireReason(status));
    }
    Finish(ToGrpc(status));
  }

 private:
  grpc::CallbackServerContext& context_;
  const std::shared_ptr<AttachStream> stream_;
  v1::AttachRequest request_;
};

AttachStream::Reactor* AttachStream::Start(grpc::CallbackServerContext& context,
                                           BrokerCore core, Peers& peers,
                                           SerialExecutor& executor) {
  std::shared_ptr<AttachStream> stream(new AttachStream(core, executor));
  auto* reactor = new CallReactor(context, stream);
  {
    MutexLock lock(stream->mu_);
    stream->reactor_ = reactor;
  }
  peers.FindEvidence(context, [stream](auto evidence) {
    stream->OnEvidence(std::move(evidence));
  });
  return reactor;
}

void AttachStream::OnEvidence(absl::StatusOr<CallerEvidence> evidence) {
  if (!evidence.ok()) return Close(evidence.status());
  evidence_ = *std::move(evidence);
  {
    MutexLock lock(mu_);
    readable_ = true;
  }
  Advance();
}

void AttachStream::Send(v1::AttachResponse frame) {
  bool is_unread = false;
  {
    MutexLock lock(mu_);
    if (closing_.has_value() || finished_ || broken_) return;
    is_unread = queue_.size() >= kMaxUnread;
    if (is_unread) {
      queue_.clear();
    } else {
      queue_.push_back(std::move(frame));
      if (writing_) return;  // OnWritten goes on.
    }
  }
  if (is_unread) {
    Leave(v1::Goodbye::REASON_UNSPECIFIED);
    Close(Error(absl::StatusCode::kResourceExhausted, "CLIENT_DOES_NOT_READ",
                "the client left 1,024 frames unread; attach again"));
    return;
  }
  AdvanceOnExecutor();
}

void AttachStream::Close(absl::Status status) {
  {
    MutexLock lock(mu_);
    if (closing_.has_value() || finished_) return;
    closing_ = std::move(status);
  }
  AdvanceOnExecutor();
}

void AttachStream::AdvanceOnExecutor() {
  executor_.Post([self = shared_from_this()] { self->Advance(); });
}

void AttachStream::Advance() {
  CallReactor* reactor = nullptr;
  bool read = false;
  bool write = false;
  std::optional<absl::Status> finish_with;
  {
    MutexLock lock(mu_);
    if (finished_) return;
    reactor = reactor_;
    if (!writing_) {
      if (!queue_.empty() && !broken_) {
        writing_ = write = true;
        in_flight_ = std::move(queue_.front());
        queue_.pop_front();
      } else if (closing_.has_value() && starting_reads_ == 0) {
        finished_ = true;
        finish_with = closing_;
        queue_.clear();
      }
    }
    if (!finished_ && !closing_.has_value() && !reading_ && readable_ &&
        answers_.size() < kMaxOpenSubmits && queue_.size() < kMaxQueued &&
        (!marked_ || unmarked_ < kMarkEvery)) {
      reading_ = read = true;
      ++starting_reads_;
    }
  }
  if (write) reactor->StartWrite(&in_flight_);
  if (read) {
    reactor->Read();
    bool closed_meanwhile = false;
    {
      MutexLock lock(mu_);
      --starting_reads_;
      closed_meanwhile = closing_.has_value();
    }
    if (closed_meanwhile) AdvanceOnExecutor();
  }
  if (finish_with.has_value()) reactor->FinishWith(*finish_with);
}

void AttachStream::OnWritten(bool ok) {
  {
    MutexLock lock(mu_);
    writing_ = false;
    if (!ok) broken_ = true;
  }
  Advance();
}

void AttachStream::OnCancelled() {
  Leave(v1::Goodbye::REASON_UNSPECIFIED);
  {
    MutexLock lock(mu_);
    broken_ = true;
  }
  Close(
      Error(absl::StatusCode::kCancelled, "CANCELLED", "the client went away"));
}

void AttachStream::OnRead(bool ok, v1::AttachRequest frame) {
  std::optional<SessionKey> key;
  bool first = false;
  {
    MutexLock lock(mu_);
    if (!ok) readable_ = false;
    if (ok && !hello_seen_) {
      hello_seen_ = first = true;
    }
    key = key_;
  }
  if (!ok) {
    // The client half-closed: it left without a word, or after Goodbye.
    Leave(v1::Goodbye::REASON_UNSPECIFIED);
    Close(absl::OkStatus());
    return;
  }
  const bool is_hello = frame.frame_case() == v1::AttachRequest::kHello;
  if (first && is_hello) {
    OnHello(std::move(*frame.mutable_hello()));
  } else if (key.has_value() && !is_hello) {
    OnFrame(*key, std::move(frame));
    CountFrame();
  } else {
    Leave(v1::Goodbye::REASON_UNSPECIFIED);
    Close(Error(absl::StatusCode::kInvalidArgument, "PROTOCOL",
                first ? "the first frame must be Hello"
                      : "Hello comes once, and other frames after Welcome"));
    return;
  }
  {
    // Only now: another thread that resumed reading could overtake this frame.
    MutexLock lock(mu_);
    reading_ = false;
  }
  Advance();
}

void AttachStream::OnHello(v1::Hello hello) {
  core_.registrar.Attach(
      std::move(hello), {evidence_.ancestry}, shared_from_this(),
      [self = shared_from_this()](absl::StatusOr<SessionKey> key) {
        self->OnRegistered(std::move(key));
      });
}

void AttachStream::OnRegistered(absl::StatusOr<SessionKey> key) {
  if (!key.ok()) return Close(key.status());
  std::optional<v1::Goodbye::Reason> left;
  {
    MutexLock lock(mu_);
    key_ = *key;
    left = left_;
  }
  if (left.has_value()) core_.registrar.Detach(*key, *left);
}

void AttachStream::Leave(v1::Goodbye::Reason reason) {
  std::optional<SessionKey> key;
  {
    MutexLock lock(mu_);
    if (left_.has_value()) return;
    left_ = reason;
    key = key_;
  }
  if (key.has_value()) core_.registrar.Detach(*key, reason);
}

bool AttachStream::IsGone() const {
  MutexLock lock(mu_);
  return left_.has_value();
}

void AttachStream::OnFrame(const SessionKey& key, v1::AttachRequest frame) {
  switch (frame.frame_case()) {
    case v1::AttachRequest::kSubmit:
      return OnSubmit(key, std::move(*frame.mutable_submit()));
    case v1::AttachRequest::kPresent:
      return core_.dispatcher.OnPresent(key,
                                        std::move(*frame.mutable_present()));
    case v1::AttachRequest::kReceipt:
      return core_.dispatcher.OnReceipt(key,
                                        std::move(*frame.mutable_receipt()));
    case v1::AttachRequest::kControlResult:
      return core_.controls.OnResult(
          key, std::move(*frame.mutable_control_result()));
    case v1::AttachRequest::kActivity:
      return core_.registrar.SetActivity(key,
                                         std::move(*frame.mutable_activity()));
    case v1::AttachRequest::kRenamed:
      return core_.registrar.Rename(key, frame.renamed().name());
    case v1::AttachRequest::kResponsibilityLoaded:
      return core_.registrar.SetLoaded(
          key, frame.responsibility_loaded().entry_hash());
    case v1::AttachRequest::kJobEvent:
      core_.run_stops.OnEvent(key, frame.job_event());
      return core_.jobs.OnEvent(key, std::move(*frame.mutable_job_event()));
    case v1::AttachRequest::kChannelRequest:
      return core_.channels.OnRequest(
          key, std::move(*frame.mutable_channel_request()));
    case v1::AttachRequest::kRunEvent:
      return core_.runs.OnEvent(key, std::move(*frame.mutable_run_event()));
    case v1::AttachRequest::kRunsTold:
      return core_.runs.OnTold(key, std::move(*frame.mutable_runs_told()));
    case v1::AttachRequest::kRunPolicy:
      return core_.runs.OnPolicy(key, frame.run_policy());
    case v1::AttachRequest::kGoodbye:
      Leave(frame.goodbye().reason());
      return Close(absl::OkStatus());
    default:
      // A newer client's frame that this broker does not know.
      return;
  }
}

void AttachStream::CountFrame() {
  {
    MutexLock lock(mu_);
    if (++unmarked_ < kMarkEvery || marked_) return;
    unmarked_ = 0;
    marked_ = true;
  }
  core_.admission.AfterPresent([self = shared_from_this()] {
    {
      MutexLock lock(self->mu_);
      self->marked_ = false;
    }
    self->AdvanceOnExecutor();
  });
}

void AttachStream::OnSubmit(const SessionKey& key, v1::Submit submit) {
  int64_t number = 0;
  {
    MutexLock lock(mu_);
    number = first_answer_ + static_cast<int64_t>(answers_.size());
    answers_.emplace_back();
  }
  CallerEvidence evidence = evidence_;
  evidence.stream = key;
  v1::SendRequest request;
  *request.mutable_envelope() = std::move(*submit.mutable_envelope());
  request.set_to(std::move(*submit.mutable_to()));
  request.set_reach(submit.reach());
  request.set_cwd(std::move(*submit.mutable_cwd()));
  request.set_trigger(std::move(*submit.mutable_trigger()));
  if (submit.has_run()) *request.mutable_run() = submit.run();
  request.set_to_run(std::move(*submit.mutable_to_run()));
  request.set_to_fellow(submit.to_fellow());
  std::string id = request.envelope().envelope_id();
  core_.mail.Send(std::move(evidence), std::move(request),
                  [self = shared_from_this(), number, id = std::move(id)](
                      absl::StatusOr<v1::DeliveryRecord> record) {
                    v1::AttachResponse frame;
                    v1::Submitted& submitted = *frame.mutable_submitted();
                    submitted.set_envelope_id(id);
                    if (record.ok()) {
                      // The sender has the text; the answer needs only what is
                      // new.
                      record->mutable_envelope()->clear_text();
                      *submitted.mutable_record() = *std::move(record);
                    } else {
                      *submitted.mutable_failure() = ToFailure(record.status());
                    }
                    self->OnSubmitted(number, std::move(frame));
                  });
}

void AttachStream::OnSubmitted(int64_t number, v1::AttachResponse frame) {
  {
    MutexLock lock(mu_);
    answers_[number - first_answer_] = std::move(frame);
    while (!answers_.empty() && answers_.front().has_value()) {
      if (!closing_.has_value() && !finished_ && !broken_) {
        queue_.push_back(*std::move(answers_.front()));
      }
      answers_.pop_front();
      ++first_answer_;
    }
  }
  AdvanceOnExecutor();
}

}  // namespace intercom
