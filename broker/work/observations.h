#ifndef PI_INTERCOM_BROKER_WORK_OBSERVATIONS_H_
#define PI_INTERCOM_BROKER_WORK_OBSERVATIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "broker/roster/registrar.h"
#include "broker/roster/roster.h"
#include "broker/storage/job_store.h"
#include "broker/storage/observation_store.h"
#include "broker/storage/state_runner.h"

namespace intercom {

// Keeps a record of what was seen of sessions and done with them: times, ids,
// names, kinds and outcomes, never any content. Records wait in memory for a
// moment and are stored together. Nothing waits for them and nothing fails with
// them: what can't be kept is dropped, counted, and its number recorded.
//
// Not thread-safe: everything is called on the state's thread.
class Observations : public AttachmentObserver {
 public:
  static constexpr size_t kMaxBuffered = 256;
  static constexpr size_t kFlushAt = 64;
  static constexpr absl::Duration kFlushEvery = absl::Seconds(1);
  static constexpr absl::Duration kKept = absl::Hours(7 * 24);
  static constexpr int64_t kMaxBytes = 32 << 20;
  static constexpr int kPruneStep = 200;

  // All must outlive this object.
  Observations(StateRunner& runner, ObservationStore& store,
               const Roster& roster, const Clock& clock)
      : runner_(runner), store_(store), roster_(roster), clock_(clock) {}

  // Records that something happened. `phase` and `label` are words of the
  // program, never a person's or a model's; `outcome` is "ok" or a stable
  // reason.
  void Record(std::string_view root, std::string_view session_id,
              std::string_view name, std::string_view kind,
              std::string_view phase, std::string_view label,
              std::string_view outcome = "ok");

  // The session's latest recorded activity, stored yet or not.
  absl::StatusOr<std::optional<v1::Observation>> LastActivity(
      std::string_view session_id);

  // Posts what waits to the store now.
  void Flush();

  // Inside a transaction: removes a few of those that are too old or too many;
  // true if there may be more.
  absl::StatusOr<bool> PruneStep();
  // Posts steps until there are no more: at start, for what a crash left.
  void PruneAll();

  void OnAttached(Attachment& attachment) override;
  void OnDetached(const Attachment& attachment, bool restarting) override;
  void OnActivity(const Attachment& attachment,
                  const v1::Activity& before) override;
  // The outcome of a control: Controls::OnResolved.
  void OnControl(const std::string& session_id, v1::Control::Kind kind,
                 const absl::Status& status);
  // A job changed: Jobs::AddOnChanged.
  void OnJob(const JobRow& job);

 private:
  void RecordOf(const Attachment& attachment, std::string_view kind,
                std::string_view phase, std::string_view label,
                std::string_view outcome = "ok");
  void Drop(int64_t count, std::string_view reason);

  StateRunner& runner_;
  ObservationStore& store_;
  const Roster& roster_;
  const Clock& clock_;
  std::vector<v1::Observation> buffer_;
  bool flush_is_due_ = false;
  // What was dropped since that was last recorded, and why the last of it.
  int64_t dropped_ = 0;
  std::string drop_reason_;
  // Of what is stored; unset while it must be measured.
  std::optional<int64_t> stored_bytes_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_OBSERVATIONS_H_
