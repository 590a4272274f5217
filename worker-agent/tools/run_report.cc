#include "worker-agent/tools/run_report.h"

#include <algorithm>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "broker/domain/text_rules.h"
#include "worker-agent/tools/labels.h"
#include "worker-agent/tools/run_labels.h"
#include "worker-agent/tools/run_text.h"
#include "worker-agent/tools/surrender.h"
#include "worker-agent/tools/text_budget.h"

namespace intercom {
namespace {

constexpr size_t kMostCharacters = 12'000;
constexpr size_t kMostOfARun = 4'000;
constexpr size_t kLeastOfARun = 256;
constexpr size_t kMostRuns = 40;
constexpr size_t kMostStalled = 8;
constexpr size_t kMostNamed = 64;

constexpr char kSurrenderNote[] =
    "Note: by its own words it is blocked; it may have given up early.\n";
constexpr char kSalvageAdvice[] =
    "A failed run can be handed out again, once: what it had written by then "
    "is quoted. If that fails too, tell the person.\n";
constexpr char kWordsNote[] =
    "The quoted lines are the workers' words, not a person's. intercom, action "
    "result, with a runId gives the whole of one.\n";

// Failures first, then what was stopped; the oldest first among equals.
int RankOf(v1::Run::State state) {
  if (state == v1::Run::STATE_FAILED) return 0;
  return state == v1::Run::STATE_STOPPED ? 1 : 2;
}

// What stands around the worker's words: `head` before, `note` behind them.
struct Block {
  std::string head;
  std::string error;
  std::string text;
  std::string note;
  std::string where;

