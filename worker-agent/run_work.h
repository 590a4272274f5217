#ifndef PI_INTERCOM_WORKER_AGENT_RUN_WORK_H_
#define PI_INTERCOM_WORKER_AGENT_RUN_WORK_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "intercom/v1/session.pb.h"
#include "worker-agent/host/json_fields.h"
#include "worker-agent/tools/peer_requests.h"

namespace intercom {

// The worker's side of runs: tells the host which are open, and the broker how
// they go. Not thread-safe.
class RunWork {
 public:
  using Notify =
      std::function<void(const std::string& method, const Json& params)>;
  // Drops frames while nothing is attached.
  using SendFrame = std::function<void(v1::AttachRequest)>;

  RunWork(Notify notify, SendFrame send);

  // A frame of the broker. The host hears of each, changed or not: it tells the
  // ends again that the broker has not got.
  void Handle(const v1::OpenRuns& runs);

  // The host's `run` notification.
  void HandleRun(const Json& params);

  // Whether the session works on a run, or is somebody's headless worker.
  bool is_delegated() const {
    return !open_.runs().empty() || !open_.supervisor_session_id().empty();
  }

  // Who delegated the work of a turn that the delivery `trigger` started: the
  // supervisor of that run, else of the only open one, else the only supervisor
  // that there is. NOT_FOUND (NO_SUPERVISOR), FAILED_PRECONDITION
  // (AMBIGUOUS_RUN).
  absl::StatusOr<Delegation> DelegationOf(const std::string& trigger) const;

 private:
  const Notify notify_;
  const SendFrame send_;
  v1::OpenRuns open_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_RUN_WORK_H_
