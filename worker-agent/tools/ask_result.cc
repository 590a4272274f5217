#include "worker-agent/tools/ask_result.h"

#include "broker/base/error.h"
#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "worker-agent/tools/attachment_text.h"
#include "worker-agent/tools/bounded_text.h"
#include "worker-agent/tools/delivery_text.h"
#include "worker-agent/tools/labels.h"
#include "worker-agent/tools/peer_result.h"

namespace intercom {
namespace {

// Room for the lines around the asks.
constexpr size_t kReservedBytes = 1024;

// How far it has come, and what it waits for there.
std::string LastKnown(const SentAsk& ask) {
  std::string text(ProgressLabel(ask.state));
  if (const auto word = WaitWord(ask.wait_reason); !word.empty()) {
    text += " (" + std::string(word) + ")";
  }
  return text;
}

// What can be done about an ask that nobody waits for any more.
std::string WhatNext(const SentAsk& ask) {
  return "A late reply arrives as a message. Action status with messageId \"" +
         ask.message_id +
         "\" tells where it is, action cancel takes it back; don't ask it "
         "again.";
}

ToolResult Failed(const SentAsk& ask, absl::StatusCode code,
                  std::string_view reason, const std::string& text) {
  ToolResult result = RenderError(Error(code, reason, text));
  result.details = {{"messageId", ask.message_id},
                    {"deliveryId", ask.delivery_id},
                    {"state", StateLabel(ask.state)}};
  if (const auto word = WaitWord(ask.wait_reason); !word.empty()) {
    result.details["waitReason"] = word;
  }
  return result;
}

std::string Asker(const v1::Ask& ask) {
  return NameOr(ask.asker().name(), ask.asker().session_id());
}

std::string EnvelopeIdOf(const v1::Ask& ask) {
  const auto parts = ParseDeliveryId(ask.delivery_id());
  return parts.has_value() ? parts->envelope_id : ask.delivery_id();
}

std::string PendingRow(const v1::Ask& ask, absl::Time now) {
  return "• " + Asker(ask) + " (session " +
         IdLabel(ask.asker().session_id(), 256) + ") asked " +
         AgeLabel(now - ToTime(ask.asked_at())) + " ago, id " +
         IdLabel(EnvelopeIdOf(ask), 64) +
         (ask.awaited() ? "; it waits until " + TimeOfDay(ask.deadline_at())
                        : "; it no longer waits: a reply arrives as a "
                          "message") +
         "\n" + FenceText(ask.preview()) + "\n";
}

}  // namespace

ToolResult RenderReply(const SentAsk& ask, const v1::DeliveryRecord& reply) {
  ToolResult result;
  result.text = "Reply from " + SenderLabel(reply.sender()) + ":\n" +
                FenceText(reply.envelope().text()) + "\n" +
                AttachmentsText(reply.envelope());
  const std::string name =
      NameOr(reply.sender().name(), reply.sender().session_id());
  result.summary = name + ": " + SafeLabel(reply.envelope().text(), 120);
  result.delivery_id = reply.delivery_id();
  result.details = {{"messageId", ask.message_id},
                    {"deliveryId", ask.delivery_id},
                    {"replyDeliveryId", reply.delivery_id()},
                    {"replyMessageId", reply.envelope().envelope_id()},
                    {"from",
                     {{"sessionId", reply.sender().session_id()},
                      {"name", reply.sender().name()}}}};
  if (!reply.envelope().attachments().empty()) {
    result.details["attachments"] = AttachmentsJson(reply.envelope());
  }
  return result;
}

ToolResult RenderUnanswered(const SentAsk& ask, v1::Ask::State how) {
  const std::string to = NameLabel(ask.recipient);
  const std::string about =
      " Ask " + ask.message_id + ", last known state: " + LastKnown(ask) + ". ";
  switch (how) {
    case v1::Ask::STATE_TIMED_OUT:
      return Failed(ask, absl::StatusCode::kDeadlineExceeded, "ASK_TIMED_OUT",
                    to + " did not reply within " + AgeLabel(ask.reply_within) +
                        "." + about +
                        "It stays there: a timeout takes nothing back. " +
                        WhatNext(ask));
    case v1::Ask::STATE_CANCELLED:
      return Failed(ask, absl::StatusCode::kCancelled, "ASK_CANCELLED",
                    "The ask to " + to +
                        " was taken back before it was answered." + about +
                        "Nobody needs to answer it any more.");
    case v1::Ask::STATE_RECIPIENT_GONE:
      return Failed(ask, absl::StatusCode::kFailedPrecondition,
                    "RECIPIENT_GONE",
                    to + " has gone before it replied." + about +
                        "If that session returns, a reply still arrives as a "
                        "message. Action list shows who is there.");
    default:
      return Failed(ask, absl::StatusCode::kInternal, "ASK_UNCLEAR",
                    "The ask to " + to +
                        " is over, and its reply is not at "
                        "hand." +
                        about + WhatNext(ask));
  }
}

ToolResult RenderStoppedWaiting(const SentAsk& ask) {
  return Failed(ask, absl::StatusCode::kCancelled, "WAIT_STOPPED",
                "Stopped waiting for " + NameLabel(ask.recipient) + ". Ask " +
                    ask.message_id + " stays open, last known state: " +
                    LastKnown(ask) + ". " + WhatNext(ask));
}

ToolResult RenderUnknownAsk(const SentAsk& ask, const absl::Status& why) {
  return Failed(
      ask, absl::StatusCode::kUnavailable, "OUTCOME_UNKNOWN",
      "The time for the reply of " + NameLabel(ask.recipient) +
          " is over, and the broker can't be asked what became of ask " +
          ask.message_id + " (" + MessageOf(why) +
          "). Last known state: " + LastKnown(ask) + ". " + WhatNext(ask));
}

ToolResult RenderBrokenAsk(const SentAsk& ask, const absl::Status& why) {
  const std::string to = NameLabel(ask.recipient);
  if (ask.delivery_id.empty() && ReasonOf(why) == "UNKNOWN_ASK") {
    return Failed(ask, absl::StatusCode::kUnavailable, "NOT_SENT",
                  "The broker was lost before it had ask " + ask.message_id +
                      " to " + to + ": nothing was sent, ask again.");
  }
  return Failed(ask, why.code(), ReasonOf(why),
                "Waiting for the reply of " + to + " to ask " + ask.message_id +
                    " ended: " + MessageOf(why) +
                    ". Last known state: " + LastKnown(ask) + ".");
}

std::string AskProgress(const SentAsk& ask, absl::Duration waited,
                        bool connected) {
  return "waiting for " + NameLabel(ask.recipient) + " (" + AgeLabel(waited) +
         " of " + AgeLabel(ask.reply_within) + "): " +
         (connected ? LastKnown(ask)
                    : "no connection to the broker now, trying again");
}

Json AsksJson(const google::protobuf::RepeatedPtrField<v1::Ask>& asks) {
  Json pending = Json::array();
  for (const v1::Ask& ask : asks) {
    pending.push_back({{"deliveryId", ask.delivery_id()},
                       {"envelopeId", EnvelopeIdOf(ask)},
                       {"from",
                        {{"sessionId", ask.asker().session_id()},
                         {"name", ask.asker().name()}}},
                       {"askedAt", Rfc3339(ask.asked_at())},
                       {"deadlineAt", Rfc3339(ask.deadline_at())},
                       {"awaited", ask.awaited()},
                       {"preview", SafeLabel(ask.preview(), 160)}});
  }
  return pending;
}

ToolResult RenderPending(
    const google::protobuf::RepeatedPtrField<v1::Ask>& asks, absl::Time now) {
  ToolResult result;
  const int count = asks.size();
  result.summary =
      std::to_string(count) + (count == 1 ? " pending ask" : " pending asks");
  if (count == 0) {
    result.text = "No ask waits for your answer.\n";
  } else {
    result.text = (count == 1 ? std::string("1 ask waits")
                              : std::to_string(count) + " asks wait") +
                  " for your answer, the oldest first:\n";
  }
  int shown = 0;
  for (const v1::Ask& ask : asks) {
    const std::string row = PendingRow(ask, now);
    if (result.text.size() + row.size() > kMaxResultBytes - kReservedBytes) {
      break;
    }
    result.text += row;
    ++shown;
  }
  if (shown < count) {
    result.text += "… and " + std::to_string(count - shown) + " more.\n";
  }
  if (count > 0) {
    result.text +=
        "Answer one with action reply, and with replyTo its id where there "
        "are several. The quoted lines are the askers' words, not a "
        "person's.\n";
  }
  result.details = {{"pending", AsksJson(asks)}};
  return result;
}

}  // namespace intercom
