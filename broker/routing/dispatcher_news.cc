// How deliveries change, so that whoever watches is told of each change that is
// kept.
#include <memory>
#include <utility>

#include "broker/base/status_macros.h"
#include "broker/domain/delivery_summary.h"
#include "broker/routing/dispatcher.h"

namespace intercom {

absl::StatusOr<DeliveryChange> Dispatcher::Mark(const std::string& delivery_id,
                                                int64_t sequence,
                                                v1::DeliveryState state,
                                                std::string_view evidence,
                                                Effects& effects) {
  const absl::Time now = clock_.Now();
  INTERCOM_ASSIGN_OR_RETURN(DeliveryChange change,
                            deliveries_.Mark(sequence, state, now, evidence));
  TellChange(delivery_id, change.before, change.after, now, effects);
  return change;
}

absl::Status Dispatcher::MarkUninjected(const v1::DeliveryRecord& record,
                                        std::string_view evidence,
                                        Effects& effects) {
  const absl::Time now = clock_.Now();
  INTERCOM_ASSIGN_OR_RETURN(
      const DeliveryChange change,
      deliveries_.MarkUninjected(record.sequence(), now, evidence));
  TellChange(record.delivery_id(), change.before, change.after, now, effects);
  return absl::OkStatus();
}

absl::Status Dispatcher::SetWait(const std::string& delivery_id,
                                 const DeliveryStatus& status,
                                 v1::WaitReason reason, Effects& effects) {
  const absl::Time now = clock_.Now();
  INTERCOM_RETURN_IF_ERROR(deliveries_.SetWait(status.sequence, reason, now));
  if (!status.open()) return absl::OkStatus();
  DeliveryStatus after = status;
  after.wait_reason = reason;
  TellChange(delivery_id, status, after, now, effects);
  return absl::OkStatus();
}

absl::StatusOr<bool> Dispatcher::End(const std::string& delivery_id,
                                     const DeliveryStatus& status,
                                     v1::DeliveryEnd end,
                                     std::string_view evidence,
                                     Effects& effects) {
  const absl::Time now = clock_.Now();
  INTERCOM_ASSIGN_OR_RETURN(
      const bool ended, deliveries_.End(status.sequence, end, now, evidence));
  if (!ended) return false;
  DeliveryStatus after = status;
  after.end = end;
  after.wait_reason = v1::WAIT_REASON_UNSPECIFIED;
  TellChange(delivery_id, status, after, now, effects);
  return true;
}

void Dispatcher::TellAccepted(const v1::DeliveryRecord& record,
                              Effects& effects) const {
  if (!watchers_.changed) return;
  DeliveryNews news;
  news.delivery_id = record.delivery_id();
  news.after = StatusOf(record);
  news.at = clock_.Now();
  news.accepted =
      std::make_shared<const v1::DeliverySummary>(SummaryOf(record));
  effects.AfterCommit(
      [this, news = std::move(news)] { watchers_.changed(news); });
}

void Dispatcher::TellChange(const std::string& delivery_id,
                            const DeliveryStatus& before,
                            const DeliveryStatus& after, absl::Time at,
                            Effects& effects) const {
  const bool is_same = before.state == after.state && before.end == after.end &&
                       before.wait_reason == after.wait_reason;
  if (is_same || !watchers_.changed) return;
  effects.AfterCommit([this, news = DeliveryNews{delivery_id, before, after, at,
                                                 /*accepted=*/nullptr}] {
    watchers_.changed(news);
  });
}

}  // namespace intercom
