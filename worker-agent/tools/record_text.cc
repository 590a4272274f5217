#include "worker-agent/tools/record_text.h"

#include "broker/domain/fence.h"
#include "worker-agent/tools/delivery_text.h"
#include "worker-agent/tools/labels.h"
#include "worker-agent/tools/text_table.h"

namespace intercom {

std::string RecipientName(const v1::DeliveryRecord& record) {
  return record.recipient_name().empty() ? record.recipient_session_id()
                                         : record.recipient_name();
}

std::string RecordHeadline(const v1::DeliveryRecord& record) {
  return " " + std::string(KindLabel(record.envelope().kind())) + " from " +
         SenderLabel(record.sender()) + " to " +
         NameLabel(RecipientName(record));
}

std::string RecordStates(const v1::DeliveryRecord& record, absl::Time now) {
  std::string text;
  TextTable marks({"STATE", "AT", "EVIDENCE"});
  for (const v1::DeliveryMark& mark : record.marks()) {
    marks.AddRow(
        {std::string(StateLabel(mark.state())), DateAndTime(mark.at()),
         mark.evidence().empty() ? "" : SafeLabel(mark.evidence(), 512)});
  }
  if (!record.marks().empty()) text += marks.ToString();
  if (record.end() != v1::DELIVERY_END_UNSPECIFIED) {
    text += "Ended: " + std::string(EndLabel(record.end()));
    if (record.has_ended_at()) text += " at " + DateAndTime(record.ended_at());
    if (!record.end_evidence().empty()) {
      text += ": " + SafeLabel(record.end_evidence(), 512);
    }
    text += "\n";
  } else if (record.wait_reason() != v1::WAIT_REASON_UNSPECIFIED) {
    text += "Waiting";
    if (record.has_waiting_since()) {
      text += " since " + DateAndTime(record.waiting_since()) + " (" +
              AgeLabel(now - ToTime(record.waiting_since())) + ")";
    }
    text +=
        ", " + WaitSentence(record.wait_reason(), RecipientName(record)) + "\n";
  }
  if (record.has_expires_at() && record.end() == v1::DELIVERY_END_UNSPECIFIED &&
      record.state() < v1::DELIVERY_STATE_INJECTED) {
    text += "Expires at " + DateAndTime(record.expires_at()) + "\n";
  }
  return text;
}

}  // namespace intercom
