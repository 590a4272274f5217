#include "worker-agent/cli/work_commands.h"

#include <string>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/job.h"
#include "worker-agent/cli/command_options.h"
#include "worker-agent/cli/progress.h"
#include "worker-agent/cli/session_lookup.h"
#include "worker-agent/cli/view_command.h"
#include "worker-agent/cli/work_report.h"
#include "worker-agent/monitor/monitor_command.h"
#include "worker-agent/tools/labels.h"
#include "worker-agent/tools/work_labels.h"

namespace intercom {
namespace {

constexpr int kStatusPage = 20;

absl::StatusOr<v1::GetJobResponse> FindJob(const CommandContext& context) {
  v1::GetJobRequest request;
  request.set_job_id(context.arguments.id);
  return context.client.GetJob(request);
}

// What a person can end: an outcome that is uncertain, and a launch that has
// not attached.
absl::Status CheckResolvable(const v1::Job& job) {
  if (job.state() == v1::Job::STATE_UNCERTAIN ||
      job.state() == v1::Job::STATE_SUBMITTED) {
    return absl::OkStatus();
  }
  const std::string is = "job " + IdLabel(job.job_id(), 128) + " is " +
                         std::string(JobStateLabel(job));
  if (IsPending(job.state())) {
    return Error(absl::StatusCode::kFailedPrecondition, "JOB_PENDING",
                 is + ": it still runs and ends by itself; nothing was done");
  }
  return Error(absl::StatusCode::kFailedPrecondition, "JOB_ENDED",
               is + ": there is nothing to resolve");
}

absl::Status ShowWorkers(const CommandContext& context) {
  v1::GetWorkerStatusRequest request;
  request.set_name(context.arguments.session);
  request.set_probe(context.arguments.probe);
  request.set_directory(context.Directory());
  request.set_limit(kStatusPage);
  Progress progress(context.err, context.terminal);
  if (request.probe()) progress.Show("Asking the sessions");
  INTERCOM_ASSIGN_OR_RETURN(v1::GetWorkerStatusResponse all,
                            context.client.GetWorkerStatus(request));
  while (all.has_next_offset()) {
    request.set_offset(all.next_offset());
    all.clear_next_offset();
    INTERCOM_ASSIGN_OR_RETURN(v1::GetWorkerStatusResponse page,
                              context.client.GetWorkerStatus(request));
    if (page.has_next_offset() && page.next_offset() > request.offset()) {
      all.set_next_offset(page.next_offset());
    }
    for (v1::WorkerStatus& worker : *page.mutable_workers()) {
      *all.add_workers() = std::move(worker);
    }
    for (std::string& error : *page.mutable_errors()) {
      all.add_errors(std::move(error));
    }
  }
  progress.Clear();
  return context.Print(
      all, WorkersReport(all, context.clock.Now(), context.terminal));
}

absl::Status ShowJobs(const CommandContext& context) {
  v1::ListJobsRequest request;
  if (!context.arguments.all) request.set_directory(context.Directory());
  request.set_limit(context.arguments.limit);
  INTERCOM_ASSIGN_OR_RETURN(const v1::ListJobsResponse response,
                            context.client.ListJobs(request));
  return context.Print(response, JobsReport(response, context.clock.Now()));
}

absl::Status ShowJob(const CommandContext& context) {
  INTERCOM_ASSIGN_OR_RETURN(const v1::GetJobResponse response,
                            FindJob(context));
  return context.Print(
      response, JobReport(response, context.clock.Now(), context.terminal));
}

absl::Status ShowObservations(const CommandContext& context) {
  v1::ListObservationsRequest request;
  if (!context.arguments.session.empty()) {
    INTERCOM_ASSIGN_OR_RETURN(
        *request.mutable_session_id(),
        FindSessionId(context, context.arguments.session));
  }
  request.set_limit(context.arguments.limit);
  INTERCOM_ASSIGN_OR_RETURN(const v1::ListObservationsResponse response,
                            context.client.ListObservations(request));
  return context.Print(response, ObservationsReport(response));
}

absl::Status ResolveJob(const CommandContext& context) {
  INTERCOM_RETURN_IF_ERROR(context.CheckCanAsk());
  INTERCOM_ASSIGN_OR_RETURN(const v1::GetJobResponse found, FindJob(context));
  INTERCOM_RETURN_IF_ERROR(CheckResolvable(found.job()));
  INTERCOM_RETURN_IF_ERROR(
      context.Ask(JobReport(found, context.clock.Now(), context.terminal),
                  "End this job, so that its worker can be used again?"));
  v1::ResolveJobRequest request;
  request.set_job_id(found.job().job_id());
  INTERCOM_ASSIGN_OR_RETURN(const v1::ResolveJobResponse response,
                            context.client.ResolveJob(request));
  return context.Print(
      response, "Job " + IdLabel(response.job().job_id(), 128) + " is " +
                    std::string(JobStateLabel(response.job())) + " now.\n");
}

absl::Status TakeCoordinator(const CommandContext& context) {
  INTERCOM_RETURN_IF_ERROR(context.CheckCanAsk());
  v1::GetWorkspaceRequest look;
  look.set_directory(context.Directory());
  INTERCOM_ASSIGN_OR_RETURN(const v1::GetWorkspaceResponse workspace,
                            context.client.GetWorkspace(look));
  const std::string& claimed = workspace.claimed_coordinator_session_id();
  if (claimed.empty()) {
    return Error(absl::StatusCode::kFailedPrecondition, "COORDINATOR_UNCHANGED",
                 workspace.stale()
                     ? "the config is invalid now: " + workspace.config_error()
                     : "there is nothing to take: the config of " +
                           workspace.root() + " names session " +
                           workspace.coordinator_session_id() +
                           ", which coordinates already");
  }
  INTERCOM_RETURN_IF_ERROR(context.Ask(
      CoordinatorsReport(workspace, context.clock.Now(), context.terminal),
      "Make session " + IdLabel(claimed, 256) + " the coordinator?"));
  v1::ConfirmCoordinatorRequest request;
  request.set_directory(look.directory());
  request.set_coordinator_session_id(claimed);
  INTERCOM_ASSIGN_OR_RETURN(const v1::ConfirmCoordinatorResponse response,
                            context.client.ConfirmCoordinator(request));
  return context.Print(
      response, "Session " + IdLabel(response.coordinator_session_id(), 256) +
                    " coordinates " + SafeLabel(response.root(), 4096) +
                    " now.\n");
}

void DeclareWorkers(CLI::App& command, Arguments& arguments) {
  command.add_option("name", arguments.session, "One worker")
      ->type_name(kSessionType);
  AddDirectory(command, arguments);
  command.add_flag("--probe", arguments.probe,
                   "Ask the attached ones on the spot");
}

void DeclareView(CLI::App& command, Arguments& arguments) {
  command
      .add_option("name", arguments.session,
                  "Name, session id or the beginning of one, or job id")
      ->required()
      ->type_name(kSessionType);
  command.add_flag_callback(
      "--no-follow", [&arguments] { arguments.follow = false; },
      "Print what there is and end");
  AddDirectory(command, arguments);
}

void DeclareMonitor(CLI::App& command, Arguments& arguments) {
  AddDirectory(command, arguments);
  AddAll(command, arguments, "Of every workspace");
}

void DeclareJobs(CLI::App& command, Arguments& arguments) {
  AddDirectory(command, arguments);
  AddAll(command, arguments, "Of every workspace");
  AddLimit(command, arguments, 200);
}

void DeclareJob(CLI::App& command, Arguments& arguments) {
  command
      .add_option("id", arguments.id, "Job id, or at least 6 characters of it")
      ->required();
}

void DeclareObservations(CLI::App& command, Arguments& arguments) {
  AddSession(command, arguments, "Only those of this session: a name or an id");
  AddLimit(command, arguments, 500);
}

}  // namespace

std::vector<CommandSpec> WorkCommands() {
  return {
      {"workers", "What is known of the workspace's workers, and how old it is",
       DeclareWorkers, ShowWorkers, v1::GetWorkerStatusResponse::descriptor()},
      {"view", "See what a headless worker does, until it ends or Ctrl-C",
       DeclareView,
       [](const CommandContext& context) {
         return ViewWorker(context, context.home);
       }},
      {"monitor", "Watch the workspace's sessions on the whole screen",
       DeclareMonitor,
       [](const CommandContext& context) {
         return RunMonitor({.home = context.home,
                            .directory = context.Directory(),
                            .all = context.arguments.all});
       }},
      {"jobs", "List jobs: launches, stops and closes", DeclareJobs, ShowJobs,
       v1::ListJobsResponse::descriptor()},
      {"job show", "Show a job and what is known of its worker", DeclareJob,
       ShowJob, v1::GetJobResponse::descriptor()},
      {"job resolve",
       "End a job whose outcome is uncertain, after a look at the evidence",
       DeclareJob, ResolveJob, v1::ResolveJobResponse::descriptor()},
      {"coordinator take", "Confirm the coordinator that the config names",
       AddDirectory, TakeCoordinator,
       v1::ConfirmCoordinatorResponse::descriptor()},
      {"observations", "What the broker saw of sessions and did with them",
       DeclareObservations, ShowObservations,
       v1::ListObservationsResponse::descriptor()}};
}

}  // namespace intercom
