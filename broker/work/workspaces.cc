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

absl::Status NoWorkspaceAt(const std::string& directory) {
  return Error(absl::StatusCode::kNotFound, "NO_WORKSPACE",
               "there is no workspace at " + directory +
                   ". For all of them leave the directory out; at a shell: "
                   "--all");
}

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
          Effects& effects) mutable {
        return UseIn(workspace, caller, "", operation, use, effects);
      };
  if (last_good) {
    gate_.WithLastGood(root, std::move(decided), std::move(failed));
  } else {
    gate_.WithPresent(root, std::move(decided), std::move(failed));
  }
}

void Workspaces::DecideAnywhere(CallerEvidence evidence, std::string scope,
                                Operation operation, Use use, Failed failed) {
  runner_.PostTask([this, evidence = std::move(evidence),
                    scope = std::move(scope), operation, use = std::move(use),
                    failed = std::move(failed)]() mutable {
    absl::StatusOr<Caller> caller = callers_.Resolve(evidence);
    if (!caller.ok()) return failed(caller.status());
    const Attachment* attachment = caller->host_session_id.empty()
                                       ? nullptr
                                       : roster_.Find(caller->host_session_id);
    const std::string root = attachment == nullptr ? "" : attachment->root;
    WorkspaceGate::Use decided =
        [this, caller = *std::move(caller), scope = std::move(scope), operation,
         use = std::move(use)](
            const std::shared_ptr<const Workspace>& workspace,
            Effects& effects) mutable {
          return UseIn(workspace, caller, scope, operation, use, effects);
        };
    // Who is attached in a workspace has a mirror of its config.
    if (!root.empty()) {
      return gate_.WithLastGood(root, std::move(decided), std::move(failed));
    }
    runner_.PostCommand(
        {[decided = std::move(decided)](Effects& effects) mutable {
           return decided(nullptr, effects);
         },
         std::move(failed)});
  });
}

absl::Status Workspaces::UseIn(
    const std::shared_ptr<const Workspace>& workspace, const Caller& caller,
    std::string scope, Operation operation, Use& use, Effects& effects) {
  DecidedCall call;
  const Attachment* attachment = caller.host_session_id.empty()
                                     ? nullptr
                                     : roster_.Find(caller.host_session_id);
  // It waited for the disk: the session may have been taken over.
  if (caller.epoch != 0 &&
      (attachment == nullptr || attachment->epoch != caller.epoch)) {
    return Error(absl::StatusCode::kAborted, "OLD_EPOCH",
                 "another attachment took this session over");
  }
  if (caller.host_session_id.empty()) {
    call.scope = std::move(scope);
  } else if (workspace != nullptr) {
    call.role = workspace->RoleOf(caller.host_session_id);
  } else {
    call.role = attachment == nullptr || !attachment->root.empty()
                    ? v1::ROLE_ANONYMOUS
                    : v1::ROLE_PEER;
  }
  if (attachment != nullptr) call.scope = attachment->hello.scope();
  INTERCOM_RETURN_IF_ERROR(CheckPermitted(operation, caller.origin, call.role));
  call.caller = caller;
  call.workspace = workspace;
  return use(call, effects);
}

const std::string& DecidedCall::root() const {
  static const auto& none = *new std::string();
  return workspace == nullptr ? none : workspace->root;
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
