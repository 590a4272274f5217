#include "broker/work/abandoned_workspaces.h"

#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "spdlog/spdlog.h"

namespace intercom {

absl::Status AbandonedWorkspaces::Look() {
  if (!unused_.empty()) return absl::OkStatus();
  INTERCOM_ASSIGN_OR_RETURN(unused_, store_.UnusedSince(clock_.Now() - kKept));
  LookAtNext();
  return absl::OkStatus();
}

void AbandonedWorkspaces::LookAtNext() {
  if (unused_.empty()) return;
  DiscoveryRequest request;
  request.cwd = unused_.back();
  request.mode = v1::WORKSPACE_MODE_EXISTING;
  lanes_.FindRoot(std::move(request), [this](const auto& found) {
    const std::string root = std::move(unused_.back());
    unused_.pop_back();
    // Whatever else is wrong with it, it is there or may come back.
    const bool is_gone = found.ok()
                             ? found->root != root
                             : ReasonOf(found.status()) == "NO_DIRECTORY";
    if (is_gone) {
      runner_.PostCommand(
          {[this, root](Effects& effects) { return Forget(root, effects); },
           [root](const absl::Status& status) {
             spdlog::warn("workspace {} is not forgotten yet: {}", root,
                          MessageOf(status));
           }});
    }
    LookAtNext();
  });
}

absl::Status AbandonedWorkspaces::Forget(const std::string& root,
                                         Effects& effects) {
  if (!roster_.InWorkspace(root).empty()) return absl::OkStatus();
  INTERCOM_RETURN_IF_ERROR(panes_.Remove(root));
  INTERCOM_RETURN_IF_ERROR(mirror_.Forget(root, effects));
  effects.AfterCommit([root] {
    spdlog::info("workspace {} is forgotten: it has no config any more", root);
  });
  return absl::OkStatus();
}

}  // namespace intercom
