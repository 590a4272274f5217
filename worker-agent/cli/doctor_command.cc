#include "worker-agent/cli/doctor_command.h"

#include <filesystem>
#include <ostream>
#include <string>

#include "broker/base/error.h"
#include "broker/base/home.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "worker-agent/cli/command_options.h"
#include "worker-agent/cli/doctor_archive.h"
#include "worker-agent/cli/doctor_broker.h"
#include "worker-agent/cli/doctor_bundle.h"
#include "worker-agent/cli/doctor_install.h"
#include "worker-agent/cli/doctor_sockets.h"
#include "worker-agent/cli/doctor_state.h"
#include "worker-agent/cli/progress.h"
#include "worker-agent/launch/command_runner.h"

namespace intercom {
namespace {

// Short, so that a socket's path fits.
constexpr char kScratch[] = "/tmp";

InstallPlaces Places(const CommandContext& context) {
  std::error_code ignored;
  return {.environment = OwnEnvironment(),
          .program_directory =
              std::filesystem::read_symlink("/proc/self/exe", ignored)
                  .parent_path()
                  .string(),
          .account_home = AccountHome().value_or(""),
          .directory = context.Directory()};
}

absl::Status Doctor(const CommandContext& context) {
  DoctorFindings findings;
  bool is_running = false;
  {
    Progress progress(context.err, context.terminal);
    progress.Show("Looking at the installation");
    const InstallFacts install = ReadInstall(Places(context), context.clock);
    CheckInstall(install, findings);
    CheckState(ReadState(context.home), findings);
    CheckSockets(TrySockets(kScratch), findings);
    progress.Show("Asking the broker");
    const BrokerFacts broker =
        AskBroker(context.client, context.home, context.Directory());
    is_running = broker.broker.ok();
    CheckBroker(broker, INTERCOM_VERSION, context.clock.Now(), findings);
    if (broker.config.ok()) {
      CheckMultiplexer(install, broker.config->multiplexer(), findings);
    }
  }
  const v1::DoctorReport report = findings.Report();
  const std::string& bundle = context.arguments.bundle;
  if (!bundle.empty()) {
    INTERCOM_RETURN_IF_ERROR(WriteArchive(
        bundle,
        MakeBundle(GatherBundle(context.client, context.home,
                                context.Directory(), is_running, report)),
        context.clock.Now()));
  }
  INTERCOM_RETURN_IF_ERROR(
      context.Print(report, DoctorText(report, context.terminal)));
  if (!bundle.empty() && !context.arguments.json) {
    context.out << "Written to " << SafeLabel(bundle, 4096)
                << "; look through it before you give it away.\n";
  }
  if (ErrorsIn(report) == 0) return absl::OkStatus();
  return Error(absl::StatusCode::kFailedPrecondition, "NOT_HEALTHY",
               "something does not work; what to do stands above");
}

void Declare(CLI::App& command, Arguments& arguments) {
  AddDirectory(command, arguments);
  command.add_option("--bundle", arguments.bundle,
                     "Write the report, what the broker says and the ends of "
                     "its logs to this new tar file, without texts of "
                     "messages, tokens, names and private paths");
}

}  // namespace

std::vector<CommandSpec> DoctorCommands() {
  return {{"doctor", "Say what is wrong with this installation, and what to do",
           Declare, Doctor, v1::DoctorReport::descriptor()}};
}

}  // namespace intercom
