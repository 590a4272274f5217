// Deliveries that no session's agent is offered: those kept for calls that wait
// for them, and those to a person.
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
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
    const std::string& delivery_id, bool is_told_of, Effects& effects) {
  INTERCOM_ASSIGN_OR_RETURN(const auto status,
                            deliveries_.FindStatus(delivery_id));
  if (!status.has_value()) return std::nullopt;
  if (status->open()) {
    INTERCOM_RETURN_IF_ERROR(Mark(delivery_id, status->sequence,
                                  is_told_of ? v1::DELIVERY_STATE_DELIVERED
                                             : v1::DELIVERY_STATE_INJECTED,
                                  "taken by the call that waits", effects)
                                 .status());
    if (!is_told_of) {
      effects.AfterCommit([this, delivery_id, status = *status] {
        Settled(status.recipient_session_id, delivery_id, status.sequence);
      });
    }
  }
  INTERCOM_ASSIGN_OR_RETURN(auto record, deliveries_.Find(delivery_id));
  if (record.has_value()) DescribeWait(*record);
  return record;
}

absl::StatusOr<v1::DeliveryRecord> Dispatcher::RecordRead(
    const std::string& delivery_id, std::string_view recipient,
    std::string_view evidence, Effects& effects) {
  INTERCOM_ASSIGN_OR_RETURN(const auto status,
                            deliveries_.FindStatus(delivery_id));
  if (!status.has_value() || status->recipient_session_id != recipient) {
    return Error(absl::StatusCode::kNotFound, "UNKNOWN_ENVELOPE",
                 "no mail of yours has the id " + IdLabel(delivery_id) +
                     "; nothing was marked as read");
  }
  INTERCOM_RETURN_IF_ERROR(MarkOfPerson(
      delivery_id, *status, v1::DELIVERY_STATE_SEEN, evidence, effects));
  INTERCOM_ASSIGN_OR_RETURN(auto record, deliveries_.Find(delivery_id));
  return *std::move(record);
}

absl::Status Dispatcher::MarkOfPerson(const std::string& delivery_id,
                                      const DeliveryStatus& status,
                                      v1::DeliveryState state,
                                      std::string_view evidence,
                                      Effects& effects) {
  if (status.state >= state) return absl::OkStatus();
  INTERCOM_RETURN_IF_ERROR(
      Mark(delivery_id, status.sequence, state, evidence, effects).status());
  effects.AfterCommit([this, delivery_id, status] {
    Settled(status.recipient_session_id, delivery_id, status.sequence);
  });
  return absl::OkStatus();
}

}  // namespace intercom