  size_t Around() const { return CharacterCount(head) + CharacterCount(note); }
  size_t Need() const {
    return Around() + (error.empty() ? 0 : FencedLength(error)) +
           (text.empty() ? 0 : FencedLength(text));
  }
};

Block BlockOf(const v1::SettledRun& settled, absl::Time now) {
  const v1::Run& run = settled.run();
  const v1::RunResult& said = settled.result();
  Block block{.head = "● " + RunHeading(run, now) + "\n" + EndSentence(run),
              .error = said.error(),
              .text = said.text(),
              .note = {},
              .where = "result of " + SafeLabel(run.run_id()) + " has it all"};
  if (said.text().empty() && said.error().empty()) {
    block.note = "It wrote nothing.\n";
  } else if (run.state() == v1::Run::STATE_DONE &&
             SaysItIsBlocked(said.text())) {
    block.note = kSurrenderNote;
  }
  if (said.left_out() > 0) {
    block.note += "[more in " + block.where + "]\n";
  }
  return block;
}

std::string Fit(const Block& block, size_t budget) {
  size_t room = budget - std::min(budget, block.Around());
  std::string text = block.head;
  if (!block.error.empty()) {
    const size_t most = block.text.empty()
                            ? room
                            : std::min(FencedLength(block.error), room / 3);
    const std::string fenced = FenceWithin(block.error, most, block.where);
    room -= std::min(room, CharacterCount(fenced));
    text += fenced;
  }
  if (!block.text.empty()) text += FenceWithin(block.text, room, block.where);
  return text + block.note;
}

// The blocks of those for which there is room, within `budget`; their ids are
// added to `told`.
std::string Blocks(const std::vector<v1::SettledRun>& given, size_t budget,
                   absl::Time now, std::vector<std::string>& told) {
  std::vector<v1::SettledRun> runs = given;
  std::stable_sort(runs.begin(), runs.end(),
                   [](const v1::SettledRun& a, const v1::SettledRun& b) {
                     return RankOf(a.run().state()) < RankOf(b.run().state());
                   });
  if (runs.size() > kMostRuns) runs.resize(kMostRuns);
  std::vector<Block> blocks;
  std::vector<size_t> needs;
  for (const v1::SettledRun& run : runs) {
    blocks.push_back(BlockOf(run, now));
    needs.push_back(std::min(blocks.back().Need(), kMostOfARun));
  }
  const std::vector<size_t> shares = FairShares(needs, budget, kLeastOfARun);
  std::string text;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const std::string block = Fit(blocks[i], shares[i]);
    const size_t length = CharacterCount(block);
    if (length > budget) break;
    budget -= length;
    text += block;
    told.push_back(runs[i].run().run_id());
  }
  return text;
}

bool HasFailed(const std::vector<v1::SettledRun>& runs) {
  return std::any_of(runs.begin(), runs.end(), [](const v1::SettledRun& run) {
    return run.run().state() == v1::Run::STATE_FAILED;
  });
}

// What is said behind the blocks.
std::string Closing(const std::vector<v1::SettledRun>& runs) {
  if (runs.empty()) return "";
  return (HasFailed(runs) ? std::string(kSalvageAdvice) : std::string()) +
         kWordsNote;
}

std::vector<v1::Run> RunsOf(const std::vector<v1::SettledRun>& settled) {
  std::vector<v1::Run> runs;
  for (const v1::SettledRun& run : settled) runs.push_back(run.run());
  return runs;
}

// "3 runs ended: 2 done, 1 failed".
std::string EndedCounts(const std::vector<v1::SettledRun>& settled) {
  return Runs(static_cast<int64_t>(settled.size())) +
         " ended: " + StateCounts(RunsOf(settled));
}

std::string StalledLine(const v1::Run& run, absl::Time now) {
  return "● " + RunHeading(run, now) + " · no advance for " +
         TimeTaken(now - FromProto(run.last_advance_at())) + "\n";
}

std::string Names(const std::vector<v1::Run>& runs) {
  std::string text;
  for (size_t i = 0; i < std::min(runs.size(), kMostNamed); ++i) {
    if (!text.empty()) text += ", ";
    text += SafeLabel(runs[i].run_id(), 32);
    if (!runs[i].label().empty()) {
      text += " (" + SafeLabel(runs[i].label(), 40) + ")";
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
         SafeLabel(parts.has_value() ? parts->envelope_id : ask.delivery_id(),
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
  return std::string(report.ask.has_value()
                         ? "Open still: "
                         : "Not over yet after " + TimeTaken(report.waited) +
                               ": ") +
         names +
         ". Each goes on, and its end is announced to you by itself; peek "
         "shows how it goes.\n";
}

}  // namespace

RunDigest DigestOf(const v1::RunNews& news, absl::Time now) {
  const std::vector<v1::SettledRun> settled(news.settled().begin(),
                                            news.settled().end());
  RunDigest digest;
  std::string stalled;
  for (const v1::Run& run : news.stalled()) {
    if (digest.stalled.size() == kMostStalled) break;
    digest.stalled.push_back(run.run_id());
    stalled += StalledLine(run, now);
  }
  std::string counts;
  if (!settled.empty()) counts = EndedCounts(settled);
  if (news.settled_left_out() > 0) {
    counts += " (and " + std::to_string(news.settled_left_out()) + " more)";
  }
  if (const int count = news.stalled_size(); count > 0) {
    if (!counts.empty()) counts += "; ";
    counts += Runs(count) + (count == 1 ? " has stalled" : " have stalled");
  }
  if (news.open() > 0) {
    counts += "; " + std::to_string(news.open()) +
              (news.open() == 1 ? " is open" : " are open");
  }
  const std::string lead = "[intercom] Of your runs: " + counts + ".\n";
  std::string end = Closing(settled);
  if (!stalled.empty()) {
    end +=
        "A run that has stalled may be in one long step: peek before you "
        "steer or stop it.\n";
  }
  const size_t around =
      CharacterCount(lead) + CharacterCount(stalled) + CharacterCount(end);
  digest.content = WholeLinesWithin(
      lead +
          Blocks(settled, kMostCharacters - std::min(kMostCharacters, around),
                 now, digest.settled) +
          stalled + end,
      kMostCharacters);
  if (digest.content.ends_with('\n')) digest.content.pop_back();
  digest.summary = "runs: " + counts;
  return digest;
}

RunDigest CheckInOf(const v1::ListRunsResponse& runs, absl::Time now) {
  RunDigest digest;
  const std::vector<v1::Run> listed(runs.runs().begin(), runs.runs().end());
  const std::string counts = StateCounts(listed);
  digest.content = WholeLinesWithin(
      "[intercom] How your runs go: " + counts + ".\n" + RunTable(runs, now) +
          "For your information; nothing needs to be done about it.",
      kMostCharacters);
  digest.summary = "runs: " + counts;
  return digest;
}

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
  std::string end = Closing(report.settled);
  if (report.ask.has_value()) end += AskText(*report.ask);
  end += OpenText(report);
  const size_t around = CharacterCount(lead) + CharacterCount(end) + 200;
  result.text =
      lead + Blocks(report.settled,
                    kMostCharacters - std::min(kMostCharacters, around), now,
                    result.ids);
  if (const size_t rest = report.settled.size() - result.ids.size(); rest > 0) {
    result.text += "[" + Runs(static_cast<int64_t>(rest)) +
                   " more had no room here; they stay to be collected]\n";
  }
  result.text += end;
  std::vector<v1::Run> all = RunsOf(report.settled);
  all.insert(all.end(), report.open.begin(), report.open.end());
  result.summary = StateCounts(all);
  if (report.ask.has_value()) result.summary += " · a question";
  result.details = {{"settled", result.ids}, {"open", Json::array()}};
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
