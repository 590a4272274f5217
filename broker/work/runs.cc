#include "broker/work/runs.h"

#include <algorithm>
#include <utility>

#include "broker/base/status_macros.h"
#include "broker/work/run_text.h"
#include "spdlog/spdlog.h"

namespace intercom {

absl::Status Runs::Load() {
  INTERCOM_ASSIGN_OR_RETURN(const auto open, store_.AllOpen());
  open_.clear();
  by_delivery_.clear();
  for (const RunRow& run : open) Keep(run);
  return absl::OkStatus();
}

void Runs::OnMailMoved(const std::string& from, const std::string& to) {
  for (const RunRow& before : OfWorker(from)) {
    const auto run = store_.Find(before.number);
    if (!run.ok() || !run->has_value() || (*run)->worker_session_id != to) {
      continue;
    }
    Keep(**run);
    for (OnChanged& on_changed : on_changed_) on_changed(**run, News::kTell);
  }
}

void Runs::SetKept(const std::string& supervisor, int kept) {
  if (kept_.size() >= kMaxRemembered && !kept_.contains(supervisor)) {
    kept_.clear();  // Those that come back say it again.
  }
  kept_[supervisor] = kept <= 0 ? kUsuallyKept : std::clamp(kept, 1, kMostKept);
}

int Runs::KeptFor(const std::string& supervisor) const {
  const auto found = kept_.find(supervisor);
  return found == kept_.end() ? kMostUntold : found->second;
}

void Runs::Keep(const RunRow& run) {
  if (run.open()) {
    open_[run.number] = run;
    by_delivery_[run.delivery_id] = run.number;
  } else {
    open_.erase(run.number);
    by_delivery_.erase(run.delivery_id);
  }
}

const RunRow* Runs::Find(int64_t number) const {
  const auto found = open_.find(number);
  return found == open_.end() ? nullptr : &found->second;
}

const RunRow* Runs::FindByDelivery(std::string_view delivery_id) const {
  const auto found = by_delivery_.find(
      absl::string_view(delivery_id.data(), delivery_id.size()));
  return found == by_delivery_.end() ? nullptr : Find(found->second);
}

std::vector<RunRow> Runs::All() const {
  std::vector<RunRow> runs;
  for (const auto& [number, run] : open_) runs.push_back(run);
  return runs;
}

std::vector<RunRow> Runs::OfWorker(std::string_view session_id) const {
  std::vector<RunRow> runs;
  for (const auto& [number, run] : open_) {
    if (run.worker_session_id == session_id) runs.push_back(run);
  }
  return runs;
}

std::vector<RunRow> Runs::OfSupervisor(std::string_view session_id) const {
  std::vector<RunRow> runs;
  for (const auto& [number, run] : open_) {
    if (run.supervisor_session_id == session_id) runs.push_back(run);
  }
  return runs;
}

void Runs::Foresee(const std::string& delivery_id, Effects& effects) {
  effects.AfterCommit([this, delivery_id] {
    const auto run = store_.FindByDelivery(delivery_id);
    if (run.ok() && run->has_value()) Keep(**run);
  });
}

absl::Status Runs::Open(int64_t sequence, RunRow& run, Effects& effects) {
  run.state = v1::Run::STATE_WAITING;
  run.opened_at = clock_.Now();
  INTERCOM_RETURN_IF_ERROR(store_.Retain(
      run.supervisor_session_id, {.kept = KeptFor(run.supervisor_session_id),
                                  .most_untold = kMostUntold}));
  INTERCOM_RETURN_IF_ERROR(store_.Add(sequence, run));
  return Put(run, News::kTell, effects);
}

absl::Status Runs::Put(const RunRow& run, News news, Effects& effects) {
  INTERCOM_RETURN_IF_ERROR(store_.Put(run));
  effects.AfterCommit([this, run, news] {
    if (news == News::kTell) {
      spdlog::info("run={} worker={} state={} reason={}", run.number,
                   run.worker_session_id, v1::Run::State_Name(run.state),
                   run.reason);
    }
    Keep(run);
    for (OnChanged& on_changed : on_changed_) on_changed(run, news);
  });
  return absl::OkStatus();
}

absl::Status Runs::Settle(RunRow run, v1::Run::State state, std::string reason,
                          std::string detail, Effects& effects) {
  run.state = state;
  run.settled_at = clock_.Now();
  run.reason = std::move(reason);
  run.detail = std::move(detail);
  INTERCOM_RETURN_IF_ERROR(Put(run, News::kTell, effects));
  INTERCOM_RETURN_IF_ERROR(store_.AddToTotals(run));
  return store_.Retain(run.supervisor_session_id,
                       {.kept = KeptFor(run.supervisor_session_id),
                        .most_untold = kMostUntold,
                        .only_collected = true});
}

absl::Status Runs::SettleFailed(RunRow run, std::string reason,
                                std::string detail, Effects& effects) {
  if (!run.stop_requested_at.has_value()) {
    return Settle(std::move(run), v1::Run::STATE_FAILED, std::move(reason),
                  std::move(detail), effects);
  }
  std::string wish = run.reason;
  return Settle(std::move(run), v1::Run::STATE_STOPPED, std::move(wish),
                "it was being stopped, and " + detail, effects);
}

absl::Status Runs::SetCollected(RunRow run, Effects& effects) {
  run.collected = true;
  INTERCOM_RETURN_IF_ERROR(Put(run, News::kTell, effects));
  return store_.Retain(run.supervisor_session_id,
                       {.kept = KeptFor(run.supervisor_session_id),
                        .most_untold = kMostUntold,
                        .only_collected = true});
}

}  // namespace intercom
