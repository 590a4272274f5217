#include "broker/storage/run_store.h"

#include <algorithm>

#include "broker/base/status_macros.h"

namespace intercom {
namespace {

// ?1 root, ?2 session, ?3 only open ones.
#define INTERCOM_RUN_FILTER                                            \
  "(?1 = '' OR root = ?1) AND (?2 = '' OR supervisor_session_id = ?2 " \
  "  OR worker_session_id = ?2) AND (?3 = 0 OR state < 3)"

#define INTERCOM_RUN_COLUMNS                                                \
  "number, delivery_id, supervisor_session_id, supervisor_name, "           \
  "worker_session_id, worker_name, root, headless, label, state, "          \
  "opened_at_us, started_at_us, last_advance_at_us, settled_at_us, turns, " \
  "usage, model, reason, detail, stop_when_idle_us, stop_after_us, "        \
  "stop_requested_at_us, stalled_told, collected, announced, fellow_messages"

constexpr char kNextNumberSql[] =
    "SELECT MAX(?, COALESCE((SELECT MAX(number) FROM runs), 0) + 1, "
    "  COALESCE((SELECT MAX(number) FROM dropped_runs), 0) + 1)";

constexpr char kAddSql[] = "INSERT INTO runs (" INTERCOM_RUN_COLUMNS
                           ", result) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                           "?, ?, ?, ?, ?, ?, ?, ?, "
                           "?, ?, ?, ?, ?, ?, ?, x'')";

constexpr char kRestoreSql[] =
    "INSERT OR IGNORE INTO runs (" INTERCOM_RUN_COLUMNS
    ", result) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
    "?, "
    "?, ?, ?, ?, ?, ?, ?, x'')";

constexpr char kPutSql[] =
    "UPDATE runs SET worker_session_id = ?, state = ?, started_at_us = ?, "
    "  last_advance_at_us = ?, settled_at_us = ?, turns = ?, usage = ?, "
    "  model = ?, reason = ?, detail = ?, stop_requested_at_us = ?, "
    "  stalled_told = ?, collected = ?, announced = ?, fellow_messages = ? "
    "WHERE number = ?";

constexpr char kUntold[] = "state >= 3 AND collected = 0 AND announced = 0";

int64_t Micros(absl::Duration duration) {
  return absl::ToInt64Microseconds(duration);
}

RunRow ReadRow(const Statement& row) {
  RunRow run;
  run.number = row.Int64(0);
  run.delivery_id = row.String(1);
  run.supervisor_session_id = row.String(2);
  run.supervisor_name = row.String(3);
  run.worker_session_id = row.String(4);
  run.worker_name = row.String(5);
  run.root = row.String(6);
  run.headless = row.Bool(7);
  run.label = row.String(8);
  run.state = static_cast<v1::Run::State>(row.Int(9));
  run.opened_at = row.Time(10);
  run.started_at = row.OptionalTime(11);
  run.last_advance_at = row.OptionalTime(12);
  run.settled_at = row.OptionalTime(13);
  run.turns = row.Int64(14);
  if (!run.usage.ParseFromString(row.Bytes(15))) run.usage.Clear();
  run.model = row.String(16);
  run.reason = row.String(17);
  run.detail = row.String(18);
  run.stop_when_idle = absl::Microseconds(row.Int64(19));
  run.stop_after = absl::Microseconds(row.Int64(20));
  run.stop_requested_at = row.OptionalTime(21);
  run.stalled_told = row.Bool(22);
  run.collected = row.Bool(23);
  run.announced = row.Int64(24);
  run.fellow_messages = row.Int64(25);
  return run;
}

void BindWhole(Statement& statement, const RunRow& run,
               const std::string& usage) {
  statement.Bind(run.number, run.delivery_id, run.supervisor_session_id,
                 run.supervisor_name, run.worker_session_id, run.worker_name,
                 run.root, run.headless, run.label, run.state, run.opened_at,
                 run.started_at, run.last_advance_at, run.settled_at, run.turns,
                 Blob{usage}, run.model, run.reason, run.detail,
                 Micros(run.stop_when_idle), Micros(run.stop_after),
                 run.stop_requested_at, run.stalled_told, run.collected,
                 run.announced, run.fellow_messages);
}

absl::StatusOr<std::vector<RunRow>> ReadRows(Statement& rows) {
  std::vector<RunRow> runs;
  while (true) {
    INTERCOM_ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return runs;
    runs.push_back(ReadRow(rows));
  }
}

absl::StatusOr<std::optional<RunRow>> ReadOne(Statement& rows) {
  INTERCOM_ASSIGN_OR_RETURN(const bool row, rows.Step());
  if (!row) return std::nullopt;
  return ReadRow(rows);
}

absl::StatusOr<std::vector<int64_t>> ReadNumbers(Statement& rows) {
  std::vector<int64_t> numbers;
  while (true) {
    INTERCOM_ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return numbers;
    numbers.push_back(rows.Int64(0));
  }
}

absl::StatusOr<bool> HasRow(Statement& rows) { return rows.Step(); }

absl::StatusOr<RunTotals> SumTotals(Statement& rows) {
  RunTotals sum;
  while (true) {
    INTERCOM_ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return sum;
    sum.runs += rows.Int64(0);
    sum.turns += rows.Int64(1);
    v1::Usage usage;
    if (usage.ParseFromString(rows.Bytes(2))) AddUsage(usage, sum.usage);
  }
}

}  // namespace

void AddUsage(const v1::Usage& more, v1::Usage& sum) {
  sum.set_input_tokens(sum.input_tokens() + more.input_tokens());
  sum.set_output_tokens(sum.output_tokens() + more.output_tokens());
  sum.set_cache_read_tokens(sum.cache_read_tokens() + more.cache_read_tokens());
  sum.set_cache_write_tokens(sum.cache_write_tokens() +
                             more.cache_write_tokens());
  sum.set_cost(sum.cost() + more.cost());
}

absl::Status RunStore::Add(int64_t sequence, RunRow& run) {
  INTERCOM_ASSIGN_OR_RETURN(Statement next, db_.Prepare(kNextNumberSql));
  next.Bind(sequence);
  INTERCOM_RETURN_IF_ERROR(next.Step().status());
  run.number = next.Int64(0);
  const std::string usage = run.usage.SerializeAsString();
  INTERCOM_ASSIGN_OR_RETURN(Statement add, db_.Prepare(kAddSql));
  BindWhole(add, run, usage);
  return add.Run();
}

absl::Status RunStore::Restore(const RunRow& run) {
  const std::string usage = run.usage.SerializeAsString();
  INTERCOM_ASSIGN_OR_RETURN(Statement add, db_.Prepare(kRestoreSql));
  BindWhole(add, run, usage);
  return add.Run();
}

absl::Status RunStore::Put(const RunRow& run) {
  const std::string usage = run.usage.SerializeAsString();
  INTERCOM_ASSIGN_OR_RETURN(Statement put, db_.Prepare(kPutSql));
  put.Bind(run.worker_session_id, run.state, run.started_at,
           run.last_advance_at, run.settled_at, run.turns, Blob{usage},
           run.model, run.reason, run.detail, run.stop_requested_at,
           run.stalled_told, run.collected, run.announced, run.fellow_messages,
           run.number);
  return put.Run();
}

absl::Status RunStore::SetResult(int64_t number, const v1::RunResult& result) {
  const std::string bytes = result.SerializeAsString();
  INTERCOM_ASSIGN_OR_RETURN(
      Statement set,
      db_.Prepare("UPDATE runs SET result = ? WHERE number = ?"));
  set.Bind(Blob{bytes}, number);
  return set.Run();
}

absl::Status RunStore::AddFirstStop(int64_t number,
                                    std::string_view request_id) {
  INTERCOM_ASSIGN_OR_RETURN(Statement add,
                            db_.Prepare("INSERT OR IGNORE INTO run_stops "
                                        "(number, request_id) VALUES (?, ?)"));
  add.Bind(number, request_id);
  return add.Run();
}

absl::StatusOr<std::optional<std::string>> RunStore::FirstStop(int64_t number) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement find,
      db_.Prepare("SELECT request_id FROM run_stops WHERE number = ?"));
  find.Bind(number);
  INTERCOM_ASSIGN_OR_RETURN(const bool found, find.Step());
  if (!found) return std::nullopt;
  return find.String(0);
}

