#ifndef PI_INTERCOM_BROKER_WORK_RUN_NEWS_H_
#define PI_INTERCOM_BROKER_WORK_RUN_NEWS_H_

#include <set>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "broker/base/clock.h"
#include "broker/roster/registrar.h"
#include "broker/storage/note_store.h"
#include "broker/storage/run_store.h"
#include "broker/storage/state_runner.h"
#include "broker/work/headless_workers.h"
#include "broker/work/runs.h"
#include "intercom/v1/session.pb.h"

namespace intercom {

// Tells attached sessions of the runs that they work on, and of those that they
// supervise: at attach, and whenever it changes, once a batch.
//
// On the state's thread.
class RunTeller : public AttachmentObserver {
 public:
  static constexpr int kMaxTold = 64;

  // All must outlive this object.
  RunTeller(StateRunner& runner, Roster& roster, Runs& runs, RunStore& store,
            NoteStore& notes, const HeadlessWorkers& headless,
            const Clock& clock);

  // What there is to tell the session of its runs or notes changed.
  void Changed(const std::string& session_id);

  // After those that send Reconcile.
  void OnAttached(Attachment& attachment) override;
  void OnDetached(const Attachment& attachment, bool restarting) override;

 private:
  void TellChanges();
  void Tell(Attachment& attachment);
  absl::StatusOr<v1::OpenRuns> Describe(const std::string& worker) const;
  absl::StatusOr<v1::RunNews> DescribeNews(const std::string& supervisor) const;

  StateRunner& runner_;
  Roster& roster_;
  Runs& runs_;
  RunStore& store_;
  NoteStore& notes_;
  const HeadlessWorkers& headless_;
  const Clock& clock_;
  // Whose news changed since they were told.
  std::set<std::string> changed_;
  // Of attached sessions: what each was told last, as a hash; none for nothing.
  struct Last {
    std::string open_runs;
    std::string news;
  };
  absl::flat_hash_map<std::string, Last> last_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_RUN_NEWS_H_
