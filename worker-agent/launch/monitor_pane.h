#ifndef PI_INTERCOM_WORKER_AGENT_LAUNCH_MONITOR_PANE_H_
#define PI_INTERCOM_WORKER_AGENT_LAUNCH_MONITOR_PANE_H_

#include <string>

#include "absl/status/statusor.h"
#include "intercom/v1/monitor.pb.h"
#include "worker-agent/launch/launch.h"

namespace intercom {

// The opening of the monitor's pane, step by step, so that each is on record
// before it is done. Blocks, for 10 s at most. Thread-safe.

struct MonitorStep {
  // What is to be done: what follows the stages of the record.
  v1::MonitorPane::Stage stage = v1::MonitorPane::STAGE_UNSPECIFIED;
  // The pane; empty before STAGE_SPLIT_PENDING is done.
  v1::Pane pane;
};

// Does the step of `claim.stage()` and returns the next one; STAGE_SUBMITTED is
// the last. The new pane is above that of `claim.caller()` and takes a quarter
// of it; the focus stays. In tmux one step does it all.
//
// FAILED_PRECONDITION (PROGRAM_MISSING): there is no `intercom` beside the
// agent. Others as StartHost(): what was made stays.
absl::StatusOr<MonitorStep> DoMonitorStep(const v1::MonitorPane& claim,
                                          const Surroundings& around);

// Whether the pane is there, and what was started in it runs. UNAVAILABLE
// (PANE_UNKNOWN): its multiplexer does not say.
absl::StatusOr<bool> IsMonitorThere(const v1::Pane& pane,
                                    const Surroundings& around);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LAUNCH_MONITOR_PANE_H_
