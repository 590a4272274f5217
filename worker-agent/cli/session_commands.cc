#include "worker-agent/cli/session_commands.h"

#include <filesystem>
#include <system_error>

#include "broker/base/status_macros.h"
#include "worker-agent/cli/command_options.h"
#include "worker-agent/cli/inbox_command.h"
#include "worker-agent/cli/inspect_report.h"
#include "worker-agent/cli/report.h"
#include "worker-agent/cli/session_lookup.h"

namespace intercom {
namespace {

absl::Status List(const CommandContext& context) {
  if (context.arguments.all) {
    INTERCOM_ASSIGN_OR_RETURN(const v1::ListAttachmentsResponse response,
                              context.client.ListAttachments());
    return context.Print(response,
                         AttachmentsReport(response) + UnreadNotice(context));
  }
  v1::GetWorkspaceRequest request;
  request.set_directory(context.Directory());
  INTERCOM_ASSIGN_OR_RETURN(const v1::GetWorkspaceResponse response,
                            context.client.GetWorkspace(request));
  return context.Print(response, WorkspaceReport(response, context.terminal) +
                                     UnreadNotice(context));
}

absl::Status Sessions(const CommandContext& context) {
  v1::ListSessionsRequest request;
  request.set_with_away(context.arguments.away);
  if (!context.arguments.directory.empty()) {
    std::error_code ignored;
    const std::filesystem::path canonical =
        std::filesystem::weakly_canonical(context.Directory(), ignored);
    request.set_cwd(canonical.empty() ? context.Directory()
                                      : canonical.string());
  }
  INTERCOM_ASSIGN_OR_RETURN(const v1::ListSessionsResponse response,
                            context.client.ListSessions(request));
  return context.Print(response, SessionsReport(response));
}

absl::Status Runs(const CommandContext& context) {
  v1::ListAllRunsRequest request;
  if (!context.arguments.session.empty()) {
    INTERCOM_ASSIGN_OR_RETURN(
        *request.mutable_session_id(),
        FindSessionId(context, context.arguments.session));
  } else if (!context.arguments.all) {
    request.set_directory(context.Directory());
  }
  request.set_open(context.arguments.open);
  request.set_limit(context.arguments.limit);
  INTERCOM_ASSIGN_OR_RETURN(const v1::ListAllRunsResponse response,
                            context.client.ListAllRuns(request));
  return context.Print(response, RunsReport(response, context.clock.Now()));
}

absl::Status Asks(const CommandContext& context) {
  v1::ListOpenAsksRequest request;
  if (!context.arguments.all) request.set_directory(context.Directory());
  INTERCOM_ASSIGN_OR_RETURN(const v1::ListOpenAsksResponse response,
                            context.client.ListOpenAsks(request));
  return context.Print(response, AsksReport(response, context.clock.Now()));
}

absl::Status Reports(const CommandContext& context) {
  v1::GetWorkspaceRequest request;
  request.set_directory(context.Directory());
  INTERCOM_ASSIGN_OR_RETURN(const v1::GetWorkspaceResponse response,
                            context.client.GetWorkspace(request));
  return context.Print(
      response, ReportsReport(response, context.clock.Now(), context.terminal));
}

absl::Status Channels(const CommandContext& context) {
  INTERCOM_ASSIGN_OR_RETURN(const v1::ListChannelsResponse response,
                            context.client.ListChannels());
  return context.Print(response, ChannelsReport(response));
}

void DeclareList(CLI::App& command, Arguments& arguments) {
  AddDirectory(command, arguments);
  AddAll(command, arguments, "List every attached session");
}

void DeclareSessions(CLI::App& command, Arguments& arguments) {
  command
      .add_option("-w,--workspace,-C,--directory", arguments.directory,
                  "Only sessions in this very directory")
      ->type_name(kDirectoryType);
  command.add_flag(
      "--away", arguments.away,
      "Sessions that left, too, as far as mail finds them by name");
}

void DeclareRuns(CLI::App& command, Arguments& arguments) {
  command.add_flag("--open", arguments.open, "Only those that have not ended");
  AddSession(command, arguments,
             "Of this supervisor or worker: a name or an id");
  AddLimit(command, arguments, 500);
  AddDirectory(command, arguments);
  AddAll(command, arguments, "Of every workspace");
}

void DeclareAsks(CLI::App& command, Arguments& arguments) {
  AddDirectory(command, arguments);
  AddAll(command, arguments, "Of every workspace");
}

}  // namespace

std::vector<CommandSpec> SessionCommands() {
  return {{"list", "List the workspace's sessions", DeclareList, List,
           v1::GetWorkspaceResponse::descriptor(),
           v1::ListAttachmentsResponse::descriptor(), "--all"},
          {"sessions", "List the sessions of the account that mail can reach",
           DeclareSessions, Sessions, v1::ListSessionsResponse::descriptor()},
          {"runs", "List work that sessions handed to others", DeclareRuns,
           Runs, v1::ListAllRunsResponse::descriptor()},
          {"asks", "List questions that have no answer yet", DeclareAsks, Asks,
           v1::ListOpenAsksResponse::descriptor()},
          {"reports", "What the workspace's workers reported last",
           AddDirectory, Reports, v1::GetWorkspaceResponse::descriptor()},
          {"channels", "List the channels of extensions", nullptr, Channels,
           v1::ListChannelsResponse::descriptor()}};
}

}  // namespace intercom
