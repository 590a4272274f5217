#include "worker-agent/tools/peer_result.h"

#include "broker/base/error.h"
#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "worker-agent/tools/labels.h"
#include "worker-agent/tools/record_text.h"

namespace intercom {
namespace {

// The envelope id in a delivery id; the whole where it is none.
std::string EnvelopeIdOf(const std::string& delivery_id) {
  const auto parts = ParseDeliveryId(delivery_id);
  return IdLabel(parts.has_value() ? parts->envelope_id : delivery_id);
}

std::string Sentence(std::string_view text) {
  return std::string(text) + (text.ends_with('.') ? "\n" : ".\n");
}

// What was sent, and what it answers.
std::string SentLine(const v1::DeliveryRecord& record, bool asked_for_reply) {
  const v1::Envelope& envelope = record.envelope();
  const std::string to = NameLabel(RecipientName(record));
  const std::string id = ", id " + IdLabel(envelope.envelope_id()) + ".\n";
  if (envelope.kind() == v1::ENVELOPE_KIND_REPLY) {
    return "Reply sent to " + to +
           (asked_for_reply ? ", answering its ask "
                            : " (inferred from pending ask ") +
           EnvelopeIdOf(envelope.reply_to()) + (asked_for_reply ? "" : ")") +
           id;
  }
  if (!envelope.reply_to().empty()) {
    return "Message sent to " + to + ", in answer to its message " +
           EnvelopeIdOf(envelope.reply_to()) + id;
  }
  return "Message sent to " + to + ": " +
         std::string(StateLabel(record.state())) + id;
}

void AddWait(const v1::DeliveryRecord& record, Json& details) {
  const std::string_view word = WaitWord(record.wait_reason());
  if (!word.empty()) details["waitReason"] = word;
}

Json DetailsOf(const v1::DeliveryRecord& record) {
  Json details = {{"messageId", record.envelope().envelope_id()},
                  {"deliveryId", record.delivery_id()},
                  {"state", StateLabel(record.state())},
                  {"to",
                   {{"sessionId", record.recipient_session_id()},
                    {"name", record.recipient_name()}}}};
  AddWait(record, details);
  if (record.end() != v1::DELIVERY_END_UNSPECIFIED) {
    details["end"] = EndLabel(record.end());
  }
  return details;
}

int AttachedOf(const v1::ListSessionsResponse& response) {
  int count = response.has_self() ? 1 : 0;
  for (const v1::RosterEntry& entry : response.sessions()) {
    if (entry.presence() == v1::PRESENCE_ATTACHED) ++count;
  }
  return count;
}

}  // namespace

ToolResult RenderSent(const v1::DeliveryRecord& record, bool asked_for_reply) {
  const bool is_reply = record.envelope().kind() == v1::ENVELOPE_KIND_REPLY;
  ToolResult result;
  result.text = SentLine(record, asked_for_reply);
  std::string state(StateLabel(record.state()));
  if (record.end() != v1::DELIVERY_END_UNSPECIFIED) {
    state = EndLabel(record.end());
    result.text += "It ended: " + state + ".\n";
  } else if (record.wait_reason() != v1::WAIT_REASON_UNSPECIFIED) {
    const std::string wait =
        WaitSentence(record.wait_reason(), RecipientName(record));
    result.text += Sentence(wait);
    state += ", " + wait.substr(0, wait.find(';'));
  }
  result.summary = (is_reply ? "reply → " : "→ ") +
                   NameLabel(RecipientName(record)) + " · " + state;
  result.details = DetailsOf(record);
  AddOpenedRun(record, result);
  if (is_reply && !asked_for_reply) {
    result.details["inferredReplyTo"] = record.envelope().reply_to();
  }
  return result;
}

ToolResult RenderMessageStatus(const v1::DeliveryRecord& record,
                               absl::Time now) {
  ToolResult result;
  result.text = IdLabel(record.envelope().envelope_id()) +
                RecordHeadline(record) + "\n" + RecordStates(record, now);
  result.summary = "→ " + NameLabel(RecipientName(record)) + " · " +
                   std::string(record.end() == v1::DELIVERY_END_UNSPECIFIED
                                   ? StateLabel(record.state())
                                   : EndLabel(record.end()));
  result.details = DetailsOf(record);
  return result;
}

ToolResult RenderWithdrawn(const v1::WithdrawMessageResponse& response,
                           const std::string& message_id) {
  const std::string to = NameLabel(RecipientName(response.record()));
  ToolResult result;
  if (response.requested()) {
    result.text = "Too late to withdraw message " + IdLabel(message_id) +
                  ": it is in the session of " + to +
                  ", which was asked to disregard it. What it has done already "
                  "is not undone.\n";
    result.summary = "cancellation requested from " + to;
  } else {
    result.text = "Message " + IdLabel(message_id) + " to " + to +
                  " is withdrawn: it never reaches that session.\n";
    result.summary = "withdrawn from " + to;
  }
  result.details = DetailsOf(response.record());
  result.details["messageId"] = message_id;
  result.details["outcome"] =
      response.requested() ? "cancellationRequested" : "withdrawn";
  return result;
}

ToolResult RenderNotWithdrawn(const absl::Status& status,
                              const std::string& message_id) {
  const std::string reason = ReasonOf(status);
  ToolResult result;
  if (reason == "BROKER_UNREACHABLE" || reason == "OUTCOME_UNKNOWN") {
    result = RenderError(
        Error(status.code(), "OUTCOME_UNKNOWN",
              MessageOf(status) + ". Whether message " + message_id +
                  " was withdrawn is unknown; action status with its messageId "
                  "tells where it is"));
  } else {
    result = RenderError(status);
  }
  result.details = {{"messageId", message_id}};
  return result;
}

ToolResult RenderOwnSession(
    const OwnSession& own,
    const std::optional<v1::ListSessionsResponse>& sessions) {
  const int attached = sessions.has_value() ? AttachedOf(*sessions) : 0;
  ToolResult result;
  result.text =
      own.connected
          ? "Connected to broker " + SafeLabel(own.broker_version) +
                " on port " + std::to_string(own.port) + ".\n"
          : "Not connected" +
                (own.trouble.empty() ? std::string()
                                     : ": " + SafeLabel(own.trouble, 400)) +
                ".\n";
  result.text += "Session " + IdLabel(own.session_id, 256);
  if (sessions.has_value() && !sessions->self().short_id().empty()) {
    result.text += ", short " + IdLabel(sessions->self().short_id(), 256);
  }
  if (!own.name.empty()) result.text += ", name " + NameLabel(own.name);
  if (!own.stable_id.empty()) {
    result.text += ", stable id " + IdLabel(own.stable_id);
  }
  if (!own.scope.empty()) result.text += ", scope " + NameLabel(own.scope);
  if (!own.role.empty()) result.text += ", role " + own.role;
  if (!own.workspace_root.empty()) {
    result.text += ", workspace " + SafeLabel(own.workspace_root, 4096);
  }
  result.text += ".\n";
  if (sessions.has_value()) {
    result.text += std::to_string(attached) +
                   (attached == 1 ? " session attached, this one"
                                  : " sessions attached, with this one") +
                   ".\n";
  }
  result.text += std::to_string(own.pending_asks) +
                 (own.pending_asks == 1 ? " ask waits" : " asks wait") +
                 " for your answer; you wait for " +
                 std::to_string(own.open_asks) + ".\n";
  result.summary = own.connected ? "connected" : "not connected";
  if (sessions.has_value()) {
    result.summary += ", " + std::to_string(attached) + " attached";
  }
  result.details = {{"connected", own.connected},
                    {"sessionId", own.session_id},
                    {"pendingAsks", own.pending_asks},
                    {"openAsks", own.open_asks}};
  if (sessions.has_value()) {
    result.details["shortId"] = sessions->self().short_id();
    result.details["attached"] = attached;
  }
  if (!own.stable_id.empty()) result.details["stableId"] = own.stable_id;
  if (!own.scope.empty()) result.details["scope"] = own.scope;
  return result;
}

std::string_view ProgressLabel(v1::DeliveryState state) {
  switch (state) {
    case v1::DELIVERY_STATE_DELIVERED:
      return "with its agent";
    case v1::DELIVERY_STATE_INJECTED:
      return "in its session";
    case v1::DELIVERY_STATE_SEEN:
      return "read by its model";
    case v1::DELIVERY_STATE_REPLIED:
      return "answered";
    default:
      return "accepted";
  }
}

}  // namespace intercom
