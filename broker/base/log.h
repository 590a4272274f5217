#ifndef PI_INTERCOM_BROKER_BASE_LOG_H_
#define PI_INTERCOM_BROKER_BASE_LOG_H_

#include <string>

#include "absl/status/status.h"
#include "spdlog/spdlog.h"

namespace intercom {

// Sends the process's log (spdlog's default logger: SPDLOG_INFO and so on) to
// `path`, rotated at 4 MiB with 3 files kept, mode 0600. Bodies, tool data and
// secrets are never logged. Without a call the log goes to standard error.
absl::Status OpenLogFile(const std::string& path);

// Sends the log to standard error, for processes whose standard output is a
// protocol.
void LogToStderr();

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_BASE_LOG_H_
