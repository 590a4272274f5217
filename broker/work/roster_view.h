#ifndef PI_INTERCOM_BROKER_WORK_ROSTER_VIEW_H_
#define PI_INTERCOM_BROKER_WORK_ROSTER_VIEW_H_

#include <string_view>

#include "broker/roster/roster.h"
#include "broker/roster/workspace_mirror.h"
#include "broker/storage/mailbox_store.h"
#include "broker/storage/session_store.h"
#include "broker/work/fences.h"
#include "broker/work/reports.h"
#include "intercom/v1/workspace.pb.h"

namespace intercom {

// Puts config, presence, activity, mailbox and report of sessions together into
// what people and tools see. Reads only; everything is called on the state's
// thread.
class RosterView {
 public:
  // All must outlive this object.
  RosterView(Roster& roster, MailboxStore& mailboxes, SessionStore& sessions,
             const Reports& reports, const Fences& fences)
      : roster_(roster),
        mailboxes_(mailboxes),
        sessions_(sessions),
        reports_(reports),
        fences_(fences) {}

  // `entry` is the session's entry in `workspace`; either may be null.
  v1::RosterEntry Describe(std::string_view session_id,
                           const Workspace* workspace,
                           const v1::AgentEntry* entry) const;

  // What memory has of that: all but report, mail that waits, and since when
  // one is away that has not been seen since this broker started.
  v1::RosterEntry DescribeLive(std::string_view session_id,
                               const Workspace* workspace,
                               const v1::AgentEntry* entry) const;

  // Whether the workspace's coordinator sees a session of that scope there: it
  // is configured, or the scope is the coordinator's own.
  bool IsSeen(const Workspace& workspace, std::string_view session_id,
              std::string_view scope) const;

  // Configured sessions in the order of the config, then attached others that
  // the coordinator sees.
  v1::GetWorkspaceResponse Describe(const Workspace& workspace) const;

 private:
  Roster& roster_;
  MailboxStore& mailboxes_;
  SessionStore& sessions_;
  const Reports& reports_;
  const Fences& fences_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_ROSTER_VIEW_H_
