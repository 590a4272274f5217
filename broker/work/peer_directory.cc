#include "broker/work/peer_directory.h"

#include "broker/base/error.h"
#include "broker/base/status_macros.h"

namespace intercom {

absl::StatusOr<PeerTarget> PeerDirectory::Resolve(const DecidedCall&,
                                                  std::string_view,
                                                  std::string_view) const {
  return absl::UnimplementedError("");
}

absl::StatusOr<PeerTarget> PeerDirectory::Find(
    const DecidedCall& call, std::string_view session_id) const {
  PeerTarget target;
  target.session_id = std::string(session_id);
  INTERCOM_ASSIGN_OR_RETURN(const auto row, sessions_.Find(session_id));
  const Attachment* attachment = roster_.Find(session_id);
  const v1::AgentEntry* entry =
      call.workspace == nullptr ? nullptr : call.workspace->EntryOf(session_id);
  if (!row.has_value() && entry == nullptr) {
    return Error(absl::StatusCode::kNotFound, "UNKNOWN_RECIPIENT",
                 "no such session; nothing was sent");
  }
  if (entry != nullptr) {
    target.name = entry->name();
  } else {
    target.name = attachment != nullptr ? attachment->session_name : row->name;
  }
  target.attached = attachment != nullptr;
  target.configured = entry != nullptr;
  return target;
}

void PeerDirectory::ListSessions(CallerEvidence, v1::ListSessionsRequest,
                                 ListDone done) {
  done(absl::UnimplementedError(""));
}

}  // namespace intercom
