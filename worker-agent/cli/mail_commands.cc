#include "worker-agent/cli/mail_commands.h"

#include <utility>

#include "broker/base/status_macros.h"
#include "worker-agent/cli/broker_commands.h"
#include "worker-agent/cli/command_options.h"
#include "worker-agent/cli/message_sending.h"
#include "worker-agent/cli/report.h"

namespace intercom {
namespace {

absl::Status Send(const CommandContext& context) {
  INTERCOM_ASSIGN_OR_RETURN(v1::Envelope envelope,
                            EnvelopeOf(context, v1::ENVELOPE_KIND_MESSAGE));
  INTERCOM_ASSIGN_OR_RETURN(const v1::SendResponse response,
                            SendToNamed(context, std::move(envelope)));
  return context.Print(response, SentReport(response.record()));
}

absl::Status Reply(const CommandContext& context) {
  v1::SendRequest request;
  // Whose it was is known from what is answered.
  request.set_reach(v1::REACH_ACCOUNT);
  INTERCOM_ASSIGN_OR_RETURN(*request.mutable_envelope(),
                            EnvelopeOf(context, v1::ENVELOPE_KIND_REPLY));
  request.mutable_envelope()->set_reply_to(context.arguments.answered);
  INTERCOM_ASSIGN_OR_RETURN(const v1::SendResponse response,
                            SendRepeated(context, request));
  return context.Print(response, SentReport(response.record()));
}

absl::Status Status(const CommandContext& context) {
  if (context.arguments.id.empty()) {
    return ShowBroker(context, /*with_details=*/true);
  }
  v1::GetMessageRequest request;
  request.set_id(context.arguments.id);
  INTERCOM_ASSIGN_OR_RETURN(const v1::GetMessageResponse response,
                            context.client.GetMessage(request));
  return context.Print(
      response,
      RecordReport(response.record(), context.clock.Now(), context.terminal));
}

absl::Status Cancel(const CommandContext& context) {
  v1::GetMessageRequest look;
  look.set_id(context.arguments.id);
  INTERCOM_ASSIGN_OR_RETURN(const v1::GetMessageResponse found,
                            context.client.GetMessage(look));
  v1::WithdrawMessageRequest request;
  request.set_envelope_id(found.record().envelope().envelope_id());
  request.set_request_if_late(true);
  INTERCOM_ASSIGN_OR_RETURN(const v1::WithdrawMessageResponse response,
                            context.client.WithdrawMessage(request));
  return context.Print(response, WithdrawnReport(response));
}

void DeclareSend(CLI::App& command, Arguments& arguments) {
  AddRecipient(command, arguments);
  AddText(command, arguments);
  AddEnvelopeId(command, arguments);
  AddDirectory(command, arguments);
}

void DeclareReply(CLI::App& command, Arguments& arguments) {
  command
      .add_option("id", arguments.answered,
                  "Id of what is answered, or at least 6 characters of it")
      ->required();
  AddText(command, arguments);
  AddEnvelopeId(command, arguments);
}

void DeclareStatus(CLI::App& command, Arguments& arguments) {
  command.add_option("id", arguments.id,
                     "Message id, or at least 6 characters of it");
}

}  // namespace

std::vector<CommandSpec> MailCommands() {
  return {{"send", "Send a message to a session", DeclareSend, Send,
           v1::SendResponse::descriptor()},
          {"reply", "Answer a message or a question from your inbox",
           DeclareReply, Reply, v1::SendResponse::descriptor()},
          {"cancel",
           "Take a message or a question of yours back, or ask to disregard it",
           AddMessageId, Cancel, v1::WithdrawMessageResponse::descriptor()},
          {"status", "Where a message is; without an id, the broker",
           DeclareStatus, Status, v1::GetMessageResponse::descriptor(),
           v1::GetBrokerResponse::descriptor(), "without an id"}};
}

}  // namespace intercom