absl::StatusOr<v1::RunResult> RunStore::Result(int64_t number) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement find, db_.Prepare("SELECT result FROM runs WHERE number = ?"));
  find.Bind(number);
  v1::RunResult result;
  INTERCOM_ASSIGN_OR_RETURN(const bool row, find.Step());
  if (row && !result.ParseFromString(find.Bytes(0))) result.Clear();
  return result;
}

absl::StatusOr<std::optional<RunRow>> RunStore::Find(int64_t number) {
  INTERCOM_ASSIGN_OR_RETURN(Statement find,
                            db_.Prepare("SELECT " INTERCOM_RUN_COLUMNS
                                        " FROM runs WHERE number = ?"));
  find.Bind(number);
  return ReadOne(find);
}

absl::StatusOr<std::optional<RunRow>> RunStore::FindByDelivery(
    std::string_view delivery_id) {
  INTERCOM_ASSIGN_OR_RETURN(Statement find,
                            db_.Prepare("SELECT " INTERCOM_RUN_COLUMNS
                                        " FROM runs WHERE delivery_id = ?"));
  find.Bind(delivery_id);
  return ReadOne(find);
}

absl::StatusOr<std::vector<RunRow>> RunStore::AllOpen() {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement open,
      db_.Prepare("SELECT " INTERCOM_RUN_COLUMNS
                  " FROM runs WHERE state < 3 ORDER BY number"));
  open.Bind();
  return ReadRows(open);
}

