#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_LABELS_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_LABELS_H_

#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "broker/domain/fence.h"
#include "google/protobuf/timestamp.pb.h"
#include "intercom/v1/envelope.pb.h"
#include "intercom/v1/roster.pb.h"

namespace intercom {

// Values as a person reads them, in lower case; "unknown" for others.
std::string_view StateLabel(v1::DeliveryState state);
std::string_view EndLabel(v1::DeliveryEnd end);
std::string_view PresenceLabel(v1::Presence presence);
std::string_view KindLabel(v1::EnvelopeKind kind);

// Why a delivery waits, in one word for programs: "away"; "" for none.
std::string_view WaitWord(v1::WaitReason reason);

// "queued: Builder is away; it is delivered when that session returns".
// `recipient` is shown as a safe label.
std::string WaitSentence(v1::WaitReason reason, std::string_view recipient);

// "working · Running command", or "" when nothing is known.
std::string ActivityLabel(const v1::Activity& activity);

// The first eight characters of an id.
std::string ShortId(std::string_view id);

// What tells one message from others: the first eight characters of a random
// UUID, else all of the id. Others may all begin alike.
std::string MessageIdLabel(std::string_view id);

// "file", "snippet", "context".
std::string_view AttachmentTypeLabel(v1::MessageAttachment::Type type);

// What a session does, as the roster shows it: "idle", "thinking", "tool:bash",
// "away", with " · " and the person's note where there is one.
std::string SessionStatus(const v1::RosterEntry& entry);

// "12:03:04Z" and "2026-11-30 12:03:04Z". Empty for the unset time.
std::string TimeOfDay(const google::protobuf::Timestamp& time);
std::string DateAndTime(const google::protobuf::Timestamp& time);
// "2026-11-30T12:03:04Z", for programs.
std::string Rfc3339(const google::protobuf::Timestamp& time);
absl::Time ToTime(const google::protobuf::Timestamp& time);

// "4s", "12m", "3h", "2d". Negative ages count as 0.
std::string AgeLabel(absl::Duration age);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_LABELS_H_
