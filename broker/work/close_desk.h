#ifndef PI_INTERCOM_BROKER_WORK_CLOSE_DESK_H_
#define PI_INTERCOM_BROKER_WORK_CLOSE_DESK_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/base/random.h"
#include "broker/roster/registrar.h"
#include "broker/work/close_record.h"
#include "broker/work/controls.h"
#include "broker/work/job_news.h"
#include "broker/work/jobs.h"
#include "broker/work/process_watch.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/work.pb.h"

namespace intercom {

// Closes workers with a handoff, as WorkService describes it.
//
// A close goes through its states in this order, each on disk before the next
// step is taken: REQUESTED, the worker says who would be closed and the
// coordinator's agent agrees; AWAITING_HANDOFF; AWAITING_SETTLEMENT; READY,
// once its turn is over; CLOSING, after the host was looked at again. Only then
// the host is told to end, if it still stands still, and its pane is closed
// when its process has ended. Whatever fails before that ends the job and lets
// the worker go on; whatever stays unproven after it is uncertain.
//
// Close and ReportHandoff are thread-safe and call `done` once, on a thread
// that must not be blocked. The rest is called on the state's thread.
class CloseDesk : public AttachmentObserver {
 public:
  static constexpr absl::Duration kDeadline = absl::Seconds(120);
  // For how long the worker's host may take to answer a control, the
  // coordinator's agent to look at or close a pane, and the host to end.
  static constexpr absl::Duration kAnswerWithin = absl::Seconds(5);
  static constexpr absl::Duration kPaneWithin = absl::Seconds(10);
  static constexpr absl::Duration kEndWithin = absl::Seconds(15);
  static constexpr absl::Duration kAskAgain = absl::Milliseconds(250);
  // Pending closes of a workspace.
  static constexpr int kMaxPending = 16;
  static constexpr int kMaxSummaryCharacters = 4000;

  // All must outlive this object.
  CloseDesk(StateRunner& runner, Workspaces& workspaces,
            WorkspaceMirror& mirror, Roster& roster, JobStore& store,
            HandoffStore& handoffs, Jobs& jobs, Fences& fences,
            Controls& controls, Dispatcher& dispatcher, CloseRecord& record,
            JobNews& news, ProcessWatch& watch, const Clock& clock,
            Random& random)
      : runner_(runner),
        workspaces_(workspaces),
        mirror_(mirror),
        roster_(roster),
        store_(store),
        handoffs_(handoffs),
        jobs_(jobs),
        fences_(fences),
        controls_(controls),
        dispatcher_(dispatcher),
        record_(record),
        news_(news),
        watch_(watch),
        clock_(clock),
        random_(random) {}

  template <typename Response>
  using Done = absl::AnyInvocable<void(absl::StatusOr<Response>)>;

  void Close(CallerEvidence evidence, v1::CloseWorkerRequest request,
             Done<v1::CloseWorkerResponse> done);
  void ReportHandoff(CallerEvidence evidence, v1::ReportHandoffRequest request,
                     Done<v1::ReportHandoffResponse> done);

  // At start, after Jobs::Load: mail to workers that are fenced waits.
  void Load();

  // What the worker's host says of a close.
  void OnEvent(const JobRow& job, const v1::JobEvent& event);
  // A host that only lost sight of the broker may hold mail for a close that is
  // over.
  void OnAttached(Attachment& attachment) override;
  // A host that is gone, or starts anew, keeps no promise of its close.
  void OnDetached(const Attachment& attachment, bool restarting) override;
  void OnJobChanged(const JobRow& job);
  // Tells how a close ended, or that it is uncertain.
  void TellEnd(const JobRow& job);

 private:
  // A pending close of this broker.
  struct Run {
    std::string session_id;
    std::string root;
    // Of the attachment that is closed; another one is another host.
    int64_t epoch = 0;
    v1::HostIdentity identity;
    // The host was told to end: from here on nothing can be taken back.
    bool commit_sent = false;
    // A handoff is on its way into the config.
    bool saving = false;
    // Its end is on its way to the disk: nothing follows.
    bool is_over = false;
  };
  // One call of ReportHandoff.
  struct Report;
  using ReportPtr = std::shared_ptr<Report>;
  using Step = void (CloseDesk::*)(const std::string& job_id);

  static std::string HandoffRequestId(const std::string& job_id);

  absl::Status Request(const DecidedCall& call, const v1::AgentEntry& entry,
                       std::shared_ptr<Done<v1::CloseWorkerResponse>> done,
                       Effects& effects);
  absl::Status CheckReport(const DecidedCall& call, ReportPtr report,
                           Effects& effects);
  // Whether a report was refused with `status` because the config, into which
  // the handoff belongs, is broken.
  bool IsUnsaved(const CallerEvidence& evidence, const std::string& job_id,
                 const absl::Status& status);
  void SaveHandoff(ReportPtr report, const JobRow& job);
  void StoreHandoff(ReportPtr report, const JobRow& job,
                    const v1::Handoff& handoff);
  // The config has it, or could not take it.
  void HandoffFailed(ReportPtr report, const absl::Status& why);
  // Lets the host of an attached session take mail again.
  void SendEndClose(const JobRow& job);

  // The steps. Each does nothing for a job that has ended.
  void Prepare(const std::string& job_id);
  void Prepared(const std::string& job_id,
                const absl::StatusOr<v1::ControlResult>& result);
  void AskForHandoff(const std::string& job_id);
  void Settled(const std::string& job_id);
  void BeginClosing(const std::string& job_id);
  void Commit(const std::string& job_id);
  void Committed(const std::string& job_id, const std::string& nonce,
                 const absl::StatusOr<v1::ControlResult>& result);
  void ClosePane(const std::string& job_id);
  void PassDeadline(const std::string& job_id);
  // Has the coordinator's agent look at the host, then goes on with `next`.
  void Inspect(const std::string& job_id, Step next);
  using Asked = absl::AnyInvocable<void(absl::StatusOr<v1::ControlResult>)>;
  // Asks the coordinator's agent, and once more when it has just been reloaded.
  void AskCoordinator(v1::Control::Kind kind, const std::string& job_id,
                      Asked answered);
  // `what` the host said, should its process go on.
  void AwaitHostEnd(const std::string& job_id, const std::string& what);

  // nullptr if it is over, or not of this broker.
  Run* FindRun(const std::string& job_id);
  // nullptr if the attachment that is closed has left.
  const Attachment* WorkerIn(const Run& run) const;
  void End(const std::string& job_id, v1::Job::State state, std::string reason,
           std::string detail);
  void Fail(const std::string& job_id, std::string reason, std::string detail) {
    End(job_id, v1::Job::STATE_FAILED, std::move(reason), std::move(detail));
  }
  void Interrupt(const std::string& job_id);
  void SetUncertain(const std::string& job_id, std::string detail) {
    End(job_id, v1::Job::STATE_UNCERTAIN, "close_unverified",
        std::move(detail));
  }

  StateRunner& runner_;
  Workspaces& workspaces_;
  WorkspaceMirror& mirror_;
  Roster& roster_;
  JobStore& store_;
  HandoffStore& handoffs_;
  Jobs& jobs_;
  Fences& fences_;
  Controls& controls_;
  Dispatcher& dispatcher_;
  CloseRecord& record_;
  JobNews& news_;
  ProcessWatch& watch_;
  const Clock& clock_;
  Random& random_;
  // By job id.
  std::map<std::string, Run> runs_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_CLOSE_DESK_H_
