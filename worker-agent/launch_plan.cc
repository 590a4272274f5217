#include "worker-agent/launch_plan.h"

#include <string_view>

namespace intercom {
namespace {

constexpr std::string_view kNotInherited[] = {"COLORTERM",
                                              "STY",
                                              "WINDOWID",
                                              "COLUMNS",
                                              "LINES",
                                              "SHLVL",
                                              "PWD",
                                              "OLDPWD",
                                              "_",
                                              "PI_INTERCOM_SESSION",
                                              "PI_INTERCOM_WORKSPACE",
                                              "PI_INTERCOM_STABLE_ID",
                                              "PI_INTERCOM_STATUS",
                                              "PI_INTERCOM_LAUNCH_TOKEN",
                                              "PI_INTERCOM_JOB_ID",
                                              "PI_INTERCOM_HEADLESS_SOCKET",
                                              "PI_INTERCOM_GUARDS",
                                              "PI_INTERCOM_OUTLIVES"};
constexpr std::string_view kNotInheritedPrefixes[] = {
    "TERM",        "TMUX",         "HERDR_",
    "PI_SESSION_", "PI_SUBAGENT_", "SELESAI_SUBAGENT_"};

bool IsInherited(std::string_view name) {
  for (const std::string_view other : kNotInherited) {
    if (name == other) return false;
  }
  for (const std::string_view prefix : kNotInheritedPrefixes) {
    if (name.starts_with(prefix)) return false;
  }
  return true;
}

}  // namespace

Environment InheritedEnvironment(const Environment& own) {
  Environment inherited;
  for (const auto& [name, value] : own) {
    if (IsInherited(name)) inherited[name] = value;
  }
  return inherited;
}

LaunchPlan PlanOf(const HostLaunch& host, const v1::BeginLaunchResponse& begun,
                  const Surroundings& around, const std::string& session_file) {
  LaunchPlan plan;
  plan.launcher = begun.job().launcher();
  plan.argv = host.argv;
  if (plan.launcher == kHeadlessLauncher) {
    plan.argv.insert(plan.argv.end(), {"--mode", "rpc"});
  }
  plan.argv.insert(plan.argv.end(), {"-e", host.extension});
  if (!session_file.empty()) {
    plan.argv.insert(plan.argv.end(), {"--session", session_file});
  }
  plan.directory = begun.directory();
  plan.environment = InheritedEnvironment(around.environment);
  plan.environment["PI_INTERCOM_HOME"] = around.home;
  if (!begun.workspace_root().empty()) {
    plan.environment["PI_INTERCOM_WORKSPACE"] = begun.workspace_root();
  }
  plan.environment["PI_INTERCOM_LAUNCH_TOKEN"] = begun.launch_token();
  plan.environment["PI_INTERCOM_JOB_ID"] = begun.job().job_id();
  plan.title = begun.title();
  return plan;
}

}  // namespace intercom
