#include "worker-agent/tools/run_blocks.h"

#include <algorithm>

#include "broker/domain/fence.h"
#include "broker/domain/text_rules.h"
#include "worker-agent/tools/run_labels.h"
#include "worker-agent/tools/run_text.h"
#include "worker-agent/tools/surrender.h"
#include "worker-agent/tools/text_budget.h"

namespace intercom {
namespace {

constexpr size_t kMostOfARun = 4'000;
constexpr size_t kLeastOfARun = 256;
constexpr size_t kMostRuns = 40;
constexpr size_t kMostNamed = 12;
constexpr size_t kIdCharacters = 32;

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
              .where = "result of " + IdLabel(run.run_id(), kIdCharacters) +
                       " has it all"};
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
    // A third of the room, or what the text leaves of it.
    const size_t after = block.text.empty() ? 0 : FencedLength(block.text);
    const size_t most =
        std::min(FencedLength(block.error),
                 std::max(room / 3, room - std::min(room, after)));
    const std::string fenced = FenceWithin(block.error, most, block.where);
    room -= std::min(room, CharacterCount(fenced));
    text += fenced;
  }
  if (!block.text.empty()) text += FenceWithin(block.text, room, block.where);
  return text + block.note;
}

bool HasFailed(const std::vector<v1::SettledRun>& runs) {
  return std::any_of(runs.begin(), runs.end(), [](const v1::SettledRun& run) {
    return run.run().state() == v1::Run::STATE_FAILED;
  });
}

}  // namespace

std::string RunBlocks(const std::vector<v1::SettledRun>& given, size_t budget,
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

std::string IdsLeft(const std::vector<v1::SettledRun>& runs,
                    const std::vector<std::string>& told) {
  std::string text;
  size_t named = 0;
  size_t unnamed = 0;
  for (const v1::SettledRun& run : runs) {
    const std::string& id = run.run().run_id();
    if (std::find(told.begin(), told.end(), id) != told.end()) continue;
    if (named == kMostNamed) {
      ++unnamed;
      continue;
    }
    text += (named++ == 0 ? "" : ", ") + IdLabel(id, kIdCharacters);
  }
  if (unnamed > 0) text += " and " + std::to_string(unnamed) + " more";
  return text;
}

std::string BlocksClosing(const std::vector<v1::SettledRun>& runs) {
  if (runs.empty()) return "";
  return (HasFailed(runs) ? std::string(kSalvageAdvice) : std::string()) +
         kWordsNote;
}

std::vector<v1::Run> RunsOf(const std::vector<v1::SettledRun>& settled) {
  std::vector<v1::Run> runs;
  for (const v1::SettledRun& run : settled) runs.push_back(run.run());
  return runs;
}

std::string EndedCounts(const std::vector<v1::SettledRun>& settled) {
  return Runs(static_cast<int64_t>(settled.size())) +
         " ended: " + StateCounts(RunsOf(settled));
}

}  // namespace intercom
