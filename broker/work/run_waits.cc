#include "broker/work/run_waits.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/work/run_text.h"

namespace intercom {

RunWaits::RunWaits(StateRunner& runner, Workspaces& workspaces, Runs& runs,
                   RunStore& store, const RunDesk& desk, AskDesk& asks,
                   const Clock& clock)
    : runner_(runner),
      workspaces_(workspaces),
      runs_(runs),
      store_(store),
      desk_(desk),
      asks_(asks),
      clock_(clock) {
  runs_.AddOnChanged([this](const RunRow& run, Runs::News) {
    if (!run.open()) OnSettled(run);
  });
  asks_.SetOnOpened(
      [this](const std::string& recipient) { OnAsked(recipient); });
  asks_.SetMoreEdges(
      [this](std::string_view session_id) { return EdgesFrom(session_id); });
}

int64_t RunWaits::AwaitRuns(CallerEvidence evidence,
                            v1::AwaitRunsRequest request, Done done) {
  const int64_t ticket = ++last_ticket_;
  const absl::Duration wait = FromProtoDuration(request.wait());
  if (wait < absl::ZeroDuration() || wait > kMostWait) {
    done(Error(absl::StatusCode::kInvalidArgument, "WAIT_INVALID",
               "a call waits 0 to 30 seconds for runs; repeat it to wait "
               "longer"));
    return ticket;
  }
  if (request.run_ids_size() > kMaxRuns) {
    done(Error(
        absl::StatusCode::kInvalidArgument, "WAIT_INVALID",
        "a call waits for at most 64 runs; name fewer, or none to wait for "
        "all that are open"));
    return ticket;
  }
  runner_.PostTask([this, ticket, evidence = std::move(evidence),
                    request = std::move(request),
                    done = std::move(done)]() mutable {
    Begin(ticket, evidence, request, std::move(done));
  });
  return ticket;
}

absl::StatusOr<RunWaits::Wait> RunWaits::Read(
    const CallerEvidence& evidence, const v1::AwaitRunsRequest& request) const {
  Wait wait;
  INTERCOM_ASSIGN_OR_RETURN(
      const Caller caller,
      workspaces_.callers().ResolveFor(Operation::kRunSupervise, evidence));
  wait.caller = caller.session_id;
  INTERCOM_ASSIGN_OR_RETURN(auto runs,
                            desk_.FindRuns(wait.caller, request.run_ids()));
  // Of more than fit the open ones: who waits does so for them.
  std::stable_partition(runs.begin(), runs.end(),
                        [](const RunRow& run) { return run.open(); });
  if (runs.size() > kMaxRuns) {
    wait.left_out = static_cast<int64_t>(runs.size()) - kMaxRuns;
    runs.resize(kMaxRuns);
  }
  for (const RunRow& run : runs) wait.numbers.push_back(run.number);
  std::sort(wait.numbers.begin(), wait.numbers.end());
  wait.numbers.erase(std::unique(wait.numbers.begin(), wait.numbers.end()),
                     wait.numbers.end());
  return wait;
}

void RunWaits::Begin(int64_t ticket, const CallerEvidence& evidence,
                     const v1::AwaitRunsRequest& request, Done done) {
  absl::StatusOr<Wait> wait = Read(evidence, request);
  if (!wait.ok()) return done(wait.status());
  const absl::Duration patience = FromProtoDuration(request.wait());
  const auto ask = asks_.AwaitedOf(wait->caller);
  if (!ask.ok()) return done(ask.status());
  wait->done = std::move(done);
  if (HasSettled(*wait) || patience == absl::ZeroDuration() || draining_ ||
      ask->has_value()) {
    return Respond(*std::move(wait));
  }
  if (const absl::Status cycle = CheckCycle(*wait); !cycle.ok()) {
    return wait->done(cycle);
  }
  const auto waiting = std::count_if(
      waits_.begin(), waits_.end(),
      [&](const auto& other) { return other.second.caller == wait->caller; });
  if (static_cast<size_t>(waiting) >= kMaxOfCaller) {
    return wait->done(
        Error(absl::StatusCode::kResourceExhausted, "WAITS_FULL",
              "64 calls of this session wait for runs already, which is the "
              "limit; end one of them"));
  }
  Renew(*wait, /*begins=*/true);
  waits_.emplace(ticket, *std::move(wait));
  runner_.PostDelayedTask([this, ticket] { End(ticket); }, patience);
}

absl::Status RunWaits::CheckCycle(const Wait& wait) const {
  for (const int64_t number : wait.numbers) {
    const RunRow* run = runs_.Find(number);
    if (run == nullptr) continue;
    const auto way =
        asks_.FindWay(run->worker_session_id, wait.caller, /*skip=*/"");
    if (!way.ok()) return way.status();
    if (way->empty()) continue;
    std::string told;
    for (const WaitEdge& edge : *way) {
      told += (told.empty() ? "" : ", ") + asks_.NameOf(edge.from) +
              " waits for " +
              (edge.to == wait.caller ? "you" : asks_.NameOf(edge.to));
    }
    return Error(absl::StatusCode::kFailedPrecondition, "WAIT_CYCLE",
                 RunId(number) +
                     " can't settle while you wait for it: " + told +
                     ". Do first what is waited for; peek shows how runs go "
                     "without waiting");
  }
  return absl::OkStatus();
}

bool RunWaits::HasSettled(const Wait& wait) const {
  return std::none_of(
      wait.numbers.begin(), wait.numbers.end(),
      [this](int64_t number) { return runs_.Find(number) != nullptr; });
}

absl::StatusOr<v1::AwaitRunsResponse> RunWaits::Describe(
    const Wait& wait) const {
  v1::AwaitRunsResponse response;
  response.set_left_out(wait.left_out);
  for (const int64_t number : wait.numbers) {
    INTERCOM_ASSIGN_OR_RETURN(const auto run, store_.Find(number));
    // It may have given way meanwhile.
    if (!run.has_value()) continue;
    if (run->open()) {
      *response.add_open() = ToProto(*run, clock_.Now());
      continue;
    }
    INTERCOM_ASSIGN_OR_RETURN(*response.add_settled(),
                              desk_.DescribeSettled(*run, kExcerptCharacters));
  }
  if (response.open_size() == 0) return response;
  INTERCOM_ASSIGN_OR_RETURN(auto ask, asks_.AwaitedOf(wait.caller));
  if (ask.has_value()) *response.mutable_ask() = *std::move(ask);
  return response;
}

void RunWaits::Respond(Wait wait) { wait.done(Describe(wait)); }

void RunWaits::End(int64_t ticket) {
  auto node = waits_.extract(ticket);
  if (!node) return;
  Renew(node.mapped(), /*begins=*/false);
  Respond(std::move(node.mapped()));
}

void RunWaits::CancelWait(int64_t ticket) {
  runner_.PostTask([this, ticket] {
    auto node = waits_.extract(ticket);
    if (!node) return;
    Renew(node.mapped(), /*begins=*/false);
    node.mapped().done(
        Error(absl::StatusCode::kCancelled, "CANCELLED",
              "the call was ended before a run settled; repeat it"));
  });
}

void RunWaits::Drain() {
  runner_.PostTask([this] {
    draining_ = true;
    for (auto& [ticket, wait] : std::exchange(waits_, {})) {
      Respond(std::move(wait));
    }
  });
}

void RunWaits::OnSettled(const RunRow& run) {
  graces_.erase(run.number);
  std::vector<int64_t> over;
  for (const auto& [ticket, wait] : waits_) {
    const bool is_of = std::binary_search(wait.numbers.begin(),
                                          wait.numbers.end(), run.number);
    if (is_of && HasSettled(wait)) over.push_back(ticket);
  }
  for (const int64_t ticket : over) End(ticket);
}

void RunWaits::OnAsked(const std::string& session_id) {
  std::vector<int64_t> over;
  for (const auto& [ticket, wait] : waits_) {
    if (wait.caller == session_id) over.push_back(ticket);
  }
  for (const int64_t ticket : over) End(ticket);
}

void RunWaits::Renew(const Wait& wait, bool begins) {
  const absl::Duration now = clock_.Steady();
  for (const int64_t number : wait.numbers) {
    if (runs_.Find(number) == nullptr) continue;
    Grace& grace = graces_.try_emplace(number).first->second;
    if (begins && grace.lapses_at <= now && !IsWaitedFor(number)) {
      grace.since = clock_.Now();
    }
    grace.lapses_at = now + kGrace;
  }
  if (on_waits_) on_waits_();
}

bool RunWaits::IsWaitedFor(int64_t number) const {
  return std::any_of(waits_.begin(), waits_.end(), [&](const auto& wait) {
    const std::vector<int64_t>& numbers = wait.second.numbers;
    return std::binary_search(numbers.begin(), numbers.end(), number);
  });
}

std::vector<RunWaits::AwaitedRun> RunWaits::Awaited() const {
  std::vector<AwaitedRun> awaited;
  for (const auto& [number, grace] : graces_) {
    const bool waits = IsWaitedFor(number);
    if (!waits && grace.lapses_at <= clock_.Steady()) continue;
    awaited.push_back({number, grace.since,
                       waits ? absl::InfiniteDuration() : grace.lapses_at});
  }
  std::sort(awaited.begin(), awaited.end(),
            [](const AwaitedRun& a, const AwaitedRun& b) {
              return a.number < b.number;
            });
  return awaited;
}

std::vector<WaitEdge> RunWaits::EdgesFrom(std::string_view session_id) const {
  std::vector<WaitEdge> edges;
  for (const RunRow& run : runs_.OfSupervisor(session_id)) {
    const auto grace = graces_.find(run.number);
    const bool is_in_grace =
        grace != graces_.end() && clock_.Steady() < grace->second.lapses_at;
    if (!is_in_grace && !IsWaitedFor(run.number)) continue;
    edges.push_back(
        {RunId(run.number), run.supervisor_session_id, run.worker_session_id});
  }
  return edges;
}

}  // namespace intercom
