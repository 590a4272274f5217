#include "broker/work/run_watch.h"

#include <algorithm>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/work/run_text.h"
#include "spdlog/spdlog.h"

namespace intercom {

void RunWatch::Tick() {
  for (const RunRow& run : runs_.All()) {
    if (run.state == v1::Run::STATE_WAITING) {
      LookAtWaiting(run);
    } else {
      LookAtRunning(run);
    }
  }
  absl::erase_if(withdrawn_until_, [this](const auto& late) {
    return runs_.Find(late.first) == nullptr;
  });
  absl::erase_if(gone_since_, [this](const auto& gone) {
    return runs_.OfWorker(gone.first).empty();
  });
  LookForStalls();
}

void RunWatch::LookAtWaiting(const RunRow& run) {
  if (!run.detail.empty() && dispatcher_.HasEnded(run.delivery_id)) {
    // Its worker's session may have it, and says so if it comes back.
    if (IsGone(run.worker_session_id)) {
      SettleGone(run.number,
                 "its message was withdrawn when it was perhaps on its way, "
                 "and the worker's host has ended");
    }
    return;
  }
  const absl::Time since =
      std::max(run.opened_at, run.last_advance_at.value_or(run.opened_at));
  if (clock_.Now() - since < kStartWithin) return;
  absl::Duration& until = withdrawn_until_[run.number];
  if (clock_.Steady() < until) return;
  until = clock_.Steady() + kAgainAfter;
  WithdrawLate(run);
}

void RunWatch::WithdrawLate(const RunRow& run) {
  // Why it is withdrawn must be known when it ends, in whichever broker.
  runner_.PostCommand(
      {[this, number = run.number](Effects& effects) -> absl::Status {
         INTERCOM_ASSIGN_OR_RETURN(auto run, store_.Find(number));
         if (!run.has_value() || run->state != v1::Run::STATE_WAITING) {
           return absl::OkStatus();
         }
         if (run->reason.empty()) {
           run->reason = "not_started";
           INTERCOM_RETURN_IF_ERROR(
               runs_.Put(*run, Runs::News::kNone, effects));
         }
         effects.AfterCommit([this, run = *run] {
           dispatcher_.Withdraw(
               run.delivery_id, v1::DELIVERY_END_CANCELLED,
               "its run did not start within 5 minutes",
               [this, number = run.number](const absl::Status& status) {
                 // One that came too late runs after all.
                 if (ReasonOf(status) != "UNKNOWN_ENVELOPE") return;
                 runner_.PostTask([this, number] {
                   Settle(number, "not_delivered",
                          "its message is not stored any more");
                 });
               });
         });
         return absl::OkStatus();
       },
       nullptr});
}

void RunWatch::LookAtRunning(const RunRow& run) {
  if (IsGone(run.worker_session_id)) {
    return SettleGone(run.number, "the worker's host ended before the run did");
  }
  const absl::Time now = clock_.Now();
  if (run.stop_requested_at.has_value()) {
    const bool is_limit = run.reason == "idle" || run.reason == "time_over";
    if (is_limit && now - *run.stop_requested_at >= kAgainAfter) {
      Settle(run.number, run.reason,
             "its host did not say that it cancelled it");
    }
    return;
  }
  const absl::Time started = run.started_at.value_or(run.opened_at);
  const absl::Time advanced = run.last_advance_at.value_or(started);
  if (run.stop_when_idle > absl::ZeroDuration() &&
      now - advanced >= run.stop_when_idle) {
    stops_.Request(run.number, "idle");
  } else if (run.stop_after > absl::ZeroDuration() &&
             now - started >= run.stop_after) {
    stops_.Request(run.number, "time_over");
  }
}

void RunWatch::LookForStalls() {
  if (clock_.Steady() < look_at_) return;
  look_at_ = clock_.Steady() + kLookEvery;
  for (const RunRow& run : runs_.All()) {
    if (!run.stalled_told && IsStalled(run, clock_.Now())) {
      teller_.Changed(run.supervisor_session_id);
    }
  }
}

bool RunWatch::HostLives(const SessionRow& session) const {
  if (!watch_.IsAlive(session.host_pid, session.host_start_ticks)) return false;
  // It may go on with another session.
  for (const Attachment* other : roster_.All()) {
    if (other->session_id != session.session_id &&
        other->host_pid == session.host_pid &&
        other->hello.host_start_ticks() == session.host_start_ticks) {
      return false;
    }
  }
  return true;
}

bool RunWatch::IsGone(const std::string& worker) {
  if (roster_.Find(worker) != nullptr || roster_.IsArriving(worker)) {
    return false;
  }
  const auto session = sessions_.Find(worker);
  // Of a host that is not known nothing can be said.
  if (!session.ok() || !session->has_value() ||
      !ProcessWatch::IsKnown((*session)->host_pid,
                             (*session)->host_start_ticks)) {
    return false;
  }
  if (HostLives(**session)) {
    gone_since_.erase(worker);
    return false;
  }
  const absl::Duration now = clock_.Steady();
  const auto [since, added] = gone_since_.try_emplace(worker, now);
  return now - since->second >= kReturnWithin &&
         now - started_ >= kReturnAtStart;
}

void RunWatch::OnAttached(Attachment& attachment) {
  gone_since_.erase(attachment.session_id);
}

void RunWatch::SettleGone(int64_t number, std::string detail) {
  SettleIf(
      number,
      [this](const RunRow& run) -> std::optional<std::string> {
        // It came back in this very moment.
        if (roster_.Find(run.worker_session_id) != nullptr) return std::nullopt;
        return run.state == v1::Run::STATE_WAITING && !run.reason.empty()
                   ? run.reason
                   : "worker_gone";
      },
      std::move(detail));
}

void RunWatch::Settle(int64_t number, std::string reason, std::string detail) {
  SettleIf(
      number,
      [reason](const RunRow&) -> std::optional<std::string> { return reason; },
      std::move(detail));
}

void RunWatch::SettleIf(int64_t number, ReasonFor reason_for,
                        std::string detail) {
  runner_.PostCommand(
      {[this, number, reason_for, detail](Effects& effects) -> absl::Status {
         INTERCOM_ASSIGN_OR_RETURN(auto run, store_.Find(number));
         if (!run.has_value() || !run->open()) return absl::OkStatus();
         auto reason = reason_for(*run);
         if (!reason.has_value()) return absl::OkStatus();
         INTERCOM_RETURN_IF_ERROR(
             runs_.SettleFailed(*run, *std::move(reason), detail, effects));
         // Where that is not in the session yet, as with a new one that began
         // it: nobody is to do the work later.
         return dispatcher_.TakeBack(run->delivery_id,
                                     v1::DELIVERY_END_CANCELLED,
                                     "its run is over", effects);
       },
       [number](const absl::Status& status) {
         spdlog::error("run {} is not settled yet: {}", number,
                       MessageOf(status));
       }});
}

}  // namespace intercom
