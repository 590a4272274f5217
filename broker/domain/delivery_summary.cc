#include "broker/domain/delivery_summary.h"

namespace intercom {

v1::DeliverySummary SummaryOf(const v1::DeliveryRecord& record) {
  const v1::Envelope& envelope = record.envelope();
  v1::DeliverySummary summary;
  summary.set_delivery_id(record.delivery_id());
  summary.set_sequence(record.sequence());
  summary.set_kind(envelope.kind());
  summary.set_topic(envelope.topic());
  *summary.mutable_sender() = record.sender();
  summary.set_recipient_session_id(record.recipient_session_id());
  summary.set_recipient_name(record.recipient_name());
  summary.set_state(record.state());
  summary.set_end(record.end());
  if (record.wait_reason() != v1::WAIT_REASON_UNSPECIFIED) {
    summary.set_wait_reason(record.wait_reason());
    *summary.mutable_waiting_since() = record.waiting_since();
  }
  // The first mark is that of ACCEPTED, the last that of the furthest state.
  if (!record.marks().empty()) {
    *summary.mutable_accepted_at() = record.marks(0).at();
    *summary.mutable_changed_at() = record.marks(record.marks_size() - 1).at();
  }
  if (record.has_ended_at()) *summary.mutable_changed_at() = record.ended_at();
  summary.set_quiet(envelope.quiet());
  summary.set_text_bytes(static_cast<int64_t>(envelope.text().size()));
  summary.set_attachments(envelope.attachments_size());
  summary.set_reply_to(envelope.reply_to());
  summary.set_run_id(record.run_id());
  return summary;
}

}  // namespace intercom
