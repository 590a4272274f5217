#ifndef PI_INTERCOM_BROKER_WORK_EVENT_FEED_H_
#define PI_INTERCOM_BROKER_WORK_EVENT_FEED_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "broker/roster/registrar.h"
#include "broker/roster/roster.h"
#include "broker/roster/workspace_mirror.h"
#include "broker/routing/dispatcher.h"
#include "broker/storage/ask_store.h"
#include "broker/storage/job_store.h"
#include "broker/work/event_log.h"
#include "broker/work/fences.h"
#include "broker/work/metrics.h"
#include "broker/work/runs.h"

namespace intercom {

// Turns what happens in the other rooms into events and figures. It reads
// nothing from the disk: of mail that this broker has neither accepted nor
// offered it knows only what the change itself says.
//
// Not thread-safe: everything is called on the state's thread, after what it
// tells of was committed.
class EventFeed : public AttachmentObserver {
 public:
  // Deliveries whose facts are kept, by their sequence: a later one takes the
  // place of the one so many before it.
  static constexpr size_t kKnown = 8192;

  // All must outlive this object. `on_changed` is told after each change of
  // what a person may see.
  EventFeed(EventLog& log, Metrics& metrics, Roster& roster,
            const WorkspaceMirror& mirror, const Runs& runs,
            const Fences& fences, const Clock& clock,
            std::function<void()> on_changed)
      : log_(log),
        metrics_(metrics),
        roster_(roster),
        mirror_(mirror),
        runs_(runs),
        fences_(fences),
        clock_(clock),
        on_changed_(std::move(on_changed)) {}

  // At start, once runs and jobs are loaded: what is open already.
  void Load();

  // Dispatcher::SetWatchers.
  void OnDelivery(const DeliveryNews& news);
  void OnOffered(const v1::DeliveryRecord& record);
  // Mail::SetOnRefused.
  void OnRefused(const absl::Status& why);
  // WorkspaceMirror::AddOnChanged, behind the registrar's.
  void OnWorkspace(const Workspace& workspace);
  // Jobs::AddOnChanged.
  void OnJob(const JobRow& job);
  // Runs::AddOnChanged.
  void OnRun(const RunRow& run, Runs::News news);
  // AskDesk::SetOnChanged.
  void OnAsk(const AskRow& ask);
  // ReportDesk::SetOnReported.
  void OnReport(const v1::Sender& worker, const v1::Report& report);

  void OnAttached(Attachment& attachment) override;
  void OnDetached(const Attachment& attachment, bool restarting) override;
  void OnActivity(const Attachment& attachment,
                  const v1::Activity& before) override;
  void OnChanged(const Attachment& attachment) override;

 private:
  struct Known {
    // Null: this place is free.
    std::shared_ptr<const v1::DeliverySummary> facts;
    // Steady time; unset where an earlier broker accepted it.
    std::optional<absl::Duration> accepted_at;
    // Of its recipient, when it became known.
    std::string recipient_root;
  };
  // What was told last of an attached session.
  struct Told {
    std::string name;
    v1::Role role = v1::ROLE_UNSPECIFIED;
  };

  // The workspace where a session is attached, else one that names it; may be
  // empty.
  std::string RootOf(std::string_view session_id) const;
  Known* FindKnown(int64_t sequence);
  void Keep(int64_t sequence, Known known);
  void CountDelivery(const DeliveryNews& news, const Known* known,
                     absl::Duration latency);
  void TellSession(const Attachment& attachment, v1::SessionChange::Kind kind);
  void Tell(v1::WatchEventsResponse event, std::string recipient_root = "");

  EventLog& log_;
  Metrics& metrics_;
  Roster& roster_;
  const WorkspaceMirror& mirror_;
  const Runs& runs_;
  const Fences& fences_;
  const Clock& clock_;
  const std::function<void()> on_changed_;
  // By sequence, modulo kKnown. Grows to its size with the first delivery.
  std::vector<Known> known_;
  absl::flat_hash_map<std::string, Told> told_;
  // Of open ones.
  absl::flat_hash_map<int64_t, v1::Run::State> run_states_;
  absl::flat_hash_map<std::string, v1::Job::State> job_states_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_EVENT_FEED_H_
