#include "worker-agent/tools/run_digest.h"

#include <algorithm>

#include "broker/base/proto_time.h"
#include "broker/domain/text_rules.h"
#include "worker-agent/tools/run_blocks.h"
#include "worker-agent/tools/run_labels.h"
#include "worker-agent/tools/run_text.h"
#include "worker-agent/tools/text_budget.h"

namespace intercom {
namespace {

constexpr size_t kMostStalled = 8;
// For the line that names what has none.
constexpr size_t kRoomForTheRest = kMostIdsLeft + 80;

std::string StalledLine(const v1::Run& run, absl::Time now) {
  return "● " + RunHeading(run, now) + " · no advance for " +
         TimeTaken(now - FromProto(run.last_advance_at())) + "\n";
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
  std::string end = BlocksClosing(settled);
  if (!stalled.empty()) {
    end +=
        "A run that has stalled may be in one long step: peek before you "
        "steer or stop it.\n";
  }
  const size_t around =
      CharacterCount(lead) + CharacterCount(stalled) + CharacterCount(end);
  const size_t room =
      kMostReportCharacters - std::min(kMostReportCharacters, around);
  std::string blocks = RunBlocks(settled, room, now, digest.settled);
  if (digest.settled.size() < settled.size()) {
    digest.settled.clear();
    blocks = RunBlocks(settled, room - std::min(room, kRoomForTheRest), now,
                       digest.settled);
    blocks += "[no room here: " + IdsLeft(settled, digest.settled) +
              "; their ends are told next, and result gives them now]\n";
  }
  digest.content =
      WholeLinesWithin(lead + blocks + stalled + end, kMostReportCharacters);
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
      kMostReportCharacters);
  digest.summary = "runs: " + counts;
  return digest;
}

}  // namespace intercom
