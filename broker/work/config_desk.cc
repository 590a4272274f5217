#include "broker/work/config_desk.h"

#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/config/config_edit.h"
#include "broker/domain/fence.h"
#include "broker/domain/route.h"
#include "broker/work/coordinator_check.h"

namespace intercom {
// One call of Remove on its way.
struct ConfigDesk::Removal {
  std::shared_ptr<const Workspace> workspace;
  v1::AgentEntry entry;
  Done<v1::RemoveWorkerResponse> done;
};

void ConfigDesk::Remove(CallerEvidence evidence,
                        v1::RemoveWorkerRequest request,
                        Done<v1::RemoveWorkerResponse> done) {
  auto removal = std::make_shared<Removal>();
  removal->done = std::move(done);
  workspaces_.Decide(
      std::move(evidence), "", Operation::kWorkerRemove, /*last_good=*/false,
      [this, to = request.to(), removal](const DecidedCall& call,
                                         Effects& effects) -> absl::Status {
        removal->workspace = call.workspace;
        INTERCOM_ASSIGN_OR_RETURN(removal->entry,
                                  RouteToWorker(to, call.workspace->agents));
        INTERCOM_RETURN_IF_ERROR(
            CheckRemovable(call.workspace->root, removal->entry));
        effects.AfterCommit([this, removal,
                             guard = WhileAttached(
                                 roster_, call.caller.host_session_id)] {
          const auto edit =
              [id = removal->entry.session_id(), decided = removal->workspace](
                  const ReadConfig& read) -> absl::StatusOr<std::string> {
            INTERCOM_RETURN_IF_ERROR(CheckCoordinator(read, *decided));
            return RemoveWorker(read.bytes, id);
          };
          lanes_.Update(removal->workspace->root, edit, guard,
                        [this, removal](auto snapshot) {
                          if (!snapshot.ok()) {
                            return removal->done(snapshot.status());
                          }
                          Forget(removal, *std::move(snapshot));
                        });
        });
        return absl::OkStatus();
      },
      [removal](const absl::Status& status) { removal->done(status); });
}

absl::Status ConfigDesk::CheckRemovable(const std::string& root,
                                        const v1::AgentEntry& entry) const {
  INTERCOM_RETURN_IF_ERROR(fences_.Check(root, entry.session_id()));
  if (roster_.Find(entry.session_id()) == nullptr) return absl::OkStatus();
  return Error(absl::StatusCode::kFailedPrecondition, "WORKER_ATTACHED",
               NameLabel(entry.name()) +
                   " is attached, and stays configured; close it first with "
                   "intercom_close_worker, or end its session, then remove it");
}

void ConfigDesk::Forget(std::shared_ptr<Removal> removal,
                        ConfigSnapshotPtr snapshot) {
  runner_.PostCommand(
      {[this, removal, snapshot](Effects& effects) -> absl::Status {
         const std::string& root = snapshot->root;
         const std::string& id = removal->entry.session_id();
         INTERCOM_RETURN_IF_ERROR(
             mirror_.Apply(*snapshot, /*repin=*/false, effects).status());
         INTERCOM_RETURN_IF_ERROR(reports_.Remove(root, id));
         INTERCOM_RETURN_IF_ERROR(handoffs_.Remove(root, id));
         effects.AfterCommit([this, removal] { RefuseMail(removal); });
         return absl::OkStatus();
       },
       [removal](const absl::Status& status) { removal->done(status); }});
}

void ConfigDesk::RefuseMail(std::shared_ptr<Removal> removal) {
  dispatcher_.RefuseMail(removal->entry.session_id(),
                         "the coordinator removed its recipient from the "
                         "workspace",
                         [removal](absl::StatusOr<int64_t> refused) {
                           if (!refused.ok()) {
                             return removal->done(refused.status());
                           }
                           v1::RemoveWorkerResponse response;
                           *response.mutable_entry() = removal->entry;
                           response.set_refused(*refused);
                           removal->done(std::move(response));
                         });
}

void ConfigDesk::SetMultiplexer(CallerEvidence evidence,
                                v1::SetMultiplexerRequest request,
                                Done<v1::SetMultiplexerResponse> done) {
  auto shared_done =
      std::make_shared<Done<v1::SetMultiplexerResponse>>(std::move(done));
  workspaces_.Decide(
      std::move(evidence), "", Operation::kWorkspaceMultiplexer,
      /*last_good=*/false,
      [this, wanted = request.multiplexer(), shared_done](
          const DecidedCall& call, Effects& effects) -> absl::Status {
        if (!WorkspaceConfig::IsMultiplexer(wanted)) {
          return Error(absl::StatusCode::kInvalidArgument,
                       "MULTIPLEXER_UNKNOWN",
                       QuotedLine(wanted) +
                           " is no launcher; choose one of herdr, tmux, "
                           "none, headless. Nothing was written");
        }
        effects.AfterCommit([this, wanted, shared_done,
                             decided = call.workspace,
                             guard = WhileAttached(
                                 roster_, call.caller.host_session_id)] {
          const auto edit =
              [wanted,
               decided](const ReadConfig& read) -> absl::StatusOr<std::string> {
            INTERCOM_RETURN_IF_ERROR(CheckCoordinator(read, *decided));
            return intercom::SetMultiplexer(read.bytes, wanted);
          };
          lanes_.Update(
              decided->root, edit, guard,
              [this, wanted, shared_done, decided](auto snapshot) {
                if (!snapshot.ok()) return (*shared_done)(snapshot.status());
                runner_.PostCommand(
                    {[this, wanted, shared_done, decided,
                      snapshot = *snapshot](Effects& effects) -> absl::Status {
                       INTERCOM_RETURN_IF_ERROR(
                           mirror_.Apply(*snapshot, /*repin=*/false, effects)
                               .status());
                       v1::SetMultiplexerResponse response;
                       response.set_multiplexer(wanted);
                       response.set_changed(snapshot->hash !=
                                            decided->config_hash);
                       effects.AfterCommit([shared_done, response] {
                         (*shared_done)(response);
                       });
                       return absl::OkStatus();
                     },
                     [shared_done](const absl::Status& status) {
                       (*shared_done)(status);
                     }});
              });
        });
        return absl::OkStatus();
      },
      [shared_done](const absl::Status& status) { (*shared_done)(status); });
}

}  // namespace intercom
