#include "broker/roster/workspace_gate.h"

#include <utility>

#include "broker/base/status_macros.h"

namespace intercom {

void WorkspaceGate::WithPresent(const std::string& root, Use use,
                                Failed failed) {
  Read(root, /*serve_stale=*/false, std::move(use), std::move(failed));
}

void WorkspaceGate::WithLastGood(const std::string& root, Use use,
                                 Failed failed) {
  Read(root, /*serve_stale=*/true, std::move(use), std::move(failed));
}

void WorkspaceGate::Read(const std::string& root, bool serve_stale, Use use,
                         Failed failed) {
  lanes_.Snapshot(root, [this, root, serve_stale, use = std::move(use),
                         failed = std::move(failed)](auto snapshot) mutable {
    if (snapshot.ok()) {
      runner_.PostCommand(
          {[this, snapshot = *std::move(snapshot),
            use = std::move(use)](Effects& effects) mutable -> absl::Status {
             INTERCOM_ASSIGN_OR_RETURN(
                 const auto workspace,
                 mirror_.Apply(*snapshot, /*repin=*/false, effects));
             return use(workspace, effects);
           },
           std::move(failed)});
      return;
    }
    // The mirror is marked in a command of its own, so that the failure of the
    // call does not undo the mark.
    const absl::Status error = snapshot.status();
    runner_.PostCommand({[this, root, error](Effects& effects) {
                           return mirror_.MarkStale(root, error, effects);
                         },
                         nullptr});
    runner_.PostTask([this, root, serve_stale, error, use = std::move(use),
                      failed = std::move(failed)]() mutable {
      auto known = serve_stale ? mirror_.Find(root) : nullptr;
      if (known == nullptr) {
        failed(error);
        return;
      }
      runner_.PostCommand(
          {[known = std::move(known), use = std::move(use)](
               Effects& effects) mutable { return use(known, effects); },
           std::move(failed)});
    });
  });
}

}  // namespace intercom
