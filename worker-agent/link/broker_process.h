#ifndef PI_INTERCOM_WORKER_AGENT_LINK_BROKER_PROCESS_H_
#define PI_INTERCOM_WORKER_AGENT_LINK_BROKER_PROCESS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace intercom {

// The broker's executable: `PI_INTERCOM_BROKER`, else intercom-broker beside
// this program, else on PATH. NOT_FOUND (BROKER_NOT_FOUND) if there is none.
absl::StatusOr<std::string> FindBroker();

// `environment` (NAME=value) without what belongs to the starter's session and
// terminal.
std::vector<std::string> BrokerEnvironment(const char* const* environment);

// Starts `program` with `--home HOME --ready-fd 3 --workspace WORKSPACE` as a
// process of nobody: its own session, directory `/`, no descriptor but the
// pipe, standard ones on /dev/null. Blocks until it says that it is ready.
//
// The value is its port. FAILED_PRECONDITION with the broker's own reason if it
// refuses to start; UNAVAILABLE: BROKER_DIED, BROKER_SILENT (not ready within
// `timeout`), or START_FAILED.
absl::StatusOr<int> StartBrokerProcess(const std::string& program,
                                       const std::string& home,
                                       const std::string& workspace,
                                       absl::Duration timeout);

// What the line of a starting broker means: `ready <port>` or
// `error <REASON> <message>`.
absl::StatusOr<int> ParseReadyLine(std::string_view line);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LINK_BROKER_PROCESS_H_
