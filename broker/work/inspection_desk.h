#ifndef PI_INTERCOM_BROKER_WORK_INSPECTION_DESK_H_
#define PI_INTERCOM_BROKER_WORK_INSPECTION_DESK_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/base/clock.h"
#include "broker/roster/workspace_mirror.h"
#include "broker/routing/dispatcher.h"
#include "broker/storage/job_store.h"
#include "broker/storage/reader.h"
#include "broker/storage/run_store.h"
#include "broker/storage/session_store.h"
#include "broker/storage/state_runner.h"
#include "broker/storage/store_checker.h"
#include "broker/work/ask_desk.h"
#include "broker/work/metrics.h"
#include "broker/work/roster_view.h"
#include "broker/work/runs.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/inspect.pb.h"

namespace intercom {

// What InspectionService tells of sessions and of what they are at, of figures
// and of the store. Semantics and errors are those of the service.
//
// Methods are thread-safe; each calls its `done` once, on the state's thread or
// on one that only hands answers on: it must not block.
class InspectionDesk {
 public:
  static constexpr int kMaxAsks = 500;
  static constexpr int kMaxRuns = 500;
  static constexpr int kDefaultRuns = 50;
  static constexpr int kMaxSupervised = 16;
  static constexpr int kMaxDeliveries = 16;
  static constexpr absl::Duration kMostCheck = absl::Seconds(60);
  static constexpr absl::Duration kUsualCheck = absl::Seconds(5);

  // All must outlive this object.
  InspectionDesk(StateRunner& runner, Workspaces& workspaces, Roster& roster,
                 WorkspaceMirror& mirror, SessionStore& sessions,
                 HandoffStore& handoffs, const RosterView& view,
                 const AskDesk& asks, const Runs& runs,
                 const Dispatcher& dispatcher, const Metrics& metrics,
                 Reader& reader, StoreChecker& checker, const Clock& clock)
      : runner_(runner),
        workspaces_(workspaces),
        roster_(roster),
        mirror_(mirror),
        sessions_(sessions),
        handoffs_(handoffs),
        view_(view),
        asks_(asks),
        runs_(runs),
        dispatcher_(dispatcher),
        metrics_(metrics),
        reader_(reader),
        checker_(checker),
        clock_(clock) {}

  template <typename Response>
  using Done = absl::AnyInvocable<void(absl::StatusOr<Response>)>;

  void GetMetrics(CallerEvidence evidence, v1::GetMetricsRequest request,
                  Done<v1::GetMetricsResponse> done);
  void CheckStore(CallerEvidence evidence, v1::CheckStoreRequest request,
                  Done<v1::CheckStoreResponse> done);
  void ListOpenAsks(CallerEvidence evidence, v1::ListOpenAsksRequest request,
                    Done<v1::ListOpenAsksResponse> done);
  void ListAllRuns(CallerEvidence evidence, v1::ListAllRunsRequest request,
                   Done<v1::ListAllRunsResponse> done);
  void GetSession(CallerEvidence evidence, v1::GetSessionRequest request,
                  Done<v1::GetSessionResponse> done);

 private:
  // Runs `answer` on the state's thread if the caller may look.
  using Answer = absl::AnyInvocable<void(const absl::Status&)>;
  void Allow(CallerEvidence evidence, Answer answer);
  // The same with the workspace of `directory`, empty if none is named.
  using InRoot = absl::AnyInvocable<void(absl::StatusOr<std::string>)>;
  void AllowIn(CallerEvidence evidence, std::string directory, InRoot answer);

  // Below: on the state's thread.
  absl::StatusOr<v1::ListOpenAsksResponse> ListAsksIn(const std::string& root);
  // The one session whose id begins so.
  absl::StatusOr<std::string> FindSession(const std::string& prefix) const;
  // Where it is, or was last; the one whose config names it otherwise.
  std::shared_ptr<const Workspace> WorkspaceOf(
      const std::string& session_id) const;
  absl::StatusOr<v1::GetSessionResponse> Describe(
      const std::string& session_id);
  // Adds the last of its mail.
  void AddDeliveries(v1::GetSessionResponse response,
                     Done<v1::GetSessionResponse> done);

  StateRunner& runner_;
  Workspaces& workspaces_;
  Roster& roster_;
  WorkspaceMirror& mirror_;
  SessionStore& sessions_;
  HandoffStore& handoffs_;
  const RosterView& view_;
  const AskDesk& asks_;
  const Runs& runs_;
  const Dispatcher& dispatcher_;
  const Metrics& metrics_;
  Reader& reader_;
  StoreChecker& checker_;
  const Clock& clock_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_INSPECTION_DESK_H_
