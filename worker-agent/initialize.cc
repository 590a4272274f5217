#include "worker-agent/initialize.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "broker/base/error.h"
#include "broker/base/status_macros.h"

namespace intercom {
namespace {

constexpr int64_t kProtocolVersion = 1;
constexpr size_t kMaxLabelCharacters = 64;
constexpr size_t kMaxStableIdBytes = 64;
constexpr size_t kMaxNoteCharacters = 80;
constexpr int64_t kMostMilliseconds = 86'400'000;
constexpr int kMostRunsKept = 1000;
constexpr int kMostHeadless = 64;

absl::Status Invalid(const std::string& text) {
  return Error(absl::StatusCode::kInvalidArgument, "INITIALIZE_INVALID",
               "initialize: " + text);
}

v1::StartReason StartReasonOf(const std::string& text) {
  if (text == "startup") return v1::START_REASON_STARTUP;
  if (text == "reload") return v1::START_REASON_RELOAD;
  if (text == "new") return v1::START_REASON_NEW;
  if (text == "resume") return v1::START_REASON_RESUME;
  if (text == "fork") return v1::START_REASON_FORK;
  if (text == "reconnect") return v1::START_REASON_RECONNECT;
  return v1::START_REASON_UNSPECIFIED;
}

v1::WorkspaceMode WorkspaceModeOf(const std::string& text) {
  if (text == "existing") return v1::WORKSPACE_MODE_EXISTING;
  if (text == "never") return v1::WORKSPACE_MODE_NEVER;
  return v1::WORKSPACE_MODE_AUTO;
}

v1::ActivityPhase PhaseOf(const std::string& text) {
  if (text == "idle") return v1::ACTIVITY_PHASE_IDLE;
  if (text == "thinking") return v1::ACTIVITY_PHASE_THINKING;
  if (text == "responding") return v1::ACTIVITY_PHASE_RESPONDING;
  if (text == "tool") return v1::ACTIVITY_PHASE_TOOL;
  return v1::ACTIVITY_PHASE_WORKING;
}

// A time in milliseconds that may be absent.
absl::StatusOr<std::optional<absl::Duration>> TimeOf(const Json& params,
                                                     const char* key,
                                                     int64_t least) {
  if (!params.contains(key)) return std::nullopt;
  const auto milliseconds = IntegerField(params, key);
  if (milliseconds.has_value() && *milliseconds >= least &&
      *milliseconds <= kMostMilliseconds) {
    return absl::Milliseconds(*milliseconds);
  }
  return Invalid(std::string(key) + " must be " + std::to_string(least) +
                 " to " + std::to_string(kMostMilliseconds) + " milliseconds");
}

// A count that may be absent: 0.
absl::StatusOr<int> CountOf(const Json& params, const char* key, int most) {
  if (!params.contains(key)) return 0;
  const auto count = IntegerField(params, key);
  if (count.has_value() && *count >= 1 && *count <= most) {
    return static_cast<int>(*count);
  }
  return Invalid(std::string(key) + " must be 1 to " + std::to_string(most));
}

// One that the broker takes; none is fine too.
bool IsStableId(const std::string& id) {
  const auto allowed = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' ||
           c == '-' || c == '_';
  };
  return id.size() <= kMaxStableIdBytes &&
         std::all_of(id.begin(), id.end(), allowed);
}

std::optional<Supervisor> SupervisorOf(const Json& params) {
  const Json& given = Field(params, "supervisor");
  Supervisor supervisor{.target = StringOr(given, "target", ""),
                        .session_id = StringOr(given, "sessionId", ""),
                        .run_id = StringOr(given, "runId", ""),
                        .agent = StringOr(given, "agent", ""),
                        .index = StringOr(given, "index", "")};
  if (const auto index = IntegerField(given, "index"); index.has_value()) {
    supervisor.index = std::to_string(*index);
  }
  if ((supervisor.target.empty() && supervisor.session_id.empty()) ||
      supervisor.run_id.empty() || supervisor.agent.empty()) {
    return std::nullopt;
  }
  return supervisor;
}

// The first characters of UTF-8 `text`.
std::string FirstCharacters(const std::string& text, size_t count) {
  size_t end = 0;
  for (size_t seen = 0; end < text.size(); ++end) {
    if ((static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) continue;
    if (seen++ == count) break;
  }
  return text.substr(0, end);
}

}  // namespace

absl::StatusOr<v1::Hello> HelloOf(const Json& params) {
  const auto version = IntegerField(params, "protocolVersion");
  if (version != kProtocolVersion) {
    return Error(absl::StatusCode::kFailedPrecondition, "PROTOCOL_VERSION",
                 "this agent speaks protocol version 1; update the extension "
                 "or the agent");
  }
  v1::Hello hello;
  hello.set_protocol_version(kProtocolVersion);
  hello.set_session_id(StringOr(params, "sessionId", ""));
  if (hello.session_id().empty()) return Invalid("sessionId is missing");
  hello.set_cwd(StringOr(params, "cwd", ""));
  if (!hello.cwd().starts_with('/')) {
    return Invalid("cwd must be an absolute directory");
  }
  const Json& host = Field(params, "host");
  hello.set_host_kind(StringOr(host, "kind", ""));
  if (hello.host_kind().empty()) return Invalid("host.kind is missing");
  hello.set_host_version(StringOr(host, "version", ""));
  hello.set_host_pid(IntegerField(host, "pid").value_or(0));
  if (hello.host_pid() < 1) return Invalid("host.pid is missing");
  hello.set_session_name(StringOr(params, "sessionName", ""));
  hello.set_start_reason(
      StartReasonOf(StringOr(params, "startReason", "startup")));
  hello.set_workspace_mode(
      WorkspaceModeOf(StringOr(params, "workspaceMode", "auto")));
  hello.set_workspace_root(StringOr(params, "workspaceRoot", ""));
  hello.set_launch_token(StringOr(params, "launchToken", ""));
  hello.set_job_id(StringOr(params, "jobId", ""));
  hello.set_scope(StringOr(params, "scope", ""));
  hello.set_model(StringOr(params, "model", ""));
  hello.set_stable_id(StringOr(params, "stableId", ""));
  if (!IsStableId(hello.stable_id())) {
    return Invalid(
        "stableId must be 1 to 64 letters, digits, dots, hyphens "
        "and underscores");
  }
  hello.set_refuses_runs(BoolOr(params, "refusesRuns", false));
  INTERCOM_ASSIGN_OR_RETURN(const int runs_kept,
                            CountOf(params, "runsKept", kMostRunsKept));
  hello.set_runs_kept(runs_kept);
  hello.set_agent_version(INTERCOM_VERSION);
  for (std::string& capability : StringsField(params, "capabilities")) {
    hello.add_capabilities(std::move(capability));
  }
  return hello;
}

absl::StatusOr<HostSettings> HostSettingsOf(const Json& params) {
  HostSettings settings;
  settings.reply_hint = BoolOr(params, "replyHint", true);
  settings.supervisor = SupervisorOf(params);
  INTERCOM_ASSIGN_OR_RETURN(settings.ask_time,
                            TimeOf(params, "askTimeoutMs", 1000));
  INTERCOM_ASSIGN_OR_RETURN(settings.ping_after,
                            TimeOf(params, "livenessIntervalMs", 1000));
  INTERCOM_ASSIGN_OR_RETURN(settings.ping_timeout,
                            TimeOf(params, "livenessTimeoutMs", 100));
  INTERCOM_ASSIGN_OR_RETURN(settings.most_headless,
                            CountOf(params, "mostHeadless", kMostHeadless));
  settings.may_run_programs = BoolOr(params, "programs", false);
  settings.shows_monitor = BoolOr(params, "monitor", true);
  return settings;
}

std::optional<HostLaunch> HostLaunchOf(const Json& params) {
  const Json& launch = Field(params, "launch");
  HostLaunch host{.argv = StringsField(launch, "argv"),
                  .extension = StringOr(launch, "extension", ""),
                  .agent_dir = StringOr(launch, "agentDir", "")};
  if (host.argv.empty() || host.argv.size() != Field(launch, "argv").size() ||
      !host.extension.starts_with('/')) {
    return std::nullopt;
  }
  return host;
}

v1::Activity ActivityOf(const Json& params) {
  v1::Activity activity;
  activity.set_phase(PhaseOf(StringOr(params, "phase", "")));
  activity.set_label(
      FirstCharacters(StringOr(params, "label", ""), kMaxLabelCharacters));
  activity.set_model(StringOr(params, "model", ""));
  if (const auto percent = NumberField(params, "contextPercent");
      percent.has_value() && *percent >= 0 && *percent <= 100) {
    activity.set_context_percent(*percent);
  }
  if (const auto tokens = IntegerField(params, "tokens"); tokens.has_value()) {
    activity.set_tokens(*tokens);
  }
  activity.set_tool(
      FirstCharacters(StringOr(params, "tool", ""), kMaxLabelCharacters));
  activity.set_note(
      FirstCharacters(StringOr(params, "note", ""), kMaxNoteCharacters));
  activity.set_turns(IntegerField(params, "turns").value_or(0));
  return activity;
}

v1::Goodbye::Reason GoodbyeReasonOf(const Json& params) {
  const std::string reason = StringOr(params, "reason", "quit");
  if (reason == "reload") return v1::Goodbye::REASON_RELOAD;
  if (reason == "new") return v1::Goodbye::REASON_NEW;
  if (reason == "resume") return v1::Goodbye::REASON_RESUME;
  if (reason == "fork") return v1::Goodbye::REASON_FORK;
  return v1::Goodbye::REASON_QUIT;
}

}  // namespace intercom
