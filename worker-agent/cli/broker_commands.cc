#include "worker-agent/cli/broker_commands.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>

#include "broker/base/error.h"
#include "broker/base/home.h"
#include "broker/base/status_macros.h"
#include "intercom/v1/cli.pb.h"
#include "worker-agent/cli/broker_control.h"
#include "worker-agent/cli/command_options.h"
#include "worker-agent/cli/inbox_command.h"
#include "worker-agent/cli/inspect_report.h"
#include "worker-agent/cli/progress.h"
#include "worker-agent/cli/report.h"
#include "worker-agent/link/broker_starter.h"

namespace intercom {
namespace {

constexpr absl::Duration kKillAfter = absl::Seconds(5);
constexpr absl::Duration kEndTimeout = absl::Seconds(20);

absl::Status EnsureBroker(const CommandContext& context) {
  return BrokerStarter({.home = context.home, .workspace = context.Directory()})
      .Ensure();
}

absl::Status Start(const CommandContext& context) {
  INTERCOM_RETURN_IF_ERROR(EnsureBroker(context));
  return ShowBroker(context, /*with_details=*/false);
}

v1::EndedBroker Ended(const BrokerEnd& end) {
  v1::EndedBroker ended;
  ended.set_pid(end.pid);
  ended.set_killed(end.killed);
  return ended;
}

// Ends the broker, which may take as long as the longest of its tasks.
absl::StatusOr<BrokerEnd> End(const CommandContext& context,
                              absl::Duration kill_after) {
  Progress progress(context.err, context.terminal);
  progress.Show("Waiting for the broker to end");
  return EndBroker(context.home, kill_after, kEndTimeout);
}

absl::Status Stop(const CommandContext& context) {
  INTERCOM_ASSIGN_OR_RETURN(const BrokerEnd end,
                            End(context, absl::InfiniteDuration()));
  return context.Print(Ended(end), "The broker (process " +
                                       std::to_string(end.pid) + ") ended.\n");
}

absl::Status Restart(const CommandContext& context) {
  const absl::StatusOr<BrokerEnd> end = End(context, kKillAfter);
  if (!end.ok() && ReasonOf(end.status()) != "BROKER_NOT_RUNNING") {
    return end.status();
  }
  v1::RestartedBroker restarted;
  if (end.ok()) *restarted.mutable_ended() = Ended(*end);
  if (end.ok() && !context.arguments.json) {
    context.out << "The broker (process " << end->pid << ") "
                << (end->killed ? "did not answer and was killed.\n"
                                : "ended.\n");
  }
  INTERCOM_RETURN_IF_ERROR(EnsureBroker(context));
  INTERCOM_ASSIGN_OR_RETURN(*restarted.mutable_broker(),
                            context.client.GetBroker());
  return context.Print(
      restarted,
      BrokerReport(restarted.broker(), context.clock.Now(), context.terminal));
}

absl::Status ShowPath(const CommandContext& context) {
  v1::StateDirectory directory;
  directory.set_path(context.home);
  return context.Print(directory, context.home + "\n");
}

absl::Status ShowVersion(const CommandContext& context) {
  v1::ProgramVersion version;
  version.set_version(INTERCOM_VERSION);
  return context.Print(version, "intercom " INTERCOM_VERSION "\n");
}

absl::Status ShowToken(const CommandContext& context) {
  std::ifstream file(TokenPath(context.home));
  std::string token;
  if (!file || !std::getline(file, token) || token.empty()) {
    return Error(absl::StatusCode::kNotFound, "NO_TOKEN",
                 "there is no token in " + context.home +
                     " that can be read; the first start of a broker makes "
                     "one: intercom broker start");
  }
  v1::AccountToken answer;
  answer.set_token(token);
  return context.Print(answer, token + "\n");
}

absl::Status CheckConfig(const CommandContext& context) {
  v1::CheckConfigRequest request;
  request.set_directory(context.Directory());
  INTERCOM_ASSIGN_OR_RETURN(const v1::CheckConfigResponse response,
                            context.client.CheckConfig(request));
  INTERCOM_RETURN_IF_ERROR(
      context.Print(response, ConfigReport(response, context.terminal)));
  const bool is_broken = std::any_of(
      response.findings().begin(), response.findings().end(),
      [](const v1::ConfigFinding& finding) {
        return finding.severity() == v1::ConfigFinding::SEVERITY_ERROR;
      });
  if (!is_broken) return absl::OkStatus();
  return Error(absl::StatusCode::kFailedPrecondition, "CONFIG_INVALID",
               "the config can't be used");
}

}  // namespace

absl::Status ShowBroker(const CommandContext& context, bool with_details) {
  INTERCOM_ASSIGN_OR_RETURN(const v1::GetBrokerResponse broker,
                            context.client.GetBroker());
  std::string text =
      BrokerReport(broker, context.clock.Now(), context.terminal);
  if (with_details && !context.arguments.json) {
    INTERCOM_ASSIGN_OR_RETURN(const v1::ListAttachmentsResponse attachments,
                              context.client.ListAttachments());
    INTERCOM_ASSIGN_OR_RETURN(const v1::ListMailboxesResponse mailboxes,
                              context.client.ListMailboxes());
    text += "\n" + AttachmentsReport(attachments);
    const std::string mail = MailboxesReport(mailboxes, context.clock.Now());
    if (!mail.empty()) text += "\n" + mail;
    text += UnreadNotice(context);
  }
  return context.Print(broker, text);
}

std::vector<CommandSpec> BrokerCommands() {
  return {
      {"config check", "Say what is wrong with a workspace's config",
       AddDirectory, CheckConfig, v1::CheckConfigResponse::descriptor()},
      {"broker start", "Start the broker unless it runs; print its endpoint",
       AddDirectory, Start, v1::GetBrokerResponse::descriptor()},
      {"broker stop", "End the broker and wait until it is gone", nullptr, Stop,
       v1::EndedBroker::descriptor()},
      {"broker restart", "Replace the broker, a hung one too", AddDirectory,
       Restart, v1::RestartedBroker::descriptor()},
      {"broker status", "Describe the broker", nullptr,
       [](const CommandContext& context) {
         return ShowBroker(context, /*with_details=*/false);
       },
       v1::GetBrokerResponse::descriptor()},
      {"broker path", "Print the state directory", nullptr, ShowPath,
       v1::StateDirectory::descriptor()},
      {"token", "Print the account's token, for clients on the TCP port",
       nullptr, ShowToken, v1::AccountToken::descriptor()},
      {"version", "Print the version", nullptr, ShowVersion,
       v1::ProgramVersion::descriptor()}};
}

}  // namespace intercom
