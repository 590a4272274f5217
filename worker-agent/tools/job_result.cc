#include "worker-agent/tools/job_result.h"

#include "broker/domain/fence.h"
#include "broker/domain/job.h"
#include "worker-agent/tools/labels.h"
#include "worker-agent/tools/work_labels.h"

namespace intercom {
namespace {

std::string NameOf(const v1::Job& job) {
  return NameOr(job.name(), job.session_id());
}

// "job 3f2c…, uncertain (close_unverified): the pane is still there".
std::string JobSentence(const v1::Job& job) {
  std::string text = "job " + IdLabel(job.job_id(), 128) + ", " +
                     std::string(JobStateLabel(job));
  if (!job.reason().empty()) text += " (" + NameLabel(job.reason()) + ")";
  if (!job.detail().empty()) text += ": " + SafeLabel(job.detail(), 512);
  return text;
}

Json JobDetails(const v1::Job& job) {
  Json details = {{"jobId", job.job_id()},
                  {"kind", JobKindName(job.kind())},
                  {"state", JobStateLabel(job)}};
  if (!job.session_id().empty()) details["sessionId"] = job.session_id();
  if (!job.reason().empty()) details["reason"] = job.reason();
  return details;
}

constexpr char kAfterCreate[] =
    "When the session attaches, it registers, and a notice brings you its "
    "session id: configure it with intercom_configure_worker, then "
    "intercom_reload_worker. End your turn until then.\n";
constexpr char kAfterResume[] =
    "When the session attaches, it takes its name and responsibility on and "
    "waits; intercom_list shows it. Its old work is not restarted: send it "
    "what to do.\n";

const char* NextOf(const v1::Job& job) {
  // Who opened a project pane waits for its session.
  if (job.kind() == v1::Job::KIND_OPEN) return "";
  return job.kind() == v1::Job::KIND_RESUME ? kAfterResume : kAfterCreate;
}

}  // namespace

ToolResult RenderLaunched(const v1::BeginLaunchResponse& begun,
                          const v1::Job& job, const v1::Pane& pane,
                          const std::string& detail) {
  const bool resume = job.kind() == v1::Job::KIND_RESUME;
  const bool open = job.kind() == v1::Job::KIND_OPEN;
  const std::string what = resume ? NameOf(job)
                           : open ? std::string("a project pane")
                                  : std::string("an anonymous worker");
  const std::string launcher = NameLabel(job.launcher());
  ToolResult result;
  result.text = "The launch of " + what + " was submitted to " + launcher +
                ": job " + IdLabel(job.job_id(), 128) + ", directory " +
                SafeLabel(begun.directory(), 4096);
  if (resume) result.text += ", session " + IdLabel(begun.session_id(), 256);
  if (!pane.pane().empty()) result.text += ", pane " + SafeLabel(pane.pane());
  result.text += ".\n";
  if (!detail.empty()) result.text += SafeLabel(detail, 1024) + "\n";
  if (job.state() == v1::Job::STATE_SUCCEEDED) {
    result.text += "Its session is attached already.\n";
  } else if (!IsPending(job.state())) {
    result.text += "The launch has ended since: " + JobSentence(job) + ".\n";
  } else if (!open) {
    result.text +=
        "registrationAwaited: false; nothing is known yet of its being "
        "ready. ";
  }
  result.text += NextOf(job);
  result.summary =
      (resume ? "resume of " + what : std::string("new worker")) +
      " submitted to " + launcher +
      (pane.pane().empty() ? "" : " · pane " + SafeLabel(pane.pane()));
  result.details = {{"jobId", job.job_id()},
                    {"launcher", job.launcher()},
                    {"pane", pane.pane()},
                    {"directory", begun.directory()},
                    {"registrationAwaited", false}};
  if (!begun.session_id().empty()) {
    result.details["sessionId"] = begun.session_id();
  }
  return result;
}

ToolResult RenderLaunchJob(const v1::Job& job) {
  ToolResult result;
  result.text = "This call was made before and nothing was launched again: " +
                JobSentence(job) + ".\n";
  if (job.state() == v1::Job::STATE_SUBMITTED) {
    result.text += std::string(
                       "The launch was, or was about to be, submitted; "
                       "whether a session started is not known yet. ") +
                   NextOf(job);
  } else if (job.state() == v1::Job::STATE_SUCCEEDED) {
    result.text += NextOf(job);
  } else {
    result.is_error = true;
    result.reason = "LAUNCH_ENDED";
    result.code = "FAILED_PRECONDITION";
    result.text += "Make a new call to launch again.\n";
  }
  result.summary = "launch " + std::string(JobStateLabel(job));
  result.details = JobDetails(job);
  result.details["registrationAwaited"] = false;
  return result;
}

ToolResult RenderStopped(const v1::StopWorkerResponse& response) {
  const v1::Job& job = response.job();
  const std::string name = NameOf(job);
  ToolResult result;
  result.details = JobDetails(job);
  if (job.state() == v1::Job::STATE_SUCCEEDED) {
    result.text = name + " stands still: its work is cancelled, its session " +
                  "is kept and nothing restarts by itself (" +
                  JobSentence(job) +
                  ").\nSend it what to do next with intercom_send, if "
                  "anything.\n";
    result.summary = name + " stopped";
  } else if (IsPending(job.state())) {
    result.text = name + " was asked to stop and has not said yet that it " +
                  "stands still (" + JobSentence(job) +
                  "). A notice tells the end, at the latest at " +
                  TimeOfDay(job.deadline_at()) +
                  "; don't poll and don't repeat the call.\n";
    result.summary = name + " is stopping";
  } else {
    result.text = name +
                  " was not stopped as far as is known: " + JobSentence(job) +
                  ".\nintercom_worker_status shows what it does. Tell the "
                  "person if it must not go on.\n";
    result.summary = name + ": stop " + std::string(JobStateLabel(job));
    result.is_error = true;
    result.code = "FAILED_PRECONDITION";
    result.reason = "STOP_FAILED";
  }
  return result;
}

ToolResult RenderClosing(const v1::CloseWorkerResponse& response) {
  const v1::Job& job = response.job();
  const std::string name = NameOf(job);
  ToolResult result;
  result.details = JobDetails(job);
  result.details["existed"] = response.existed();
  if (!IsPending(job.state())) {
    result.text =
        "The close of " + name + " has ended: " + JobSentence(job) + ".\n";
    result.summary = name + ": close " + std::string(JobStateLabel(job));
    return result;
  }
  result.text = response.existed() ? "The close of " + name + " is under way"
                                   : "The close of " + name + " has begun";
  result.text += " (" + JobSentence(job) +
                 "): the worker is asked for a handoff, then its host and "
                 "pane are closed. It ends by itself, at the latest at " +
                 TimeOfDay(job.deadline_at()) +
                 ", and a notice tells how. Until then the job fences the "
                 "worker. End your turn; don't poll.\n";
  result.summary = name + " is closing";
  return result;
}

ToolResult RenderHandoff(const v1::ReportHandoffResponse& response) {
  ToolResult result;
  result.text = "The handoff is saved (" + JobSentence(response.job()) +
                "). End your turn now, without another tool or message, and "
                "wait: this session is about to be closed.\n";
  result.summary = "handoff saved";
  result.details = JobDetails(response.job());
  return result;
}

}  // namespace intercom
