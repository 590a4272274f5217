#ifndef PI_INTERCOM_WORKER_AGENT_INITIALIZE_H_
#define PI_INTERCOM_WORKER_AGENT_INITIALIZE_H_

#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "intercom/v1/session.pb.h"
#include "worker-agent/host/json_fields.h"
#include "worker-agent/launch_plan.h"
#include "worker-agent/tools/peer_requests.h"

namespace intercom {

// The Hello that a host's `initialize` stands for. INVALID_ARGUMENT
// (INITIALIZE_INVALID) names what is missing or wrong.
absl::StatusOr<v1::Hello> HelloOf(const Json& params);

// What `initialize` says beside that. Unset: the usual.
struct HostSettings {
  bool reply_hint = true;
  std::optional<absl::Duration> ask_time;
  std::optional<absl::Duration> ping_after;
  std::optional<absl::Duration> ping_timeout;
  // Nullopt unless target, run and agent are named.
  std::optional<Supervisor> supervisor;
  // How many headless workers the session may have; 0: the usual.
  int most_headless = 0;
  bool may_run_programs = false;
  // Whether a coordinator has the monitor in a pane above its own.
  bool shows_monitor = true;
};
// INVALID_ARGUMENT (INITIALIZE_INVALID) names a value that is out of range.
absl::StatusOr<HostSettings> HostSettingsOf(const Json& params);

// How the host says it was started; nullopt if it says nothing that could be
// started again: no program, or no absolute path of the extension.
std::optional<HostLaunch> HostLaunchOf(const Json& params);

// An `activity` notification. Unknown phases count as working.
v1::Activity ActivityOf(const Json& params);

// A `goodbye` reason; quit for unknown ones.
v1::Goodbye::Reason GoodbyeReasonOf(const Json& params);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_INITIALIZE_H_
