#include "worker-agent/cli/view_command.h"

#include <filesystem>
#include <ostream>
#include <string_view>
#include <vector>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/short_id.h"
#include "worker-agent/cli/broker_client.h"
#include "worker-agent/cli/session_lookup.h"
#include "worker-agent/headless/view_stream.h"
#include "worker-agent/launch/launch.h"
#include "worker-agent/launch/unix_socket.h"

namespace intercom {
namespace {

absl::Status Unknown(const std::string& name) {
  return Error(absl::StatusCode::kNotFound, "WORKER_UNKNOWN",
               "there is no session or job " + SafeLabel(name) +
                   "; intercom list --all shows the sessions, intercom jobs "
                   "the launches");
}

absl::Status NotHeadless(const std::string& name, const std::string& why) {
  return Error(absl::StatusCode::kFailedPrecondition, "NOT_HEADLESS",
               SafeLabel(name) + " is no headless worker: " + why);
}

bool Begins(const std::string& id, const std::string& name) {
  return name.size() >= kMinIdPrefix && id.starts_with(name);
}

// Jobs of the hosts that can be followed now.
std::vector<std::string> HostedJobs(const std::string& home) {
  std::vector<std::string> jobs;
  std::error_code failed;
  for (std::filesystem::directory_iterator at(home + "/headless", failed), end;
       !failed && at != end; at.increment(failed)) {
    if (at->path().extension() == ".sock") jobs.push_back(at->path().stem());
  }
  return jobs;
}

// The one job of `home` that `name` begins; empty if there is none, or several.
std::string HostedJob(const std::string& home, const std::string& name) {
  std::string found;
  for (const std::string& job : HostedJobs(home)) {
    if (job == name) return job;
    if (!Begins(job, name)) continue;
    if (!found.empty()) return "";
    found = job;
  }
  return found;
}

// Why nobody can be followed at the socket of `job_id`.
absl::Status WhyNot(const CommandContext& context, const std::string& name,
                    const std::string& job_id) {
  v1::GetJobRequest request;
  request.set_job_id(job_id);
  const auto response = context.client.GetJob(request);
  if (response.ok() && response->job().launcher() != kHeadlessLauncher) {
    return NotHeadless(name, "it was launched in " +
                                 SafeLabel(response->job().launcher(), 32) +
                                 "; look at its pane there");
  }
  return Error(absl::StatusCode::kNotFound, "WORKER_GONE",
               SafeLabel(name) +
                   " is gone: its host has ended, and what it said with it. "
                   "Its session is saved: intercom_resume_worker opens it "
                   "again");
}

absl::StatusOr<std::string> FindJob(const CommandContext& context,
                                    const std::string& home,
                                    const std::string& name) {
  if (std::string job = HostedJob(home, name); !job.empty()) return job;
  INTERCOM_ASSIGN_OR_RETURN(const auto session, FindSession(context, name));
  if (session.has_value()) {
    if (!session->launch_job_id().empty()) return session->launch_job_id();
    return NotHeadless(name, "no launch opened it, or it is away");
  }
  v1::GetJobRequest request;
  request.set_job_id(name);
  if (name.size() >= kMinIdPrefix) {
    if (const auto job = context.client.GetJob(request); job.ok()) {
      return job->job().job_id();
    }
  }
  return Unknown(name);
}

}  // namespace

absl::Status ViewWorker(const CommandContext& context,
                        const std::string& home) {
  const std::string& name = context.arguments.session;
  INTERCOM_ASSIGN_OR_RETURN(const std::string job,
                            FindJob(context, home, name));
  const absl::Status viewed =
      View(HeadlessSocketPath(home, job), context.arguments.follow,
           [&context](std::string_view text) {
             context.out << text << std::flush;
             return static_cast<bool>(context.out);
           });
  return absl::IsNotFound(viewed) ? WhyNot(context, name, job) : viewed;
}

}  // namespace intercom
