#ifndef PI_INTERCOM_WORKER_AGENT_LAUNCH_MULTIPLEXER_H_
#define PI_INTERCOM_WORKER_AGENT_LAUNCH_MULTIPLEXER_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "intercom/v1/work.pb.h"
#include "worker-agent/launch/command_runner.h"
#include "worker-agent/launch/launch.h"

namespace intercom {

// The panes of one running Herdr or tmux server. Blocks within the runner's
// allowance. Errors are UNAVAILABLE (PANE_UNKNOWN): the server does not answer,
// or not in a way that is understood.
class Multiplexer {
 public:
  virtual ~Multiplexer() = default;

  // A pane as it is now. `wanted` gives its id and, where a pane shows in
  // several places, the preferred one. nullopt: there is no such pane (a server
  // that is gone has none).
  struct Found {
    v1::Pane pane;
    // The pane's process ended and the pane stays.
    bool dead = false;
    // Nothing else is in its tab or window.
    bool alone = true;
    // A mark that names the host launched in it; "" if it has none.
    std::string host_mark;
  };
  virtual absl::StatusOr<std::optional<Found>> Find(const v1::Pane& wanted) = 0;

  // Asks to close `pane`, which was found just now.
  virtual absl::Status Close(const v1::Pane& pane) = 0;

  virtual absl::Status Name(const Found& found, const std::string& name) = 0;
};

// `runner` must outlive the result.
std::unique_ptr<Multiplexer> MakeTmux(const CommandRunner& runner,
                                      const std::string& socket);
std::unique_ptr<Multiplexer> MakeHerdr(const CommandRunner& runner,
                                       const std::string& socket);
// What hosts a session that has no pane is looked at as one.
std::unique_ptr<Multiplexer> MakeHeadless(const std::string& socket);

// PANE_UNKNOWN, saying why.
absl::Status PaneUnknown(const std::string& why);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LAUNCH_MULTIPLEXER_H_
