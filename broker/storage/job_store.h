#ifndef PI_INTERCOM_BROKER_STORAGE_JOB_STORE_H_
#define PI_INTERCOM_BROKER_STORAGE_JOB_STORE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/storage/database.h"
#include "intercom/v1/work.pb.h"

namespace intercom {

// What a coordinator was told of a job, in the order in which it is told.
enum class Told {
  kNothing = 0,
  // That it did not end: it takes long, or is uncertain.
  kOpen = 1,
  kEnd = 2,
};

// A job as it is stored.
struct JobRow {
  std::string job_id;
  v1::Job::Kind kind = v1::Job::KIND_UNSPECIFIED;
  // Canonical: the workspace's; of an open the directory.
  std::string root;
  // Empty for a create and an open until their session has attached.
  std::string session_id;
  std::string name;
  // The session that asked for it.
  std::string requested_by;
  v1::Job::State state = v1::Job::STATE_REQUESTED;
  std::string reason;
  std::string detail;
  absl::Time created_at;
  absl::Time updated_at;
  std::optional<absl::Time> deadline_at;
  std::string launcher;
  // Of the secret that a launched host shows. Empty: it launches nothing.
  std::string launch_token_hash;
  v1::HostIdentity identity;
  Told told = Told::kNothing;

  bool pending() const { return state <= v1::Job::STATE_SUBMITTED; }
  // Pending or uncertain.
  bool open() const { return pending() || state == v1::Job::STATE_UNCERTAIN; }
  // Whether it keeps everything else from its worker. A stop does not.
  bool fences() const {
    return open() && !session_id.empty() &&
           (kind == v1::Job::KIND_CLOSE || kind == v1::Job::KIND_RESUME);
  }
  bool is_launch() const {
    return kind == v1::Job::KIND_CREATE || kind == v1::Job::KIND_RESUME ||
           kind == v1::Job::KIND_OPEN;
  }
};

// Jobs by id. Methods run in the caller's transaction, on the thread of `db`,
// which must outlive this object; errors as described at Database.
class JobStore {
 public:
  explicit JobStore(Database& db) : db_(db) {}

  // Adds a job, or stores it over what was known of it. What was told stays
  // told.
  absl::Status Put(const JobRow& row);

  absl::StatusOr<std::optional<JobRow>> Find(std::string_view job_id);
  // At most `limit` jobs whose id begins with `prefix`, by id.
  absl::StatusOr<std::vector<JobRow>> FindByPrefix(std::string_view prefix,
                                                   int limit);
  absl::StatusOr<std::optional<JobRow>> FindByToken(std::string_view hash);

  // Whether the session began a launch by this launcher.
  absl::StatusOr<bool> HasLaunched(std::string_view requested_by,
                                   std::string_view launcher);

  // Open jobs, by id: all, or those of one session in one workspace.
  absl::StatusOr<std::vector<JobRow>> Open();
  absl::StatusOr<std::vector<JobRow>> OpenOf(std::string_view root,
                                             std::string_view session_id);
  // Open jobs of a kind in a workspace.
  absl::StatusOr<int> CountOpen(std::string_view root, v1::Job::Kind kind);
  // Jobs that ended or are uncertain, of which that was not told, by id.
  absl::StatusOr<std::vector<JobRow>> Untold();
  // Pending jobs of a kind in a workspace.
  absl::StatusOr<int> CountPending(std::string_view root, v1::Job::Kind kind);

  // The newest job of a kind of one session.
  absl::StatusOr<std::optional<JobRow>> LatestOf(std::string_view root,
                                                 std::string_view session_id,
                                                 v1::Job::Kind kind);
  // Open ones first, then the newest: of a workspace, or of all where `root` is
  // empty.
  absl::StatusOr<std::vector<JobRow>> Latest(std::string_view root, int limit);

  // Forgets at most `limit` jobs that ended before `before`, but for launches
  // of headless workers whose sessions are known; returns how many.
  absl::StatusOr<int> Prune(absl::Time before, int limit);

 private:
  Database& db_;
};

// What closed workers left, by root and session. As JobStore.
class HandoffStore {
 public:
  explicit HandoffStore(Database& db) : db_(db) {}

  // Stores it over the session's earlier one.
  absl::Status Put(std::string_view root, std::string_view session_id,
                   const v1::Handoff& handoff);
  absl::StatusOr<std::optional<v1::Handoff>> Find(std::string_view root,
                                                  std::string_view session_id);
  absl::Status Remove(std::string_view root, std::string_view session_id);

 private:
  Database& db_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_JOB_STORE_H_
