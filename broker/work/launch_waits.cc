#include "broker/work/launch_waits.h"

#include <utility>
#include <vector>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/work/job_text.h"

namespace intercom {

void LaunchWaits::Await(CallerEvidence evidence, v1::AwaitLaunchRequest request,
                        Done done) {
  const absl::Duration wait = FromProtoDuration(request.wait());
  if (wait < absl::ZeroDuration() || wait > kLongest) {
    return done(Error(absl::StatusCode::kInvalidArgument, "WAIT_INVALID",
                      "wait is 0 to 30 seconds"));
  }
  runner_.PostTask([this, evidence = std::move(evidence),
                    job_id = request.job_id(), wait,
                    done = std::move(done)]() mutable {
    const auto caller =
        workspaces_.callers().ResolveFor(Operation::kPeerOpen, evidence);
    if (!caller.ok()) return done(caller.status());
    const auto job = store_.Find(job_id);
    if (!job.ok()) return done(job.status());
    if (!job->has_value() || !(*job)->is_launch() ||
        (*job)->requested_by != caller->session_id) {
      return done(UnknownJob(job_id));
    }
    auto answer = Answer(job_id);
    if (!answer.ok() || IsOver(*answer) || wait == absl::ZeroDuration() ||
        draining_) {
      return done(std::move(answer));
    }
    if (waits_.size() >= kMax) {
      return done(Error(absl::StatusCode::kResourceExhausted, "WAITS_FULL",
                        "1,024 calls wait for launches; try again later"));
    }
    const int64_t ticket = ++last_ticket_;
    waits_[ticket] = {job_id, std::move(done)};
    runner_.PostDelayedTask([this, ticket] { End(ticket); }, wait);
  });
}

absl::StatusOr<v1::AwaitLaunchResponse> LaunchWaits::Answer(
    const std::string& job_id) const {
  INTERCOM_ASSIGN_OR_RETURN(const auto job, store_.Find(job_id));
  if (!job.has_value()) return UnknownJob(job_id);
  v1::AwaitLaunchResponse response;
  *response.mutable_job() = ToProto(*job);
  if (job->state == v1::Job::STATE_SUCCEEDED &&
      roster_.Find(job->session_id) != nullptr) {
    response.set_session_id(job->session_id);
  }
  return response;
}

bool LaunchWaits::IsOver(const v1::AwaitLaunchResponse& response) {
  return !response.session_id().empty() ||
         response.job().state() > v1::Job::STATE_SUCCEEDED;
}

void LaunchWaits::Look(const std::string& job_id) {
  std::vector<int64_t> tickets;
  for (const auto& [ticket, wait] : waits_) {
    if (wait.job_id == job_id) tickets.push_back(ticket);
  }
  for (const int64_t ticket : tickets) {
    const auto answer = Answer(job_id);
    if (!answer.ok() || IsOver(*answer)) End(ticket);
  }
}

void LaunchWaits::End(int64_t ticket) {
  const auto found = waits_.find(ticket);
  if (found == waits_.end()) return;
  Wait wait = std::move(found->second);
  waits_.erase(found);
  wait.done(Answer(wait.job_id));
}

void LaunchWaits::Drain() {
  draining_ = true;
  while (!waits_.empty()) End(waits_.begin()->first);
}

}  // namespace intercom
