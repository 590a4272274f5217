#ifndef PI_INTERCOM_BROKER_WORK_LAUNCH_WAITS_H_
#define PI_INTERCOM_BROKER_WORK_LAUNCH_WAITS_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/roster/registrar.h"
#include "broker/storage/job_store.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/work.pb.h"

namespace intercom {

// Calls that wait for the session of a launch.
//
// Await is thread-safe and calls `done` once, on the state's thread; the rest
// is called there.
class LaunchWaits : public AttachmentObserver {
 public:
  static constexpr absl::Duration kLongest = absl::Seconds(30);
  static constexpr size_t kMax = 1024;

  // All must outlive this object.
  LaunchWaits(StateRunner& runner, Workspaces& workspaces, Roster& roster,
              JobStore& store)
      : runner_(runner),
        workspaces_(workspaces),
        roster_(roster),
        store_(store) {}

  using Done =
      absl::AnyInvocable<void(absl::StatusOr<v1::AwaitLaunchResponse>)>;
  // As WorkService.AwaitLaunch.
  void Await(CallerEvidence evidence, v1::AwaitLaunchRequest request,
             Done done);

  void OnJobChanged(const JobRow& job) { Look(job.job_id); }
  void OnAttached(Attachment& attachment) override {
    if (!attachment.launch_job_id.empty()) Look(attachment.launch_job_id);
  }
  void OnDetached(const Attachment&, bool) override {}

  // From now on nobody waits: each call is answered with what is known.
  void Drain();

 private:
  struct Wait {
    std::string job_id;
    Done done;
  };

  absl::StatusOr<v1::AwaitLaunchResponse> Answer(
      const std::string& job_id) const;
  static bool IsOver(const v1::AwaitLaunchResponse& response);
  // Answers those that need not wait longer.
  void Look(const std::string& job_id);
  void End(int64_t ticket);

  StateRunner& runner_;
  Workspaces& workspaces_;
  Roster& roster_;
  JobStore& store_;
  int64_t last_ticket_ = 0;
  std::map<int64_t, Wait> waits_;
  bool draining_ = false;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_LAUNCH_WAITS_H_
