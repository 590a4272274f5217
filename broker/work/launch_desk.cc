#include "broker/work/launch_desk.h"

#include <optional>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/route.h"
#include "broker/domain/text_rules.h"
#include "broker/domain/validated_envelope.h"
#include "broker/work/job_text.h"
#include "spdlog/spdlog.h"

namespace intercom {
namespace {

constexpr char kAnonymousTitle[] = "Intercom (anonymous)";
constexpr char kProjectTitle[] = "Intercom: ";

std::string NameOfDirectory(const std::string& path) {
  return path.size() < 2 ? path : path.substr(path.rfind('/') + 1);
}

}  // namespace

absl::Status LaunchDesk::CheckLauncher(const std::string& launcher) {
  if (launcher == "herdr" || launcher == "tmux" ||
      launcher == kHeadlessLauncher) {
    return absl::OkStatus();
  }
  if (launcher == "none") {
    return Error(absl::StatusCode::kFailedPrecondition, "LAUNCHER_NONE",
                 "the workspace's multiplexer is none, which opens no terminal "
                 "here; nothing was launched. Set herdr, tmux or headless with "
                 "intercom_set_multiplexer, or name one for this call");
  }
  return Error(absl::StatusCode::kInvalidArgument, "LAUNCHER_UNKNOWN",
               "\"" + SafeLabel(launcher) +
                   "\" is no launcher; say herdr, tmux or headless. Nothing "
                   "was launched");
}

absl::Status LaunchDesk::CheckHeadless(const DecidedCall& call,
                                       const Beginning& beginning) const {
  const int asked = beginning.request.most_headless();
  if (asked < 0 || asked > kMostHeadless) {
    return Error(absl::StatusCode::kInvalidArgument, "MOST_HEADLESS_INVALID",
                 "a session may have 1 to 64 headless workers; nothing was "
                 "launched. Mend that setting");
  }
  if (beginning.launcher != kHeadlessLauncher) return absl::OkStatus();
  const int most = asked == 0 ? kUsuallyHeadless : asked;
  INTERCOM_ASSIGN_OR_RETURN(
      int count, headless_.CountLive(call.caller.session_id, watch_));
  for (const JobRow& job : fences_.All()) {
    count += job.is_launch() && job.pending() &&
             job.launcher == kHeadlessLauncher &&
             job.requested_by == call.caller.session_id &&
             job.job_id != beginning.request.job_id();
  }
  if (count < most) return absl::OkStatus();
  return Error(absl::StatusCode::kResourceExhausted, "HEADLESS_FULL",
               "this session has " + std::to_string(count) +
                   " headless workers, those that start included, and may "
                   "have " +
                   std::to_string(most) +
                   "; nothing was launched. Close one, give one that is idle "
                   "the work, or raise that setting");
}

Operation LaunchDesk::Beginning::operation() const {
  if (is_open()) return Operation::kPeerOpen;
  return is_resume() ? Operation::kWorkerResume : Operation::kWorkerCreate;
}

v1::Job::Kind LaunchDesk::Beginning::kind() const {
  if (is_open()) return v1::Job::KIND_OPEN;
  return is_resume() ? v1::Job::KIND_RESUME : v1::Job::KIND_CREATE;
}

void LaunchDesk::Begin(CallerEvidence evidence, v1::BeginLaunchRequest request,
                       Done<v1::BeginLaunchResponse> done) {
  if (!CheckEnvelopeId(request.job_id()).ok()) {
    return done(Error(absl::StatusCode::kInvalidArgument, "JOB_ID_INVALID",
                      "a job id has 1 to 64 letters, digits and hyphens"));
  }
  auto beginning = std::make_shared<Beginning>();
  beginning->evidence = std::move(evidence);
  beginning->request = std::move(request);
  beginning->done = std::move(done);
  runner_.PostTask([this, beginning] {
    // A launch whose process died must not stand in the way.
    if (beginning->is_resume()) LookAtLaunches();
    if (beginning->is_open()) return BeginOpen(beginning);
    CheckFirst(beginning);
  });
}

void LaunchDesk::CheckFirst(BeginningPtr beginning) {
  workspaces_.Decide(
      beginning->evidence, "", beginning->operation(), /*last_good=*/false,
      [this, beginning](const DecidedCall& call,
                        Effects& effects) -> absl::Status {
        INTERCOM_ASSIGN_OR_RETURN(const auto known,
                                  store_.Find(beginning->request.job_id()));
        if (known.has_value() && known->state != v1::Job::STATE_REQUESTED) {
          INTERCOM_ASSIGN_OR_RETURN(auto response,
                                    AnswerRepeat(call, *beginning, *known));
          effects.AfterSync(
              [beginning, response] { beginning->done(response); });
          return absl::OkStatus();
        }
        INTERCOM_RETURN_IF_ERROR(Check(call, *beginning));
        effects.AfterCommit([this, beginning] { CheckDirectory(beginning); });
        return absl::OkStatus();
      },
      [beginning](const absl::Status& status) { beginning->done(status); });
}

absl::Status LaunchDesk::Check(const DecidedCall& call, Beginning& beginning) {
  beginning.root = call.workspace->root;
  beginning.launcher = beginning.request.launcher().empty()
                           ? call.workspace->multiplexer
                           : beginning.request.launcher();
  INTERCOM_RETURN_IF_ERROR(CheckLauncher(beginning.launcher));
  INTERCOM_ASSIGN_OR_RETURN(const auto known,
                            store_.Find(beginning.request.job_id()));
  beginning.is_repeat = known.has_value();
  if (beginning.is_repeat) {
    INTERCOM_RETURN_IF_ERROR(AnswerRepeat(call, beginning, *known).status());
  }
  if (beginning.is_resume()) {
    INTERCOM_RETURN_IF_ERROR(CheckResume(call, beginning));
  } else {
    const std::string& asked = beginning.request.project_directory();
    beginning.wanted_directory = asked.empty() ? "." : asked;
  }
  if (beginning.is_repeat) return absl::OkStatus();
  INTERCOM_RETURN_IF_ERROR(CheckHeadless(call, beginning));
  INTERCOM_ASSIGN_OR_RETURN(
      const int creates,
      store_.CountOpen(beginning.root, v1::Job::KIND_CREATE));
  INTERCOM_ASSIGN_OR_RETURN(
      const int resumes,
      store_.CountOpen(beginning.root, v1::Job::KIND_RESUME));
  if (creates + resumes < kMaxPending) return absl::OkStatus();
  return Error(absl::StatusCode::kResourceExhausted, "JOBS_FULL",
               "64 launches of this workspace have not attached yet; nothing "
               "was launched. intercom jobs lists them");
}

absl::Status LaunchDesk::CheckResume(const DecidedCall& call,
                                     Beginning& beginning) {
  if (!beginning.request.confirm_closed()) {
    return Error(absl::StatusCode::kInvalidArgument, "CONFIRMATION_MISSING",
                 "resuming opens the saved session again, and two hosts of one "
                 "session spoil it; make sure that it is closed, then say so "
                 "with confirmClosed: true. Nothing was launched");
  }
  INTERCOM_ASSIGN_OR_RETURN(
      const v1::AgentEntry entry,
      RouteToWorker(beginning.request.resume(), call.workspace->agents));
  const std::string name = NameLabel(entry.name());
  if (beginning.entry.has_value() &&
      (beginning.entry->session_id() != entry.session_id() ||
       beginning.entry->project_directory() != entry.project_directory() ||
       beginning.entry->port() != entry.port())) {
    return Error(absl::StatusCode::kAborted, "WORKER_CHANGED",
                 "the entry of " + name +
                     " changed while its directory was checked; nothing was "
                     "launched, try again");
  }
  if (const Attachment* attachment = roster_.Find(entry.session_id())) {
    return Error(absl::StatusCode::kFailedPrecondition, "WORKER_ATTACHED",
                 "the session of " + name + " is open in process " +
                     std::to_string(attachment->host_pid) +
                     "; nothing was launched. Message it there");
  }
  INTERCOM_ASSIGN_OR_RETURN(const auto session,
                            sessions_.Find(entry.session_id()));
  if (session.has_value() &&
      watch_.IsAlive(session->host_pid, session->host_start_ticks)) {
    return Error(absl::StatusCode::kFailedPrecondition, "HOST_ALIVE",
                 "process " + std::to_string(session->host_pid) +
                     ", which had the session of " + name +
                     " open last, still runs; nothing was launched. Ask the "
                     "person to end process " +
                     std::to_string(session->host_pid) + " in its terminal");
  }
  INTERCOM_ASSIGN_OR_RETURN(
      const auto open, store_.OpenOf(call.workspace->root, entry.session_id()));
  for (const JobRow& job : open) {
    if (job.job_id != beginning.request.job_id()) return WorkerFenced(job);
  }
  beginning.entry = entry;
  beginning.wanted_directory = entry.project_directory();
  return absl::OkStatus();
}

absl::StatusOr<v1::BeginLaunchResponse> LaunchDesk::AnswerRepeat(
    const DecidedCall& call, const Beginning& beginning, const JobRow& job) {
  if (job.kind != beginning.kind() ||
      (!beginning.is_open() && job.root != call.root()) ||
      job.requested_by != call.caller.session_id) {
    return Error(absl::StatusCode::kAlreadyExists, "JOB_ID_REUSED",
                 "the id of this job belongs to another one; nothing was "
                 "launched, take a new id");
  }
  v1::BeginLaunchResponse response;
  *response.mutable_job() = ToProto(job);
  if (!beginning.is_open()) response.set_workspace_root(job.root);
  response.set_session_id(job.session_id);
  return response;
}

void LaunchDesk::CheckDirectory(BeginningPtr beginning) {
  lanes_.CheckDirectory(beginning->root, beginning->wanted_directory,
                        [this, beginning](auto directory) {
                          if (!directory.ok()) {
                            return beginning->done(directory.status());
                          }
                          beginning->directory = *std::move(directory);
                          Insert(beginning);
                        });
}

void LaunchDesk::Insert(BeginningPtr beginning) {
  workspaces_.Decide(
      beginning->evidence, "", beginning->operation(), /*last_good=*/false,
      [this, beginning](const DecidedCall& call,
                        Effects& effects) -> absl::Status {
        INTERCOM_RETURN_IF_ERROR(Check(call, *beginning));
        return beginning->is_repeat ? HandOutAgain(beginning, effects)
                                    : HandOut(call, beginning, effects);
      },
      [beginning](const absl::Status& status) { beginning->done(status); });
}

absl::Status LaunchDesk::HandOutAgain(BeginningPtr beginning,
                                      Effects& effects) {
  INTERCOM_ASSIGN_OR_RETURN(const auto known,
                            store_.Find(beginning->request.job_id()));
  v1::BeginLaunchResponse response;
  DescribeLaunch(*beginning, *known, response);
  const auto token = tokens_.find(known->job_id);
  if (known->state == v1::Job::STATE_REQUESTED && token != tokens_.end()) {
    response.set_launch_token(token->second);
  }
  effects.AfterSync([beginning, response] { beginning->done(response); });
  return absl::OkStatus();
}

absl::Status LaunchDesk::HandOut(const DecidedCall& call,
                                 BeginningPtr beginning, Effects& effects) {
  const std::string token = NewSecret(random_);
  JobRow job;
  job.job_id = beginning->request.job_id();
  job.kind = beginning->kind();
  job.root = beginning->root;
  if (beginning->entry.has_value()) {
    job.session_id = beginning->entry->session_id();
    job.name = beginning->entry->name();
  }
  job.requested_by = call.caller.session_id;
  job.created_at = job.updated_at = clock_.Now();
  job.launcher = beginning->launcher;
  // The secret opens nothing but its launch; the hash keeps it out of copies of
  // the store.
  job.launch_token_hash = ContentHash(token);
  INTERCOM_RETURN_IF_ERROR(jobs_.Put(job, effects));
  v1::BeginLaunchResponse response;
  DescribeLaunch(*beginning, job, response);
  response.set_launch_token(token);
  effects.AfterCommit([this, id = job.job_id, token] {
    tokens_[id] = token;
    runner_.PostDelayedTask(
        [this, id] {
          jobs_.End(id, {v1::Job::STATE_REQUESTED}, v1::Job::STATE_INTERRUPTED,
                    "not_submitted", "it was not submitted within 60 s");
        },
        kSubmitWithin);
  });
  effects.AfterSync([beginning, response] { beginning->done(response); });
  return absl::OkStatus();
}

void LaunchDesk::DescribeLaunch(const Beginning& beginning, const JobRow& job,
                                v1::BeginLaunchResponse& response) const {
  *response.mutable_job() = ToProto(job);
  if (beginning.is_open()) {
    // It finds its workspace by itself.
    response.set_directory(job.root);
    response.set_title(kProjectTitle + NameOfDirectory(job.root));
    return;
  }
  response.set_workspace_root(job.root);
  std::string directory = job.root;
  if (beginning.directory != ".") {
    if (directory != "/") directory += '/';
    directory += beginning.directory;
  }
  response.set_directory(directory);
  response.set_session_id(job.session_id);
  response.set_title(job.name.empty() ? kAnonymousTitle : job.name);
}

void LaunchDesk::OnDetached(const Attachment& attachment, bool) {
  for (const JobRow& job : fences_.All()) {
    if (!job.is_launch() || job.requested_by != attachment.session_id) continue;
    jobs_.End(job.job_id, {v1::Job::STATE_REQUESTED},
              v1::Job::STATE_INTERRUPTED, "interrupted",
              "the session that asked for it left before it was submitted");
  }
}

void LaunchDesk::OnJobChanged(const JobRow& job) {
  if (!job.is_launch()) return;
  if (job.state != v1::Job::STATE_REQUESTED) tokens_.erase(job.job_id);
  TellEnd(job);
}

void LaunchDesk::TellEnd(const JobRow& job) {
  // Who opens a project pane waits for its session.
  if (job.kind == v1::Job::KIND_OPEN) return;
  if (job.reason == "process_ended" || job.reason == "other_session") {
    news_.Tell(job, "LAUNCH",
               "The " + Describe(job) + " of " + WorkerOf(job) +
                   " came to nothing: " + job.detail + ".");
  }
}

}  // namespace intercom
