// Deliveries that are kept for calls that wait for them.
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/routing/dispatcher.h"
#include "spdlog/spdlog.h"

namespace intercom {

void Dispatcher::SetAside(const std::string& delivery_id) {
  set_aside_.insert(delivery_id);
}

void Dispatcher::Release(const std::string& delivery_id) {
  if (set_aside_.erase(delivery_id) == 0) return;
  const auto status = deliveries_.FindStatus(delivery_id);
  if (!status.ok()) {
    // It is offered at the next attach.
    spdlog::error("can't read delivery {}: {}", delivery_id,
                  MessageOf(status.status()));
    return;
  }
  if (!status->has_value()) return;
  const std::string& recipient = (*status)->recipient_session_id;
  if (Outbox* outbox = Find(recipient)) {
    outbox->Rewind();
    Pump(recipient);
  }
}

absl::StatusOr<std::optional<v1::DeliveryRecord>> Dispatcher::RecordTaken(
    const std::string& delivery_id, bool has_agent, Effects& effects) {
  INTERCOM_ASSIGN_OR_RETURN(const auto status,
                            deliveries_.FindStatus(delivery_id));
  if (!status.has_value()) return std::nullopt;
  if (status->open()) {
    INTERCOM_RETURN_IF_ERROR(Mark(delivery_id, status->sequence,
                                  has_agent ? v1::DELIVERY_STATE_DELIVERED
                                            : v1::DELIVERY_STATE_INJECTED,
                                  "taken by the call that waits", effects)
                                 .status());
    if (!has_agent) {
      effects.AfterCommit([this, delivery_id, status = *status] {
        Settled(status.recipient_session_id, delivery_id, status.sequence);
      });
    }
  }
  INTERCOM_ASSIGN_OR_RETURN(auto record, deliveries_.Find(delivery_id));
  if (record.has_value()) DescribeWait(*record);
  return record;
}

}  // namespace intercom
