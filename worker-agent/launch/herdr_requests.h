#ifndef PI_INTERCOM_WORKER_AGENT_LAUNCH_HERDR_REQUESTS_H_
#define PI_INTERCOM_WORKER_AGENT_LAUNCH_HERDR_REQUESTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "intercom/v1/work.pb.h"
#include "nlohmann/json.hpp"
#include "worker-agent/launch/launch.h"

// Pure: what Herdr is asked, in both its forms, and what its answers mean.
namespace intercom::herdr {

struct Request {
  // On the socket: {"id", "method", "params"}.
  std::string method;
  nlohmann::json params;
  // The words after `herdr` that ask the same. Empty: only the socket can.
  std::vector<std::string> words;
  // The type of a good answer. A command may print nothing for "ok".
  std::string result_type;
};

// Opens a tab in `workspace` whose only pane runs `command`, spawned as it is.
Request ApplyLayout(const std::string& workspace, const std::string& directory,
                    const std::string& label,
                    const std::vector<std::string>& command,
                    bool focus = false);
// Opens a tab with a shell.
Request CreateTab(const std::string& workspace, const std::string& directory,
                  const std::string& label, bool focus = false);
Request RenameTab(const std::string& tab, const std::string& label);
// Types a line and Enter.
Request RunLine(const std::string& pane, const std::string& line);
Request GetPane(const std::string& pane);
Request ProcessInfo(const std::string& pane);
Request ClosePane(const std::string& pane);
// Opens a pane with a shell below `pane`, which keeps a quarter of its rows:
// both are to be swapped.
Request SplitPane(const std::string& pane, const std::string& directory);
Request RenamePane(const std::string& pane, const std::string& label);
Request SwapPanes(const std::string& source, const std::string& target);

// Parsers of the `result` object. UNAVAILABLE (HERDR_UNREADABLE) if something
// is missing or of another type.

// Of ApplyLayout and CreateTab: where the new pane is.
absl::StatusOr<v1::Pane> ParseNewPane(const nlohmann::json& result);
// Of GetPane and SplitPane, without the process.
absl::StatusOr<v1::Pane> ParsePane(const nlohmann::json& result);
struct Processes {
  // The pane's own process; 0 if Herdr knows none.
  int64_t shell_pid = 0;
  // The group that has the terminal; 0 likewise.
  int64_t foreground_group = 0;
};
absl::StatusOr<Processes> ParseProcesses(const nlohmann::json& result);

// The result object in an answer line to request `id` ("" fits any).
// Herdr's errors become FAILED_PRECONDITION with the reason HERDR_ and its code
// in capitals, such as HERDR_PANE_NOT_FOUND, or UNAVAILABLE where it may have
// acted nevertheless.
absl::StatusOr<nlohmann::json> ParseAnswer(std::string_view line,
                                           std::string_view id,
                                           const std::string& result_type);

// Herdr's own rule: HERDR_SOCKET_PATH, else a file of the session HERDR_SESSION
// or of the default one in its configuration directory. "" if even HOME is
// unknown.
std::string SocketPath(const Environment& environment);

}  // namespace intercom::herdr

#endif  // PI_INTERCOM_WORKER_AGENT_LAUNCH_HERDR_REQUESTS_H_
