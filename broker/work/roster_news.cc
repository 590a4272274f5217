#include "broker/work/roster_news.h"

#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/config/config_edit.h"
#include "broker/domain/fence.h"
#include "broker/work/subject.h"
#include "spdlog/spdlog.h"

namespace intercom {
namespace {

constexpr char kRegistration[] = "REGISTRATION";
constexpr char kStableId[] = "STABLE_ID";

}  // namespace

void RosterNews::OnAttached(Attachment& attachment) {
  if (attachment.stable_id != attachment.hello.stable_id()) {
    TellHolder(attachment);
  }
  ShowChange(attachment.root, attachment.session_id, attachment.hello.scope());
  if (attachment.role == v1::ROLE_COORDINATOR) {
    return RecordPort(attachment.root, attachment.session_id);
  }
  if (attachment.role != v1::ROLE_ANONYMOUS) return;
  // A session that only came back was announced before, as a rule.
  Announce(attachment.session_id,
           attachment.hello.start_reason() == v1::START_REASON_RECONNECT ||
               attachment.hello.start_reason() == v1::START_REASON_RELOAD);
}

void RosterNews::TellHolder(const Attachment& attachment) {
  runner_.PostCommand(
      {[this, id = attachment.session_id](Effects& effects) -> absl::Status {
         const Attachment* claimant = roster_.Find(id);
         if (claimant == nullptr) return absl::OkStatus();
         const std::string& wanted = claimant->hello.stable_id();
         const Attachment* holder =
             roster_.FindByStableId(claimant->hello.scope(), wanted);
         if (holder == nullptr) return absl::OkStatus();
         // It may come again and again.
         INTERCOM_ASSIGN_OR_RETURN(
             const bool is_known,
             deliveries_.HasNotice(holder->session_id, kStableId, id));
         if (is_known) return absl::OkStatus();
         v1::Sender about;
         about.set_session_id(id);
         about.set_name(claimant->name());
         about.set_origin(v1::ORIGIN_BROKER);
         about.set_role(claimant->role);
         about.set_workspace_root(claimant->root);
         Recipient recipient{
             holder->session_id, holder->name(), {}, holder->hello.scope()};
         if (!holder->entry.has_value()) {
           recipient.expires_after = kUnconfiguredKept;
         }
         return dispatcher_.AcceptNotice(
             about, recipient, kStableId,
             "Session " + id + " in " + MarkedLine(claimant->cwd, 1024) +
                 " asked for the stable id " + wanted +
                 " too. It stays with this session; the other is known by its "
                 "own id only.",
             /*quiet=*/true, effects);
       },
       [id = attachment.session_id](const absl::Status& status) {
         spdlog::error("nobody was told that {} wants its stable id: {}", id,
                       MessageOf(status));
       }});
}

void RosterNews::ShowChange(const std::string& root,
                            const std::string& session_id,
                            const std::string& scope) {
  const auto workspace = mirror_.Find(root);
  if (workspace == nullptr || !view_.IsSeen(*workspace, session_id, scope)) {
    return;
  }
  const Attachment* coordinator =
      roster_.Find(workspace->coordinator_session_id);
  if (coordinator == nullptr || coordinator->session_id == session_id) return;
  v1::AttachResponse frame;
  *frame.mutable_roster_changed()->add_entries() = view_.Describe(
      session_id, workspace.get(), workspace->EntryOf(session_id));
  coordinator->link->Send(std::move(frame));
}

void RosterNews::RecordPort(const std::string& root,
                            const std::string& coordinator) {
  lanes_.Update(
      root,
      [coordinator,
       port = port_](const ReadConfig& read) -> absl::StatusOr<std::string> {
        if (read.config.coordinator().session_id() != coordinator) {
          return read.bytes;
        }
        INTERCOM_ASSIGN_OR_RETURN(const std::string dropped,
                                  DropDashboardPort(read.bytes));
        return SetPort(dropped, coordinator, port);
      },
      nullptr,
      [this, root](auto snapshot) {
        if (!snapshot.ok()) {
          spdlog::warn("the port was not recorded in {}: {}", root,
                       MessageOf(snapshot.status()));
          return;
        }
        runner_.PostCommand({[this, snapshot = *snapshot](Effects& effects) {
                               return mirror_
                                   .Apply(*snapshot, /*repin=*/false, effects)
                                   .status();
                             },
                             nullptr});
      });
}

void RosterNews::Announce(const std::string& session_id, bool unless_known) {
  runner_.PostCommand(
      {[this, session_id, unless_known](Effects& effects) -> absl::Status {
         const Attachment* attachment = roster_.Find(session_id);
         if (attachment == nullptr) return absl::OkStatus();
         const auto workspace = mirror_.Find(attachment->root);
         if (workspace == nullptr ||
             !view_.IsSeen(*workspace, session_id, attachment->hello.scope())) {
           return absl::OkStatus();
         }
         if (unless_known) {
           INTERCOM_ASSIGN_OR_RETURN(
               const bool is_known,
               deliveries_.HasNotice(workspace->coordinator_session_id,
                                     kRegistration, session_id));
           if (is_known) return absl::OkStatus();
         }
         return AcceptRegistration(*attachment, *workspace, effects);
       },
       [session_id](const absl::Status& status) {
         spdlog::error("the registration of {} was not announced: {}",
                       session_id, MessageOf(status));
       }});
}

absl::Status RosterNews::AcceptRegistration(const Attachment& attachment,
                                            const Workspace& workspace,
                                            Effects& effects) {
  if (!view_.IsSeen(workspace, attachment.session_id,
                    attachment.hello.scope())) {
    return Error(absl::StatusCode::kFailedPrecondition, "OTHER_SCOPE",
                 "this session is of another scope (PI_INTERCOM_SCOPE_ID) than "
                 "the workspace's coordinator, which does not see it");
  }
  std::string text =
      "An anonymous session registered as a worker.\nsessionId: " +
      attachment.session_id +
      "\nprojectDirectory: " + SafeLabel(attachment.project_directory, 1024) +
      "\nport: " + std::to_string(port_);
  if (!attachment.launch_job_id.empty()) {
    text += "\nlaunched as job " + attachment.launch_job_id +
            ", by Coordinator's create_worker";
  }
  return dispatcher_.AcceptNotice(SubjectOf(attachment, workspace),
                                  CoordinatorOf(workspace), kRegistration, text,
                                  /*quiet=*/false, effects);
}

void RosterNews::OnDetached(const Attachment& attachment, bool restarting) {
  if (attachment.root.empty()) return;
  const std::string& scope = attachment.hello.scope();
  if (!restarting) return Left(attachment.root, attachment.session_id, scope);
  // Nothing is said for as long as it may come back.
  runner_.PostDelayedTask(
      [this, root = attachment.root, id = attachment.session_id, scope] {
        if (roster_.Find(id) == nullptr) Left(root, id, scope);
      },
      Roster::kRestartGrace);
}

void RosterNews::Left(const std::string& root, const std::string& session_id,
                      const std::string& scope) {
  ShowChange(root, session_id, scope);
  if (const auto workspace = mirror_.Find(root)) {
    dispatcher_.WithdrawNotices(
        workspace->coordinator_session_id, kRegistration, session_id,
        [this, session_id] {
          // It may have come back while the coordinator's host was asked.
          const Attachment* attachment = roster_.Find(session_id);
          if (attachment != nullptr && attachment->role == v1::ROLE_ANONYMOUS) {
            Announce(session_id, /*unless_known=*/true);
          }
        });
  }
}

}  // namespace intercom
