#ifndef PI_INTERCOM_BROKER_WORK_RUN_WAITS_H_
#define PI_INTERCOM_BROKER_WORK_RUN_WAITS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "broker/domain/wait_graph.h"
#include "broker/storage/run_store.h"
#include "broker/storage/state_runner.h"
#include "broker/work/ask_desk.h"
#include "broker/work/run_desk.h"
#include "broker/work/runs.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/run.pb.h"

namespace intercom {

// Who waits for which runs. Only memory: it comes back after a restart as the
// waits are repeated.
//
// AwaitRuns, CancelWait and Drain are thread-safe; `done` is called once, on
// the state's thread. The rest is called there.
class RunWaits {
 public:
  static constexpr size_t kMaxOfCaller = 64;
  static constexpr int kMaxRuns = 64;
  static constexpr absl::Duration kMostWait = absl::Seconds(30);
  // For how long a caller counts as waiting when it waits no more.
  static constexpr absl::Duration kGrace = absl::Seconds(10);

  // All must outlive this object. Asks that open reach it through `asks`, and
  // its waits are edges of theirs.
  RunWaits(StateRunner& runner, Workspaces& workspaces, Runs& runs,
           RunStore& store, const RunDesk& desk, AskDesk& asks,
           const Clock& clock);

  using Done = absl::AnyInvocable<void(absl::StatusOr<v1::AwaitRunsResponse>)>;
  // As RunService.AwaitRuns. Returns what CancelWait takes.
  int64_t AwaitRuns(CallerEvidence evidence, v1::AwaitRunsRequest request,
                    Done done);
  // Whoever waited has gone: `done` is called with CANCELLED if it was not yet.
  void CancelWait(int64_t ticket);
  // From now on nobody waits: each is answered with its runs as they are.
  void Drain();

  // Told when who waits for which run may have changed.
  using OnWaits = std::function<void()>;
  void SetOnWaits(OnWaits on_waits) { on_waits_ = std::move(on_waits); }
  // The open runs for which their supervisors wait.
  struct AwaitedRun {
    int64_t number = 0;
    absl::Time since;
    // In steady time; infinite while a call waits.
    absl::Duration until;
  };
  std::vector<AwaitedRun> Awaited() const;

 private:
  struct Wait {
    std::string caller;
    std::vector<int64_t> numbers;
    // Those that were too many.
    int64_t left_out = 0;
    Done done;
  };

  void Begin(int64_t ticket, const CallerEvidence& evidence,
             const v1::AwaitRunsRequest& request, Done done);
  // What a wait is about: PERMISSION_DENIED, UNKNOWN_RUN and the like.
  absl::StatusOr<Wait> Read(const CallerEvidence& evidence,
                            const v1::AwaitRunsRequest& request) const;
  absl::Status CheckCycle(const Wait& wait) const;
  bool HasSettled(const Wait& wait) const;
  absl::StatusOr<v1::AwaitRunsResponse> Describe(const Wait& wait) const;
  void Respond(Wait wait);
  void End(int64_t ticket);
  void OnSettled(const RunRow& run);
  void OnAsked(const std::string& session_id);
  // It counts as waiting for these from now on.
  void Renew(const Wait& wait, bool begins);
  bool IsWaitedFor(int64_t number) const;
  std::vector<WaitEdge> EdgesFrom(std::string_view session_id) const;

  StateRunner& runner_;
  Workspaces& workspaces_;
  Runs& runs_;
  RunStore& store_;
  const RunDesk& desk_;
  AskDesk& asks_;
  const Clock& clock_;
  std::atomic<int64_t> last_ticket_ = 0;
  std::map<int64_t, Wait> waits_;
  // Until when a caller that waits no more counts as waiting for a run, and
  // since when it does.
  struct Grace {
    absl::Duration lapses_at;
    absl::Time since;
  };
  absl::flat_hash_map<int64_t, Grace> graces_;
  OnWaits on_waits_;
  bool draining_ = false;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_RUN_WAITS_H_
