#include "broker/work/mailbox_heirs.h"

#include <utility>
#include <vector>

#include "broker/base/status_macros.h"
#include "broker/domain/text_rules.h"
#include "spdlog/spdlog.h"

namespace intercom {

bool MailboxHeirs::IsConfigured(const SessionRow& row) const {
  const auto workspace = mirror_.Find(row.workspace_root);
  return workspace != nullptr && workspace->EntryOf(row.session_id) != nullptr;
}

bool MailboxHeirs::IsAway(const SessionRow& row) const {
  return roster_.PresenceOf(row.session_id).presence == v1::PRESENCE_AWAY &&
         !roster_.IsArriving(row.session_id);
}

bool MailboxHeirs::IsNameTaken(const SessionRow& row) const {
  const std::string key = NameKey(row.name);
  for (const Attachment* attachment : roster_.All()) {
    if (attachment->session_id != row.session_id &&
        attachment->hello.scope() == row.scope && attachment->cwd == row.cwd &&
        NameKey(attachment->name()) == key) {
      return true;
    }
  }
  return false;
}

absl::Status MailboxHeirs::OnArrival(const Registrar::Arrival& arrival,
                                     Effects& effects) {
  const SessionRow& row = arrival.row;
  // A session that only goes on has its mail, and one that was made of another
  // takes nothing from it.
  if (!arrival.renamed && arrival.reason != v1::START_REASON_STARTUP &&
      arrival.reason != v1::START_REASON_RESUME) {
    return absl::OkStatus();
  }
  const bool is_named = !IsBlank(row.name);
  if ((!is_named && row.stable_id.empty()) || IsConfigured(row)) {
    return absl::OkStatus();
  }
  INTERCOM_ASSIGN_OR_RETURN(auto alike,
                            sessions_.AlikeWithMail(row, /*limit=*/64));
  std::erase_if(alike, [this](const SessionRow& other) {
    return IsConfigured(other) || !IsAway(other);
  });
  if (alike.size() != 1) return absl::OkStatus();
  const SessionRow& gone = alike.front();
  const bool by_stable_id =
      !row.stable_id.empty() && gone.stable_id == row.stable_id;
  if (!by_stable_id && IsNameTaken(row)) return absl::OkStatus();
  INTERCOM_ASSIGN_OR_RETURN(
      const int64_t moved,
      dispatcher_.MoveMail(
          gone.session_id, gone.left_sequence, row.session_id,
          "it passed from session " + gone.session_id + ", which is away, to " +
              row.session_id + ", which has its " +
              (by_stable_id ? "stable id" : "name in its directory"),
          effects));
  if (moved == 0) return absl::OkStatus();
  effects.AfterCommit(
      [this, moved, from = gone.session_id, to = row.session_id] {
        spdlog::info("mail of session={} passed to session={} envelopes={}",
                     from, to, moved);
        if (on_moved_) on_moved_(from, to);
      });
  return absl::OkStatus();
}

}  // namespace intercom
