#ifndef PI_INTERCOM_BROKER_WORK_JOB_NEWS_H_
#define PI_INTERCOM_BROKER_WORK_JOB_NEWS_H_

#include <string>
#include <string_view>

#include "broker/roster/workspace_mirror.h"
#include "broker/routing/dispatcher.h"
#include "broker/storage/job_store.h"
#include "broker/work/jobs.h"

namespace intercom {

// Tells a workspace's coordinator, in a notice that wakes it, how a job goes.
// On the state's thread.
class JobNews {
 public:
  // All must outlive this object.
  JobNews(StateRunner& runner, WorkspaceMirror& mirror, Dispatcher& dispatcher,
          Jobs& jobs)
      : runner_(runner),
        mirror_(mirror),
        dispatcher_(dispatcher),
        jobs_(jobs) {}

  // What was told before is not told again. A notice about the job's worker
  // that still waits is replaced. One that can't be stored is in the log, and
  // is told when the next broker starts.
  void Tell(const JobRow& job, std::string topic, std::string text);

  // Nobody needs to be told how a job ended.
  void NeedNotTell(const JobRow& job);

  // Tell inside a command, with its errors.
  absl::Status Accept(const JobRow& job, std::string_view topic,
                      std::string_view text, Effects& effects);

 private:
  StateRunner& runner_;
  WorkspaceMirror& mirror_;
  Dispatcher& dispatcher_;
  Jobs& jobs_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_JOB_NEWS_H_
