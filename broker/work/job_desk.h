#ifndef PI_INTERCOM_BROKER_WORK_JOB_DESK_H_
#define PI_INTERCOM_BROKER_WORK_JOB_DESK_H_

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/roster/registrar.h"
#include "broker/work/close_desk.h"
#include "broker/work/jobs.h"
#include "broker/work/launch_desk.h"
#include "broker/work/process_watch.h"
#include "broker/work/stop_desk.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/work.pb.h"

namespace intercom {

// What is common to all jobs: looking at them, ending them by a person's word,
// and what hosts say of them. Semantics and errors are those of WorkService.
//
// List, Get, Resolve and OnEvent are thread-safe; the first three call `done`
// once, on a thread that must not be blocked. The rest is called on the state's
// thread.
class JobDesk {
 public:
  // All must outlive this object, which ties them together.
  JobDesk(StateRunner& runner, Workspaces& workspaces, Roster& roster,
          JobStore& store, Jobs& jobs, Fences& fences, LaunchDesk& launches,
          StopDesk& stops, CloseDesk& closes, ProcessWatch& watch,
          const Clock& clock);

  template <typename Response>
  using Done = absl::AnyInvocable<void(absl::StatusOr<Response>)>;

  void List(CallerEvidence evidence, v1::ListJobsRequest request,
            Done<v1::ListJobsResponse> done);
  void Get(CallerEvidence evidence, v1::GetJobRequest request,
           Done<v1::GetJobResponse> done);
  void Resolve(CallerEvidence evidence, v1::ResolveJobRequest request,
               Done<v1::ResolveJobResponse> done);

  // What the host of a session says of a job of it. Anything else is dropped.
  void OnEvent(SessionKey key, v1::JobEvent event);

  // At start, before the first attach: what is open, and what is over since the
  // last broker.
  absl::Status Load();
  // Every few seconds: ends launches whose process has ended.
  void Tick() { launches_.LookAtLaunches(); }

 private:
  // Tells what an earlier broker did not come to tell.
  absl::Status TellUntold();
  // The root that the caller's session sees; empty for all.
  std::string RootOf(const Caller& caller) const;
  // Empty for all.
  absl::StatusOr<v1::ListJobsResponse> ListIn(const std::string& root,
                                              int limit);
  absl::StatusOr<JobRow> FindOne(const std::string& id,
                                 const std::string& root);
  absl::Status ResolveOne(const std::string& id, const std::string& person,
                          std::shared_ptr<Done<v1::ResolveJobResponse>> done,
                          Effects& effects);

  StateRunner& runner_;
  Workspaces& workspaces_;
  Roster& roster_;
  JobStore& store_;
  Jobs& jobs_;
  Fences& fences_;
  LaunchDesk& launches_;
  StopDesk& stops_;
  CloseDesk& closes_;
  ProcessWatch& watch_;
  const Clock& clock_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_JOB_DESK_H_
