#ifndef PI_INTERCOM_WORKER_AGENT_LAUNCH_PANE_H_
#define PI_INTERCOM_WORKER_AGENT_LAUNCH_PANE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "intercom/v1/work.pb.h"
#include "worker-agent/launch/launch.h"

namespace intercom {

// Panes of Herdr and tmux. Every call runs the multiplexer's program or asks
// its socket: it blocks, for 10 s at most. Thread-safe.

// The pane that this process runs in, as the multiplexer knows it. Empty if it
// runs in none. UNAVAILABLE (PANE_UNKNOWN): it runs in one, and the multiplexer
// does not answer for it.
absl::StatusOr<v1::Pane> OwnPane(const Surroundings& around);

// OK if what was said of a host is still true: the process runs and started
// then, its pane exists with the same identity and contains it, the pane is
// not this process's own, and its session file, if it is named, begins with the
// header of that session. FAILED_PRECONDITION (IDENTITY_MISMATCH) names what
// differs.
absl::Status InspectHost(const v1::HostIdentity& identity,
                         const Surroundings& around);

// Closes exactly the pane of a host that has ended. True if the pane is gone,
// also when it was gone before. FAILED_PRECONDITION (IDENTITY_MISMATCH): it is
// another pane now, or this process's own, or the host still runs: nothing was
// closed.
absl::StatusOr<bool> ClosePane(const v1::HostIdentity& identity,
                               const Surroundings& around);

// Gives the tab (Herdr) or window (tmux) of this process's pane a name. OK
// without a pane. In tmux only where the pane is alone in its window; else the
// pane itself is named.
absl::Status NameOwnTab(const std::string& name, const Surroundings& around);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LAUNCH_PANE_H_
