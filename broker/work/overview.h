#ifndef PI_INTERCOM_BROKER_WORK_OVERVIEW_H_
#define PI_INTERCOM_BROKER_WORK_OVERVIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "broker/roster/registrar.h"
#include "broker/roster/workspace_mirror.h"
#include "broker/storage/mailbox_store.h"
#include "broker/storage/session_store.h"
#include "broker/work/ask_desk.h"
#include "broker/work/metrics.h"
#include "broker/work/observations.h"
#include "broker/work/reports.h"
#include "broker/work/roster_view.h"
#include "broker/work/run_waits.h"
#include "broker/work/runs.h"
#include "intercom/v1/inspect.pb.h"

namespace intercom {

// How everything is, as the monitor shows it: from memory, and from three
// queries however many sessions there are. What the disk alone knows of a
// session that is away, which does not change, is read once.
//
// Reads only; everything is called on the state's thread.
class Overview : public AttachmentObserver {
 public:
  // Sessions in all workspaces.
  static constexpr int kMaxSessions = 1024;

  // All must outlive this object. `broker` has what does not change.
  Overview(const Roster& roster, const WorkspaceMirror& mirror,
           const RosterView& view, MailboxStore& mailboxes,
           SessionStore& sessions, const Reports& reports,
           Observations& observations, const Runs& runs,
           const RunWaits& run_waits, const AskDesk& asks, Metrics& metrics,
           const Clock& clock, const v1::GetBrokerResponse& broker);

  struct Built {
    v1::WatchOverviewResponse response;
    // In how long something in it will be different although nothing happens: a
    // report overdue, a run stalled. Infinite if nothing will.
    absl::Duration changes_in = absl::InfiniteDuration();
  };
  // Of one workspace, or of everything where `root` is empty.
  absl::StatusOr<Built> Build(std::string_view root);

  void OnAttached(Attachment& attachment) override;
  void OnDetached(const Attachment& attachment, bool restarting) override;

 private:
  // Sessions whose past is remembered.
  static constexpr size_t kMaxRemembered = 4096;
  class Builder;

  std::optional<absl::Time> LastSeen(const std::string& session_id);
  // Unset `at` where none is known.
  const v1::Activity& LastActivity(const std::string& session_id);

  const Roster& roster_;
  const WorkspaceMirror& mirror_;
  const RosterView& view_;
  MailboxStore& mailboxes_;
  SessionStore& sessions_;
  const Reports& reports_;
  Observations& observations_;
  const Runs& runs_;
  const RunWaits& run_waits_;
  const AskDesk& asks_;
  Metrics& metrics_;
  const Clock& clock_;
  v1::WatchOverviewResponse frame_;
  // Of sessions that this broker has not seen.
  absl::flat_hash_map<std::string, std::optional<absl::Time>> last_seen_;
  // Of sessions that are away, from before.
  absl::flat_hash_map<std::string, v1::Activity> last_activity_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_OVERVIEW_H_
