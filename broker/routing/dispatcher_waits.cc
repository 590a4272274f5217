// What deliveries wait for before they are offered.
#include <algorithm>
#include <utility>

#include "broker/base/proto_time.h"
#include "broker/domain/identity.h"
#include "broker/routing/dispatcher.h"

namespace intercom {

void Dispatcher::BeginClosing(const std::string& session_id,
                              std::string exempt) {
  closing_[session_id] = {std::move(exempt), clock_.Now()};
}

void Dispatcher::EndClosing(const std::string& session_id) {
  if (closing_.erase(session_id) == 0) return;
  if (Outbox* outbox = Find(session_id)) {
    outbox->Rewind();
    Pump(session_id);
  }
}

bool Dispatcher::WaitsToSupersede(const Outbox& outbox,
                                  const v1::DeliveryRecord& record) const {
  const std::string& sender = record.sender().session_id();
  const std::string& earlier = record.envelope().supersedes();
  return outbox.IsHeldBack(sender) ||
         (!earlier.empty() &&
          withdrawals_.IsAwaited(DeliveryId(sender, earlier)));
}

void Dispatcher::HoldBack(Outbox& outbox, const v1::DeliveryRecord& record) {
  const std::string& sender = record.sender().session_id();
  if (outbox.IsHeldBack(sender)) return;
  outbox.HoldBack(sender, record.sequence());
  withdrawals_.Await(DeliveryId(sender, record.envelope().supersedes()),
                     [this, sender, recipient = record.recipient_session_id()](
                         const absl::Status&) {
                       runner_.PostTask([this, sender, recipient] {
                         Outbox* outbox = Find(recipient);
                         if (outbox == nullptr) return;
                         outbox->Release(sender);
                         Pump(recipient);
                       });
                     });
}

void Dispatcher::DescribeWait(v1::DeliveryRecord& record) const {
  if (!StatusOf(record).open()) {
    record.clear_wait_reason();
    record.clear_waiting_since();
    return;
  }
  const Roster::PresenceMark presence =
      roster_.PresenceOf(record.recipient_session_id());
  absl::Time since =
      record.marks_size() > 0 ? FromProto(record.marks(0).at()) : clock_.Now();
  const auto waits = [&](v1::WaitReason reason) {
    record.set_wait_reason(reason);
    *record.mutable_waiting_since() = ToProto(since);
  };
  if (set_aside_.contains(record.delivery_id())) {
    return waits(v1::WAIT_REASON_AWAITED);
  }
  if (IsPersonSessionId(record.recipient_session_id())) {
    return waits(v1::WAIT_REASON_UNREAD);
  }
  const Outbox* outbox = Find(record.recipient_session_id());
  if (const auto closing = closing_.find(record.recipient_session_id());
      closing != closing_.end() &&
      record.delivery_id() != closing->second.exempt &&
      (outbox == nullptr || !outbox->IsInFlight(record.sequence()))) {
    // Also while it is away: that it comes back changes nothing.
    since = std::max(since, closing->second.since);
    return waits(v1::WAIT_REASON_CLOSING);
  }
  if (presence.presence != v1::PRESENCE_ATTACHED) {
    if (presence.since.has_value()) since = std::max(since, *presence.since);
    return waits(presence.presence == v1::PRESENCE_RESTARTING
                     ? v1::WAIT_REASON_STARTING
                     : v1::WAIT_REASON_AWAY);
  }
  if (outbox == nullptr) return waits(v1::WAIT_REASON_AWAY);
  if (outbox->IsInFlight(record.sequence())) return;  // as the host said
  if (!outbox->open()) return waits(v1::WAIT_REASON_STARTING);
  const bool supersedes =
      !record.envelope().supersedes().empty() &&
      outbox->IsInFlight(DeliveryId(record.sender().session_id(),
                                    record.envelope().supersedes()));
  if (supersedes || WaitsToSupersede(*outbox, record)) {
    return waits(v1::WAIT_REASON_SUPERSEDING);
  }
  if (!outbox->HasRoom(
          static_cast<int64_t>(record.envelope().ByteSizeLong()))) {
    return waits(v1::WAIT_REASON_WINDOW);
  }
  record.clear_wait_reason();
  record.clear_waiting_since();
}

}  // namespace intercom