absl::StatusOr<RunStore::Listed> RunStore::List(const Filter& filter) {
  Listed listed;
  INTERCOM_ASSIGN_OR_RETURN(Statement list,
                            db_.Prepare("SELECT " INTERCOM_RUN_COLUMNS
                                        " FROM runs WHERE " INTERCOM_RUN_FILTER
                                        " ORDER BY number DESC LIMIT ?4"));
  list.Bind(filter.root, filter.session_id, filter.open, filter.limit);
  INTERCOM_ASSIGN_OR_RETURN(listed.runs, ReadRows(list));
  INTERCOM_ASSIGN_OR_RETURN(
      Statement count,
      db_.Prepare("SELECT COUNT(*) FROM runs WHERE " INTERCOM_RUN_FILTER));
  count.Bind(filter.root, filter.session_id, filter.open);
  INTERCOM_RETURN_IF_ERROR(count.Step().status());
  listed.left_out = count.Int64(0) - static_cast<int64_t>(listed.runs.size());
  return listed;
}

absl::StatusOr<std::vector<RunRow>> RunStore::OpenOfSupervisor(
    std::string_view supervisor) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement open,
      db_.Prepare("SELECT " INTERCOM_RUN_COLUMNS
                  " FROM runs WHERE supervisor_session_id = ? AND state < 3 "
                  "ORDER BY number"));
  open.Bind(supervisor);
  return ReadRows(open);
}

absl::StatusOr<std::vector<RunRow>> RunStore::OpenOfWorker(
    std::string_view worker) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement open,
      db_.Prepare("SELECT " INTERCOM_RUN_COLUMNS
                  " FROM runs WHERE worker_session_id = ? AND state < 3 "
                  "ORDER BY number"));
  open.Bind(worker);
  return ReadRows(open);
}

absl::StatusOr<std::vector<RunRow>> RunStore::Untold(
    std::string_view supervisor, int limit) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement untold,
      db_.Prepare(
          std::string("SELECT " INTERCOM_RUN_COLUMNS
                      " FROM runs WHERE supervisor_session_id = ? AND ") +
          kUntold + " ORDER BY number LIMIT ?"));
  untold.Bind(supervisor, limit);
  return ReadRows(untold);
}

absl::StatusOr<int64_t> RunStore::CountUntold(std::string_view supervisor) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement count,
      db_.Prepare(std::string("SELECT COUNT(*) FROM runs "
                              "WHERE supervisor_session_id = ? AND ") +
                  kUntold));
  count.Bind(supervisor);
  INTERCOM_RETURN_IF_ERROR(count.Step().status());
  return count.Int64(0);
}

absl::Status RunStore::Retain(std::string_view supervisor,
                              const Retention& retention) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement count,
      db_.Prepare("SELECT COUNT(*), COALESCE(SUM(collected), 0), "
                  "  COALESCE(SUM(collected = 0 AND announced = 0), 0) "
                  "FROM runs WHERE supervisor_session_id = ? AND state >= 3"));
  count.Bind(supervisor);
  INTERCOM_RETURN_IF_ERROR(count.Step().status());
  const int64_t settled = count.Int64(0);
  const int64_t untold = count.Int64(2);
  const int64_t droppable =
      retention.only_collected ? count.Int64(1) : settled - untold;
  const int64_t told_to_drop =
      std::clamp<int64_t>(settled - retention.kept, 0, droppable);
  const int64_t untold_to_drop =
      std::max<int64_t>(untold - retention.most_untold, 0);
  const auto drop = [&](std::string_view which, int64_t many) -> absl::Status {
    if (many == 0) return absl::OkStatus();
    INTERCOM_ASSIGN_OR_RETURN(Statement oldest, db_.Prepare(which));
    oldest.Bind(supervisor, many);
    INTERCOM_ASSIGN_OR_RETURN(const auto numbers, ReadNumbers(oldest));
    for (const int64_t number : numbers) {
      INTERCOM_RETURN_IF_ERROR(Drop(supervisor, number));
    }
    return absl::OkStatus();
  };
  INTERCOM_RETURN_IF_ERROR(
      drop("SELECT number FROM runs WHERE supervisor_session_id = ? "
           "AND state >= 3 AND (collected <> 0 OR announced <> 0) "
           "ORDER BY collected DESC, number LIMIT ?",
           told_to_drop));
  return drop(
      "SELECT number FROM runs WHERE supervisor_session_id = ? "
      "AND state >= 3 AND collected = 0 AND announced = 0 "
      "ORDER BY number LIMIT ?",
      untold_to_drop);
}

