#ifndef PI_INTERCOM_BROKER_STORAGE_RUN_STORE_H_
#define PI_INTERCOM_BROKER_STORAGE_RUN_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/storage/database.h"
#include "intercom/v1/run.pb.h"

namespace intercom {

// What is stored of a run beside its result.
struct RunRow {
  // run-<number>. Set by Add.
  int64_t number = 0;
  std::string delivery_id;
  std::string supervisor_session_id;
  std::string supervisor_name;
  std::string worker_session_id;
  std::string worker_name;
  // The supervisor's workspace. Empty for peers.
  std::string root;
  bool headless = false;
  std::string label;
  v1::Run::State state = v1::Run::STATE_WAITING;
  absl::Time opened_at;
  std::optional<absl::Time> started_at = {};
  // While it waits: since when it does so again, if it was running before.
  std::optional<absl::Time> last_advance_at = {};
  std::optional<absl::Time> settled_at = {};
  int64_t turns = 0;
  v1::Usage usage = {};
  std::string model = {};
  // While it is open: what it is being stopped for, if it is.
  std::string reason = {};
  // While it is open: what is not sure of its message, or went wrong with its
  // stop.
  std::string detail = {};
  // Zero: never.
  absl::Duration stop_when_idle = absl::ZeroDuration();
  absl::Duration stop_after = absl::ZeroDuration();
  std::optional<absl::Time> stop_requested_at = {};
  // That it stalled was told since its last advance.
  bool stalled_told = false;
  bool collected = false;
  // How often its end was put into the supervisor's session.
  int64_t announced = 0;
  int64_t fellow_messages = 0;

  bool open() const { return state < v1::Run::STATE_DONE; }
};

// What settled runs took.
struct RunTotals {
  int64_t runs = 0;
  int64_t turns = 0;
  v1::Usage usage = {};
};

// Adds up what models cost.
void AddUsage(const v1::Usage& more, v1::Usage& sum);

// Runs by number, which orders them by opening. Methods run in the caller's
// transaction, on the thread of `db`, which must outlive this object; errors as
// described at Database. Lists are the oldest first.
class RunStore {
 public:
  // Ids of dropped runs that are remembered for a supervisor.
  static constexpr int kDroppedKept = 256;

  explicit RunStore(Database& db) : db_(db) {}

  // Stores a new run: its number is at least `sequence`, greater than any
  // before, and put into `run`. The delivery must have no run yet.
  absl::Status Add(int64_t sequence, RunRow& run);
  // Stores a run as it is, with its number, unless its number or its delivery
  // has one.
  absl::Status Restore(const RunRow& run);
  // Stores what can change of a run.
  absl::Status Put(const RunRow& run);
  absl::Status SetResult(int64_t number, const v1::RunResult& result);
  // Keeps the request id of the supervisor's first stop; a later one changes
  // nothing.
  absl::Status AddFirstStop(int64_t number, std::string_view request_id);
  // nullopt before it.
  absl::StatusOr<std::optional<std::string>> FirstStop(int64_t number);
  // Empty for an unknown run.
  absl::StatusOr<v1::RunResult> Result(int64_t number);

  absl::StatusOr<std::optional<RunRow>> Find(int64_t number);
  absl::StatusOr<std::optional<RunRow>> FindByDelivery(
      std::string_view delivery_id);
  absl::StatusOr<std::vector<RunRow>> AllOpen();
  absl::StatusOr<std::vector<RunRow>> OpenOfSupervisor(
      std::string_view supervisor);
  absl::StatusOr<std::vector<RunRow>> OpenOfWorker(std::string_view worker);

  // The newest first, as many as `limit`, and how many more there are. Empty
  // fields do not restrict. For a Reader's connection.
  struct Filter {
    std::string root = {};
    // Supervisor or worker.
    std::string session_id = {};
    bool open = false;
    int limit = 50;
  };
  struct Listed {
    std::vector<RunRow> runs;
    int64_t left_out = 0;
  };
  absl::StatusOr<Listed> List(const Filter& filter);

  // Settled ones, neither collected nor announced: the first `limit`, and how
  // many there are.
  absl::StatusOr<std::vector<RunRow>> Untold(std::string_view supervisor,
                                             int limit);
  absl::StatusOr<int64_t> CountUntold(std::string_view supervisor);

  // Drops the settled runs that are too many: over `kept` those that were
  // collected, and, unless `only_collected`, those that were announced; over
  // `most_untold` also those that were neither. The oldest first.
  struct Retention {
    int64_t kept = 0;
    int64_t most_untold = 0;
    bool only_collected = false;
  };
  absl::Status Retain(std::string_view supervisor, const Retention& retention);
  // Drops at most `limit` runs that settled before `before`; returns how many.
  absl::StatusOr<int> Prune(absl::Time before, int limit);
  absl::StatusOr<bool> IsDropped(std::string_view supervisor, int64_t number);
  // Remembers a run as dropped.
  absl::Status AddDropped(std::string_view supervisor, int64_t number);
  // Whether the session ever had a run.
  absl::StatusOr<bool> HasSupervised(std::string_view session_id);

  // Adds a settled run to the totals of its worker.
  absl::Status AddToTotals(const RunRow& run);
  // Stores totals over what was known.
  absl::Status PutTotals(std::string_view root, std::string_view worker,
                         const RunTotals& totals);
  absl::StatusOr<RunTotals> TotalsOf(std::string_view root,
                                     std::string_view worker);
  // Of a workspace.
  absl::StatusOr<RunTotals> TotalsIn(std::string_view root);

 private:
  absl::Status Drop(std::string_view supervisor, int64_t number);

  Database& db_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_RUN_STORE_H_
