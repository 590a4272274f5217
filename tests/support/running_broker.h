#ifndef PI_INTERCOM_TESTS_SUPPORT_RUNNING_BROKER_H_
#define PI_INTERCOM_TESTS_SUPPORT_RUNNING_BROKER_H_

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "broker/base/mutex.h"
#include "broker/base/random.h"
#include "broker/server/broker_server.h"

namespace intercom {

// A broker in this process, at work on a thread of its own until it is stopped
// or leaves by itself.
class RunningBroker {
 public:
  static absl::StatusOr<std::unique_ptr<RunningBroker>> Start(
      BrokerOptions options, const Clock& clock) {
    auto running = std::unique_ptr<RunningBroker>(new RunningBroker);
    auto server =
        BrokerServer::Start(std::move(options), clock, running->random_);
    if (!server.ok()) return server.status();
    running->server_ = *std::move(server);
    running->thread_ = std::thread([&broker = *running] {
      broker.server_->Run(broker.stop_[0]);
      {
        MutexLock lock(broker.mu_);
        broker.left_ = true;
      }
      broker.has_left_.NotifyAll();
    });
    return running;
  }
  ~RunningBroker() {
    Stop();
    close(stop_[0]);
  }

  int port() const { return server_->port(); }
  bool left() {
    MutexLock lock(mu_);
    return left_;
  }
  // Whether it left before `patience` was over.
  bool LeftWithin(std::chrono::milliseconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    MutexLock lock(mu_);
    while (!left_ && std::chrono::steady_clock::now() < deadline) {
      has_left_.WaitFor(mu_, deadline - std::chrono::steady_clock::now());
    }
    return left_;
  }

  // Asks it to leave without waiting.
  void BeginStop() {
    if (stop_[1] >= 0) close(std::exchange(stop_[1], -1));
  }
  void Stop() {
    BeginStop();
    WaitUntilItLeft();
    server_.reset();
  }
  void WaitUntilItLeft() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  RunningBroker() {
    if (pipe2(stop_, O_CLOEXEC) != 0) std::abort();
  }

  SystemRandom random_;
  int stop_[2];
  std::unique_ptr<BrokerServer> server_;
  Mutex mu_;
  CondVar has_left_;
  bool left_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_SUPPORT_RUNNING_BROKER_H_
