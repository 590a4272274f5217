#ifndef PI_INTERCOM_WORKER_AGENT_PEER_QUESTIONS_H_
#define PI_INTERCOM_WORKER_AGENT_PEER_QUESTIONS_H_

#include <functional>
#include <string>
#include <utility>

#include "broker/base/clock.h"
#include "worker-agent/host/json_rpc.h"
#include "worker-agent/link/broker_link.h"
#include "worker-agent/tools/peer_result.h"

namespace intercom {

// Those actions of `intercom` that are one question to the broker and its
// answer, and the host's own question for sessions. Not thread-safe: on the
// runner of the link.
class PeerQuestions {
 public:
  using Answer =
      std::function<void(const std::string& call_id, const ToolResult&)>;

  // What is passed must outlive this object. `answer` is called once for each
  // call.
  PeerQuestions(BrokerLink& link, const Clock& clock, Answer answer)
      : link_(link), clock_(clock), answer_(std::move(answer)) {}

  // Where the session is, and the person's home directory.
  void SetPlace(std::string cwd, std::string home) {
    cwd_ = std::move(cwd);
    home_ = std::move(home);
  }

  // The actions list and list-cwd.
  void List(const Json& arguments, const std::string& call_id);
  void Pending(const std::string& call_id);
  void MessageStatus(const std::string& message_id, const std::string& call_id);
  // The session's own, which is `own` beside what the broker says.
  void OwnStatus(const OwnSession& own, const std::string& call_id);
  void Withdraw(const std::string& message_id, const std::string& call_id);

  // The `sessions/list` request.
  void ListSessions(const Json& params, const JsonRpc::Respond& respond);

 private:
  // Asks the broker, and answers the call with what `render` makes of its
  // answer.
  template <typename Response, typename Request, typename Render>
  void Ask(Request request, const std::string& call_id, Render render);

  BrokerLink& link_;
  const Clock& clock_;
  const Answer answer_;
  std::string cwd_;
  std::string home_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_PEER_QUESTIONS_H_
