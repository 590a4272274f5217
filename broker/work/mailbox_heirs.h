#ifndef PI_INTERCOM_BROKER_WORK_MAILBOX_HEIRS_H_
#define PI_INTERCOM_BROKER_WORK_MAILBOX_HEIRS_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "broker/roster/registrar.h"
#include "broker/roster/roster.h"
#include "broker/roster/workspace_mirror.h"
#include "broker/routing/dispatcher.h"
#include "broker/storage/session_store.h"

namespace intercom {

// Gives a session that comes, or is renamed, the mail of the one whose place it
// takes: the only one that waits for mail, is away, and had the same explicit
// name, or stable id, in the same directory and workspace. Never
// between scopes, from or to a configured session, or where it is in doubt.
//
// A person who ends a session and opens another in its place gets what was sent
// to the first. What that one may have got stays its own.
//
// On the state's thread.
class MailboxHeirs {
 public:
  // All must outlive this object.
  MailboxHeirs(WorkspaceMirror& mirror, const Roster& roster,
               SessionStore& sessions, Dispatcher& dispatcher)
      : mirror_(mirror),
        roster_(roster),
        sessions_(sessions),
        dispatcher_(dispatcher) {}

  // Told after the commit of each move, with both session ids.
  using OnMoved =
      std::function<void(const std::string& from, const std::string& to)>;
  void SetOnMoved(OnMoved on_moved) { on_moved_ = std::move(on_moved); }

  // Inside the command that stores the arrival.
  absl::Status OnArrival(const Registrar::Arrival& arrival, Effects& effects);

 private:
  bool IsConfigured(const SessionRow& row) const;
  // Whether `row` is certainly away.
  bool IsAway(const SessionRow& row) const;
  // Whether another session is there under the name and directory of `row`.
  bool IsNameTaken(const SessionRow& row) const;

  WorkspaceMirror& mirror_;
  const Roster& roster_;
  SessionStore& sessions_;
  Dispatcher& dispatcher_;
  OnMoved on_moved_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_MAILBOX_HEIRS_H_
