#ifndef PI_INTERCOM_BROKER_WORK_PROBER_H_
#define PI_INTERCOM_BROKER_WORK_PROBER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "broker/base/task_runner.h"
#include "broker/work/controls.h"

namespace intercom {

// What came of probing a session.
enum class ProbeOutcome {
  kAnswered,
  // Its host did not answer. No proof that the process ended.
  kTimeout,
  // Its host says that it is another session.
  kIdentityMismatch,
  // It left meanwhile, or was not there.
  kAway,
  // Its turn did not come, or its host could not be asked.
  kNotChecked,
};

struct Probe {
  ProbeOutcome outcome = ProbeOutcome::kNotChecked;
  absl::Time at;
};

struct ProbeLimits {
  absl::Duration each = absl::Milliseconds(750);
  absl::Duration together = absl::Seconds(4);
  int at_once = 16;
};

// Asks sessions on the spot whether their hosts live.
//
// Not thread-safe: everything is called on the state's thread.
class Prober {
 public:
  // By session id.
  using Probes = absl::flat_hash_map<std::string, Probe>;
  using Done = absl::AnyInvocable<void(Probes)>;

  // All must outlive this object.
  Prober(TaskRunner& runner, Controls& controls, const Clock& clock,
         ProbeLimits limits = {})
      : runner_(runner), controls_(controls), clock_(clock), limits_(limits) {}

  // Calls `done` once, within the limits, with a result for each of
  // `session_ids`, which differ.
  void Ask(std::vector<std::string> session_ids, Done done);

 private:
  struct Round;

  // Sends what may be sent, and ends the round when nothing is left.
  void Advance(const std::shared_ptr<Round>& round);
  void Settle(const std::shared_ptr<Round>& round,
              const std::string& session_id, ProbeOutcome outcome);

  TaskRunner& runner_;
  Controls& controls_;
  const Clock& clock_;
  const ProbeLimits limits_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_PROBER_H_
