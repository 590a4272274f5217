#include "worker-agent/tools/labels.h"

#include <cstdint>

#include "broker/domain/activity.h"

namespace intercom {
namespace {

std::string Format(const char* format,
                   const google::protobuf::Timestamp& time) {
  if (time.seconds() == 0 && time.nanos() == 0) return "";
  return absl::FormatTime(format, ToTime(time), absl::UTCTimeZone());
}

}  // namespace

std::string_view StateLabel(v1::DeliveryState state) {
  switch (state) {
    case v1::DELIVERY_STATE_ACCEPTED:
      return "accepted";
    case v1::DELIVERY_STATE_DELIVERED:
      return "delivered";
    case v1::DELIVERY_STATE_INJECTED:
      return "injected";
    case v1::DELIVERY_STATE_SEEN:
      return "seen";
    case v1::DELIVERY_STATE_REPLIED:
      return "replied";
    default:
      return "unknown";
  }
}

std::string_view EndLabel(v1::DeliveryEnd end) {
  switch (end) {
    case v1::DELIVERY_END_CANCELLED:
      return "cancelled";
    case v1::DELIVERY_END_SUPERSEDED:
      return "superseded";
    case v1::DELIVERY_END_EXPIRED:
      return "expired";
    case v1::DELIVERY_END_REFUSED:
      return "refused";
    case v1::DELIVERY_END_DEAD_LETTERED:
      return "dead-lettered";
    default:
      return "unknown";
  }
}

std::string_view PresenceLabel(v1::Presence presence) {
  switch (presence) {
    case v1::PRESENCE_ATTACHED:
      return "attached";
    case v1::PRESENCE_RESTARTING:
      return "restarting";
    case v1::PRESENCE_AWAY:
      return "away";
    default:
      return "unknown";
  }
}

std::string_view KindLabel(v1::EnvelopeKind kind) {
  switch (kind) {
    case v1::ENVELOPE_KIND_MESSAGE:
      return "message";
    case v1::ENVELOPE_KIND_ASK:
      return "ask";
    case v1::ENVELOPE_KIND_REPLY:
      return "reply";
    case v1::ENVELOPE_KIND_REPORT:
      return "report";
    case v1::ENVELOPE_KIND_NOTICE:
      return "notice";
    default:
      return "unknown";
  }
}

std::string WaitSentence(v1::WaitReason reason, std::string_view recipient) {
  const std::string name = NameLabel(recipient);
  switch (reason) {
    case v1::WAIT_REASON_AWAY:
      return "queued: " + name +
             " is away; it is delivered when that session returns";
    case v1::WAIT_REASON_WINDOW:
      return "queued: " + name +
             " has as much undigested mail as its window takes; it is "
             "delivered when that session has taken some of it";
    case v1::WAIT_REASON_CLOSING:
      return "queued: " + name +
             " is closing; it is delivered if that session returns";
    case v1::WAIT_REASON_COMPACTION:
      return "held: " + name +
             " compacts its context; it is handed over afterwards";
    case v1::WAIT_REASON_STARTING:
      return "held: " + name +
             " is starting; it is handed over once that session is ready";
    case v1::WAIT_REASON_BUSY:
      return "held: " + name +
             " is in a turn; it is handed over at the turn's next boundary";
    case v1::WAIT_REASON_SUPERSEDING:
      return "queued: the earlier message that it replaces is being withdrawn "
             "from " +
             name;
    case v1::WAIT_REASON_AWAITED:
      return "set aside: it goes to the ask of " + name +
             " that it answers, as that call's result";
    case v1::WAIT_REASON_UNREAD:
      return "unread: it is kept in the mailbox of " + name +
             " until it is read there; that starts nothing by itself";
    default:
      return "waiting for " + name;
  }
}

std::string_view WaitWord(v1::WaitReason reason) {
  switch (reason) {
    case v1::WAIT_REASON_AWAY:
      return "away";
    case v1::WAIT_REASON_WINDOW:
      return "window";
    case v1::WAIT_REASON_CLOSING:
      return "closing";
    case v1::WAIT_REASON_COMPACTION:
      return "compaction";
    case v1::WAIT_REASON_STARTING:
      return "starting";
    case v1::WAIT_REASON_BUSY:
      return "busy";
    case v1::WAIT_REASON_SUPERSEDING:
      return "superseding";
    case v1::WAIT_REASON_AWAITED:
      return "awaited";
    case v1::WAIT_REASON_UNREAD:
      return "unread";
    default:
      return "";
  }
}

std::string ActivityLabel(const v1::Activity& activity) {
  if (activity.phase() == v1::ACTIVITY_PHASE_UNSPECIFIED) return "";
  std::string text(PhaseName(activity.phase()));
  if (!activity.label().empty()) {
    text += " · " + MarkedLine(activity.label(), 64);
  }
  return text;
}

std::string ShortId(std::string_view id) { return IdLabel(id.substr(0, 8)); }

std::string MessageIdLabel(std::string_view id) {
  // The version stands behind the second hyphen.
  const bool is_random = id.size() == 36 && id[8] == '-' && id[13] == '-' &&
                         id[14] == '4' && id[18] == '-';
  return is_random ? ShortId(id) : IdLabel(id, 64);
}

std::string_view AttachmentTypeLabel(v1::MessageAttachment::Type type) {
  switch (type) {
    case v1::MessageAttachment::TYPE_FILE:
      return "file";
    case v1::MessageAttachment::TYPE_SNIPPET:
      return "snippet";
    case v1::MessageAttachment::TYPE_CONTEXT:
      return "context";
    default:
      return "unknown";
  }
}

std::string SessionStatus(const v1::RosterEntry& entry) {
  const v1::Activity& activity = entry.activity();
  std::string text;
  if (entry.presence() != v1::PRESENCE_ATTACHED) {
    text = PresenceLabel(entry.presence());
  } else if (activity.phase() == v1::ACTIVITY_PHASE_TOOL) {
    text = activity.tool().empty() ? "tool"
                                   : "tool:" + NameLabel(activity.tool(), 64);
  } else {
    text = activity.phase() <= v1::ACTIVITY_PHASE_IDLE ? "idle" : "thinking";
  }
  if (!activity.note().empty()) text += " · " + MarkedLine(activity.note(), 80);
  return text;
}

absl::Time ToTime(const google::protobuf::Timestamp& time) {
  return absl::FromUnixSeconds(time.seconds()) +
         absl::Nanoseconds(int64_t{time.nanos()});
}

std::string TimeOfDay(const google::protobuf::Timestamp& time) {
  return Format("%H:%M:%SZ", time);
}

std::string DateAndTime(const google::protobuf::Timestamp& time) {
  return Format("%Y-%m-%d %H:%M:%SZ", time);
}

std::string Rfc3339(const google::protobuf::Timestamp& time) {
  return Format("%Y-%m-%dT%H:%M:%SZ", time);
}

std::string AgeLabel(absl::Duration age) {
  const int64_t seconds =
      age < absl::ZeroDuration() ? 0 : absl::ToInt64Seconds(age);
  if (seconds < 60) return std::to_string(seconds) + "s";
  if (seconds < 3600) return std::to_string(seconds / 60) + "m";
  if (seconds < 86400) return std::to_string(seconds / 3600) + "h";
  return std::to_string(seconds / 86400) + "d";
}

}  // namespace intercom
