#include "worker-agent/cli/command_table.h"

#include <iterator>
#include <utility>

#include "worker-agent/cli/ask_command.h"
#include "worker-agent/cli/broker_commands.h"
#include "worker-agent/cli/completion_command.h"
#include "worker-agent/cli/doctor_command.h"
#include "worker-agent/cli/export_command.h"
#include "worker-agent/cli/history_command.h"
#include "worker-agent/cli/inbox_command.h"
#include "worker-agent/cli/mail_commands.h"
#include "worker-agent/cli/schema_command.h"
#include "worker-agent/cli/session_commands.h"
#include "worker-agent/cli/work_commands.h"

namespace intercom {
namespace {

std::vector<CommandSpec> MakeCommands() {
  std::vector<CommandSpec> all;
  for (auto* topic :
       {SessionCommands, MailCommands, AskCommands, InboxCommands,
        HistoryCommands, ExportCommands, WorkCommands, BrokerCommands,
        DoctorCommands, SchemaCommands, CompletionCommands}) {
    std::vector<CommandSpec> commands = topic();
    std::move(commands.begin(), commands.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace

const std::vector<CommandSpec>& AllCommands() {
  static const auto& all = *new std::vector<CommandSpec>(MakeCommands());
  return all;
}

const std::vector<CommandGroup>& CommandGroups() {
  static const auto& groups = *new std::vector<CommandGroup>{
      {"job", "Look at one job, or end it"},
      {"coordinator", "Decide who coordinates a workspace"},
      {"config", "Look at a workspace's config"},
      {"broker", "Control the broker"}};
  return groups;
}

const CommandSpec* FindCommand(std::string_view name) {
  for (const CommandSpec& command : AllCommands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

}  // namespace intercom
