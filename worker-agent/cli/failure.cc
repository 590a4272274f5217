#include "worker-agent/cli/failure.h"

#include "broker/base/error.h"
#include "broker/domain/fence.h"
#include "google/protobuf/util/json_util.h"
#include "intercom/v1/cli.pb.h"

namespace intercom {

std::string FailureText(const absl::Status& status, bool json) {
  const std::string message = StripControls(MessageOf(status));
  if (!json) return "intercom: " + message + "\n";
  v1::CommandFailure failure;
  failure.set_code(absl::StatusCodeToString(status.code()));
  failure.set_reason(ReasonOf(status));
  failure.set_message(message);
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  std::string text;
  if (!google::protobuf::util::MessageToJsonString(failure, &text, options)
           .ok()) {
    return "{}\n";  // Its texts are UTF-8: it does not fail.
  }
  return text + "\n";
}

std::string MisuseText(std::string_view complaint) {
  while (complaint.ends_with('\n')) complaint.remove_suffix(1);
  return FailureText(
      Error(absl::StatusCode::kInvalidArgument, "USAGE", complaint),
      /*json=*/true);
}

}  // namespace intercom
