#include "worker-agent/launch_calls.h"

#include <utility>

#include "broker/base/error.h"
#include "broker/base/log.h"
#include "broker/domain/fence.h"
#include "worker-agent/not_connected.h"
#include "worker-agent/tools/job_result.h"

namespace intercom {
namespace {

constexpr size_t kMaxDetailCharacters = 512;
constexpr char kHeadless[] = "headless";

v1::AdvanceLaunchRequest StepOf(const std::string& job_id,
                                v1::AdvanceLaunchRequest::Step step,
                                const absl::Status& status,
                                const std::string& detail) {
  v1::AdvanceLaunchRequest request;
  request.set_job_id(job_id);
  request.set_step(step);
  request.set_reason(ReasonOf(status));
  const std::string text = status.ok() ? detail : MessageOf(status);
  if (!text.empty()) request.set_detail(SafeLabel(text, kMaxDetailCharacters));
  return request;
}

// Whether the call itself was lost, so that its effect is not known.
bool IsLost(const absl::Status& status) {
  const std::string reason = ReasonOf(status);
  return reason == "BROKER_UNREACHABLE" || reason == "OUTCOME_UNKNOWN" ||
         reason == "NOT_CONNECTED";
}

absl::Status NotBegun() {
  return Error(absl::StatusCode::kUnavailable, "LAUNCH_NOT_BEGUN",
               "the broker did not answer, so nothing was launched; repeat the "
               "call later");
}

absl::Status Cancelled() {
  return Error(absl::StatusCode::kCancelled, "CANCELLED",
               "the call was cancelled before anything was launched");
}

// A list shows no launch of a session that is not there yet.
std::string WhereToLook(const std::string& job_id) {
  return "intercom job show " + job_id + " in a shell tells how it stands";
}

// `status` with words before and after what it says.
absl::Status Around(const std::string& before, const absl::Status& status,
                    const std::string& after) {
  return Error(status.code(), ReasonOf(status),
               before + MessageOf(status) + after);
}

}  // namespace

LaunchCalls::LaunchCalls(BrokerLink& link, const LaunchRoom& room,
                         Background& launching, Answer answer)
    : link_(link),
      room_(room),
      launching_(launching),
      answer_(std::move(answer)) {}

void LaunchCalls::Begin(v1::BeginLaunchRequest request, bool repeated,
                        bool focus) {
  const std::string call_id = request.job_id();
  if (!host_.has_value()) {
    return answer_(call_id,
                   RenderError(Error(
                       absl::StatusCode::kFailedPrecondition, "LAUNCH_UNKNOWN",
                       "this session's host has not said how it was "
                       "started, so another can't be started like it; "
                       "nothing was done. Ask the person to open the "
                       "session in a terminal by hand")));
  }
  request.set_most_headless(most_headless_);
  open_[call_id].repeated = repeated;
  open_[call_id].focus = focus;
  link_.calls()->Call<v1::BeginLaunchResponse>(
      std::move(request),
      [this, call_id](const absl::StatusOr<v1::BeginLaunchResponse>& begun) {
        HandleBegun(call_id, begun);
      });
}

void LaunchCalls::HandleBegun(
    const std::string& call_id,
    const absl::StatusOr<v1::BeginLaunchResponse>& begun) {
  Open& open = open_[call_id];
  if (!begun.ok()) {
    if (!IsLost(begun.status())) {
      return Finish(call_id, RenderError(begun.status()));
    }
    return Finish(
        call_id,
        RenderError(
            open.repeated
                ? Error(absl::StatusCode::kUnavailable, "OUTCOME_UNKNOWN",
                        "an agent that has died may have launched job " +
                            call_id + ", and the broker did not answer; " +
                            WhereToLook(call_id))
                : NotBegun()));
  }
  open.begun = *begun;
  if (begun->launch_token().empty()) {
    return Finish(call_id, RenderLaunchJob(begun->job()));
  }
  if (open.cancelled) return GiveUp(call_id, Cancelled());
  if (open.begun.session_id().empty()) {
    AnnounceSubmission(call_id);
  } else {
    FindSession(call_id);
  }
}

void LaunchCalls::FindSession(const std::string& call_id) {
  launching_.Run(
      [find = room_.find_saved_session, begun = open_[call_id].begun,
       agent_dir = host_->agent_dir,
       environment = InheritedEnvironment(room_.around.environment)] {
        return find(begun.session_id(), begun.directory(), agent_dir,
                    environment);
      },
      [this, call_id](const absl::StatusOr<std::string>& file) {
        if (!file.ok()) return GiveUp(call_id, file.status());
        open_[call_id].session_file = *file;
        AnnounceSubmission(call_id);
      });
}

void LaunchCalls::AnnounceSubmission(const std::string& call_id) {
  if (open_[call_id].cancelled) return GiveUp(call_id, Cancelled());
  if (!launched_.empty() && launched_ != call_id) {
    return waiting_.push_back(call_id);
  }
  launched_ = call_id;
  Advance(StepOf(call_id, v1::AdvanceLaunchRequest::STEP_SUBMITTING,
                 absl::OkStatus(), ""),
          [this,
           call_id](const absl::StatusOr<v1::AdvanceLaunchResponse>& response) {
            if (response.ok()) return Submit(call_id);
            GiveUp(
                call_id,
                IsLost(response.status())
                    ? NotBegun()
                    : Around("nothing was launched: ", response.status(), ""));
          });
}

void LaunchCalls::Submit(const std::string& call_id) {
  Open& open = open_[call_id];
  if (open.cancelled) return GiveUp(call_id, Cancelled());
  open.submitted = true;
  LaunchPlan plan = PlanOf(*host_, open.begun, room_.around, open.session_file);
  plan.focus = open.focus;
  launching_.Run(
      [start = room_.start, plan = std::move(plan)] { return start(plan); },
      [this, call_id](const Launch& launch) { HandleLaunch(call_id, launch); });
}

void LaunchCalls::HandleLaunch(const std::string& call_id,
                               const Launch& launch) {
  BeginNext(call_id);
  if (!launch.status.ok() && !launch.may_be_started) {
    return GiveUp(call_id, launch.status);
  }
  if (open_[call_id].begun.job().launcher() == kHeadless &&
      launched_headless_) {
    launched_headless_();
  }
  v1::AdvanceLaunchRequest step =
      StepOf(call_id,
             launch.status.ok() ? v1::AdvanceLaunchRequest::STEP_LAUNCHED
                                : v1::AdvanceLaunchRequest::STEP_UNKNOWN,
             launch.status, launch.detail);
  step.set_host_pid(launch.host_pid);
  step.set_host_start_ticks(launch.host_start_ticks);
  *step.mutable_pane() = launch.pane;
  Tell(
      std::move(step),
      [this, call_id,
       launch](const absl::StatusOr<v1::AdvanceLaunchResponse>& response) {
        const Open& open = open_[call_id];
        if (launch.status.ok()) {
          return Finish(
              call_id,
              RenderLaunched(open.begun,
                             response.ok() ? response->job() : open.begun.job(),
                             launch.pane, launch.detail));
        }
        Finish(
            call_id,
            RenderError(Around(
                "", launch.status,
                (launch.detail.empty() ? "" : ". " + launch.detail) +
                    ". Whether a session started is not known: job " + call_id +
                    " stays open until it attaches, or until a person ends it "
                    "with intercom job resolve. Don't launch again before")));
      });
}

std::optional<ToolResult> LaunchCalls::Cancel(const std::string& call_id) {
  const auto found = open_.find(call_id);
  if (found == open_.end()) return std::nullopt;
  if (found->second.submitted) {
    return RenderError(Error(
        absl::StatusCode::kCancelled, "OUTCOME_UNKNOWN",
        "cancelled when job " + call_id +
            " had been submitted to the launcher already: it goes on, and a "
            "session may attach; " +
            WhereToLook(call_id)));
  }
  found->second.cancelled = true;
  if (found->second.repeated) {
    return RenderError(
        Error(absl::StatusCode::kCancelled, "OUTCOME_UNKNOWN",
              "cancelled; this call launches nothing any more, but an agent "
              "that has died may have launched job " +
                  call_id + "; " + WhereToLook(call_id)));
  }
  return RenderError(Cancelled());
}

void LaunchCalls::Attached() {
  const auto untold = untold_;
  for (const auto& [job_id, step] : untold) {
    Tell(step, [](const absl::StatusOr<v1::AdvanceLaunchResponse>&) {});
  }
}

void LaunchCalls::BeginNext(const std::string& call_id) {
  if (launched_ != call_id) return;
  launched_.clear();
  if (waiting_.empty()) return;
  const std::string next = waiting_.front();
  waiting_.pop_front();
  AnnounceSubmission(next);
  // It was cancelled while it waited.
  if (launched_.empty()) BeginNext("");
}

void LaunchCalls::GiveUp(const std::string& call_id, const absl::Status& why) {
  BeginNext(call_id);
  Tell(StepOf(call_id, v1::AdvanceLaunchRequest::STEP_NOT_SUBMITTED, why, ""),
       [this, call_id, why](const absl::StatusOr<v1::AdvanceLaunchResponse>&) {
         Finish(call_id, RenderError(why));
       });
}

void LaunchCalls::Finish(const std::string& call_id, const ToolResult& result) {
  open_.erase(call_id);
  answer_(call_id, result);
}

void LaunchCalls::Tell(v1::AdvanceLaunchRequest step, Told told) {
  untold_[step.job_id()] = step;
  Advance(step, [this, job_id = step.job_id(), told = std::move(told)](
                    const absl::StatusOr<v1::AdvanceLaunchResponse>& response) {
    if (response.ok() || !IsLost(response.status())) {
      untold_.erase(job_id);
    }
    if (!response.ok()) {
      SPDLOG_WARN("a step of launch {} was not taken: {}", job_id,
                  MessageOf(response.status()));
    }
    told(response);
  });
}

void LaunchCalls::Advance(const v1::AdvanceLaunchRequest& step, Told told) {
  SessionCalls* const calls = link_.calls();
  if (calls == nullptr) return told(NotConnected());
  calls->Call<v1::AdvanceLaunchResponse>(step, std::move(told));
}

}  // namespace intercom
