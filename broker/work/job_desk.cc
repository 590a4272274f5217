#include "broker/work/job_desk.h"

#include <memory>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/short_id.h"
#include "broker/work/job_text.h"

namespace intercom {
namespace {

constexpr int kMaxCandidates = 6;
constexpr int kDefaultPage = 20;
constexpr int kMaxPage = 200;

}  // namespace

JobDesk::JobDesk(StateRunner& runner, Workspaces& workspaces, Roster& roster,
                 JobStore& store, Jobs& jobs, Fences& fences,
                 LaunchDesk& launches, StopDesk& stops, CloseDesk& closes,
                 ProcessWatch& watch, const Clock& clock)
    : runner_(runner),
      workspaces_(workspaces),
      roster_(roster),
      store_(store),
      jobs_(jobs),
      fences_(fences),
      launches_(launches),
      stops_(stops),
      closes_(closes),
      watch_(watch),
      clock_(clock) {
  jobs_.AddOnChanged([this](const JobRow& job) {
    launches_.OnJobChanged(job);
    stops_.OnJobChanged(job);
    closes_.OnJobChanged(job);
  });
}

absl::Status JobDesk::Load() {
  INTERCOM_RETURN_IF_ERROR(jobs_.LoadAtStart());
  closes_.Load();
  INTERCOM_RETURN_IF_ERROR(TellUntold());
  jobs_.Recover();
  return absl::OkStatus();
}

absl::Status JobDesk::TellUntold() {
  INTERCOM_ASSIGN_OR_RETURN(const auto untold, store_.Untold());
  for (const JobRow& job : untold) {
    if (job.is_launch()) launches_.TellEnd(job);
    if (job.kind == v1::Job::KIND_STOP) stops_.TellEnd(job);
    if (job.kind == v1::Job::KIND_CLOSE) closes_.TellEnd(job);
  }
  return absl::OkStatus();
}

std::string JobDesk::RootOf(const Caller& caller) const {
  const Attachment* attachment = roster_.Find(caller.host_session_id);
  return attachment == nullptr ? "" : attachment->root;
}

void JobDesk::List(CallerEvidence evidence, v1::ListJobsRequest request,
                   Done<v1::ListJobsResponse> done) {
  if (request.limit() < 0 || request.limit() > kMaxPage) {
    return done(Error(absl::StatusCode::kInvalidArgument, "PAGE_SIZE",
                      "limit is 1 to 200"));
  }
  const int limit = request.limit() == 0 ? kDefaultPage : request.limit();
  runner_.PostTask([this, evidence = std::move(evidence),
                    directory = request.directory(), limit,
                    done = std::move(done)]() mutable {
    const auto caller =
        workspaces_.callers().ResolveFor(Operation::kJobRead, evidence);
    if (!caller.ok()) return done(caller.status());
    const std::string own = RootOf(*caller);
    if (!own.empty() || directory.empty()) return done(ListIn(own, limit));
    workspaces_.FindRoot(
        directory,
        [this, directory, limit, done = std::move(done)](auto root) mutable {
          if (!root.ok()) return done(root.status());
          if (root->empty()) return done(NoWorkspaceAt(directory));
          done(ListIn(*root, limit));
        });
  });
}

absl::StatusOr<v1::ListJobsResponse> JobDesk::ListIn(const std::string& root,
                                                     int limit) {
  INTERCOM_ASSIGN_OR_RETURN(const auto rows, store_.Latest(root, limit));
  v1::ListJobsResponse response;
  for (const JobRow& row : rows) *response.add_jobs() = ToProto(row);
  return response;
}

void JobDesk::Get(CallerEvidence evidence, v1::GetJobRequest request,
                  Done<v1::GetJobResponse> done) {
  runner_.PostTask([this, evidence = std::move(evidence), id = request.job_id(),
                    done = std::move(done)]() mutable {
    const auto caller =
        workspaces_.callers().ResolveFor(Operation::kJobRead, evidence);
    if (!caller.ok()) return done(caller.status());
    launches_.LookAtLaunches();
    // Behind what that has posted.
    auto shared_done =
        std::make_shared<Done<v1::GetJobResponse>>(std::move(done));
    runner_.PostCommand(
        {[this, id, root = RootOf(*caller),
          shared_done](Effects& effects) -> absl::Status {
           INTERCOM_ASSIGN_OR_RETURN(const JobRow job, FindOne(id, root));
           effects.AfterCommit([this, job, shared_done] {
             v1::GetJobResponse response;
             *response.mutable_job() = ToProto(job);
             response.set_attached(roster_.Find(job.session_id) != nullptr);
             const int64_t pid = job.identity.host_pid();
             const int64_t ticks = job.identity.host_start_ticks();
             if (ProcessWatch::IsKnown(pid, ticks)) {
               response.set_host_alive(watch_.IsAlive(pid, ticks));
             }
             *response.mutable_identity() = job.identity;
             (*shared_done)(std::move(response));
           });
           return absl::OkStatus();
         },
         [shared_done](const absl::Status& status) {
           (*shared_done)(status);
         }});
  });
}

absl::StatusOr<JobRow> JobDesk::FindOne(const std::string& id,
                                        const std::string& root) {
  if (id.size() < kMinIdPrefix) {
    return Error(absl::StatusCode::kInvalidArgument, "ID_TOO_SHORT",
                 "an id needs at least 6 characters");
  }
  INTERCOM_ASSIGN_OR_RETURN(const auto found,
                            store_.FindByPrefix(id, kMaxCandidates));
  std::vector<JobRow> visible;
  for (const JobRow& job : found) {
    if (!root.empty() && job.root != root) continue;
    if (job.job_id == id) return job;
    visible.push_back(job);
  }
  if (visible.empty()) return UnknownJob(id);
  if (visible.size() == 1) return visible.front();
  std::string candidates;
  for (const JobRow& job : visible) candidates += "\n  " + job.job_id;
  return Error(
      absl::StatusCode::kFailedPrecondition, "AMBIGUOUS_ID",
      "several jobs have an id that begins so; give more of it:" + candidates);
}

void JobDesk::Resolve(CallerEvidence evidence, v1::ResolveJobRequest request,
                      Done<v1::ResolveJobResponse> done) {
  runner_.PostTask([this, evidence = std::move(evidence), id = request.job_id(),
                    done = std::move(done)]() mutable {
    const auto caller =
        workspaces_.callers().ResolveFor(Operation::kJobResolve, evidence);
    if (!caller.ok()) return done(caller.status());
    auto shared_done =
        std::make_shared<Done<v1::ResolveJobResponse>>(std::move(done));
    runner_.PostCommand({[this, id, person = caller->session_id,
                          shared_done](Effects& effects) {
                           return ResolveOne(id, person, shared_done, effects);
                         },
                         [shared_done](const absl::Status& status) {
                           (*shared_done)(status);
                         }});
  });
}

absl::Status JobDesk::ResolveOne(
    const std::string& id, const std::string& person,
    std::shared_ptr<Done<v1::ResolveJobResponse>> done, Effects& effects) {
  INTERCOM_ASSIGN_OR_RETURN(auto job, store_.Find(id));
  if (!job.has_value()) return UnknownJob(id);
  if (!job->open()) return JobEnded(*job);
  const bool never_attached =
      job->is_launch() && job->state == v1::Job::STATE_SUBMITTED;
  if (job->state != v1::Job::STATE_UNCERTAIN && !never_attached) {
    return Error(absl::StatusCode::kFailedPrecondition, "JOB_PENDING",
                 "the " + Describe(*job) + " of " + WorkerOf(*job) +
                     " still runs and ends by itself; nothing was changed");
  }
  const v1::HostIdentity& identity = job->identity;
  const bool is_gone =
      job->kind == v1::Job::KIND_CLOSE &&
      roster_.Find(job->session_id) == nullptr &&
      ProcessWatch::IsKnown(identity.host_pid(), identity.host_start_ticks()) &&
      !watch_.IsAlive(identity.host_pid(), identity.host_start_ticks());
  job->state = is_gone ? v1::Job::STATE_SUCCEEDED : v1::Job::STATE_FAILED;
  job->reason = "resolved";
  job->detail =
      person + (is_gone ? " ended it; its host is gone" : " ended it");
  job->updated_at = clock_.Now();
  INTERCOM_RETURN_IF_ERROR(jobs_.Put(*job, effects));
  v1::ResolveJobResponse response;
  *response.mutable_job() = ToProto(*job);
  effects.AfterSync([done, response] { (*done)(response); });
  return absl::OkStatus();
}

void JobDesk::OnEvent(SessionKey key, v1::JobEvent event) {
  runner_.PostTask([this, key = std::move(key), event = std::move(event)] {
    const Attachment* attachment = roster_.Find(key.session_id);
    const JobRow* job = fences_.Find(event.job_id());
    if (attachment == nullptr || attachment->epoch != key.epoch ||
        job == nullptr || job->session_id != key.session_id ||
        job->root != attachment->root) {
      return;
    }
    if (job->kind == v1::Job::KIND_STOP) return stops_.OnEvent(*job, event);
    if (job->kind == v1::Job::KIND_CLOSE) closes_.OnEvent(*job, event);
  });
}

}  // namespace intercom
