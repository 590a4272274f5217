#include "worker-agent/link/broker_link.h"

#include <utility>

#include "broker/base/error.h"
#include "broker/base/log.h"
#include "worker-agent/link/attach_stream.h"
#include "worker-agent/link/broker_address.h"
#include "worker-agent/link/channel.h"
#include "worker-agent/link/failure_policy.h"
#include "worker-agent/link/open_calls.h"

namespace intercom {

BrokerLink::BrokerLink(Options options, TaskRunner& runner,
                       TaskRunner& blocking, Random& random,
                       std::function<absl::Status()> ensure_broker,
                       Events events)
    : options_(std::move(options)),
      blocking_(blocking),
      ensure_broker_(std::move(ensure_broker)),
      events_(std::move(events)),
      backoff_(random, options_.backoff),
      gate_(std::make_shared<PostGate>(runner)),
      open_calls_(std::make_shared<OpenCalls>(gate_)) {}

BrokerLink::~BrokerLink() {
  gate_->Close();
  // Before the channel goes, and all its calls before that.
  if (stream_ != nullptr) stream_->Cancel();
  open_calls_->CancelAll();
}

void BrokerLink::Start(v1::Hello hello) {
  hello_ = std::move(hello);
  Attempt();
}

void BrokerLink::Attempt() {
  phase_ = Phase::kEnsuring;
  blocking_.PostTask([gate = gate_, ensure = ensure_broker_, this] {
    const absl::Status status = ensure();
    gate->Post([this, status] {
      if (phase_ != Phase::kEnsuring) return;
      if (status.ok()) {
        OpenStream();
      } else {
        HandleFailure(status);
      }
    });
  });
}

void BrokerLink::OpenStream() {
  BrokerAddress address = UnixAddress(options_.home);
  if (options_.tcp) {
    auto tcp = TcpAddress(options_.home);
    if (!tcp.ok()) return HandleFailure(tcp.status());
    address = *std::move(tcp);
  }
  phase_ = Phase::kAttaching;
  const int64_t attempt = ++attempt_;
  bearer_token_ = address.bearer_token;
  channel_ = MakeChannel(address, {.ping_after = options_.ping_after,
                                   .ping_timeout = options_.ping_timeout});
  stream_ = AttachStream::Open(
      channel_, open_calls_, bearer_token_, hello_,
      {.frame =
           [gate = gate_, this, attempt](v1::AttachResponse frame) {
             gate->Post([this, attempt, frame = std::move(frame)]() mutable {
               if (attempt == attempt_) HandleFrame(std::move(frame));
             });
           },
       .done =
           [gate = gate_, this, attempt](const absl::Status& status) {
             gate->Post([this, attempt, status] {
               if (attempt == attempt_) HandleDone(status);
             });
           }});
  gate_->PostDelayed(
      [this, attempt] {
        if (attempt == attempt_ && phase_ == Phase::kAttaching) {
          SPDLOG_WARN("the broker sent no welcome in time");
          stream_->Cancel();
        }
      },
      options_.welcome_timeout);
}

void BrokerLink::HandleFrame(v1::AttachResponse frame) {
  if (blocked_) {
    // Not read on until the host reads: the broker's window then closes.
    held_ = std::move(frame);
    return;
  }
  stream_->ReadNext();
  switch (frame.frame_case()) {
    case v1::AttachResponse::kWelcome:
      return HandleWelcome(frame.welcome());
    case v1::AttachResponse::kSubmitted:
      if (!submits_.Resolve(std::move(*frame.mutable_submitted()))) {
        SPDLOG_INFO("an answer to a submit that nobody waits for");
      }
      return;
    case v1::AttachResponse::kSuperseded: {
      const std::string message = frame.superseded().message();
      End(Error(absl::StatusCode::kAborted, "SUPERSEDED", message));
      return events_.superseded(message);
    }
    default:
      return events_.frame(std::move(frame));
  }
}

void BrokerLink::HandleWelcome(const v1::Welcome& welcome) {
  if (phase_ != Phase::kAttaching) return;
  phase_ = Phase::kAttached;
  backoff_.Reset();
  refusal_ = absl::OkStatus();
  hello_.set_previous_session_token(welcome.session_token());
  hello_.set_start_reason(v1::START_REASON_RECONNECT);
  calls_ = std::make_unique<SessionCalls>(channel_, open_calls_, bearer_token_,
                                          welcome.session_token(), gate_);
  events_.welcome(welcome);
  submits_.ForEach([this](const v1::Submit& submit) {
    v1::AttachRequest frame;
    *frame.mutable_submit() = submit;
    stream_->Send(std::move(frame));
  });
  submits_.MarkSent();
}

void BrokerLink::HandleDone(const absl::Status& status) {
  DropStream();
  if (phase_ == Phase::kOver) {
    if (goodbye_done_) std::exchange(goodbye_done_, nullptr)();
    return;
  }
  HandleFailure(status.ok()
                    ? Error(absl::StatusCode::kUnavailable, "STREAM_ENDED",
                            "the broker ended the "
                            "stream")
                    : status);
}

void BrokerLink::HandleFailure(const absl::Status& status) {
  SPDLOG_INFO("not attached: {} {}", ReasonOf(status), MessageOf(status));
  switch (PolicyFor(status)) {
    case AfterFailure::kRetrySoon:
      phase_ = Phase::kWaiting;
      refusal_ = absl::OkStatus();
      events_.lost(status);
      return RetryAfter(backoff_.Next());
    case AfterFailure::kRetryLater: {
      phase_ = Phase::kWaiting;
      submits_.FailUnsent(status);
      if (std::exchange(refusal_, status) != status) {
        events_.refused(status, /*final=*/false);
      }
      return RetryAfter(options_.mend_interval);
    }
    case AfterFailure::kGiveUp:
      End(status);
      return events_.refused(status, /*final=*/true);
    case AfterFailure::kSuperseded:
      End(status);
      return events_.superseded(MessageOf(status));
  }
}

void BrokerLink::RetryAfter(absl::Duration delay) {
  gate_->PostDelayed(
      [this] {
        if (phase_ == Phase::kWaiting) Attempt();
      },
      delay);
}

void BrokerLink::End(const absl::Status& status) {
  phase_ = Phase::kOver;
  submits_.FailAll(status);
}

void BrokerLink::DropStream() {
  if (stream_ != nullptr) stream_->Cancel();
  stream_.reset();
  calls_.reset();
  channel_.reset();
  held_.reset();
}

void BrokerLink::SetBlocked(bool blocked) {
  blocked_ = blocked;
  if (blocked || !held_.has_value()) return;
  v1::AttachResponse frame = *std::move(held_);
  held_.reset();
  HandleFrame(std::move(frame));
}

void BrokerLink::Submit(v1::Submit submit, bool repeated,
                        PendingSubmits::Answer answer) {
  if (phase_ == Phase::kOver) {
    return answer(Error(absl::StatusCode::kFailedPrecondition, "NOT_ATTACHED",
                        "this session is no longer attached to the broker"));
  }
  v1::AttachRequest frame;
  *frame.mutable_submit() = submit;
  const int64_t ticket =
      submits_.Add(std::move(submit), std::move(answer), repeated);
  if (ticket == 0) return;
  gate_->PostDelayed([this, ticket] { submits_.Expire(ticket); },
                     options_.submit_timeout);
  // What was refused may be mended by now: it is tried, and told, at once.
  if (phase_ == Phase::kWaiting && !refusal_.ok()) Attempt();
  if (!attached()) return;
  submits_.MarkSent();
  stream_->Send(std::move(frame));
}

void BrokerLink::Send(v1::AttachRequest frame) {
  if (attached()) stream_->Send(std::move(frame));
}

void BrokerLink::SayGoodbye(v1::Goodbye::Reason reason, absl::Duration timeout,
                            std::function<void()> done) {
  const bool was_attached = attached();
  End(Error(absl::StatusCode::kCancelled, "OUTCOME_UNKNOWN",
            "the session ended before the broker answered"));
  if (!was_attached) {
    ++attempt_;
    DropStream();
    return done();
  }
  goodbye_done_ = std::move(done);
  v1::AttachRequest frame;
  frame.mutable_goodbye()->set_reason(reason);
  stream_->Send(std::move(frame));
  stream_->CloseWrites();
  // What is left to read is of no use, but the end comes after it.
  SetBlocked(false);
  gate_->PostDelayed(
      [this] {
        if (goodbye_done_) std::exchange(goodbye_done_, nullptr)();
      },
      timeout);
}

}  // namespace intercom
