#ifndef PI_INTERCOM_BROKER_RPC_PEERS_H_
#define PI_INTERCOM_BROKER_RPC_PEERS_H_

#include <grpcpp/server_context.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/base/mutex.h"
#include "broker/roster/callers.h"
#include "broker/rpc/serial_executor.h"

namespace intercom {

// Tells what is known of the process behind a call: by the kernel's word on
// the Unix socket, by the account's token over TCP. Thread-safe.
class Peers {
 public:
  // `token` is the account's secret for TCP.
  explicit Peers(std::string token) : token_(std::move(token)) {}

  // A connection on the Unix socket, accepted as `descriptor` from process
  // `pid`, before gRPC gets it. Reads /proc.
  void AddUnixPeer(int descriptor, int64_t pid) ABSL_LOCKS_EXCLUDED(mu_);

  // Calls `found` with the evidence of a call: at once, but for a TCP call,
  // whose process is looked up in /proc on a thread of its own. UNAUTHENTICATED
  // (TOKEN_MISSING, TOKEN_WRONG) for a TCP call without the token.
  using Found = absl::AnyInvocable<void(absl::StatusOr<CallerEvidence>)>;
  void FindEvidence(const grpc::ServerContextBase& context, Found found)
      ABSL_LOCKS_EXCLUDED(mu_);

  // Calls seen so far, for whoever watches for idleness.
  int64_t calls() const { return calls_.load(std::memory_order_relaxed); }

 private:
  struct Process {
    std::vector<int64_t> ancestry;
    std::string claimed_session;
  };
  static Process ProcessOf(int64_t pid);
  Process OfUnixPeer(const std::string& peer) ABSL_LOCKS_EXCLUDED(mu_);

  const std::string token_;
  std::atomic<int64_t> calls_ = 0;
  Mutex mu_;
  // Connections of the Unix socket, as many as there are descriptors.
  absl::flat_hash_map<std::string, Process> by_peer_ ABSL_GUARDED_BY(mu_);
  // The last member, so that its thread ends first.
  SerialExecutor lookups_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_RPC_PEERS_H_
