#include "worker-agent/cli/report.h"

#include "broker/domain/fence.h"
#include "worker-agent/tools/delivery_text.h"
#include "worker-agent/tools/labels.h"
#include "worker-agent/tools/record_text.h"
#include "worker-agent/tools/text_table.h"
#include "worker-agent/tools/tool_result.h"

namespace intercom {
namespace {

constexpr size_t kPreviewColumns = 48;
constexpr size_t kMaxPathCharacters = 4096;

std::string Age(const google::protobuf::Timestamp& time, absl::Time now) {
  return AgeLabel(now - ToTime(time));
}

// The furthest state or the end, in one word.
std::string ShortState(const v1::DeliveryRecord& record) {
  if (record.end() != v1::DELIVERY_END_UNSPECIFIED) {
    return std::string(EndLabel(record.end()));
  }
  std::string state(StateLabel(record.state()));
  if (record.wait_reason() != v1::WAIT_REASON_UNSPECIFIED) {
    const std::string wait = WaitSentence(record.wait_reason(), "");
    state += ", " + wait.substr(0, wait.find(':'));
  }
  return state;
}

}  // namespace

std::string WorkspaceReport(const v1::GetWorkspaceResponse& response,
                            const Terminal& terminal) {
  std::string text =
      terminal.Bold(SafeLabel(response.root(), kMaxPathCharacters)) + "\n";
  if (response.stale()) {
    text += terminal.Red(
                "The config is invalid now; this is the last good "
                "state.") +
            "\n" + SafeLabel(response.config_error(), 1000) + "\n";
  } else if (!response.config_error().empty()) {
    text += terminal.Red("Notice: ") +
            SafeLabel(response.config_error(), 1000) + "\n";
  }
  if (response.entries().empty()) return text + "No sessions.\n";
  return text + RosterTable(response.entries());
}

std::string AttachmentsReport(const v1::ListAttachmentsResponse& response) {
  if (response.entries().empty()) return "No session is attached.\n";
  return RosterTable(response.entries());
}

std::string SentReport(const v1::DeliveryRecord& record) {
  return RenderSubmitted(record).text;
}

std::string RecordReport(const v1::DeliveryRecord& record, absl::Time now,
                         const Terminal& terminal) {
  return terminal.Bold(IdLabel(record.envelope().envelope_id())) +
         RecordHeadline(record) + "\n" + RecordStates(record, now);
}

std::string WithdrawnReport(const v1::WithdrawMessageResponse& response) {
  const std::string id =
      IdLabel(response.record().envelope().envelope_id(), 64);
  const std::string name = NameLabel(RecipientName(response.record()));
  return response.requested() ? name + " has " + id +
                                    " already, and was asked to disregard it.\n"
                              : id + " never reaches " + name + ".\n";
}

std::string HistoryReport(const v1::ListMessagesResponse& response) {
  if (response.records().empty()) return "No messages.\n";
  TextTable table({"ID", "AT", "KIND", "FROM", "TO", "STATE", "TEXT"});
  for (const v1::DeliveryRecord& record : response.records()) {
    const std::string text = SafeLabel(record.envelope().text(), 200);
    table.AddRow(
        {ShortId(record.envelope().envelope_id()),
         record.marks().empty() ? "" : DateAndTime(record.marks(0).at()),
         std::string(KindLabel(record.envelope().kind())),
         ShortSenderLabel(record.sender()),
         NameLabel(RecipientName(record), 40), ShortState(record),
         CutToWidth(text, kPreviewColumns)});
  }
  if (response.next_page_token().empty()) return table.ToString();
  return table.ToString() +
         "There may be older ones: --until TIME, --limit N\n";
}

std::string BrokerReport(const v1::GetBrokerResponse& response, absl::Time now,
                         const Terminal& terminal) {
  std::string text = terminal.Bold("Broker") + " " +
                     SafeLabel(response.version()) + ", process " +
                     std::to_string(response.pid());
  if (response.has_started_at()) {
    text += ", up " + Age(response.started_at(), now);
  }
  text += response.draining() ? ", about to leave\n" : "\n";
  text += "Port " + std::to_string(response.port()) + ", socket " +
          SafeLabel(response.unix_socket(), kMaxPathCharacters) + "\n";
  text += "State " + SafeLabel(response.home(), kMaxPathCharacters) + "\n";
  text += std::to_string(response.attachments()) + " attached\n";
  for (const std::string& notice : response.notices()) {
    text += terminal.Red("Notice: ") + SafeLabel(notice, 1000) + "\n";
  }
  return text;
}

std::string MailboxesReport(const v1::ListMailboxesResponse& response,
                            absl::Time now) {
  if (response.mailboxes().empty()) return "";
  TextTable table({"MAILBOX", "WAITING", "BYTES", "OLDEST"});
  for (const v1::MailboxSummary& mailbox : response.mailboxes()) {
    table.AddRow({IdLabel(mailbox.recipient_session_id(), 256),
                  std::to_string(mailbox.envelopes()),
                  std::to_string(mailbox.bytes()),
                  mailbox.has_oldest_at() ? Age(mailbox.oldest_at(), now)
                                          : std::string()});
  }
  return table.ToString();
}

}  // namespace intercom
