#include "broker/base/log.h"

#include <sys/stat.h>

#include <exception>
#include <memory>

#include "broker/base/error.h"
#include "spdlog/sinks/rotating_file_sink.h"
#include "spdlog/sinks/stdout_sinks.h"

namespace intercom {
namespace {

constexpr size_t kMaxFileBytes = 4 << 20;
constexpr size_t kMaxOldFiles = 2;
constexpr char kPattern[] = "%Y-%m-%dT%H:%M:%S.%e %L %v";

void Install(std::shared_ptr<spdlog::logger> logger) {
  logger->set_pattern(kPattern);
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace

absl::Status OpenLogFile(const std::string& path) {
  const mode_t old_mask = umask(0077);
  try {
    Install(std::make_shared<spdlog::logger>(
        "intercom", std::make_shared<spdlog::sinks::rotating_file_sink_mt>(
                        path, kMaxFileBytes, kMaxOldFiles)));
  } catch (const std::exception& error) {
    umask(old_mask);
    return Error(absl::StatusCode::kUnavailable, "LOG_UNWRITABLE",
                 "can't write the log " + path + ": " + error.what());
  }
  umask(old_mask);
  return absl::OkStatus();
}

void LogToStderr() {
  Install(std::make_shared<spdlog::logger>(
      "intercom", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
}

}  // namespace intercom
