#include "broker/storage/salvage.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "broker/base/status_macros.h"
#include "broker/storage/ask_store.h"
#include "broker/storage/channel_store.h"
#include "broker/storage/delivery_row.h"
#include "broker/storage/delivery_store.h"
#include "broker/storage/job_store.h"
#include "broker/storage/note_store.h"
#include "broker/storage/report_store.h"
#include "broker/storage/run_store.h"
#include "broker/storage/session_store.h"
#include "broker/storage/workspace_store.h"

namespace intercom {
namespace {

// How many sequences in a row may be unreadable before the rest is given up.
constexpr int64_t kMaxGap = 100'000;

constexpr char kDeliveriesSql[] =
    "SELECT sequence, state, ended, delivered_at_us, delivered_evidence "
    "FROM deliveries WHERE sequence >= ? ORDER BY sequence LIMIT 1";

// Reads the index alone, which has pages of its own.
constexpr char kOpenIndexSql[] =
    "SELECT recipient_session_id, sequence FROM deliveries "
    "INDEXED BY deliveries_open WHERE state < 3 AND ended = 0 "
    "ORDER BY recipient_session_id, sequence";

constexpr char kEnvelopesSql[] =
    "SELECT sequence, sender_session_id, envelope_id, kind, topic, reply_to, "
    "  quiet, supersedes, sender_name, sender_origin, sender_role, "
    "  sender_workspace_root, recipient_session_id, recipient_name, scope, "
    "  accepted_at_us, expires_at_us, text, retry_of, attachments, "
    "  reply_within_us "
    "FROM envelopes WHERE sequence >= ? ORDER BY sequence LIMIT 1";

struct OpenState {
  int64_t delivered_at_us = 0;
  std::string delivered_evidence;
};

// What is known of the deliveries' states.
struct States {
  absl::flat_hash_map<int64_t, OpenState> open;
  absl::flat_hash_set<int64_t> settled;
  // From the index; says all when it could be read to its end.
  absl::flat_hash_set<int64_t> indexed;
  bool index_is_whole = false;

