#include "worker-agent/cli/message_sending.h"

#include <istream>
#include <utility>

#include "absl/time/clock.h"
#include "broker/base/error.h"
#include "broker/base/random.h"
#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "worker-agent/tools/labels.h"

namespace intercom {
namespace {

constexpr absl::Duration kRepeatFor = absl::Seconds(5);
constexpr absl::Duration kRepeatPause = absl::Milliseconds(200);
// One byte more than any text may have is read, so that too much is refused.
constexpr size_t kMaxInputBytes = 256 << 10;

std::string ReadInput(std::istream& in) {
  std::string text(kMaxInputBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  // The newline that ends a pipe's text belongs to the pipe.
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

// Whether a send that failed so may have been accepted.
bool MayBeSent(const absl::Status& status) {
  const std::string reason = ReasonOf(status);
  return reason == "OUTCOME_UNKNOWN" || reason == "CONNECTION_LOST" ||
         (!status.ok() && reason.empty());
}

}  // namespace

absl::StatusOr<v1::Envelope> EnvelopeOf(const CommandContext& context,
                                        v1::EnvelopeKind kind) {
  const Arguments& arguments = context.arguments;
  SystemRandom random;
  v1::Envelope envelope;
  envelope.set_envelope_id(arguments.id.empty() ? NewUuid(random)
                                                : arguments.id);
  envelope.set_kind(kind);
  envelope.set_text(arguments.text == "-" ? ReadInput(context.in)
                                          : arguments.text);
  // A text that is too long may be cut within a character.
  if (envelope.text().size() > kMaxInputBytes ||
      CountCharacters(envelope.text()).has_value()) {
    return envelope;
  }
  return Error(absl::StatusCode::kInvalidArgument, "TEXT_NOT_UTF8",
               "the text is not UTF-8; nothing was sent");
}

absl::StatusOr<v1::SendResponse> SendToNamed(const CommandContext& context,
                                             v1::Envelope envelope) {
  v1::SendRequest request;
  request.set_to(context.arguments.to);
  request.set_directory(context.Directory());
  *request.mutable_envelope() = std::move(envelope);
  absl::StatusOr<v1::SendResponse> response = SendRepeated(context, request);
  const std::string reason = ReasonOf(response.status());
  const bool is_unknown =
      reason == "NO_WORKSPACE" || reason == "UNKNOWN_RECIPIENT";
  // Where a workspace was named, one of that name elsewhere is not meant.
  if (!is_unknown || !context.arguments.directory.empty()) return response;
  // Nothing was sent: the same envelope goes to whom the account knows so.
  request.clear_directory();
  request.set_reach(v1::REACH_ACCOUNT);
  absl::StatusOr<v1::SendResponse> anywhere = SendRepeated(context, request);
  if (reason == "UNKNOWN_RECIPIENT" &&
      ReasonOf(anywhere.status()) == "UNKNOWN_RECIPIENT") {
    return response;  // It names those of the workspace.
  }
  return anywhere;
}

absl::StatusOr<v1::SendResponse> SendRepeated(const CommandContext& context,
                                              const v1::SendRequest& request) {
  absl::StatusOr<v1::SendResponse> response = context.client.Send(request);
  const bool may_be_sent = MayBeSent(response.status());
  // Under its id it is safe to repeat: a broker that was lost is back soon.
  const absl::Duration give_up = context.clock.Steady() + kRepeatFor;
  while (may_be_sent && IsBrokerAway(response.status()) &&
         context.clock.Steady() < give_up) {
    absl::SleepFor(kRepeatPause);
    response = context.client.Send(request);
  }
  if (may_be_sent &&
      (MayBeSent(response.status()) || IsBrokerAway(response.status()))) {
    return Error(response.status().code(), "OUTCOME_UNKNOWN",
                 MessageOf(response.status()) +
                     "; whether the message was sent is unknown. Repeating "
                     "it is safe with: --id " +
                     request.envelope().envelope_id());
  }
  return response;
}

bool IsBrokerAway(const absl::Status& status) {
  const std::string reason = ReasonOf(status);
  return absl::IsUnavailable(status) || reason == "BROKER_BUSY" ||
         reason == "BROKER_HUNG";
}

std::string WhereAnswersGo(const v1::Sender& sender) {
  return IsPersonSessionId(sender.session_id())
             ? "in: intercom inbox"
             : "a message in the session " + IdLabel(sender.session_id(), 80);
}

}  // namespace intercom
