// How a launch goes on once it was handed out: what its agent says of it, and
// which session comes of it.
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/text_rules.h"
#include "broker/work/job_text.h"
#include "broker/work/launch_desk.h"
#include "spdlog/spdlog.h"

namespace intercom {
namespace {

constexpr size_t kMaxTokenBytes = 256;
constexpr size_t kMaxDetailCharacters = 512;
constexpr size_t kMaxReasonCharacters = 64;

// A reason as programs read it: lower_snake_case.
std::string ReasonWord(const std::string& reason, const char* otherwise) {
  std::string word;
  for (const char c : reason) {
    const bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    if (letter) {
      word += static_cast<char>(c | 0x20);
    } else if ((c >= '0' && c <= '9') || c == '_') {
      word += c;
    }
  }
  return word.empty() ? otherwise : word.substr(0, kMaxReasonCharacters);
}

// Whether it is time to tell that a launch has not attached.
bool IsSlow(const JobRow& job, absl::Time now) {
  return job.kind != v1::Job::KIND_OPEN &&
         job.state == v1::Job::STATE_SUBMITTED && job.told == Told::kNothing &&
         now - job.updated_at >= LaunchDesk::kSlowAfter;
}

// Where a person finds what was launched.
std::string PlaceOf(const JobRow& job) {
  const v1::Pane& pane = job.identity.pane();
  if (pane.pane().empty()) return "its terminal";
  return NameLabel(pane.launcher(), 32) + " pane " + SafeLabel(pane.pane());
}

}  // namespace

void LaunchDesk::Advance(CallerEvidence evidence,
                         v1::AdvanceLaunchRequest request,
                         Done<v1::AdvanceLaunchResponse> done) {
  auto shared_done =
      std::make_shared<Done<v1::AdvanceLaunchResponse>>(std::move(done));
  // What has happened is recorded whatever the config says, and whoever
  // coordinates, by now: the session that began it tells.
  runner_.PostTask([this, evidence = std::move(evidence),
                    request = std::move(request), shared_done] {
    const bool has_happened =
        request.step() > v1::AdvanceLaunchRequest::STEP_SUBMITTING;
    auto caller = workspaces_.callers().Resolve(evidence);
    const JobRow* begun = fences_.Find(request.job_id());
    const bool is_own = caller.ok() && caller->origin == v1::ORIGIN_SESSION &&
                        begun != nullptr &&
                        begun->requested_by == caller->session_id;
    if (!has_happened || !is_own) {
      const bool is_open =
          begun != nullptr && begun->kind == v1::Job::KIND_OPEN;
      caller = workspaces_.callers().ResolveFor(
          is_open ? Operation::kPeerOpen : Operation::kWorkerCreate, evidence);
    }
    if (!caller.ok()) return (*shared_done)(caller.status());
    runner_.PostCommand({[this, request, session = caller->session_id,
                          shared_done](Effects& effects) -> absl::Status {
                           INTERCOM_ASSIGN_OR_RETURN(
                               auto job, store_.Find(request.job_id()));
                           if (!job.has_value() || !job->is_launch() ||
                               job->requested_by != session) {
                             return UnknownJob(request.job_id());
                           }
                           const v1::Job::State before = job->state;
                           INTERCOM_RETURN_IF_ERROR(ApplyStep(request, *job));
                           if (job->open() || job->state != before) {
                             job->updated_at = clock_.Now();
                             INTERCOM_RETURN_IF_ERROR(jobs_.Put(*job, effects));
                           }
                           v1::AdvanceLaunchResponse response;
                           *response.mutable_job() = ToProto(*job);
                           effects.AfterSync([shared_done, response] {
                             (*shared_done)(response);
                           });
                           return absl::OkStatus();
                         },
                         [shared_done](const absl::Status& status) {
                           (*shared_done)(status);
                         }});
  });
}

absl::Status LaunchDesk::ApplyStep(const v1::AdvanceLaunchRequest& request,
                                   JobRow& job) {
  using Request = v1::AdvanceLaunchRequest;
  if (request.step() == Request::STEP_UNSPECIFIED ||
      !Request::Step_IsValid(request.step())) {
    return Error(absl::StatusCode::kInvalidArgument, "STEP_INVALID",
                 "step says nothing of the launch");
  }
  const bool is_attached = job.state == v1::Job::STATE_SUCCEEDED;
  if (!job.open()) {
    // Its session may be faster than the launcher's word.
    if (is_attached && request.step() != Request::STEP_SUBMITTING) {
      return absl::OkStatus();
    }
    return JobEnded(job);
  }
  // What may have been submitted is not submitted again.
  if (job.state == v1::Job::STATE_UNCERTAIN &&
      request.step() == Request::STEP_SUBMITTING) {
    return JobEnded(job);
  }
  if (!request.detail().empty()) {
    job.detail = SafeLabel(request.detail(), kMaxDetailCharacters);
  }
  if (request.host_pid() > 0) {
    job.identity.set_host_pid(request.host_pid());
    job.identity.set_host_start_ticks(request.host_start_ticks());
  }
  if (request.has_pane()) *job.identity.mutable_pane() = request.pane();
  switch (request.step()) {
    case Request::STEP_NOT_SUBMITTED:
      job.state = v1::Job::STATE_FAILED;
      job.reason = ReasonWord(request.reason(), "not_submitted");
      break;
    case Request::STEP_UNKNOWN:
      job.state = v1::Job::STATE_UNCERTAIN;
      job.reason = ReasonWord(request.reason(), "launch_unknown");
      break;
    default:
      // From here on something may have been launched.
      job.state = v1::Job::STATE_SUBMITTED;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> LaunchDesk::OnAdmit(const v1::Hello& hello,
                                                const std::string& root,
                                                Effects& effects) {
  std::string launched_by;
  const std::string& token = hello.launch_token();
  if (!token.empty() && token.size() <= kMaxTokenBytes) {
    INTERCOM_ASSIGN_OR_RETURN(auto job, store_.FindByToken(ContentHash(token)));
    if (!job.has_value() ||
        (job->kind != v1::Job::KIND_OPEN && job->root != root)) {
      spdlog::warn("session {} carries the token of no launch in {}",
                   hello.session_id(), root);
    } else {
      launched_by = job->job_id;
      if (job->open()) {
        const bool is_other = job->kind == v1::Job::KIND_RESUME &&
                              job->session_id != hello.session_id();
        job->state =
            is_other ? v1::Job::STATE_FAILED : v1::Job::STATE_SUCCEEDED;
        job->reason = is_other ? "other_session" : "";
        job->detail = is_other ? "its host opened session " +
                                     hello.session_id() + " instead"
                               : "its session attached";
        if (!is_other) job->session_id = hello.session_id();
        job->updated_at = clock_.Now();
        INTERCOM_RETURN_IF_ERROR(jobs_.Put(*job, effects));
      }
    }
  }
  INTERCOM_ASSIGN_OR_RETURN(const auto open,
                            store_.OpenOf(root, hello.session_id()));
  for (JobRow job : open) {
    if (job.kind != v1::Job::KIND_RESUME) continue;
    // However it was opened, it is open; what was not submitted must not be.
    const bool submitted = job.state != v1::Job::STATE_REQUESTED;
    job.state =
        submitted ? v1::Job::STATE_SUCCEEDED : v1::Job::STATE_INTERRUPTED;
    job.reason = submitted ? "" : "session_attached";
    job.detail = submitted ? "its session attached"
                           : "its session attached before it was submitted";
    job.updated_at = clock_.Now();
    INTERCOM_RETURN_IF_ERROR(jobs_.Put(job, effects));
  }
  return launched_by;
}

void LaunchDesk::LookAtLaunches() {
  for (const JobRow& job : fences_.All()) {
    const int64_t pid = job.identity.host_pid();
    const int64_t ticks = job.identity.host_start_ticks();
    if (!job.is_launch() || job.state == v1::Job::STATE_REQUESTED) continue;
    if (!ProcessWatch::IsKnown(pid, ticks) || watch_.IsAlive(pid, ticks)) {
      if (IsSlow(job, clock_.Now())) TellSlow(job.job_id);
      continue;
    }
    jobs_.End(job.job_id, {v1::Job::STATE_SUBMITTED, v1::Job::STATE_UNCERTAIN},
              v1::Job::STATE_FAILED, "process_ended",
              "its process " + std::to_string(pid) +
                  " ended before its session attached");
  }
}

void LaunchDesk::TellSlow(const std::string& job_id) {
  runner_.PostCommand(
      {[this, job_id](Effects& effects) -> absl::Status {
         INTERCOM_ASSIGN_OR_RETURN(const auto job, store_.Find(job_id));
         if (!job.has_value() || !IsSlow(*job, clock_.Now())) {
           return absl::OkStatus();
         }
         return news_.Accept(
             *job, "LAUNCH",
             "The " + Describe(*job) + " of " + WorkerOf(*job) +
                 " was submitted over 90 s ago, and its session has not "
                 "attached yet. Look at " +
                 PlaceOf(*job) +
                 ": perhaps Pi asks there for trust in the directory, or it "
                 "failed. Nothing was ended. The job is " +
                 job->job_id + "; in a shell, intercom job show " +
                 job->job_id + " tells how it stands.",
             effects);
       },
       [job_id](const absl::Status& status) {
         spdlog::error("the coordinator was not told of slow job {}: {}",
                       job_id, MessageOf(status));
       }});
}

}  // namespace intercom
