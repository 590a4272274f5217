#include "worker-agent/cli/command_context.h"

#include <filesystem>
#include <istream>
#include <ostream>

#include "broker/base/error.h"
#include "google/protobuf/util/json_util.h"

namespace intercom {

absl::Status CommandContext::Print(const google::protobuf::Message& message,
                                   const std::string& text) const {
  if (!arguments.json) {
    out << text;
    return absl::OkStatus();
  }
  std::string json;
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  if (!google::protobuf::util::MessageToJsonString(message, &json, options)
           .ok()) {
    return Error(absl::StatusCode::kInternal, "JSON_FAILED",
                 "the answer can't be written as JSON");
  }
  out << json;
  return absl::OkStatus();
}

std::string CommandContext::Directory() const {
  std::error_code ignored;
  const std::filesystem::path path = std::filesystem::absolute(
      arguments.directory.empty() ? "." : arguments.directory.c_str(), ignored);
  std::string text = path.lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

absl::Status CommandContext::CheckCanAsk() const {
  if (terminal.can_ask()) return absl::OkStatus();
  return Error(absl::StatusCode::kFailedPrecondition, "NO_TERMINAL",
               "this asks a person, and standard input or standard error is no "
               "terminal; nothing was done. Run it at a terminal of your own");
}

absl::Status CommandContext::Ask(const std::string& evidence,
                                 const std::string& question) const {
  err << evidence << question << " [y/N] " << std::flush;
  std::string line;
  std::getline(in, line);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) {
    line.pop_back();
  }
  if (line == "y" || line == "Y" || line == "yes") return absl::OkStatus();
  return Error(absl::StatusCode::kCancelled, "NOT_CONFIRMED",
               "nothing was done");
}

}  // namespace intercom
