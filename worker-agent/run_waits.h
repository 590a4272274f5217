#ifndef PI_INTERCOM_WORKER_AGENT_RUN_WAITS_H_
#define PI_INTERCOM_WORKER_AGENT_RUN_WAITS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "broker/base/clock.h"
#include "worker-agent/link/broker_link.h"
#include "worker-agent/long_polls.h"
#include "worker-agent/tools/wait_report.h"

namespace intercom {

// Tool calls that wait until runs have ended, an ask came, or their time is
// over. Which runs is settled by the broker's first answer; what has ended
// since is kept here, so that it is reported even if no broker is there any
// more. Not thread-safe: on the runner of the link.
class RunWaits {
 public:
  struct Pace {
    LongPolls::Pace polls = {};
    // Beyond the wait's time, for the broker's last answer.
    absl::Duration grace = absl::Seconds(3);
  };
  using Answer =
      std::function<void(const std::string& call_id, const ToolResult&)>;
  using Progress =
      std::function<void(const std::string& call_id, const std::string& text)>;

  // What a run is reported as; see RunCalls.
  using Amend = std::function<v1::SettledRun(const v1::SettledRun&)>;

  // `answer` is called once for each call that Cancel() did not end. What is
  // passed must outlive this object.
  RunWaits(Pace pace, BrokerLink& link, TaskRunner& runner, const Clock& clock,
           Answer answer, Progress progress, Amend amend);

  // For `run_ids`, or for what ListRuns would list, at most `time` long.
  void Wait(const std::string& call_id, std::vector<std::string> run_ids,
            absl::Duration time);

  // What to answer to a call that gives up; nullopt if it does not wait here.
  std::optional<ToolResult> Cancel(const std::string& call_id);

  void Attached() { polls_.Attached(); }
  // The session never will be attached again.
  void LinkOver(const absl::Status& why);

 private:
  struct Waiting {
    std::vector<std::string> run_ids;
    absl::Duration time;
    WaitReport report;
    // The last that went wrong with asking.
    absl::Status trouble;
  };

  SessionCalls::Stop Ask(SessionCalls& calls,
                         const LongPolls::Question& question);
  void HandleAnswer(const LongPolls::Question& question,
                    const absl::StatusOr<v1::AwaitRunsResponse>& answer);
  void HandleTrouble(const LongPolls::Question& question,
                     const absl::Status& status);
  void Tell(const std::string& call_id);
  // Answers with what is known.
  void Finish(const std::string& call_id);

  const Pace pace_;
  const BrokerLink& link_;
  const Clock& clock_;
  const Answer answer_;
  const Progress progress_;
  const Amend amend_;
  std::map<std::string, Waiting> waiting_;
  LongPolls polls_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_RUN_WAITS_H_
