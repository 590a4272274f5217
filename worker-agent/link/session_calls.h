#ifndef PI_INTERCOM_WORKER_AGENT_LINK_SESSION_CALLS_H_
#define PI_INTERCOM_WORKER_AGENT_LINK_SESSION_CALLS_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "intercom/v1/ask.pb.h"
#include "intercom/v1/message.pb.h"
#include "intercom/v1/monitor.pb.h"
#include "intercom/v1/roster.pb.h"
#include "intercom/v1/run.pb.h"
#include "intercom/v1/work.pb.h"
#include "intercom/v1/workspace.pb.h"
#include "worker-agent/link/post_gate.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace intercom {

class OpenCalls;

// The unary calls of one attached session to the broker's services.
// Answers come through the gate, on its runner, within the call's time: 12 s
// for a stop, 8 s for a status page, 25 s for a wait for a reply or for runs,
// 10 s for others. A change whose connection
// breaks is UNAVAILABLE (OUTCOME_UNKNOWN), except for launches, which can be
// repeated: those are UNAVAILABLE (BROKER_UNREACHABLE) like questions.
class SessionCalls {
 public:
  template <typename Response>
  using Answer = std::function<void(absl::StatusOr<Response>)>;
  // Ends a call whose answer is of no use any more: it comes as CANCELLED,
  // unless it came before. Harmless afterwards.
  using Stop = std::function<void()>;

  // The longest `wait` of an AwaitReply or AwaitRuns that leaves time for its
  // answer.
  static constexpr absl::Duration kLongestWait = absl::Seconds(15);

  // The tokens identify the caller to the broker; see AddIdentity().
  SessionCalls(std::shared_ptr<grpc::Channel> channel,
               std::shared_ptr<OpenCalls> calls, std::string bearer_token,
               std::string session_token, std::shared_ptr<PostGate> gate);
  ~SessionCalls();

  // Makes the call whose request and response these are. Defined for those that
  // the table in session_calls.cc names.
  template <typename Response, typename Request>
  Stop Call(Request request, Answer<Response> answer);

 private:
  struct Connection;
  template <typename Request>
  struct Spec;

  // Shared with the calls that are open.
  const std::shared_ptr<const Connection> connection_;
  const std::shared_ptr<PostGate> gate_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LINK_SESSION_CALLS_H_
