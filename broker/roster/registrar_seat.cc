// How an admitted session takes its seat.
#include <algorithm>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/permissions.h"
#include "broker/roster/registrar.h"
#include "spdlog/spdlog.h"

namespace intercom {

absl::StatusOr<bool> Registrar::IsStableIdFree(
    const v1::Hello& hello, const Workspace* workspace) const {
  const std::string& wanted = hello.stable_id();
  if (wanted.empty() || wanted == hello.session_id()) return true;
  const Attachment* holder = roster_.FindByStableId(hello.scope(), wanted);
  if (holder != nullptr && holder->session_id != hello.session_id()) {
    return false;
  }
  if (workspace != nullptr && workspace->EntryOf(wanted) != nullptr) {
    return false;
  }
  INTERCOM_ASSIGN_OR_RETURN(const auto session, sessions_.Find(wanted));
  return !session.has_value();
}

void Registrar::Seat(PendingPtr pending, const SessionRow& row,
                     int64_t superseded_epoch,
                     std::shared_ptr<const Workspace> workspace) {
  const v1::Hello& hello = pending->hello;
  if (Attachment* live = roster_.Find(hello.session_id()); live != nullptr) {
    // Another one was admitted at the same moment.
    if (live->epoch != superseded_epoch) return TakeSeat(std::move(pending));
    v1::AttachResponse frame;
    frame.mutable_superseded()->set_message("session " + hello.session_id() +
                                            " was attached anew by process " +
                                            std::to_string(hello.host_pid()));
    live->link->Send(std::move(frame));
    live->link->Close(Error(absl::StatusCode::kAborted, "SUPERSEDED",
                            "another attachment took this session over"));
    Leave(*live, /*restarting=*/true);
  }
  Attachment attachment;
  attachment.session_id = hello.session_id();
  attachment.epoch = row.epoch;
  attachment.token = NewSecret(random_);
  attachment.link = pending->link;
  attachment.hello = hello;
  attachment.launch_job_id = row.launch_job_id;
  attachment.session_name = hello.session_name();
  attachment.cwd = row.cwd;
  // Another one may have been admitted with it at the same moment.
  if (roster_.FindByStableId(row.scope, row.stable_id) == nullptr) {
    attachment.stable_id = row.stable_id;
  } else {
    runner_.PostCommand({[this, id = row.session_id](Effects&) {
                           return sessions_.SetStableId(id, "");
                         },
                         nullptr});
  }
  attachment.since = clock_.Now();
  attachment.root = row.workspace_root;
  attachment.project_directory =
      workspace == nullptr ? row.cwd : pending->discovery.project_directory;
  // The kernel's word counts more than the client's, where it is known.
  const std::vector<int64_t>& ancestry = pending->peer.ancestry;
  const bool is_ancestor = std::find(ancestry.begin(), ancestry.end(),
                                     hello.host_pid()) != ancestry.end();
  attachment.host_pid =
      ancestry.empty() || is_ancestor
          ? hello.host_pid()
          : ancestry[std::min<size_t>(1, ancestry.size() - 1)];
  if (workspace == nullptr) {
    attachment.role = v1::ROLE_PEER;
  } else {
    attachment.role = workspace->RoleOf(attachment.session_id);
    if (const v1::AgentEntry* entry =
            workspace->EntryOf(attachment.session_id)) {
      attachment.entry = *entry;
    }
  }
  spdlog::info("attach session={} epoch={} role={} host={} pid={}",
               attachment.session_id, row.epoch, RoleName(attachment.role),
               SafeLabel(hello.host_kind(), 32), attachment.host_pid);
  Attachment& added = roster_.Insert(std::move(attachment));
  v1::AttachResponse frame;
  *frame.mutable_welcome() =
      WelcomeFor(added, workspace.get(), pending->created);
  pending->done(SessionKey{added.session_id, row.epoch});
  added.link->Send(std::move(frame));
  for (AttachmentObserver* observer : observers_) observer->OnAttached(added);
}

}  // namespace intercom
