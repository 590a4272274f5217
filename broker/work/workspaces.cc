#include "broker/work/workspaces.h"

#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"

namespace intercom {
namespace {

absl::Status NoWorkspace(const std::string& where) {
  return Error(absl::StatusCode::kFailedPrecondition, "NO_WORKSPACE",
               "there is no workspace " + where +
                   "; a workspace is a directory with "
                   ".pi-intercom/config.json in it or above it, which the "
                   "first Pi session there creates");
}

}  // namespace

void Workspaces::Decide(CallerEvidence evidence, std::string directory,
                        Operation operation, bool last_good, Use use,
                        Failed failed) {
  runner_.PostTask([this, evidence = std::move(evidence),
                    directory = std::move(directory), operation, last_good,
                    use = std::move(use),
                    failed = std::move(failed)]() mutable {
    absl::StatusOr<Caller> caller = callers_.Resolve(evidence);
    if (!caller.ok()) return failed(caller.status());
    const Attachment* attachment = caller->host_session_id.empty()
                                       ? nullptr
                                       : roster_.Find(caller->host_session_id);
    if (attachment != nullptr) {
      if (attachment->root.empty()) {
        const absl::Status denied =
            CheckPermitted(operation, caller->origin, v1::ROLE_PEER);
        return failed(denied.ok() ? NoWorkspace("for this session") : denied);
      }
      return DecideIn(attachment->root, *std::move(caller), operation,
                      last_good, std::move(use), std::move(failed));
    }
    if (caller->host_session_id.empty()) {
      // Who has no role anywhere is refused wherever it is.
      const absl::Status permitted =
          CheckPermitted(operation, caller->origin, v1::ROLE_UNSPECIFIED);
      if (!permitted.ok()) return failed(permitted);
    }
    if (directory.empty()) return failed(NoWorkspace("named in this call"));
    FindRoot(directory, [this, directory, caller = *std::move(caller),
                         operation, last_good, use = std::move(use),
                         failed = std::move(failed)](auto root) mutable {
      if (!root.ok()) return failed(root.status());
      if (root->empty()) return failed(NoWorkspace("at " + directory));
      DecideIn(*root, std::move(caller), operation, last_good, std::move(use),
               std::move(failed));
    });
  });
}

void Workspaces::DecideIn(const std::string& root, Caller caller,
                          Operation operation, bool last_good, Use use,
                          Failed failed) {
  WorkspaceGate::Use decided =
      [this, caller = std::move(caller), operation, use = std::move(use)](
          const std::shared_ptr<const Workspace>& workspace,
          Effects& effects) mutable -> absl::Status {
    DecidedCall call;
    if (caller.epoch != 0) {
      // It waited for the disk: the session may have been taken over.
      const Attachment* attachment = roster_.Find(caller.host_session_id);
      if (attachment == nullptr || attachment->epoch != caller.epoch) {
        return Error(absl::StatusCode::kAborted, "OLD_EPOCH",
                     "another attachment took this session over");
      }
    }
    call.role = caller.host_session_id.empty()
                    ? v1::ROLE_UNSPECIFIED
                    : workspace->RoleOf(caller.host_session_id);
    INTERCOM_RETURN_IF_ERROR(
        CheckPermitted(operation, caller.origin, call.role));
    call.caller = caller;
    call.workspace = workspace;
    return use(call, effects);
  };
  if (last_good) {
    gate_.WithLastGood(root, std::move(decided), std::move(failed));
  } else {
    gate_.WithPresent(root, std::move(decided), std::move(failed));
  }
}

void Workspaces::FindRoot(
    const std::string& directory,
    absl::AnyInvocable<void(absl::StatusOr<std::string>)> found) {
  DiscoveryRequest request;
  request.cwd = directory;
  request.home = account_home_;
  request.mode = v1::WORKSPACE_MODE_EXISTING;
  lanes_.FindRoot(std::move(request),
                  [found = std::move(found)](auto discovery) mutable {
                    if (!discovery.ok()) return found(discovery.status());
                    found(discovery->root.value_or(""));
                  });
}

}  // namespace intercom
