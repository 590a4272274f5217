#ifndef PI_INTERCOM_WORKER_AGENT_LONG_POLLS_H_
#define PI_INTERCOM_WORKER_AGENT_LONG_POLLS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "broker/base/clock.h"
#include "worker-agent/link/broker_link.h"
#include "worker-agent/link/post_gate.h"

namespace intercom {

// When tool calls that wait for something ask the broker how it is: again and
// again, over lost connections and restarts of the broker, until they end or
// their time is over. Not thread-safe: on the runner of the link.
class LongPolls {
 public:
  struct Pace {
    // The first question is held this long, each later one twice as long, so
    // that early changes are told soon.
    absl::Duration first_wait = absl::Seconds(1);
    absl::Duration longest_wait = SessionCalls::kLongestWait;
    // After an answer that came too soon, and after one that failed.
    absl::Duration pause = absl::Seconds(1);
    absl::Duration progress = absl::Seconds(15);
  };

  // One question of one call.
  struct Question {
    std::string call_id;
    // Tells the call from another of the same id.
    int64_t ticket = 0;
    // Rises with each question.
    int64_t number = 0;
    // How long the broker may hold it.
    absl::Duration wait;
    // On the steady clock.
    absl::Duration asked;
  };

  struct Poll {
    // Asks the broker. What hears the answer calls Answered() first.
    std::function<SessionCalls::Stop(SessionCalls&, const Question&)> ask;
    // Says how it is, at once and now and then.
    std::function<void()> tell;
    // Its time is over, and it has ended.
    std::function<void()> too_late;
  };

  // What is passed must outlive this object.
  LongPolls(Pace pace, BrokerLink& link, TaskRunner& runner,
            const Clock& clock);
  ~LongPolls();
  LongPolls(const LongPolls&) = delete;
  LongPolls& operator=(const LongPolls&) = delete;

  void Begin(const std::string& call_id, Poll poll, absl::Duration longest);

  // False for the answer to a question that is void: nobody may use it.
  bool Answered(const Question& question);
  // Asks the next question: now, or after a pause if the answer came too soon.
  void Again(const Question& question);
  void Later(const Question& question);

  // Asks no more; an answer that is under way is void.
  void End(const std::string& call_id);

  // How long it has waited. It must not have ended.
  absl::Duration Waited(const std::string& call_id) const;

  // The session is attached: what waits asks the broker at once.
  void Attached();

 private:
  struct Waiting {
    Poll poll;
    int64_t ticket = 0;
    absl::Duration began;
    absl::Duration next_wait;
    // That is open; 0 for none.
    int64_t question = 0;
    SessionCalls::Stop stop;
  };

  // Nullptr if it has ended.
  Waiting* Find(const std::string& call_id, int64_t ticket);
  void Ask(const std::string& call_id, int64_t ticket);
  void TellNowAndThen(const std::string& call_id, int64_t ticket);

  const Pace pace_;
  BrokerLink& link_;
  const Clock& clock_;
  const std::shared_ptr<PostGate> gate_;
  int64_t last_ticket_ = 0;
  int64_t last_question_ = 0;
  std::map<std::string, Waiting> waiting_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LONG_POLLS_H_
