#include "worker-agent/cli/inbox_command.h"

#include <cstdint>

#include "broker/base/status_macros.h"
#include "worker-agent/cli/command_options.h"
#include "worker-agent/cli/mail_report.h"
#include "worker-agent/cli/read_marks.h"

namespace intercom {
namespace {

absl::Status Inbox(const CommandContext& context) {
  v1::ListInboxRequest request;
  request.set_with_read(context.arguments.all);
  request.set_limit(context.arguments.limit);
  INTERCOM_ASSIGN_OR_RETURN(const v1::ListInboxResponse response,
                            context.client.ListInbox(request));
  INTERCOM_RETURN_IF_ERROR(context.Print(
      response,
      InboxReport(response, context.arguments.peek, context.terminal)));
  std::vector<std::string> shown;
  for (const v1::DeliveryRecord& record : response.records()) {
    if (IsUnread(record)) shown.push_back(record.delivery_id());
  }
  if (context.arguments.peek) shown.clear();
  return MarkShown(context, shown);
}

void Declare(CLI::App& command, Arguments& arguments) {
  command.add_flag("--peek", arguments.peek, "Leave it unread");
  AddAll(command, arguments, "What was read, too, as far as it is kept");
  AddLimit(command, arguments, 200);
}

}  // namespace

std::vector<CommandSpec> InboxCommands() {
  return {{"inbox", "Read the mail that waits for you", Declare, Inbox,
           v1::ListInboxResponse::descriptor()}};
}

std::string UnreadNotice(const CommandContext& context) {
  v1::ListInboxRequest request;
  request.set_limit(1);
  const auto response = context.client.ListInbox(request);
  // A session's shell has none, and what was asked for is known without it.
  if (!response.ok()) return "";
  const int64_t unread = response->left_out() + response->records_size();
  return unread == 0
             ? ""
             : std::to_string(unread) + " unread for you: intercom inbox\n";
}

}  // namespace intercom
