#include "broker/work/capability.h"

#include <algorithm>
#include <string>

#include "broker/base/error.h"
#include "broker/domain/fence.h"

namespace intercom {

absl::Status CheckHostCan(std::string_view capability,
                          const Attachment* attachment,
                          const v1::AgentEntry& entry) {
  const std::string name = NameLabel(entry.name());
  if (attachment == nullptr) {
    return Error(absl::StatusCode::kFailedPrecondition, "WORKER_AWAY",
                 name +
                     " is not attached; nothing was done. If its process has "
                     "ended, intercom_resume_worker or intercom_remove_worker "
                     "are the ways on; see intercom_worker_status");
  }
  const auto& known = attachment->hello.capabilities();
  if (std::find(known.begin(), known.end(), capability) != known.end()) {
    return absl::OkStatus();
  }
  return Error(
      absl::StatusCode::kFailedPrecondition, "HOST_NOT_VERIFIED",
      name + " runs in " + NameLabel(attachment->hello.host_kind(), 32) + " " +
          NameLabel(attachment->hello.host_version(), 32) +
          ", of which it is not known that it does this safely; nothing was "
          "done. Ask a person to do it in its terminal");
}

}  // namespace intercom
