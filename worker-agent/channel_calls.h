#ifndef PI_INTERCOM_WORKER_AGENT_CHANNEL_CALLS_H_
#define PI_INTERCOM_WORKER_AGENT_CHANNEL_CALLS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "intercom/v1/session.pb.h"
#include "worker-agent/host/json_rpc.h"

namespace intercom {

// Carries the host's channel requests to the broker, and the broker's channel
// events to the host. Joins again after each reconnection. Not thread-safe.
class ChannelCalls {
 public:
  // Levels of a payload: what nests deeper could end a reader of it.
  static constexpr int kMaxDepth = 256;

  using SendFrame = std::function<void(v1::AttachRequest)>;

  // What is passed must outlive this object.
  ChannelCalls(JsonRpc& host, SendFrame send)
      : host_(host), send_(std::move(send)) {}

  static bool Handles(const std::string& method);

  // One of the requests `channel/...`. A refusal is a result that says so; an
  // error means that the request can't be read.
  void Call(const std::string& method, const Json& params,
            JsonRpc::Respond respond);

  // Attached. Whatever was joined before is joined again.
  void Welcomed(const v1::Welcome& welcome);
  // No longer attached: what is open is answered so, whatever became of it.
  void StreamLost();

  void HandleResult(const v1::ChannelResult& result);
  void HandleEvent(const v1::ChannelEvent& event);

 private:
  struct Open {
    v1::ChannelRequest request;
    // Null where the agent itself joins again.
    JsonRpc::Respond respond;
  };

  void Send(v1::ChannelRequest request, JsonRpc::Respond respond);

  JsonRpc& host_;
  const SendFrame send_;
  bool is_attached_ = false;
  bool is_supported_ = false;
  int64_t last_request_ = 0;
  std::map<std::string, Open> open_;
  // By namespace, whether this session may own it.
  std::map<std::string, bool> joined_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CHANNEL_CALLS_H_
