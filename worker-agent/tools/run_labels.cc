#include "worker-agent/tools/run_labels.h"

#include <algorithm>

#include "broker/base/proto_time.h"
#include "broker/domain/fence.h"
#include "worker-agent/tools/labels.h"

namespace intercom {
namespace {

// Short enough that a heading leaves room in the smallest share of a digest.
constexpr size_t kLabelCharacters = 40;
constexpr size_t kNameCharacters = 32;
constexpr size_t kIdCharacters = 32;

}  // namespace

std::string_view RunStateLabel(v1::Run::State state) {
  switch (state) {
    case v1::Run::STATE_WAITING:
      return "waiting";
    case v1::Run::STATE_RUNNING:
      return "running";
    case v1::Run::STATE_DONE:
      return "done";
    case v1::Run::STATE_FAILED:
      return "failed";
    case v1::Run::STATE_STOPPED:
      return "stopped";
    default:
      return "unknown";
  }
}

bool IsOpen(const v1::Run& run) {
  return run.state() <= v1::Run::STATE_RUNNING;
}

std::string TimeTaken(absl::Duration time) {
  const int64_t seconds = std::max<int64_t>(absl::ToInt64Seconds(time), 0);
  if (seconds < 60) return std::to_string(seconds) + "s";
  if (seconds < 3600) {
    return std::to_string(seconds / 60) + "m " + std::to_string(seconds % 60) +
           "s";
  }
  return std::to_string(seconds / 3600) + "h " +
         std::to_string(seconds / 60 % 60) + "m";
}

absl::Duration DurationOf(const v1::Run& run, absl::Time now) {
  const absl::Time end =
      run.has_settled_at() ? FromProto(run.settled_at()) : now;
  return end -
         FromProto(run.has_started_at() ? run.started_at() : run.opened_at());
}

int64_t TokensOf(const v1::Usage& usage) {
  return usage.input_tokens() + usage.output_tokens() +
         usage.cache_write_tokens();
}

std::string RunHeading(const v1::Run& run, absl::Time now) {
  std::string text = IdLabel(run.run_id(), kIdCharacters);
  if (!run.label().empty()) {
    text += " " + QuotedLine(run.label(), kLabelCharacters);
  }
  text += " · " +
          NameLabel(NameOr(run.worker_name(), run.worker_session_id()),
                    kNameCharacters) +
          " · " + std::string(RunStateLabel(run.state()));
  if (run.turns() > 0) {
    text += " · " + std::to_string(run.turns()) +
            (run.turns() == 1 ? " turn" : " turns");
  }
  if (const int64_t tokens = TokensOf(run.usage()); tokens > 0) {
    text += " · " + std::to_string(tokens) + " tokens";
  }
  return text + " · " + TimeTaken(DurationOf(run, now));
}

std::string StateCounts(const std::vector<v1::Run>& runs) {
  std::string text;
  for (const v1::Run::State state :
       {v1::Run::STATE_DONE, v1::Run::STATE_FAILED, v1::Run::STATE_STOPPED,
        v1::Run::STATE_RUNNING, v1::Run::STATE_WAITING}) {
    const auto count = std::count_if(
        runs.begin(), runs.end(),
        [state](const v1::Run& run) { return run.state() == state; });
    if (count == 0) continue;
    if (!text.empty()) text += ", ";
    text += std::to_string(count) + " " + std::string(RunStateLabel(state));
  }
  return text;
}

std::string Runs(int64_t count) {
  return std::to_string(count) + (count == 1 ? " run" : " runs");
}

void AddUsage(const v1::Usage& usage, v1::Usage& sum) {
  sum.set_input_tokens(sum.input_tokens() + usage.input_tokens());
  sum.set_output_tokens(sum.output_tokens() + usage.output_tokens());
  sum.set_cache_read_tokens(sum.cache_read_tokens() +
                            usage.cache_read_tokens());
  sum.set_cache_write_tokens(sum.cache_write_tokens() +
                             usage.cache_write_tokens());
  sum.set_cost(sum.cost() + usage.cost());
}

}  // namespace intercom
