// Project panes: launches of sessions of their own, in any directory.
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/work/launch_desk.h"

namespace intercom {
namespace {

constexpr char kUsualLauncher[] = "herdr";

// Out of line: GCC takes a comparison of what a StatusOr holds for one of
// nothing.
[[gnu::noinline]] std::string BelowRoot(std::string_view directory) {
  return directory == "." ? "/" : "/" + std::string(directory);
}

absl::Status NoPaneIn(const std::string& directory, const absl::Status& why) {
  return Error(why.code(), ReasonOf(why),
               "no project pane was opened in " + SafeLabel(directory, 300) +
                   ": " + MessageOf(why));
}

}  // namespace

void LaunchDesk::BeginOpen(BeginningPtr beginning) {
  // Who may not learns nothing of directories.
  const auto caller = workspaces_.callers().ResolveFor(beginning->operation(),
                                                       beginning->evidence);
  if (!caller.ok()) return beginning->done(caller.status());
  const std::string& directory = beginning->request.open_directory();
  if (!directory.starts_with('/') || beginning->is_resume() ||
      !beginning->request.project_directory().empty()) {
    return beginning->done(
        Error(absl::StatusCode::kInvalidArgument, "DIRECTORY_INVALID",
              "a project pane is opened in an absolute directory, and is no "
              "worker; nothing was launched"));
  }
  lanes_.CheckDirectory(
      "/", directory == "/" ? "." : directory.substr(1),
      [this, beginning](const absl::StatusOr<std::string>& found) {
        if (!found.ok()) {
          return beginning->done(
              NoPaneIn(beginning->request.open_directory(), found.status()));
        }
        beginning->root = BelowRoot(found.value());
        InsertOpen(beginning);
      });
}

void LaunchDesk::InsertOpen(BeginningPtr beginning) {
  workspaces_.DecideAnywhere(
      beginning->evidence, "", beginning->operation(),
      [this, beginning](const DecidedCall& call,
                        Effects& effects) -> absl::Status {
        INTERCOM_ASSIGN_OR_RETURN(const auto known,
                                  store_.Find(beginning->request.job_id()));
        if (known.has_value()) {
          INTERCOM_ASSIGN_OR_RETURN(auto response,
                                    AnswerRepeat(call, *beginning, *known));
          if (known->state == v1::Job::STATE_REQUESTED) {
            return HandOutAgain(beginning, effects);
          }
          effects.AfterSync(
              [beginning, response] { beginning->done(response); });
          return absl::OkStatus();
        }
        INTERCOM_RETURN_IF_ERROR(CheckOpen(call, *beginning));
        return HandOut(call, beginning, effects);
      },
      [beginning](const absl::Status& status) { beginning->done(status); });
}

absl::Status LaunchDesk::CheckOpen(const DecidedCall& call,
                                   Beginning& beginning) {
  beginning.launcher = beginning.request.launcher();
  if (beginning.launcher.empty()) {
    beginning.launcher = call.workspace == nullptr
                             ? kUsualLauncher
                             : call.workspace->multiplexer;
  }
  INTERCOM_RETURN_IF_ERROR(CheckLauncher(beginning.launcher));
  INTERCOM_RETURN_IF_ERROR(CheckHeadless(call, beginning));
  int opening = 0;
  for (const JobRow& job : fences_.All()) {
    opening += job.kind == v1::Job::KIND_OPEN && job.pending() &&
               job.requested_by == call.caller.session_id;
  }
  if (opening < kMaxOpening) return absl::OkStatus();
  return Error(absl::StatusCode::kResourceExhausted, "JOBS_FULL",
               "16 project panes of this session have not attached yet; "
               "nothing was launched. intercom jobs lists them");
}

}  // namespace intercom
