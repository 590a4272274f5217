#ifndef PI_INTERCOM_BROKER_WORK_RUN_OPENINGS_H_
#define PI_INTERCOM_BROKER_WORK_RUN_OPENINGS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "broker/roster/roster.h"
#include "broker/storage/run_store.h"
#include "broker/storage/state_runner.h"
#include "broker/work/headless_workers.h"
#include "broker/work/peer_directory.h"
#include "broker/work/run_desk.h"
#include "broker/work/runs.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/message.pb.h"

namespace intercom {

// What sending has to do with runs: opens them, finds the worker of one that is
// steered, and the fellows of a worker. Errors as MessageService.Send.
//
// Everything is called on the state's thread, and but for CheckRequest inside
// the command that accepts the envelope.
class RunOpenings {
 public:
  // Messages of one run to its fellows.
  static constexpr int64_t kMaxFellowMessages = 20;

  // All must outlive this object.
  RunOpenings(const Roster& roster, const PeerDirectory& peers, Runs& runs,
              RunStore& store, const RunDesk& desk,
              const HeadlessWorkers& headless)
      : roster_(roster),
        peers_(peers),
        runs_(runs),
        store_(store),
        desk_(desk),
        headless_(headless) {}

  // Whether the request says one thing about runs, within its limits:
  // RUN_INVALID.
  static absl::Status CheckRequest(const v1::SendRequest& request);

  // Whether the caller may open a run at `target`: NOT_ONES_WORKER, RUNS_OFF,
  // RUNS_FULL.
  absl::Status CheckOpening(const DecidedCall& call,
                            const PeerTarget& target) const;
  // The worker of the caller's run: UNKNOWN_RUN, RUN_DROPPED, RUN_NOT_RUNNING,
  // RECIPIENT_AWAY.
  absl::StatusOr<PeerTarget> FindWorker(const DecidedCall& call,
                                        const std::string& run_id) const;
  // The fellow that `to` names: NO_SUPERVISOR, NOT_A_FELLOW,
  // AMBIGUOUS_RECIPIENT, SELF_TARGET.
  absl::StatusOr<PeerTarget> FindFellow(const DecidedCall& call,
                                        const v1::SendRequest& request) const;
  // Counts a message to a fellow that is not stored yet: FELLOWS_FULL.
  absl::Status SpendFellowMessage(const DecidedCall& call,
                                  const v1::SendRequest& request,
                                  Effects& effects);

  // Before the envelope of `request` is accepted, and offered.
  void Foresee(const DecidedCall& call, const v1::SendRequest& request,
               Effects& effects);
  // After that, perhaps as a repeat: opens its run, and says in `record` which.
  // ENVELOPE_ID_REUSED: it was sent before and opened none.
  absl::Status OnAccepted(const DecidedCall& call,
                          const v1::SendRequest& request, bool is_repeat,
                          v1::DeliveryRecord& record, Effects& effects);
  // Says in a stored record which run it opened.
  void Describe(v1::DeliveryRecord& record) const;

 private:
  // For whom a worker works, by the run for which it does so; without one for
  // whoever launched it.
  struct Service {
    std::string supervisor;
    std::optional<RunRow> run;
  };
  absl::StatusOr<std::vector<Service>> ServicesOf(
      const std::string& worker) const;
  // The one that a message of it belongs to.
  static const Service& Choose(const std::vector<Service>& services,
                               const std::string& trigger);

  const Roster& roster_;
  const PeerDirectory& peers_;
  Runs& runs_;
  RunStore& store_;
  const RunDesk& desk_;
  const HeadlessWorkers& headless_;
  // Messages of headless workers without a run to their fellows.
  static constexpr size_t kMaxCounted = 4096;
  absl::flat_hash_map<std::string, int64_t> fellow_messages_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_RUN_OPENINGS_H_
