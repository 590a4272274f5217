#include "broker/work/coordinator_desk.h"

#include <optional>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "broker/domain/permissions.h"
#include "broker/work/subject.h"
#include "spdlog/spdlog.h"

namespace intercom {
namespace {

constexpr char kCoordinator[] = "COORDINATOR";

}  // namespace

// One call on its way.
struct CoordinatorDesk::Confirmation {
  std::string confirmed;
  std::string previous;
  Done done;

  absl::Status Stale(const std::string& named) const {
    return Error(absl::StatusCode::kFailedPrecondition, "CONFIRMATION_STALE",
                 "the config names session " + named +
                     " as coordinator now, not " + IdLabel(confirmed, 256) +
                     "; nothing was changed. Look again and confirm what it "
                     "says");
  }
};

void CoordinatorDesk::Confirm(CallerEvidence evidence,
                              v1::ConfirmCoordinatorRequest request,
                              Done done) {
  auto confirmation = std::make_shared<Confirmation>();
  confirmation->confirmed = request.coordinator_session_id();
  confirmation->done = std::move(done);
  workspaces_.Decide(
      std::move(evidence), request.directory(),
      Operation::kWorkspaceCoordinator, /*last_good=*/false,
      [this, confirmation](const DecidedCall& call,
                           Effects& effects) -> absl::Status {
        const Workspace& workspace = *call.workspace;
        const std::string& claimed = workspace.claimed_coordinator_session_id;
        if (claimed.empty()) {
          return Error(
              absl::StatusCode::kFailedPrecondition, "COORDINATOR_UNCHANGED",
              "the config names session " + workspace.coordinator_session_id +
                  ", which coordinates already; there is nothing to "
                  "confirm");
        }
        if (claimed != confirmation->confirmed) {
          return confirmation->Stale(claimed);
        }
        confirmation->previous = workspace.coordinator_session_id;
        effects.AfterCommit([this, confirmation, root = workspace.root] {
          lanes_.Snapshot(root, [this, confirmation](auto snapshot) {
            if (!snapshot.ok()) return confirmation->done(snapshot.status());
            Apply(confirmation, *std::move(snapshot));
          });
        });
        return absl::OkStatus();
      },
      [confirmation](const absl::Status& status) {
        confirmation->done(status);
      });
}

void CoordinatorDesk::Apply(ConfirmationPtr confirmation,
                            ConfigSnapshotPtr snapshot) {
  runner_.PostCommand(
      {[this, confirmation, snapshot](Effects& effects) -> absl::Status {
         const std::string& named = snapshot->config.coordinator().session_id();
         if (named != confirmation->confirmed) {
           return confirmation->Stale(named);
         }
         INTERCOM_ASSIGN_OR_RETURN(
             const auto workspace,
             mirror_.Apply(*snapshot, /*repin=*/true, effects));
         effects.AfterCommit([this, confirmation, workspace] {
           Tell(*confirmation, *workspace);
         });
         effects.AfterSync([confirmation, root = snapshot->root] {
           v1::ConfirmCoordinatorResponse response;
           response.set_root(root);
           response.set_coordinator_session_id(confirmation->confirmed);
           response.set_previous_session_id(confirmation->previous);
           confirmation->done(std::move(response));
         });
         return absl::OkStatus();
       },
       [confirmation](const absl::Status& status) {
         confirmation->done(status);
       }});
}

void CoordinatorDesk::Tell(const Confirmation& confirmation,
                           const Workspace& workspace) {
  const std::string& confirmed = confirmation.confirmed;
  const std::string& previous = confirmation.previous;
  spdlog::info("coordinator root={} session={} previous={}", workspace.root,
               confirmed, previous);
  observations_.Record(workspace.root, confirmed, "Coordinator", "coordinator",
                       "", "confirmed");
  Notify(workspace, confirmed,
         "A person made this session the coordinator of " + workspace.root +
             ", in the place of session " + previous + ".");
  Notify(workspace, previous,
         "A person made session " + confirmed + " the coordinator of " +
             workspace.root + " in the place of this session, whose role is " +
             std::string(RoleName(workspace.RoleOf(previous))) + " now.");
  for (const Attachment* attachment : roster_.InWorkspace(workspace.root)) {
    if (attachment->role == v1::ROLE_ANONYMOUS) {
      news_.Announce(attachment->session_id, /*unless_known=*/true);
    }
  }
}

void CoordinatorDesk::Notify(const Workspace& workspace,
                             const std::string& session_id, std::string text) {
  const v1::AgentEntry* entry = workspace.EntryOf(session_id);
  Recipient recipient{session_id, entry == nullptr ? "" : entry->name(), {}};
  if (entry == nullptr) recipient.expires_after = kUnconfiguredKept;
  // Each for itself: a full mailbox does not keep the other from hearing it.
  runner_.PostCommand({[this, recipient = std::move(recipient),
                        text = std::move(text)](Effects& effects) {
                         return dispatcher_.AcceptNotice(
                             BrokerSender(), recipient, kCoordinator, text,
                             /*quiet=*/true, effects);
                       },
                       [session_id](const absl::Status& status) {
                         spdlog::warn("{} is not told of its coordinator: {}",
                                      session_id, MessageOf(status));
                       }});
}

}  // namespace intercom
