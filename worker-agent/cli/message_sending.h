#ifndef PI_INTERCOM_WORKER_AGENT_CLI_MESSAGE_SENDING_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_MESSAGE_SENDING_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "intercom/v1/message.pb.h"
#include "worker-agent/cli/command_context.h"

namespace intercom {

// What was typed as an envelope of `kind`: its text, or standard input, under
// the id that was given, or a new one.
absl::StatusOr<v1::Envelope> EnvelopeOf(const CommandContext& context,
                                        v1::EnvelopeKind kind);

// Sends `envelope` to the session that was named: in the workspace, else
// wherever one of the account has that name. Repeated for 5 s under its id when
// the broker is lost meanwhile. OUTCOME_UNKNOWN: it may have been accepted.
absl::StatusOr<v1::SendResponse> SendToNamed(const CommandContext& context,
                                             v1::Envelope envelope);

// The same for a request as it is.
absl::StatusOr<v1::SendResponse> SendRepeated(const CommandContext& context,
                                              const v1::SendRequest& request);

// Whether a call that failed so says nothing but that the broker is lost, which
// may be back soon.
bool IsBrokerAway(const absl::Status& status);

// Where an answer to what `sender` sent will be, for a person: "in: intercom
// inbox".
std::string WhereAnswersGo(const v1::Sender& sender);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_MESSAGE_SENDING_H_
