#ifndef PI_INTERCOM_BROKER_WORK_STOP_DESK_H_
#define PI_INTERCOM_BROKER_WORK_STOP_DESK_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/base/random.h"
#include "broker/roster/registrar.h"
#include "broker/work/controls.h"
#include "broker/work/job_news.h"
#include "broker/work/jobs.h"
#include "broker/work/process_watch.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/work.pb.h"

namespace intercom {

// Stops what workers are doing, as WorkService describes it. A stop fences
// nothing; it joins repeats and keeps a close waiting.
//
// Stop is thread-safe. The rest is called on the state's thread.
class StopDesk : public AttachmentObserver {
 public:
  // For how long the host may take to acknowledge, the caller waits, and the
  // job may take.
  static constexpr absl::Duration kAcknowledgeWithin = absl::Seconds(5);
  static constexpr absl::Duration kAnswerWithin = absl::Seconds(8);
  static constexpr absl::Duration kDeadline = absl::Seconds(30);

  // All must outlive this object.
  StopDesk(StateRunner& runner, Workspaces& workspaces, Roster& roster,
           JobStore& store, Jobs& jobs, Fences& fences, Controls& controls,
           JobNews& news, ProcessWatch& watch, const Clock& clock,
           Random& random)
      : runner_(runner),
        workspaces_(workspaces),
        roster_(roster),
        store_(store),
        jobs_(jobs),
        fences_(fences),
        controls_(controls),
        news_(news),
        watch_(watch),
        clock_(clock),
        random_(random) {}

  using Done = absl::AnyInvocable<void(absl::StatusOr<v1::StopWorkerResponse>)>;
  // Calls `done` once, on a thread that must not be blocked.
  void Stop(CallerEvidence evidence, v1::StopWorkerRequest request, Done done);

  // What the host says of a stop.
  void OnEvent(const JobRow& job, const v1::JobEvent& event);
  // A host session that starts anew has stopped what it did before.
  void OnAttached(Attachment& attachment) override;
  // A host that has ended does nothing any more; an agent that has may be back.
  void OnDetached(const Attachment& attachment, bool restarting) override;
  void OnJobChanged(const JobRow& job);
  void TellEnd(const JobRow& job);

 private:
  // Those who wait for one job.
  struct Waiting {
    std::map<int64_t, Done> callers;
    // Somebody was told that it goes on, and hears of its end by a notice.
    bool told_pending = false;
  };

  void Await(const JobRow& job, std::shared_ptr<Done> done);
  // Nothing, if it has ended meanwhile.
  void SendControl(const std::string& job_id);
  void EndIfPending(const std::string& job_id, v1::Job::State state,
                    std::string reason, std::string detail);

  StateRunner& runner_;
  Workspaces& workspaces_;
  Roster& roster_;
  JobStore& store_;
  Jobs& jobs_;
  Fences& fences_;
  Controls& controls_;
  JobNews& news_;
  ProcessWatch& watch_;
  const Clock& clock_;
  Random& random_;
  // By job id.
  std::map<std::string, Waiting> waiting_;
  int64_t last_caller_ = 0;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_STOP_DESK_H_
