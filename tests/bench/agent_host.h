#ifndef PI_INTERCOM_TESTS_BENCH_AGENT_HOST_H_
#define PI_INTERCOM_TESTS_BENCH_AGENT_HOST_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "broker/base/mutex.h"
#include "nlohmann/json.hpp"
#include "tests/bench/process.h"
#include "tests/bench/progress.h"

namespace intercom::bench {

// The host of one real `intercom-agent`, with which it speaks JSON-RPC as
// ../../worker-agent/host/README.md says. Takes each delivery at once. Send is
// for one thread; deliveries come on a thread of its own.
class AgentHost {
 public:
  struct Options {
    std::string program;
    std::string home;
    std::string session_id;
    std::string directory;
    std::string log;
  };
  explicit AgentHost(const Options& options);
  // Ends the agent.
  ~AgentHost();

  // Blocks until the agent says that it is attached.
  void WaitUntilConnected();
  // `on_delivery` hears when a `deliver` line arrived.
  void SetOnDelivery(std::function<void()> on_delivery);
  // Calls intercom_send; a refusal ends the program.
  void Send(const std::string& to, const std::string& text);

  pid_t pid() const { return process_->pid(); }
  pid_t broker_pid() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Read();
  void Dispatch(const nlohmann::json& message);
  void Write(const nlohmann::json& message) ABSL_LOCKS_EXCLUDED(write_mu_);

  const std::unique_ptr<Process> process_;
  Progress connected_;
  int calls_ = 0;

  // Held over the write of a line; no other lock is taken under it.
  Mutex write_mu_;
  Mutex mu_;
  std::function<void()> on_delivery_ ABSL_GUARDED_BY(mu_);
  bool is_connected_ ABSL_GUARDED_BY(mu_) = false;
  pid_t broker_pid_ ABSL_GUARDED_BY(mu_) = 0;

  std::thread reader_;
};

}  // namespace intercom::bench

#endif  // PI_INTERCOM_TESTS_BENCH_AGENT_HOST_H_
