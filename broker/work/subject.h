#ifndef PI_INTERCOM_BROKER_WORK_SUBJECT_H_
#define PI_INTERCOM_BROKER_WORK_SUBJECT_H_

#include <optional>

#include "broker/roster/roster.h"
#include "broker/roster/workspace_mirror.h"
#include "broker/routing/dispatcher.h"

namespace intercom {

// Whom notices about sessions are about, and to whom they go.

// The sender of a notice about an attached session.
inline v1::Sender SubjectOf(const Attachment& attachment,
                            const Workspace& workspace) {
  v1::Sender sender;
  sender.set_session_id(attachment.session_id);
  const v1::AgentEntry* entry = workspace.EntryOf(attachment.session_id);
  sender.set_name(entry == nullptr ? attachment.session_name : entry->name());
  // The broker speaks about the session, with facts of its own.
  sender.set_origin(v1::ORIGIN_BROKER);
  sender.set_role(workspace.RoleOf(attachment.session_id));
  sender.set_workspace_root(workspace.root);
  return sender;
}

inline Recipient CoordinatorOf(const Workspace& workspace) {
  return {workspace.coordinator_session_id, "Coordinator", std::nullopt};
}

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_SUBJECT_H_
