#ifndef PI_INTERCOM_WORKER_AGENT_LINK_OPEN_CALLS_H_
#define PI_INTERCOM_WORKER_AGENT_LINK_OPEN_CALLS_H_

#include <memory>
#include <set>
#include <vector>

#include "broker/base/mutex.h"
#include "grpcpp/client_context.h"
#include "worker-agent/link/post_gate.h"

namespace intercom {

// The calls that gRPC still works on. What is left of a finished one is
// destroyed on the gate's runner: a channel whose last reference goes on one
// of gRPC's threads makes that thread wait for itself. Thread-safe.
class OpenCalls : public std::enable_shared_from_this<OpenCalls> {
 public:
  explicit OpenCalls(std::shared_ptr<PostGate> gate) : gate_(std::move(gate)) {}

  // Before a call starts. `context` lives until Finished().
  void Opened(grpc::ClientContext* context) ABSL_LOCKS_EXCLUDED(mu_);

  // The last act of a call, in its OnDone: `remains` owns all of it.
  void Finished(grpc::ClientContext* context, std::shared_ptr<void> remains)
      ABSL_LOCKS_EXCLUDED(mu_);

  // Cancels all that are open, waits for their ends, and destroys what is left
  // of them. Blocks, but not for long. Not to be called from a gRPC thread.
  void CancelAll() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Clear() ABSL_LOCKS_EXCLUDED(mu_);

  const std::shared_ptr<PostGate> gate_;
  Mutex mu_;
  CondVar changed_;
  std::set<grpc::ClientContext*> open_ ABSL_GUARDED_BY(mu_);
  std::vector<std::shared_ptr<void>> finished_ ABSL_GUARDED_BY(mu_);
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LINK_OPEN_CALLS_H_
