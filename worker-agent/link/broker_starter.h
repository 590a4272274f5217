#ifndef PI_INTERCOM_WORKER_AGENT_LINK_BROKER_STARTER_H_
#define PI_INTERCOM_WORKER_AGENT_LINK_BROKER_STARTER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace intercom {

// Makes sure that a broker of this account answers: starts one if none is
// there. However many processes do this at once, one broker starts. Blocks; one
// call at a time per process.
class BrokerStarter {
 public:
  struct Options {
    std::string home;
    // The directory for which the broker is started.
    std::string workspace;
    // Empty: FindBroker().
    std::string program = {};
    absl::Duration start_timeout = absl::Seconds(10);
    absl::Duration health_timeout = absl::Seconds(5);
  };

  explicit BrokerStarter(Options options);

  // OK means that a broker serves on the socket. Errors beside those of
  // StartBrokerProcess(): UNAVAILABLE: BROKER_HUNG (a process holds the
  // broker's lock but doesn't answer; the message names it and the way out),
  // BROKER_DRAINING, START_LOCKED. NOT_FOUND: BROKER_NOT_FOUND.
  // FAILED_PRECONDITION: SOCKET_PATH_TOO_LONG.
  absl::Status Ensure();

 private:
  // Whether somebody listens on the socket.
  bool SocketAnswers() const;
  absl::Status CheckHolder() const;
  // With start.lock held.
  absl::Status StartUnlessRunning();
  absl::Status HungError() const;

  const Options options_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LINK_BROKER_STARTER_H_
