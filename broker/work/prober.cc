#include "broker/work/prober.h"

#include <utility>

#include "broker/base/error.h"

namespace intercom {
namespace {

ProbeOutcome OutcomeOf(const std::string& session_id,
                       const absl::StatusOr<v1::ControlResult>& result) {
  if (!result.ok()) {
    const std::string reason = ReasonOf(result.status());
    if (reason == "SESSION_AWAY") return ProbeOutcome::kAway;
    if (reason == "OUTCOME_UNKNOWN") return ProbeOutcome::kTimeout;
    return ProbeOutcome::kNotChecked;
  }
  if (!result->ok()) return ProbeOutcome::kNotChecked;
  return result->status().session_id() == session_id
             ? ProbeOutcome::kAnswered
             : ProbeOutcome::kIdentityMismatch;
}

}  // namespace

struct Prober::Round {
  // The next one is the last.
  std::vector<std::string> waiting;
  int in_flight = 0;
  Probes probes;
  Done done;
  bool ended = false;
};

void Prober::Ask(std::vector<std::string> session_ids, Done done) {
  auto round = std::make_shared<Round>();
  for (const std::string& id : session_ids) {
    round->probes[id] = {ProbeOutcome::kNotChecked, clock_.Now()};
  }
  round->waiting.assign(session_ids.rbegin(), session_ids.rend());
  round->done = std::move(done);
  runner_.PostDelayedTask(
      [this, round] {
        round->waiting.clear();
        round->in_flight = 0;
        Advance(round);
      },
      limits_.together);
  Advance(round);
}

void Prober::Advance(const std::shared_ptr<Round>& round) {
  while (!round->waiting.empty() && round->in_flight < limits_.at_once) {
    const std::string id = std::move(round->waiting.back());
    round->waiting.pop_back();
    ++round->in_flight;
    v1::Control control;
    control.set_kind(v1::Control::KIND_PROBE);
    controls_.Send(id, std::move(control), limits_.each,
                   [this, round, id](auto result) {
                     Settle(round, id, OutcomeOf(id, result));
                   });
  }
  if (!round->waiting.empty() || round->in_flight > 0 || round->ended) return;
  round->ended = true;
  round->done(std::move(round->probes));
}

void Prober::Settle(const std::shared_ptr<Round>& round,
                    const std::string& session_id, ProbeOutcome outcome) {
  if (round->ended) return;
  round->probes[session_id] = {outcome, clock_.Now()};
  --round->in_flight;
  Advance(round);
}

}  // namespace intercom
