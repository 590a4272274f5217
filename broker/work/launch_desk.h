#ifndef PI_INTERCOM_BROKER_WORK_LAUNCH_DESK_H_
#define PI_INTERCOM_BROKER_WORK_LAUNCH_DESK_H_

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/base/random.h"
#include "broker/config/config_lanes.h"
#include "broker/roster/registrar.h"
#include "broker/storage/session_store.h"
#include "broker/work/headless_workers.h"
#include "broker/work/job_news.h"
#include "broker/work/jobs.h"
#include "broker/work/process_watch.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/work.pb.h"

namespace intercom {

// Opens sessions: creates and resumes workers, and opens project panes, as
// WorkService describes them. The caller's agent launches; the broker knows
// what may be launched, what was, and which session came of it.
//
// Begin and Advance are thread-safe and call `done` once, on a thread that must
// not be blocked. The rest is called on the state's thread.
class LaunchDesk : public AttachmentObserver {
 public:
  // For how long a launch may wait to be submitted.
  static constexpr absl::Duration kSubmitWithin = absl::Seconds(60);
  // A submitted launch that has not attached after this long is told of.
  static constexpr absl::Duration kSlowAfter = absl::Seconds(90);
  // Pending launches of a workspace.
  static constexpr int kMaxPending = 64;
  // Pending project panes of a session.
  static constexpr int kMaxOpening = 16;
  // Headless workers of a session: as it says, within bounds.
  static constexpr int kUsuallyHeadless = 8;
  static constexpr int kMostHeadless = 64;

  // All must outlive this object.
  LaunchDesk(StateRunner& runner, ConfigLanes& lanes, Workspaces& workspaces,
             Roster& roster, SessionStore& sessions, JobStore& store,
             Jobs& jobs, Fences& fences, ProcessWatch& watch, JobNews& news,
             const HeadlessWorkers& headless, const Clock& clock,
             Random& random)
      : runner_(runner),
        lanes_(lanes),
        workspaces_(workspaces),
        roster_(roster),
        sessions_(sessions),
        store_(store),
        jobs_(jobs),
        fences_(fences),
        watch_(watch),
        news_(news),
        headless_(headless),
        clock_(clock),
        random_(random) {}

  template <typename Response>
  using Done = absl::AnyInvocable<void(absl::StatusOr<Response>)>;

  void Begin(CallerEvidence evidence, v1::BeginLaunchRequest request,
             Done<v1::BeginLaunchResponse> done);
  void Advance(CallerEvidence evidence, v1::AdvanceLaunchRequest request,
               Done<v1::AdvanceLaunchResponse> done);

  // Inside the command that admits a session to `root`: ends the launch that it
  // came of, and a resume of it however it came. Returns the id of the launch
  // whose token it carries, or "".
  absl::StatusOr<std::string> OnAdmit(const v1::Hello& hello,
                                      const std::string& root,
                                      Effects& effects);

  // Ends launches whose process has ended before its session attached, and
  // tells of those that take long: each once.
  void LookAtLaunches();

  void OnAttached(Attachment&) override {}
  // What it has not submitted yet, it never will.
  void OnDetached(const Attachment& attachment, bool restarting) override;
  void OnJobChanged(const JobRow& job);
  // Tells how a launch ended, where that is news.
  void TellEnd(const JobRow& job);

 private:
  // One call of Begin on its way.
  struct Beginning {
    CallerEvidence evidence;
    v1::BeginLaunchRequest request;
    Done<v1::BeginLaunchResponse> done;
    std::string root;
    std::string launcher;
    // resume: the worker's entry.
    std::optional<v1::AgentEntry> entry;
    // Relative to the root: as asked for, then canonical.
    std::string wanted_directory;
    std::string directory;
    // The job is there already, and may still be launched.
    bool is_repeat = false;

    bool is_open() const { return !request.open_directory().empty(); }
    bool is_resume() const { return !request.resume().empty(); }
    Operation operation() const;
    v1::Job::Kind kind() const;
  };
  using BeginningPtr = std::shared_ptr<Beginning>;

  // Each decides on the config as it is then.
  void CheckFirst(BeginningPtr beginning);
  // A project pane, whose directory is some absolute one.
  void BeginOpen(BeginningPtr beginning);
  void InsertOpen(BeginningPtr beginning);
  absl::Status CheckOpen(const DecidedCall& call, Beginning& beginning);
  // Inside a command: writes a new job and gives out what launches it.
  absl::Status HandOut(const DecidedCall& call, BeginningPtr beginning,
                       Effects& effects);
  // Inside a command: gives that out again, where it still launches it.
  absl::Status HandOutAgain(BeginningPtr beginning, Effects& effects);
  void CheckDirectory(BeginningPtr beginning);
  void Insert(BeginningPtr beginning);
  static absl::Status CheckLauncher(const std::string& launcher);
  // Whether the caller may have one more headless worker, if it is to be one.
  absl::Status CheckHeadless(const DecidedCall& call,
                             const Beginning& beginning) const;
  // What must hold for the launch. Fills in what it decides.
  absl::Status Check(const DecidedCall& call, Beginning& beginning);
  absl::Status CheckResume(const DecidedCall& call, Beginning& beginning);
  absl::StatusOr<v1::BeginLaunchResponse> AnswerRepeat(
      const DecidedCall& call, const Beginning& beginning, const JobRow& job);
  // Where the session of a job is opened.
  void DescribeLaunch(const Beginning& beginning, const JobRow& job,
                      v1::BeginLaunchResponse& response) const;
  void TellSlow(const std::string& job_id);
  absl::Status ApplyStep(const v1::AdvanceLaunchRequest& request, JobRow& job);

  StateRunner& runner_;
  ConfigLanes& lanes_;
  Workspaces& workspaces_;
  Roster& roster_;
  SessionStore& sessions_;
  JobStore& store_;
  Jobs& jobs_;
  Fences& fences_;
  ProcessWatch& watch_;
  JobNews& news_;
  const HeadlessWorkers& headless_;
  const Clock& clock_;
  Random& random_;
  // Secrets of launches that are not submitted, by job id: on disk there are
  // only their hashes.
  std::map<std::string, std::string> tokens_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_LAUNCH_DESK_H_
