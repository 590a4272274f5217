#ifndef PI_INTERCOM_WORKER_AGENT_ASK_CALLS_H_
#define PI_INTERCOM_WORKER_AGENT_ASK_CALLS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "broker/base/clock.h"
#include "worker-agent/link/broker_link.h"
#include "worker-agent/long_polls.h"
#include "worker-agent/tools/ask_result.h"

namespace intercom {

// Tool calls that wait for the reply to an accepted ask, each by itself: asks
// the broker again and again until the ask is no longer open, over lost
// connections and restarts of the broker, and a little longer than the ask's
// own time. What is heard meanwhile is told as progress. Not thread-safe: on
// the runner of the link.
class AskCalls {
 public:
  struct Pace {
    LongPolls::Pace polls = {};
    // For how long an ask that the broker does not know may be on its way.
    absl::Duration acceptance = absl::Seconds(10);
    // Beyond the ask's time, for the broker to say how it ended.
    absl::Duration grace = absl::Seconds(15);
  };
  using Answer =
      std::function<void(const std::string& call_id, const ToolResult&)>;
  using Progress =
      std::function<void(const std::string& call_id, const std::string& text)>;
  // Completes the result of a reply.
  using Amend = std::function<void(const v1::Envelope& reply, ToolResult&)>;

  // `answer` is called once for each call that Cancel() did not end. What is
  // passed must outlive this object.
  AskCalls(Pace pace, BrokerLink& link, TaskRunner& runner, const Clock& clock,
           Answer answer, Progress progress);

  // Waits for the reply to `ask`, which was accepted or may have been. `amend`
  // may be null.
  void Wait(const std::string& call_id, SentAsk ask, Amend amend);

  // Stops waiting; the ask stays open. What to answer; nullopt if the call does
  // not wait here.
  std::optional<ToolResult> Cancel(const std::string& call_id);

  // The session is attached: what waits asks the broker at once.
  void Attached() { polls_.Attached(); }
  // It never will be again.
  void LinkOver(const absl::Status& why);

  int count() const { return static_cast<int>(waiting_.size()); }

 private:
  struct Waiting {
    SentAsk ask;
    Amend amend;
    absl::Status trouble;
  };

  SessionCalls::Stop Ask(SessionCalls& calls,
                         const LongPolls::Question& question);
  void HandleAnswer(const LongPolls::Question& question,
                    const absl::StatusOr<v1::AwaitReplyResponse>& answer);
  void Tell(const std::string& call_id);
  void Finish(const std::string& call_id, const ToolResult& result);

  const Pace pace_;
  const BrokerLink& link_;
  const Answer answer_;
  const Progress progress_;
  std::map<std::string, Waiting> waiting_;
  LongPolls polls_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_ASK_CALLS_H_
