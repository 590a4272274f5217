// How runs go on: what their envelopes, hosts and supervisors bring about.
#include <algorithm>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/text_rules.h"
#include "broker/work/run_desk.h"
#include "broker/work/run_text.h"
#include "spdlog/spdlog.h"

namespace intercom {
namespace {

constexpr size_t kMaxModelCharacters = 256;

// Figures only grow: those of a host that begins to count again are no loss.
template <typename Value>
bool Raise(Value said, Value& known) {
  if (said <= known) return false;
  known = said;
  return true;
}

bool TakeUsage(const v1::Usage& said, v1::Usage& known) {
  bool grew = false;
  const auto raise = [&](int64_t value, int64_t before, auto set) {
    if (value <= before) return;
    grew = true;
    set(value);
  };
  raise(said.input_tokens(), known.input_tokens(),
        [&](int64_t value) { known.set_input_tokens(value); });
  raise(said.output_tokens(), known.output_tokens(),
        [&](int64_t value) { known.set_output_tokens(value); });
  raise(said.cache_read_tokens(), known.cache_read_tokens(),
        [&](int64_t value) { known.set_cache_read_tokens(value); });
  raise(said.cache_write_tokens(), known.cache_write_tokens(),
        [&](int64_t value) { known.set_cache_write_tokens(value); });
  if (said.cost() > known.cost()) known.set_cost(said.cost());
  return grew;
}

// Whether there is more text, as far as its end tells.
bool HasGrown(const v1::RunResult& before, const v1::RunResult& now) {
  if (now.text().empty() || now.text() == before.text()) return false;
  const auto size = [](const v1::RunResult& result) {
    return static_cast<int64_t>(CharacterCount(result.text())) +
           result.left_out();
  };
  return size(now) >= size(before);
}

std::string WhyNotDelivered(v1::DeliveryEnd end) {
  switch (end) {
    case v1::DELIVERY_END_EXPIRED:
      return "its message expired before the worker's session had it";
    case v1::DELIVERY_END_REFUSED:
      return "its worker can't receive messages any more";
    case v1::DELIVERY_END_DEAD_LETTERED:
      return "the worker's host failed to take its message";
    default:
      return "its message did not reach the worker's session";
  }
}

}  // namespace

absl::Status RunDesk::Begin(RunRow& run, Effects& effects) {
  run.state = v1::Run::STATE_RUNNING;
  run.started_at = run.last_advance_at = clock_.Now();
  // It is late, but it is there.
  if (!run.stop_requested_at.has_value()) run.reason.clear();
  run.detail.clear();
  INTERCOM_RETURN_IF_ERROR(runs_.Put(run, Runs::News::kTell, effects));
  if (run.stop_requested_at.has_value()) {
    effects.AfterCommit([this, number = run.number] {
      if (on_stop_due_) on_stop_due_(number);
    });
  }
  return absl::OkStatus();
}

absl::Status RunDesk::OnArrived(const std::string& delivery_id, bool is_there,
                                Effects& effects) {
  // Who opened it did so in an earlier batch, or it would not be there.
  const RunRow* known = runs_.FindByDelivery(delivery_id);
  if (known == nullptr) return absl::OkStatus();
  INTERCOM_ASSIGN_OR_RETURN(auto run, store_.Find(known->number));
  if (!run.has_value() || !run->open()) return absl::OkStatus();
  if (is_there) {
    if (run->state != v1::Run::STATE_WAITING) return absl::OkStatus();
    return Begin(*run, effects);
  }
  if (run->state != v1::Run::STATE_RUNNING) return absl::OkStatus();
  run->state = v1::Run::STATE_WAITING;
  run->started_at.reset();
  run->last_advance_at = clock_.Now();
  run->stalled_told = false;
  run->detail.clear();
  return runs_.Put(*run, Runs::News::kTell, effects);
}

absl::StatusOr<bool> RunDesk::OnEnded(const std::string& delivery_id,
                                      v1::DeliveryEnd end, bool is_certain,
                                      Effects& effects) {
  INTERCOM_ASSIGN_OR_RETURN(auto run, store_.FindByDelivery(delivery_id));
  if (!run.has_value() || !run->open()) return false;
  if (!is_certain) {
    // It may be worked on: the worker's session says so when it is back.
    if (run->state != v1::Run::STATE_WAITING) return false;
    run->detail =
        "its message is withdrawn, but was perhaps on its way: the worker's "
        "session, which has left since, may have it and says so when it is "
        "back";
    INTERCOM_RETURN_IF_ERROR(runs_.Put(*run, Runs::News::kTell, effects));
    return false;
  }
  if (end != v1::DELIVERY_END_CANCELLED && end != v1::DELIVERY_END_SUPERSEDED) {
    INTERCOM_RETURN_IF_ERROR(runs_.SettleFailed(
        *std::move(run), "not_delivered", WhyNotDelivered(end), effects));
  } else if (run->reason == "not_started") {
    INTERCOM_RETURN_IF_ERROR(runs_.Settle(
        *std::move(run), v1::Run::STATE_FAILED, "not_started",
        "the worker's host did not say within 5 minutes that it has its "
        "message, and the message was withdrawn",
        effects));
  } else if (run->reason == "runs_off") {
    INTERCOM_RETURN_IF_ERROR(runs_.Settle(
        *std::move(run), v1::Run::STATE_FAILED, "runs_off",
        "the person at its worker takes no runs there, and its message was "
        "withdrawn",
        effects));
  } else {
    std::string reason =
        run->stop_requested_at.has_value() ? run->reason : "cancelled";
    INTERCOM_RETURN_IF_ERROR(runs_.Settle(
        *std::move(run), v1::Run::STATE_STOPPED, std::move(reason),
        "its message was withdrawn before its worker's host said that it has "
        "it",
        effects));
  }
  return true;
}

void RunDesk::OnEvent(SessionKey key, v1::RunEvent event) {
  runner_.PostCommand(
      {[this, key, event = std::move(event)](Effects& effects) -> absl::Status {
         if (!IsPresent(key)) return absl::OkStatus();
         return Record(key.session_id, event, effects);
       },
       [this, key](const absl::Status& status) {
         // It is told again once the session attaches anew.
         spdlog::error("what {} said of a run is not stored: {}",
                       key.session_id, MessageOf(status));
         if (IsPresent(key)) roster_.Find(key.session_id)->link->Close(status);
       }});
}

absl::Status RunDesk::Record(const std::string& worker,
                             const v1::RunEvent& event, Effects& effects) {
  if (event.event() == v1::RunEvent::EVENT_UNSPECIFIED ||
      !v1::RunEvent::Event_IsValid(event.event())) {
    return absl::OkStatus();
  }
  INTERCOM_ASSIGN_OR_RETURN(auto run,
                            store_.FindByDelivery(event.delivery_id()));
  // What comes after the end is dropped.
  if (!run.has_value() || run->worker_session_id != worker || !run->open()) {
    return absl::OkStatus();
  }
  // Its host works on it, so it has it.
  if (run->state == v1::Run::STATE_WAITING) {
    INTERCOM_RETURN_IF_ERROR(Begin(*run, effects));
  }
  return event.event() == v1::RunEvent::EVENT_PROGRESS
             ? RecordProgress(*std::move(run), event, effects)
             : RecordEnd(*std::move(run), event, effects);
}

absl::StatusOr<bool> RunDesk::TakeFigures(const v1::RunEvent& event,
                                          size_t most_characters, RunRow& run) {
  bool grew = Raise(event.turns(), run.turns);
  grew = TakeUsage(event.usage(), run.usage) || grew;
  if (!event.model().empty()) {
    run.model = IdLabel(event.model(), kMaxModelCharacters);
  }
  INTERCOM_ASSIGN_OR_RETURN(const v1::RunResult before,
                            store_.Result(run.number));
  v1::RunResult result =
      Excerpt(Bounded(event.result(), kMaxResultBytes), most_characters);
  grew = HasGrown(before, result) || grew;
  // Nothing said is nothing lost of what is known.
  if (result.text().empty() && event.event() != v1::RunEvent::EVENT_DONE) {
    result.set_text(before.text());
    result.set_left_out(before.left_out());
  }
  if (result.SerializeAsString() != before.SerializeAsString()) {
    INTERCOM_RETURN_IF_ERROR(store_.SetResult(run.number, result));
  }
  return grew;
}

absl::Status RunDesk::RecordProgress(RunRow run, const v1::RunEvent& event,
                                     Effects& effects) {
  const bool had_stalled = IsStalled(run, clock_.Now());
  INTERCOM_ASSIGN_OR_RETURN(const bool grew,
                            TakeFigures(event, kSalvageCharacters, run));
  if (grew) {
    run.last_advance_at = clock_.Now();
    run.stalled_told = false;
  }
  return runs_.Put(run,
                   grew && had_stalled ? Runs::News::kTell : Runs::News::kNone,
                   effects);
}

absl::Status RunDesk::RecordEnd(RunRow run, const v1::RunEvent& event,
                                Effects& effects) {
  INTERCOM_ASSIGN_OR_RETURN(const bool grew,
                            TakeFigures(event, kMaxResultBytes, run));
  if (grew) run.last_advance_at = clock_.Now();
  switch (event.event()) {
    case v1::RunEvent::EVENT_DONE:
      return runs_.Settle(std::move(run), v1::Run::STATE_DONE, "", "", effects);
    case v1::RunEvent::EVENT_FAILED:
      return runs_.Settle(std::move(run), v1::Run::STATE_FAILED, "host_error",
                          "the worker's host gave it up with an error",
                          effects);
    case v1::RunEvent::EVENT_STOPPED: {
      const bool was_asked = run.stop_requested_at.has_value();
      std::string reason = was_asked ? run.reason : "cancelled";
      return runs_.Settle(std::move(run), v1::Run::STATE_STOPPED,
                          std::move(reason),
                          was_asked ? "the worker's host has cancelled it"
                                    : "it was cancelled at the worker",
                          effects);
    }
    default:
      return runs_.SettleFailed(
          std::move(run), "interrupted",
          "the worker's host ended while it worked on it, and does not go on",
          effects);
  }
}

void RunDesk::OnTold(SessionKey key, v1::RunsTold told) {
  runner_.PostCommand(
      {[this, key, told = std::move(told)](Effects& effects) -> absl::Status {
         if (!IsPresent(key)) return absl::OkStatus();
         return RecordTold(key.session_id, told, effects);
       },
       [this, key](const absl::Status& status) {
         spdlog::error("what {} has of its runs is not stored: {}",
                       key.session_id, MessageOf(status));
         if (IsPresent(key)) roster_.Find(key.session_id)->link->Close(status);
       }});
}

absl::Status RunDesk::RecordTold(const std::string& supervisor,
                                 const v1::RunsTold& told, Effects& effects) {
  const auto each = [&](const auto& run_ids, auto change) -> absl::Status {
    for (const std::string& run_id : run_ids) {
      const auto run = FindRun(supervisor, run_id);
      if (run.ok()) {
        INTERCOM_RETURN_IF_ERROR(change(*run));
      } else if (!absl::IsNotFound(run.status()) &&
                 !absl::IsInvalidArgument(run.status())) {
        return run.status();
      }
    }
    return absl::OkStatus();
  };
  INTERCOM_RETURN_IF_ERROR(each(told.announced(), [&](RunRow run) {
    if (run.open()) return absl::OkStatus();
    ++run.announced;
    return runs_.Put(run, Runs::News::kTell, effects);
  }));
  INTERCOM_RETURN_IF_ERROR(each(told.collected(), [&](RunRow run) {
    if (run.open() || run.collected) return absl::OkStatus();
    return runs_.SetCollected(run, effects);
  }));
  return each(told.stalled(), [&](RunRow run) {
    if (!IsStalled(run, clock_.Now()) || run.stalled_told) {
      return absl::OkStatus();
    }
    run.stalled_told = true;
    return runs_.Put(run, Runs::News::kTell, effects);
  });
}

}  // namespace intercom
