#include "broker/work/ask_desk.h"

#include "broker/base/error.h"

namespace intercom {

absl::Status AskDesk::Load() { return absl::OkStatus(); }

absl::StatusOr<AnswerTarget> AskDesk::FindAnswered(
    const DecidedCall&, const v1::SendRequest&,
    const std::optional<PeerTarget>&) const {
  return absl::UnimplementedError("");
}

absl::StatusOr<std::optional<AnswerTarget>> AskDesk::InferAnswered(
    const DecidedCall&, std::string_view) const {
  return std::nullopt;
}

absl::Status AskDesk::CheckAsk(const DecidedCall&, const PeerTarget&) const {
  return absl::UnimplementedError("");
}

absl::Status AskDesk::OnAccepted(const v1::DeliveryRecord&, const std::string&,
                                 Effects&) {
  return absl::OkStatus();
}

absl::Status AskDesk::OnEnded(const v1::DeliveryRecord&, Effects&) {
  return absl::OkStatus();
}

void AskDesk::AwaitReply(CallerEvidence evidence, v1::AwaitReplyRequest,
                         AwaitDone done) {
  runner_.PostTask(
      [this, evidence = std::move(evidence), done = std::move(done)]() mutable {
        const auto caller =
            workspaces_.callers().ResolveFor(Operation::kMessageRead, evidence);
        if (!caller.ok()) return done(caller.status());
        done(Error(absl::StatusCode::kNotFound, "UNKNOWN_ASK",
                   "this session sent no ask of that id"));
      });
}

void AskDesk::ListAsks(CallerEvidence evidence, v1::ListAsksRequest,
                       ListDone done) {
  runner_.PostTask(
      [this, evidence = std::move(evidence), done = std::move(done)]() mutable {
        const auto caller =
            workspaces_.callers().ResolveFor(Operation::kMessageRead, evidence);
        if (!caller.ok()) return done(caller.status());
        done(v1::ListAsksResponse());
      });
}

void AskDesk::Tick() {}

void AskDesk::OnAttached(Attachment&) {}

void AskDesk::OnDetached(const Attachment&, bool) {}

}  // namespace intercom