absl::StatusOr<int> RunStore::Prune(absl::Time before, int limit) {
  struct Old {
    std::string supervisor;
    int64_t number = 0;
  };
  std::vector<Old> old;
  {
    INTERCOM_ASSIGN_OR_RETURN(
        Statement rows,
        db_.Prepare("SELECT supervisor_session_id, number FROM runs "
                    "WHERE state >= 3 AND settled_at_us < ? "
                    "ORDER BY number LIMIT ?"));
    rows.Bind(before, limit);
    while (true) {
      INTERCOM_ASSIGN_OR_RETURN(const bool row, rows.Step());
      if (!row) break;
      old.push_back({rows.String(0), rows.Int64(1)});
    }
  }
  for (const Old& run : old) {
    INTERCOM_RETURN_IF_ERROR(Drop(run.supervisor, run.number));
  }
  return static_cast<int>(old.size());
}

absl::Status RunStore::Drop(std::string_view supervisor, int64_t number) {
  INTERCOM_ASSIGN_OR_RETURN(Statement remove,
                            db_.Prepare("DELETE FROM runs WHERE number = ?"));
  remove.Bind(number);
  INTERCOM_RETURN_IF_ERROR(remove.Run());
  return AddDropped(supervisor, number);
}

absl::Status RunStore::AddDropped(std::string_view supervisor, int64_t number) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement add,
      db_.Prepare("INSERT OR IGNORE INTO dropped_runs "
                  "(supervisor_session_id, number) VALUES (?, ?)"));
  add.Bind(supervisor, number);
  INTERCOM_RETURN_IF_ERROR(add.Run());
  INTERCOM_ASSIGN_OR_RETURN(
      Statement forget,
      db_.Prepare("DELETE FROM dropped_runs WHERE supervisor_session_id = ?1 "
                  "AND number <= (SELECT number FROM dropped_runs "
                  "  WHERE supervisor_session_id = ?1 "
                  "  ORDER BY number DESC LIMIT 1 OFFSET ?2)"));
  forget.Bind(supervisor, kDroppedKept);
  return forget.Run();
}

absl::StatusOr<bool> RunStore::IsDropped(std::string_view supervisor,
                                         int64_t number) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement find,
      db_.Prepare("SELECT number FROM dropped_runs "
                  "WHERE supervisor_session_id = ? AND number = ?"));
  find.Bind(supervisor, number);
  return HasRow(find);
}

absl::StatusOr<bool> RunStore::HasSupervised(std::string_view session_id) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement find,
      db_.Prepare("SELECT number FROM runs WHERE supervisor_session_id = ?1 "
                  "UNION ALL SELECT number FROM dropped_runs "
                  "WHERE supervisor_session_id = ?1 LIMIT 1"));
  find.Bind(session_id);
  return HasRow(find);
}

absl::Status RunStore::AddToTotals(const RunRow& run) {
  INTERCOM_ASSIGN_OR_RETURN(RunTotals totals,
                            TotalsOf(run.root, run.worker_session_id));
  ++totals.runs;
  totals.turns += run.turns;
  AddUsage(run.usage, totals.usage);
  return PutTotals(run.root, run.worker_session_id, totals);
}

absl::Status RunStore::PutTotals(std::string_view root, std::string_view worker,
                                 const RunTotals& totals) {
  const std::string usage = totals.usage.SerializeAsString();
  INTERCOM_ASSIGN_OR_RETURN(
      Statement put,
      db_.Prepare("INSERT INTO run_totals "
                  "(root, worker_session_id, runs, turns, usage) "
                  "VALUES (?, ?, ?, ?, ?) "
                  "ON CONFLICT (root, worker_session_id) DO UPDATE SET "
                  "  runs = excluded.runs, turns = excluded.turns, "
                  "  usage = excluded.usage"));
  put.Bind(root, worker, totals.runs, totals.turns, Blob{usage});
  return put.Run();
}

absl::StatusOr<RunTotals> RunStore::TotalsOf(std::string_view root,
                                             std::string_view worker) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement find, db_.Prepare("SELECT runs, turns, usage FROM run_totals "
                                  "WHERE root = ? AND worker_session_id = ?"));
  find.Bind(root, worker);
  return SumTotals(find);
}

absl::StatusOr<RunTotals> RunStore::TotalsIn(std::string_view root) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement find, db_.Prepare("SELECT runs, turns, usage FROM run_totals "
                                  "WHERE root = ? ORDER BY worker_session_id"));
  find.Bind(root);
  return SumTotals(find);
}

}  // namespace intercom
