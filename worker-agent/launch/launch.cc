#include "worker-agent/launch/launch.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/process.h"
#include "broker/domain/fence.h"
#include "worker-agent/launch/launch_file.h"
#include "worker-agent/launch/launchers.h"

namespace intercom {
namespace {

constexpr std::array<const char*, 8> kSessionVariables = {
    "PI_SESSION_ID", "PI_INTERCOM_SESSION", "PI_INTERCOM_WORKSPACE",
    "PI_INTERCOM_LAUNCH_TOKEN", "PI_INTERCOM_JOB_ID", kHeadlessSocketVariable,
    // Whatever guards this session guards none that it launches.
    "PI_INTERCOM_GUARDS", "PI_INTERCOM_OUTLIVES"};
constexpr std::array<const char*, 5> kHerdrVariables = {
    "HERDR_ENV", "HERDR_SOCKET_PATH", "HERDR_WORKSPACE_ID", "HERDR_TAB_ID",
    "HERDR_PANE_ID"};
constexpr std::array<const char*, 2> kTmuxVariables = {"TMUX", "TMUX_PANE"};

absl::Status Invalid(const std::string& why) {
  return Error(absl::StatusCode::kInvalidArgument, "LAUNCH_INVALID", why);
}

bool HasNul(std::string_view text) {
  return text.find('\0') != std::string_view::npos;
}

absl::Status CheckTexts(const LaunchPlan& plan) {
  if (plan.argv.empty() || plan.argv[0].empty()) {
    return Invalid("the launch names no program");
  }
  bool holds_nul = HasNul(plan.directory) || HasNul(plan.title);
  for (const std::string& word : plan.argv) holds_nul |= HasNul(word);
  for (const auto& [name, value] : plan.environment) {
    holds_nul |= HasNul(name) || HasNul(value);
    if (name.empty() || name.find('=') != std::string::npos) {
      return Invalid("\"" + SafeLabel(name) + "\" can't name a variable");
    }
  }
  if (holds_nul) return Invalid("a text of the launch holds a zero byte");
  return absl::OkStatus();
}

absl::Status Check(const LaunchPlan& plan, const Surroundings& around) {
  if (plan.launcher != "tmux" && plan.launcher != "herdr" &&
      plan.launcher != kHeadlessLauncher) {
    return LauncherUnavailable(
        "there is no launcher \"" + SafeLabel(plan.launcher) +
        "\"; choose herdr or tmux with intercom_set_multiplexer, or name "
        "launcher: headless in this call");
  }
  if (absl::Status texts = CheckTexts(plan); !texts.ok()) return texts;
  std::error_code ignored;
  if (!plan.directory.starts_with('/') ||
      !std::filesystem::is_directory(plan.directory, ignored) ||
      access(plan.directory.c_str(), X_OK) != 0) {
    return Error(absl::StatusCode::kFailedPrecondition, "DIRECTORY_MISSING",
                 "the directory " + StripControls(plan.directory) +
                     " is not there, or you may not enter it; make it, or name "
                     "another");
  }
  // A launcher does not tell that a program is missing.
  for (const std::string& program : {around.agent_path, plan.argv[0]}) {
    Environment environment = around.environment;
    if (const auto path = plan.environment.find("PATH");
        path != plan.environment.end()) {
      environment["PATH"] = path->second;
    }
    const auto found = FindProgram(program, environment);
    if (!found.ok()) {
      return Error(absl::StatusCode::kFailedPrecondition, "PROGRAM_MISSING",
                   MessageOf(found.status()) + "; it was to be launched");
    }
  }
  return absl::OkStatus();
}

}  // namespace

Launch NotLaunched(absl::Status status) {
  Launch launch;
  launch.status = std::move(status);
  return launch;
}

absl::Status LauncherUnavailable(const std::string& why) {
  return Error(absl::StatusCode::kFailedPrecondition, "LAUNCHER_UNAVAILABLE",
               why);
}

std::string OtherLauncher(const std::string& name) {
  return "name launcher: " + name + " in this call, or ask the person";
}

absl::Status LaunchFailed(const std::string& why) {
  return Error(absl::StatusCode::kUnavailable, "LAUNCH_FAILED", why);
}

absl::Status LaunchFailed(const absl::Status& cause) {
  if (absl::IsDeadlineExceeded(cause)) {
    return Error(cause.code(), "LAUNCH_TIMED_OUT", MessageOf(cause));
  }
  return LaunchFailed(MessageOf(cause));
}

Environment WithoutSession(Environment environment,
                           const std::vector<std::string>& also) {
  for (const char* name : kSessionVariables) environment.erase(name);
  for (const std::string& name : also) environment.erase(name);
  return environment;
}

std::vector<std::string> NotInherited(const std::string& launcher) {
  std::vector<std::string> names(kSessionVariables.begin(),
                                 kSessionVariables.end());
  if (launcher != "herdr") {
    names.insert(names.end(), kHerdrVariables.begin(), kHerdrVariables.end());
  }
  if (launcher != "tmux") {
    names.insert(names.end(), kTmuxVariables.begin(), kTmuxVariables.end());
  }
  return names;
}

void SetHost(Launch& launch, int64_t pid) {
  launch.host_start_ticks = StartTicksOf(pid);
  launch.host_pid = launch.host_start_ticks == 0 ? 0 : pid;
}

Launch StartHostWith(const LaunchPlan& plan, const Surroundings& around,
                     const Clock& clock, Random& random,
                     CommandRunner::Limits limits) {
  if (absl::Status checked = Check(plan, around); !checked.ok()) {
    return NotLaunched(std::move(checked));
  }
  PruneLaunchFiles(around.home, clock.Now());
  LaunchPlan clean = plan;
  clean.title = SafeLabel(plan.title);
  absl::StatusOr<LaunchFile> file =
      LaunchFile::Write(around.home,
                        {.argv = plan.argv,
                         .directory = plan.directory,
                         .environment = plan.environment,
                         .unset = NotInherited(plan.launcher)},
                        random);
  if (!file.ok()) return NotLaunched(file.status());
  const CommandRunner runner(clock, WithoutSession(around.environment, {}),
                             limits);
  const LaunchTools tools = {
      around, runner, random, {around.agent_path, "--launch", file->path()}};
  Launch launch = plan.launcher == kHeadlessLauncher
                      ? LaunchHeadless(file->path(), tools)
                  : plan.launcher == "tmux" ? LaunchInTmux(clean, tools)
                                            : LaunchInHerdr(clean, tools);
  if (launch.status.ok() && launch.host_pid == 0 && launch.pane.pid() > 0 &&
      StartTicksOf(launch.pane.pid()) == 0) {
    launch.status = LaunchFailed(
        "the host ended as soon as it was started, in "
        "pane " +
        SafeLabel(launch.pane.pane()));
    file->Withdraw();
    return launch;
  }
  if (launch.status.ok()) {
    file->Keep();
    launch.may_be_started = true;
  } else {
    // What was made finds nothing to start, unless it was quicker.
    launch.may_be_started = !file->Withdraw();
  }
  return launch;
}

Launch StartHost(const LaunchPlan& plan, const Surroundings& around) {
  const SystemClock clock;
  SystemRandom random;
  return StartHostWith(plan, around, clock, random, {});
}

}  // namespace intercom
