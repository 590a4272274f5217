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
      const auto known = mirror_.Find(root);
      if (known != nullptr && known->config_error.empty() &&
          known->config_hash == (*snapshot)->hash &&
          !mirroring_.contains(root)) {
        return RunOn(known, std::move(use), std::move(failed));
      }
      return MirrorAndRun(*std::move(snapshot), std::move(use),
                          std::move(failed));
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
      RunOn(std::move(known), std::move(use), std::move(failed));
    });
  });
}

void WorkspaceGate::MirrorAndRun(ConfigSnapshotPtr snapshot, Use use,
                                 Failed failed) {
  ++mirroring_[snapshot->root];
  const auto mirrored = [this, root = snapshot->root] {
    const auto found = mirroring_.find(root);
    if (--found->second == 0) mirroring_.erase(found);
  };
  auto shared_failed = std::make_shared<Failed>(std::move(failed));
  // In a command of its own: a refusal of the call must not undo what the file
  // says.
  runner_.PostCommand(
      {[this, mirrored, snapshot = std::move(snapshot), use = std::move(use),
        shared_failed](Effects& effects) mutable -> absl::Status {
         INTERCOM_ASSIGN_OR_RETURN(
             auto workspace,
             mirror_.Apply(*snapshot, /*repin=*/false, effects));
         effects.AfterCommit([this, mirrored, workspace = std::move(workspace),
                              use = std::move(use), shared_failed]() mutable {
           mirrored();
           RunOn(std::move(workspace), std::move(use),
                 std::move(*shared_failed));
         });
         return absl::OkStatus();
       },
       [mirrored, shared_failed](const absl::Status& status) {
         mirrored();
         (*shared_failed)(status);
       }});
}

void WorkspaceGate::RunOn(std::shared_ptr<const Workspace> workspace, Use use,
                          Failed failed) {
  runner_.PostCommand(
      {[workspace = std::move(workspace), use = std::move(use)](
           Effects& effects) mutable { return use(workspace, effects); },
       std::move(failed)});
}

}  // namespace intercom