  bool KnowsOpen(int64_t sequence) const {
    return open.contains(sequence) ||
           (!settled.contains(sequence) && indexed.contains(sequence));
  }
  bool MayBeOpen(int64_t sequence) const {
    if (open.contains(sequence)) return true;
    if (settled.contains(sequence)) return false;
    return !index_is_whole || indexed.contains(sequence);
  }
};

// Calls `each` for every row of `sql`, one row a query from a first sequence
// on, that can be read; stops at an error of `each`.
absl::Status ForEachReadable(
    Database& db, std::string_view sql,
    absl::FunctionRef<absl::Status(const Statement&)> each) {
  int64_t gap = 0;
  for (int64_t next = 0; gap < kMaxGap;) {
    absl::StatusOr<Statement> query = db.Prepare(sql);
    if (!query.ok()) return absl::OkStatus();
    query->Bind(next);
    const absl::StatusOr<bool> row = query->Step();
    if (!row.ok()) {
      ++next;
      ++gap;
      continue;
    }
    // A damaged page may claim anything, but not a smaller key.
    if (!*row || query->Int64(0) < next) return absl::OkStatus();
    next = query->Int64(0) + 1;
    gap = 0;
    INTERCOM_RETURN_IF_ERROR(each(*query));
  }
  return absl::OkStatus();
}

States ReadStates(Database& db) {
  States states;
  ForEachReadable(db, kDeliveriesSql, [&](const Statement& row) {
    const bool open = row.Int(1) < v1::DELIVERY_STATE_INJECTED &&
                      row.Int(2) == v1::DELIVERY_END_UNSPECIFIED;
    if (open) {
      states.open[row.Int64(0)] = {.delivered_at_us = row.Int64(3),
                                   .delivered_evidence = row.String(4)};
    } else {
      states.settled.insert(row.Int64(0));
    }
    return absl::OkStatus();
  }).IgnoreError();

  absl::StatusOr<Statement> index = db.Prepare(kOpenIndexSql);
  if (!index.ok()) return states;
  index->Bind();
  absl::StatusOr<bool> row = index->Step();
  for (; row.ok() && *row; row = index->Step()) {
    states.indexed.insert(index->Int64(1));
  }
  states.index_is_whole = row.ok();
  return states;
}

NewDelivery ReadEnvelope(const Statement& row) {
  NewDelivery delivery;
  delivery.sender.set_session_id(row.String(1));
  delivery.envelope.set_envelope_id(row.String(2));
  delivery.envelope.set_kind(static_cast<v1::EnvelopeKind>(row.Int(3)));
  delivery.envelope.set_topic(row.String(4));
  delivery.envelope.set_reply_to(row.String(5));
  delivery.envelope.set_quiet(row.Bool(6));
  delivery.envelope.set_supersedes(row.String(7));
  delivery.envelope.set_text(row.String(17));
  SetExtras(row, 18, delivery.envelope);
  delivery.sender.set_name(row.String(8));
  delivery.sender.set_origin(static_cast<v1::Origin>(row.Int(9)));
  delivery.sender.set_role(static_cast<v1::Role>(row.Int(10)));
  delivery.sender.set_workspace_root(row.String(11));
  delivery.recipient_session_id = row.String(12);
  delivery.recipient_name = row.String(13);
  delivery.scope = row.String(14);
  delivery.accepted_at = row.Time(15);
  delivery.expires_at = row.OptionalTime(16);
  delivery.wait_reason = v1::WAIT_REASON_AWAY;
  return delivery;
}

absl::Status SalvageDeliveries(Database& damaged, Database& fresh,
                               Salvaged& salvaged) {
  const States states = ReadStates(damaged);
  absl::flat_hash_set<int64_t> read;
  DeliveryStore store(fresh);
  const auto copy = [&](const Statement& row) -> absl::Status {
    const int64_t sequence = row.Int64(0);
    if (!states.MayBeOpen(sequence)) return absl::OkStatus();
    NewDelivery delivery = ReadEnvelope(row);
    // Not rows of ours, or read from a page that is none.
    if (delivery.envelope.envelope_id().empty() ||
        delivery.sender.session_id().empty() ||
        delivery.recipient_session_id.empty()) {
      return absl::OkStatus();
    }
    const absl::StatusOr<InsertedDelivery> inserted =
        store.Insert(std::move(delivery));
    if (absl::IsAlreadyExists(inserted.status())) return absl::OkStatus();
    INTERCOM_RETURN_IF_ERROR(inserted.status());
    read.insert(sequence);
    if (inserted->existed) return absl::OkStatus();
    ++salvaged.deliveries;
    const auto state = states.open.find(sequence);
    if (state == states.open.end()) {
      if (!states.KnowsOpen(sequence)) ++salvaged.of_unknown_state;
      return absl::OkStatus();
    }
    if (state->second.delivered_at_us == 0) return absl::OkStatus();
    return store
        .Mark(inserted->record.sequence(), v1::DELIVERY_STATE_DELIVERED,
              absl::FromUnixMicros(state->second.delivered_at_us),
              state->second.delivered_evidence)
        .status();
  };
  INTERCOM_RETURN_IF_ERROR(ForEachReadable(damaged, kEnvelopesSql, copy));
  for (const auto& [sequence, state] : states.open) {
    if (!read.contains(sequence)) ++salvaged.lost;
  }
  for (const int64_t sequence : states.indexed) {
    if (!states.open.contains(sequence) && states.KnowsOpen(sequence) &&
        !read.contains(sequence)) {
      ++salvaged.lost;
    }
  }
  return absl::OkStatus();
}

// Best effort: up to the first damage.
absl::Status SalvagePlaces(Database& damaged, Database& fresh) {
  WorkspaceStore from_workspaces(damaged);
  if (const auto rows = from_workspaces.All(); rows.ok()) {
    for (const WorkspaceRow& row : *rows) {
      if (row.coordinator_session_id.empty()) continue;
      INTERCOM_RETURN_IF_ERROR(WorkspaceStore(fresh).PinCoordinator(
          row.root, row.coordinator_session_id));
    }
  }
  absl::StatusOr<Statement> ids =
      damaged.Prepare("SELECT session_id FROM sessions ORDER BY session_id");
  if (!ids.ok()) return absl::OkStatus();
  ids->Bind();
  SessionStore from_sessions(damaged);
  for (absl::StatusOr<bool> row = ids->Step(); row.ok() && *row;
       row = ids->Step()) {
    const auto session = from_sessions.Find(ids->Text(0));
    if (!session.ok() || !session->has_value()) continue;
    INTERCOM_RETURN_IF_ERROR(SessionStore(fresh).Attach(**session).status());
  }
  return absl::OkStatus();
}

// Each job for itself: what fences a worker must not be lost over the damage of
// another.
absl::Status SalvageJobs(Database& damaged, Database& fresh) {
  absl::StatusOr<Statement> ids =
      damaged.Prepare("SELECT job_id FROM jobs ORDER BY job_id");
  if (!ids.ok()) return absl::OkStatus();
  ids->Bind();
  JobStore from(damaged);
  JobStore to(fresh);
  for (absl::StatusOr<bool> row = ids->Step(); row.ok() && *row;
       row = ids->Step()) {
    const auto job = from.Find(ids->Text(0));
    if (!job.ok() || !job->has_value()) continue;
    INTERCOM_RETURN_IF_ERROR(to.Put(**job));
  }
  return absl::OkStatus();
}

absl::Status SalvageHandoffs(Database& damaged, Database& fresh) {
  absl::StatusOr<Statement> keys = damaged.Prepare(
      "SELECT root, session_id FROM handoffs ORDER BY root, session_id");
  if (!keys.ok()) return absl::OkStatus();
  keys->Bind();
  HandoffStore from(damaged);
  HandoffStore to(fresh);
  for (absl::StatusOr<bool> row = keys->Step(); row.ok() && *row;
       row = keys->Step()) {
    const auto handoff = from.Find(keys->Text(0), keys->Text(1));
    if (!handoff.ok() || !handoff->has_value()) continue;
    INTERCOM_RETURN_IF_ERROR(to.Put(keys->Text(0), keys->Text(1), **handoff));
  }
  return absl::OkStatus();
}

// Each ask for itself: who waits for a reply must not lose it over the damage
// of another.
absl::Status SalvageAsks(Database& damaged, Database& fresh) {
  absl::StatusOr<Statement> ids =
      damaged.Prepare("SELECT delivery_id FROM asks ORDER BY delivery_id");
  if (!ids.ok()) return absl::OkStatus();
  ids->Bind();
  AskStore from(damaged);
  AskStore to(fresh);
  DeliveryStore deliveries(fresh);
  for (absl::StatusOr<bool> row = ids->Step(); row.ok() && *row;
       row = ids->Step()) {
    auto found = from.Find(ids->Text(0));
    if (!found.ok() || !found->has_value()) continue;
    AskRow ask = **std::move(found);
    if (!v1::Ask::State_IsValid(ask.state) || ask.asker_session_id.empty() ||
        ask.recipient_session_id.empty()) {
      continue;
    }
    INTERCOM_ASSIGN_OR_RETURN(const auto status,
                              deliveries.FindStatus(ask.delivery_id));
    ask.sequence = status.has_value() ? status->sequence : 0;
    INTERCOM_RETURN_IF_ERROR(to.Add(ask).status());
  }
  return absl::OkStatus();
}

// Each run for itself, with what is known of its result. Their numbers stay:
// sessions know them by these.
absl::Status SalvageRuns(Database& damaged, Database& fresh) {
  RunStore from(damaged);
  RunStore to(fresh);
  absl::StatusOr<Statement> numbers =
      damaged.Prepare("SELECT number FROM runs ORDER BY number");
  if (!numbers.ok()) return absl::OkStatus();
  numbers->Bind();
  for (absl::StatusOr<bool> row = numbers->Step(); row.ok() && *row;
       row = numbers->Step()) {
    const auto run = from.Find(numbers->Int64(0));
    if (!run.ok() || !run->has_value() ||
        !v1::Run::State_IsValid((*run)->state) || (*run)->delivery_id.empty() ||
        (*run)->supervisor_session_id.empty()) {
      continue;
    }
    INTERCOM_RETURN_IF_ERROR(to.Restore(**run));
    if (const auto result = from.Result((*run)->number); result.ok()) {
      INTERCOM_RETURN_IF_ERROR(to.SetResult((*run)->number, *result));
    }
  }
  absl::StatusOr<Statement> dropped = damaged.Prepare(
      "SELECT supervisor_session_id, number FROM dropped_runs "
      "ORDER BY supervisor_session_id, number");
  if (!dropped.ok()) return absl::OkStatus();
  dropped->Bind();
  for (absl::StatusOr<bool> row = dropped->Step(); row.ok() && *row;
       row = dropped->Step()) {
    INTERCOM_RETURN_IF_ERROR(
        to.AddDropped(dropped->Text(0), dropped->Int64(1)));
  }
  absl::StatusOr<Statement> totals = damaged.Prepare(
      "SELECT root, worker_session_id FROM run_totals "
      "ORDER BY root, worker_session_id");
  if (!totals.ok()) return absl::OkStatus();
  totals->Bind();
  for (absl::StatusOr<bool> row = totals->Step(); row.ok() && *row;
       row = totals->Step()) {
    const auto sum = from.TotalsOf(totals->Text(0), totals->Text(1));
    if (!sum.ok()) continue;
    INTERCOM_RETURN_IF_ERROR(
        to.PutTotals(totals->Text(0), totals->Text(1), *sum));
  }
  return absl::OkStatus();
}

// What can be read in one go: notes are news of a moment.
absl::Status SalvageNotes(Database& damaged, Database& fresh) {
  const auto notes = NoteStore(damaged).All();
  if (!notes.ok()) return absl::OkStatus();
  for (const NoteRow& note : *notes) {
    INTERCOM_RETURN_IF_ERROR(NoteStore(fresh).Add(note));
  }
  return absl::OkStatus();
}

// Best effort: up to the first damage.
absl::Status SalvageReports(Database& damaged, Database& fresh) {
  absl::StatusOr<Statement> keys = damaged.Prepare(
      "SELECT root, session_id FROM reports ORDER BY root, session_id");
  if (!keys.ok()) return absl::OkStatus();
  keys->Bind();
  ReportStore from(damaged);
  for (absl::StatusOr<bool> row = keys->Step(); row.ok() && *row;
       row = keys->Step()) {
    const auto report = from.Find(keys->Text(0), keys->Text(1));
    if (!report.ok() || !report->has_value() ||
        !v1::Report::Status_IsValid((*report)->status())) {
      continue;
    }
    INTERCOM_RETURN_IF_ERROR(
        ReportStore(fresh).Save(keys->Text(0), keys->Text(1), **report));
  }
  return absl::OkStatus();
}

// Each state for itself: extensions must not lose theirs over the damage of
// another's.
absl::Status SalvageChannels(Database& damaged, Database& fresh) {
  absl::StatusOr<Statement> keys = damaged.Prepare(
      "SELECT scope, namespace FROM channels ORDER BY scope, namespace");
  if (!keys.ok()) return absl::OkStatus();
  keys->Bind();
  ChannelStore from(damaged);
  ChannelStore to(fresh);
  for (absl::StatusOr<bool> row = keys->Step(); row.ok() && *row;
       row = keys->Step()) {
    const ChannelKey key{keys->String(0), keys->String(1)};
    const auto state = from.Find(key);
    if (!state.ok() || !state->has_value() || (*state)->revision < 1) continue;
    INTERCOM_RETURN_IF_ERROR(to.Save(key, **state));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Salvaged> Salvage(const std::string& path, Database& fresh) {
  Salvaged salvaged;
  const auto damaged = Database::OpenDamaged(path);
  if (!damaged.ok()) return salvaged;
  INTERCOM_RETURN_IF_ERROR(SalvageDeliveries(**damaged, fresh, salvaged));
  INTERCOM_RETURN_IF_ERROR(SalvagePlaces(**damaged, fresh));
  INTERCOM_RETURN_IF_ERROR(SalvageJobs(**damaged, fresh));
  INTERCOM_RETURN_IF_ERROR(SalvageHandoffs(**damaged, fresh));
  INTERCOM_RETURN_IF_ERROR(SalvageReports(**damaged, fresh));
  INTERCOM_RETURN_IF_ERROR(SalvageAsks(**damaged, fresh));
  INTERCOM_RETURN_IF_ERROR(SalvageChannels(**damaged, fresh));
  INTERCOM_RETURN_IF_ERROR(SalvageRuns(**damaged, fresh));
  INTERCOM_RETURN_IF_ERROR(SalvageNotes(**damaged, fresh));
  return salvaged;
}

}  // namespace intercom
