#include "worker-agent/tools/run_text.h"

#include <algorithm>
#include <vector>

#include "broker/domain/fence.h"
#include "worker-agent/tools/labels.h"
#include "worker-agent/tools/run_labels.h"
#include "worker-agent/tools/surrender.h"
#include "worker-agent/tools/text_budget.h"
#include "worker-agent/tools/text_table.h"

namespace intercom {
namespace {

constexpr int kMostRows = 64;
constexpr size_t kCellCharacters = 40;
constexpr size_t kDetailCharacters = 400;
// Runs that are named in a sentence.
constexpr int kMostNamed = 16;
// With every character of it escaped, a result still fits a line to the host.
constexpr size_t kMostResultCharacters = 400'000;

// What a row says beside its figures.
std::string Remark(const v1::Run& run) {
  std::string text;
  if (run.stalled()) text = "stalled";
  if (run.stop_requested() && IsOpen(run)) {
    text += text.empty() ? "stop asked for" : ", stop asked for";
  }
  if (run.collected()) text = "collected";
  return text;
}

std::string LeftOut(int64_t characters) {
  return characters <= 0 ? ""
                         : "[" + std::to_string(characters) +
                               " characters in its middle were left out by "
                               "the worker's host]\n";
}

// What a stop took along at its worker.
std::string AlsoCancelled(const v1::StopRunResponse& response) {
  std::string names;
  const auto add = [&names](const std::string& name) {
    names += (names.empty() ? "" : ", ") + name;
  };
  const int named = std::min(response.also_cancelled_size(), kMostNamed);
  for (int i = 0; i < named; ++i) {
    const v1::Run& run = response.also_cancelled(i);
    add(SafeLabel(run.run_id()) +
        (run.label().empty()
             ? ""
             : " (" + QuotedLine(run.label(), kCellCharacters) + ")"));
  }
  if (const int more = response.also_cancelled_size() - named; more > 0) {
    add(Runs(more) + " more");
  }
  if (response.others_also_cancelled() > 0) {
    add(Runs(response.others_also_cancelled()) + " of other sessions");
  }
  return names.empty() ? ""
                       : "The host cancels all that the worker does, so these "
                         "end with it: " +
                             names + ". ";
}

Json DetailsOf(const v1::Run& run, absl::Time now) {
  Json details = {
      {"runId", run.run_id()},
      {"state", RunStateLabel(run.state())},
      {"turns", run.turns()},
      {"durationMs", absl::ToInt64Milliseconds(DurationOf(run, now))}};
  if (!run.reason().empty()) details["why"] = run.reason();
  if (!run.detail().empty()) details["detail"] = run.detail();
  return details;
}

}  // namespace

std::string RunTable(const v1::ListRunsResponse& response, absl::Time now) {
  TextTable table({"RUN", "LABEL", "WORKER", "MODEL", "STATE", "TURNS",
                   "TOKENS", "TIME", "NOTE"});
  int64_t left_out = response.left_out();
  int rows = 0;
  for (const v1::Run& run : response.runs()) {
    if (rows == kMostRows) {
      ++left_out;
      continue;
    }
    ++rows;
    table.AddRow(
        {IdLabel(run.run_id(), kCellCharacters),
         run.label().empty() ? "" : MarkedLine(run.label(), kCellCharacters),
         NameLabel(NameOr(run.worker_name(), run.worker_session_id()),
                   kCellCharacters),
         run.model().empty() ? "" : IdLabel(run.model(), kCellCharacters),
         std::string(RunStateLabel(run.state())), std::to_string(run.turns()),
         std::to_string(TokensOf(run.usage())), TimeTaken(DurationOf(run, now)),
         Remark(run)});
  }
  std::string text = table.ToString();
  for (const v1::Run& run : response.runs()) text += TroubleOf(run);
  if (left_out > 0) {
    text += "… and " + std::to_string(left_out) + " more.\n";
  }
  return text;
}

ToolResult RenderPeek(const v1::ListRunsResponse& response, absl::Time now) {
  const std::vector<v1::Run> runs(response.runs().begin(),
                                  response.runs().end());
  ToolResult result;
  if (runs.empty()) {
    result.text =
        "No run of yours is open, and none ended that you were not told of.\n";
    result.summary = "no runs";
  } else {
    result.text = RunTable(response, now);
    result.summary =
        Runs(static_cast<int64_t>(runs.size()) + response.left_out()) + ": " +
        StateCounts(runs);
  }
  result.details = {{"runs", Json::array()}};
  for (const v1::Run& run : runs) {
    result.details["runs"].push_back(DetailsOf(run, now));
  }
  return result;
}

ToolResult RenderRunResult(const v1::SettledRun& settled, absl::Time now) {
  const v1::Run& run = settled.run();
  const v1::RunResult& said = settled.result();
  ToolResult result;
  result.text = RunHeading(run, now) + "\n" + EndSentence(run);
  if (!said.error().empty()) {
    result.text += "Failure detail:\n" + FenceText(said.error()) + "\n";
  }
  if (said.text().empty()) {
    result.text += "It wrote nothing.\n";
  } else {
    result.text += run.state() == v1::Run::STATE_DONE
                       ? "Result:\n"
                       : "What it had written by then:\n";
    result.text += FenceWithin(said.text(), kMostResultCharacters,
                               "more than one message to this host can hold") +
                   LeftOut(said.left_out());
    if (run.state() == v1::Run::STATE_DONE && SaysItIsBlocked(said.text())) {
      result.text +=
          "Note: by its own words it is blocked, so it may have given up "
          "before the work was done.\n";
    }
  }
  result.summary = RunHeading(run, now);
  result.details = DetailsOf(run, now);
  result.ids = {run.run_id()};
  result.is_whole = true;
  Charge(run, result);
  return result;
}

ToolResult RenderStoppedRun(const v1::StopRunResponse& response) {
  const v1::Run& run = response.run();
  const std::string id = IdLabel(run.run_id(), kCellCharacters);
  const std::string worker = NameOr(run.worker_name(), run.worker_session_id());
  ToolResult result;
  if (response.forced()) {
    result.text = id + " is settled as stopped without the word of " + worker +
                  "'s host. It is no longer followed, whatever that session "
                  "still does. ";
  } else if (IsOpen(run) && !run.detail().empty()) {
    result.text = id + " is marked to be stopped, but not stopped yet. ";
  } else if (IsOpen(run)) {
    result.text = "Cancellation of " + id + " was asked of " + worker +
                  "; it settles once that session's host says so, and you are "
                  "told. A second stop settles it whatever the host says. ";
  } else {
    result.text = id + " is " + std::string(RunStateLabel(run.state())) + ". ";
  }
  result.text += AlsoCancelled(response);
  result.text += "What was done already is not undone.\n";
  if (!run.detail().empty()) {
    result.text += SafeLabel(run.detail(), kDetailCharacters) + "\n";
  }
  result.summary = id + " · " +
                   (IsOpen(run) ? "stop asked for"
                                : std::string(RunStateLabel(run.state())));
  result.details = {{"runId", run.run_id()},
                    {"state", RunStateLabel(run.state())},
                    {"forced", response.forced()}};
  return result;
}

ToolResult RenderSteered(const v1::DeliveryRecord& record,
                         const std::string& run_id) {
  ToolResult result;
  const std::string id = IdLabel(run_id, kCellCharacters);
  result.text = "Sent to the worker of " + id + ", " +
                NameOr(record.recipient_name(), record.recipient_session_id()) +
                ": it reads it at its next turn boundary, and may ignore it; "
                "stop cancels. Message id " +
                IdLabel(record.envelope().envelope_id()) + ".\n";
  result.summary = "steered " + id;
  result.details = {{"runId", run_id},
                    {"messageId", record.envelope().envelope_id()},
                    {"deliveryId", record.delivery_id()},
                    {"state", StateLabel(record.state())}};
  return result;
}

void Charge(const v1::Run& run, ToolResult& result) {
  if (!run.headless() || run.collected() || !run.has_usage()) return;
  v1::Usage sum = result.usage.value_or(v1::Usage());
  AddUsage(run.usage(), sum);
  result.usage = sum;
}

std::string TroubleOf(const v1::Run& run) {
  if (!IsOpen(run) || run.detail().empty()) return "";
  return SafeLabel(run.run_id()) + ": " +
         SafeLabel(run.detail(), kDetailCharacters) + ".\n";
}

std::string EndSentence(const v1::Run& run) {
  if (run.state() != v1::Run::STATE_FAILED &&
      run.state() != v1::Run::STATE_STOPPED) {
    return "";
  }
  std::string text =
      run.state() == v1::Run::STATE_FAILED ? "Failed" : "Stopped";
  if (!run.reason().empty()) {
    std::string reason = SafeLabel(run.reason(), kCellCharacters);
    std::replace(reason.begin(), reason.end(), '_', ' ');
    text += " (" + reason + ")";
  }
  if (!run.detail().empty()) {
    text += ": " + SafeLabel(run.detail(), kDetailCharacters);
  }
  if (!text.ends_with('.')) text += ".";
  return text + "\n";
}

}  // namespace intercom
