#ifndef PI_INTERCOM_BROKER_STORAGE_SESSION_STORE_H_
#define PI_INTERCOM_BROKER_STORAGE_SESSION_STORE_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/storage/database.h"
#include "intercom/v1/envelope.pb.h"

namespace intercom {

// What is remembered of a session that has attached at least once.
struct SessionRow {
  std::string session_id;
  // Canonical path. Empty for peers.
  std::string workspace_root;
  std::string cwd;
  std::string scope;
  // The session's own name. May be empty.
  std::string name;
  std::string host_kind;
  std::string host_version;
  v1::Role role = v1::ROLE_UNSPECIFIED;
  // Counts the attachments, from 1. Set by Attach.
  int64_t epoch = 0;
  absl::Time attached_at;
  absl::Time last_seen_at;
  // The host process of the last attachment; 0 where it is not known.
  int64_t host_pid = 0;
  int64_t host_start_ticks = 0;
  // The launch that opened that host. Empty when a person did.
  std::string launch_job_id = {};
  // The address that its person pinned. Empty where there is none, or where it
  // is another session's.
  std::string stable_id = {};
  // The last delivery that it may have been offered: any, unless it is known to
  // have left since its last attachment.
  int64_t left_sequence = std::numeric_limits<int64_t>::max();
};

// Sessions by id, until Forget. Methods run in the caller's transaction, on the
// thread of `db`, which must outlive this object; errors as described at
// Database. The setters do nothing for an unknown session.
class SessionStore {
 public:
  explicit SessionStore(Database& db) : db_(db) {}

  // Stores `row` over what was known of the session and returns its epoch: one
  // more than the last, whatever `row.epoch` says.
  absl::StatusOr<int64_t> Attach(const SessionRow& row);

  absl::StatusOr<std::optional<SessionRow>> Find(std::string_view session_id);

  // Those of any scope whose id begins with `prefix`, by id.
  absl::StatusOr<std::vector<SessionRow>> FindAnyByPrefix(
      std::string_view prefix, int limit);

  // Sessions of one scope.
  //
  // Those that last went by this name, folded and not blank; the latest first.
  absl::StatusOr<std::vector<SessionRow>> FindNamed(
      std::string_view scope, std::string_view folded_name, int limit);
  // The one that had the stable id last.
  absl::StatusOr<std::optional<SessionRow>> FindByStableId(
      std::string_view scope, std::string_view stable_id);
  // By id.
  absl::StatusOr<std::vector<SessionRow>> FindByPrefix(std::string_view scope,
                                                       std::string_view prefix,
                                                       int limit);
  // The first `limit` that `accept` takes, of the `kMaxLooked` seen last, the
  // latest first.
  static constexpr int kMaxLooked = 2000;
  absl::StatusOr<std::vector<SessionRow>> LastSeen(
      std::string_view scope, int limit,
      absl::FunctionRef<bool(const SessionRow&)> accept);
  // Others with open mail that have the name or the stable id of `row` in its
  // directory and workspace; by id.
  absl::StatusOr<std::vector<SessionRow>> AlikeWithMail(const SessionRow& row,
                                                        int limit);

  // Those whose last host was opened by a launch of this launcher that
  // `requested_by` asked for; by id.
  absl::StatusOr<std::vector<SessionRow>> LaunchedBy(
      std::string_view requested_by, std::string_view launcher);

  // It is known to have left with this attachment, unless another came since:
  // nothing is offered to it from here on.
  absl::Status SetLeft(std::string_view session_id, int64_t epoch,
                       absl::Time at);
  absl::Status SetName(std::string_view session_id, std::string_view name);
  absl::Status SetStableId(std::string_view session_id,
                           std::string_view stable_id);

  // Forgets at most `limit` sessions that were last seen before `before`, the
  // longest away first, with their reports, handoffs, totals of runs, and lists
  // of dropped runs and lost notes. Never one that `attached` takes, that a
  // workspace's mirror names, that has open mail or sent some, or that has an
  // open ask, job or run, a run that it can still collect, or a note. Returns
  // how many; `limit` means that there may be more.
  absl::StatusOr<int> Forget(
      absl::Time before, int limit,
      absl::FunctionRef<bool(std::string_view session_id)> attached);

 private:
  Database& db_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_SESSION_STORE_H_
