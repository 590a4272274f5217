#ifndef PI_INTERCOM_WORKER_AGENT_HEADLESS_HOSTED_SESSION_H_
#define PI_INTERCOM_WORKER_AGENT_HEADLESS_HOSTED_SESSION_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "worker-agent/guard/guarded_process.h"

namespace intercom {

// A host in RPC mode, under a guard, and those who look on. Not thread-safe; in
// a process of one thread, whose signals SIGTERM, SIGINT and SIGHUP it takes.
class HostedSession {
 public:
  // Blocks until the host runs; `socket` can be connected to before.
  static absl::StatusOr<HostedSession> Start(const GuardedCommand& command,
                                             const std::string& socket);

  HostedSession(HostedSession&&) noexcept;
  ~HostedSession();

  int64_t host_pid() const;
  const std::string& socket() const;

  // Blocks until the host has ended. Its exit code, or 128 and the number of
  // the signal that ended it; 1 where its guard was killed.
  int Run();

 private:
  class Loop;
  explicit HostedSession(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_HEADLESS_HOSTED_SESSION_H_
