#include "worker-agent/tools/wait_report.h"

#include <algorithm>

#include "broker/base/error.h"
#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "broker/domain/text_rules.h"
#include "worker-agent/tools/labels.h"
#include "worker-agent/tools/run_blocks.h"
#include "worker-agent/tools/run_labels.h"
#include "worker-agent/tools/run_text.h"

namespace intercom {
namespace {

constexpr size_t kMostNamed = 64;
// For the line that names what has no room.
constexpr size_t kRoomForTheRest = kMostIdsLeft + 80;

std::string Names(const std::vector<v1::Run>& runs) {
  std::string text;
  for (size_t i = 0; i < std::min(runs.size(), kMostNamed); ++i) {
    if (!text.empty()) text += ", ";
    text += IdLabel(runs[i].run_id(), 32);
    if (!runs[i].label().empty()) {
      text += " (" + QuotedLine(runs[i].label(), 40) + ")";
    }
  }
  if (runs.size() > kMostNamed) {
    text += " and " + std::to_string(runs.size() - kMostNamed) + " more";
  }
  return text;
}

std::string AskText(const v1::Ask& ask) {
  const auto parts = ParseDeliveryId(ask.delivery_id());
  return "A question ended the wait: " +
         NameOr(ask.asker().name(), ask.asker().session_id()) + " asks, id " +
         IdLabel(parts.has_value() ? parts->envelope_id : ask.delivery_id(),
                 64) +
         ":\n" + FenceText(ask.preview()) +
         "\nAnswer it first, with action reply and that id as replyTo; it is "
         "in your inbox, and comes whole as a message. Then wait again.\n";
}

// How a wait that is over left what did not end.
std::string OpenText(const WaitReport& report) {
  if (report.open.empty()) return "";
  const std::string names = Names(report.open);
  if (!report.trouble.ok()) {
    return "Open when last heard of: " + names +
           ". The wait could not go on: " +
           SafeLabel(MessageOf(report.trouble), 400) + ".\n";
  }
  std::string troubles;
  for (const v1::Run& run : report.open) troubles += TroubleOf(run);
  return std::string(report.ask.has_value()
                         ? "Open still: "
                         : "Not over yet after " + TimeTaken(report.waited) +
                               ": ") +
         names +
         ". Each goes on, and its end is announced to you by itself; peek "
         "shows how it goes.\n" +
         troubles;
}

// Beyond what one wait takes.
std::string LeftOutText(const WaitReport& report) {
  if (report.left_out <= 0) return "";
  return "This wait followed 64 runs, open ones first, and left out " +
         Runs(report.left_out) +
         ": peek names them, wait again or name one by runId.\n";
}

}  // namespace

ToolResult RenderWait(const WaitReport& report, absl::Time now) {
  ToolResult result;
  if (report.settled.empty() && !report.trouble.ok()) {
    result = RenderError(report.trouble);
    result.text += report.open.empty() ? "\n" : "\n" + OpenText(report);
    return result;
  }
  if (report.settled.empty() && report.open.empty() &&
      !report.ask.has_value()) {
    result.text = "There is no run to wait for.\n";
    result.summary = "no runs";
    return result;
  }
  const std::string lead =
      report.settled.empty() ? "" : EndedCounts(report.settled) + ".\n";
  std::string end = BlocksClosing(report.settled);
  if (report.ask.has_value()) end += AskText(*report.ask);
  end += OpenText(report) + LeftOutText(report);
  const size_t around =
      CharacterCount(lead) + CharacterCount(end) + kRoomForTheRest;
  result.text = lead + RunBlocks(report.settled,
                                 kMostReportCharacters -
                                     std::min(kMostReportCharacters, around),
                                 now, result.ids);
  if (const size_t rest = report.settled.size() - result.ids.size(); rest > 0) {
    result.text += "[" + Runs(static_cast<int64_t>(rest)) +
                   " more had no room here and stay to be collected: " +
                   IdsLeft(report.settled, result.ids) + "]\n";
  }
  result.text += end;
  std::vector<v1::Run> all = RunsOf(report.settled);
  all.insert(all.end(), report.open.begin(), report.open.end());
  result.summary = StateCounts(all);
  if (report.ask.has_value()) result.summary += " · a question";
  result.details = {{"settled", result.ids}, {"open", Json::array()}};
  if (report.left_out > 0) result.details["leftOut"] = report.left_out;
  for (const v1::Run& run : report.open) {
    result.details["open"].push_back(run.run_id());
  }
  for (const v1::SettledRun& run : report.settled) {
    if (std::find(result.ids.begin(), result.ids.end(), run.run().run_id()) !=
        result.ids.end()) {
      Charge(run.run(), result);
    }
  }
  return result;
}

ToolResult RenderWaitGivenUp(const WaitReport& report) {
  std::string text = "The wait was given up after " + TimeTaken(report.waited) +
                     ", before its time was over; nothing was collected by it.";
  if (!report.open.empty()) {
    text += " Open when last heard of: " + Names(report.open) + ".";
  }
  if (!report.settled.empty()) {
    text += " Ended meanwhile: " + Names(RunsOf(report.settled)) + ".";
  }
  text +=
      " All of them go on as they were, and their ends are announced by "
      "themselves.";
  return RenderError(Error(absl::StatusCode::kCancelled, "WAIT_STOPPED", text));
}

std::string WaitProgress(const WaitReport& report, absl::Duration time,
                         bool connected) {
  std::vector<v1::Run> all = RunsOf(report.settled);
  const size_t settled = all.size();
  all.insert(all.end(), report.open.begin(), report.open.end());
  std::string text = "waiting for ";
  text += all.empty() ? std::string("runs")
                      : std::to_string(all.size() - settled) + " of " +
                            Runs(static_cast<int64_t>(all.size()));
  text += " (" + AgeLabel(report.waited) + " of " + AgeLabel(time) + ")";
  if (!connected)
    return text + ": no connection to the broker now, trying again";
  return all.empty() ? text : text + ": " + StateCounts(all);
}

}  // namespace intercom
