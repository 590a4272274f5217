#include "broker/base/error.h"

#include <cerrno>
#include <system_error>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace intercom {
namespace {

constexpr char kReasonUrl[] = "pi-intercom/reason";

absl::string_view ToAbsl(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

absl::Status Error(absl::StatusCode code, std::string_view reason,
                   std::string_view message) {
  absl::Status status(code, ToAbsl(message));
  status.SetPayload(kReasonUrl, absl::Cord(ToAbsl(reason)));
  return status;
}

std::string ReasonOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kReasonUrl);
  return payload.has_value() ? std::string(*payload) : std::string();
}

std::string MessageOf(const absl::Status& status) {
  return std::string(status.message());
}

absl::Status ErrnoError(int errno_value, std::string_view what) {
  const std::string message = absl::StrCat(
      ToAbsl(what), ": ", std::generic_category().message(errno_value));
  switch (errno_value) {
    case ENOSPC:
    case EDQUOT:
      return Error(absl::StatusCode::kResourceExhausted, "STORAGE_FULL",
                   message);
    case ENOENT:
    case ENOTDIR:
      return Error(absl::StatusCode::kNotFound, "NOT_FOUND", message);
    case EACCES:
    case EPERM:
    case EROFS:
      return Error(absl::StatusCode::kPermissionDenied, "NOT_ACCESSIBLE",
                   message);
    default:
      return Error(absl::StatusCode::kUnavailable, "SYSTEM_ERROR", message);
  }
}

}  // namespace intercom
