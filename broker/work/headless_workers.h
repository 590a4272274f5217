#ifndef PI_INTERCOM_BROKER_WORK_HEADLESS_WORKERS_H_
#define PI_INTERCOM_BROKER_WORK_HEADLESS_WORKERS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "broker/roster/roster.h"
#include "broker/storage/job_store.h"
#include "broker/storage/session_store.h"
#include "broker/work/process_watch.h"

namespace intercom {

inline constexpr char kHeadlessLauncher[] = "headless";

// Which sessions are headless workers, and whose: a session whose host a launch
// of that kind opened is a worker of the session that asked for the launch.
//
// On the state's thread.
class HeadlessWorkers {
 public:
  // All must outlive this object.
  HeadlessWorkers(const Roster& roster, SessionStore& sessions, JobStore& jobs)
      : roster_(roster), sessions_(sessions), jobs_(jobs) {}

  // Who launched the session. nullopt for one that is no headless worker.
  absl::StatusOr<std::optional<std::string>> SupervisorOf(
      std::string_view session_id) const;
  // Attached ones that it launched, in the order of attachment.
  absl::StatusOr<std::vector<const Attachment*>> AttachedOf(
      std::string_view supervisor) const;
  // How many hosts of those run now: of attached ones, and of those that are
  // away without having ended.
  absl::StatusOr<int> CountLive(std::string_view supervisor,
                                const ProcessWatch& watch) const;
  // Whether it ever launched one, as far as that is kept.
  absl::StatusOr<bool> HasLaunched(std::string_view session_id) const;

  // What a session is called, attached or not. May be empty.
  std::string NameOf(std::string_view session_id) const;

 private:
  absl::StatusOr<std::optional<std::string>> RequesterOf(
      std::string_view job_id) const;

  const Roster& roster_;
  SessionStore& sessions_;
  JobStore& jobs_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_HEADLESS_WORKERS_H_
