#ifndef PI_INTERCOM_WORKER_AGENT_ASK_CALLS_H_
#define PI_INTERCOM_WORKER_AGENT_ASK_CALLS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "broker/base/clock.h"
#include "worker-agent/link/broker_link.h"
#include "worker-agent/link/post_gate.h"
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
    // The first question is held this long, each later one twice as long, so
    // that early changes are told soon.
    absl::Duration first_wait = absl::Seconds(1);
    absl::Duration longest_wait = SessionCalls::kLongestWait;
    // After an answer that came too soon, and after one that failed.
    absl::Duration pause = absl::Seconds(1);
    absl::Duration progress = absl::Seconds(15);
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
  ~AskCalls();
  AskCalls(const AskCalls&) = delete;
  AskCalls& operator=(const AskCalls&) = delete;

  // Waits for the reply to `ask`, which was accepted or may have been. `amend`
  // may be null.
  void Wait(const std::string& call_id, SentAsk ask, Amend amend);

  // Stops waiting; the ask stays open. What to answer; nullopt if the call does
  // not wait here.
  std::optional<ToolResult> Cancel(const std::string& call_id);

  // The session is attached: what waits asks the broker at once.
  void Attached();
  // It never will be again.
  void LinkOver(const absl::Status& why);

  int count() const { return static_cast<int>(waiting_.size()); }

 private:
  struct Waiting {
    SentAsk ask;
    Amend amend;
    // Tells it from another of the same call id.
    int64_t ticket = 0;
    absl::Duration began;
    absl::Duration next_wait;
    // Of the question that is open; 0 for none. Others are void.
    int64_t question = 0;
    SessionCalls::Stop stop;
    absl::Status trouble;
  };

  // Nullptr if the call no longer waits.
  Waiting* Find(const std::string& call_id, int64_t ticket);
  void Question(const std::string& call_id, int64_t ticket);
  void QuestionLater(const std::string& call_id, int64_t ticket);
  void HandleAnswer(const std::string& call_id, Waiting& waiting,
                    bool came_too_soon,
                    const absl::StatusOr<v1::AwaitReplyResponse>& answer);
  void Tell(const std::string& call_id, const Waiting& waiting);
  void TellNowAndThen(const std::string& call_id, int64_t ticket);
  void Finish(const std::string& call_id, const ToolResult& result);

  const Pace pace_;
  BrokerLink& link_;
  const Clock& clock_;
  const Answer answer_;
  const Progress progress_;
  const std::shared_ptr<PostGate> gate_;
  int64_t last_ticket_ = 0;
  int64_t last_question_ = 0;
  std::map<std::string, Waiting> waiting_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_ASK_CALLS_H_
