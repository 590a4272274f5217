#ifndef PI_INTERCOM_WORKER_AGENT_OPEN_PANE_H_
#define PI_INTERCOM_WORKER_AGENT_OPEN_PANE_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"

namespace intercom {

// A session that a message needs, in a directory where none is.
struct PaneRequest {
  // The tool call that wants it.
  std::string call_id;
  // Absolute and canonical.
  std::string directory;
  bool focus = true;
  // "herdr", "tmux" or "headless"; empty for the usual one.
  std::string launcher;
  // An agent that has died may have made the call.
  bool repeated = false;
};

struct OpenedPane {
  // Attached.
  std::string session_id;
  // What was opened and how, in whole sentences for the model.
  std::string detail;
};

// Opens a session and waits for it; `done` is called once, on the runner of the
// caller.
using OpenPane =
    std::function<void(const PaneRequest& request,
                       std::function<void(absl::StatusOr<OpenedPane>)> done)>;

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_OPEN_PANE_H_
