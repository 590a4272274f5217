#ifndef PI_INTERCOM_BROKER_WORK_CLOSE_RECORD_H_
#define PI_INTERCOM_BROKER_WORK_CLOSE_RECORD_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "broker/config/config_lanes.h"
#include "broker/roster/workspace_mirror.h"
#include "intercom/v1/work.pb.h"

namespace intercom {

// Keeps the public record of close jobs, `closeJob` and `handoff` of their
// workers' entries in config.json. It decides nothing: the jobs themselves are
// in the store.
//
// On the state's thread.
class CloseRecord {
 public:
  static constexpr int kAttempts = 3;

  // All must outlive this object.
  CloseRecord(StateRunner& runner, ConfigLanes& lanes, WorkspaceMirror& mirror)
      : runner_(runner), lanes_(lanes), mirror_(mirror) {}

  // Publishes how `job` is now, with the handoff that it has brought by now: an
  // editor may have put an older file in place of the one that had it. What
  // can't be published is in the log, and is tried again when the job changes
  // or its workspace is mirrored anew.
  void Publish(const v1::Job& job, const std::optional<v1::Handoff>& handoff);

  // Publishes the handoff with the job. `done` is called with whether it is in
  // the file; after a timeout it may be all the same.
  void PublishHandoff(const v1::Job& job, const v1::Handoff& handoff,
                      absl::AnyInvocable<void(const absl::Status&)> done);

  // The config of a workspace was mirrored.
  void OnMirrored(const Workspace& workspace);

 private:
  struct Unpublished {
    v1::Job job;
    std::optional<v1::Handoff> handoff;
    bool under_way = false;
    // Tells this word on the job from a later one.
    int64_t ticket = 0;
  };

  void Update(const v1::Job& job, const std::optional<v1::Handoff>& handoff,
              absl::AnyInvocable<void(const absl::Status&)> done);
  // Edits, and once more when somebody else has saved the file meanwhile, for
  // as long as it is the latest word on the job.
  void Try(const v1::Job& job, ConfigLanes::Edit edit, int64_t ticket,
           int attempts, absl::AnyInvocable<void(const absl::Status&)> done);
  void Mirror(ConfigSnapshotPtr snapshot);

  StateRunner& runner_;
  ConfigLanes& lanes_;
  WorkspaceMirror& mirror_;
  // By job id.
  std::map<std::string, Unpublished> unpublished_;
  int64_t last_ticket_ = 0;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_CLOSE_RECORD_H_
