#ifndef PI_INTERCOM_WORKER_AGENT_LINK_CHANNEL_H_
#define PI_INTERCOM_WORKER_AGENT_LINK_CHANNEL_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/status.h"
#include "worker-agent/link/broker_address.h"

namespace intercom {

struct ChannelTimings {
  // A silent connection is pinged after the first and given up after the
  // second more, so that a stopped broker is noticed within 10 s.
  absl::Duration ping_after = absl::Seconds(5);
  absl::Duration ping_timeout = absl::Seconds(4);
};

// A channel of its own: it shares neither connection nor backoff with another
// one, uses no proxy, and notices a silent peer.
std::shared_ptr<grpc::Channel> MakeChannel(const BrokerAddress& address,
                                           const ChannelTimings& timings = {});

// Puts what the broker identifies callers by into a call: the account's token
// (TCP) and the session's token, each unless empty.
void AddIdentity(grpc::ClientContext& context, std::string_view bearer_token,
                 std::string_view session_token);

// Lets the call end with DEADLINE_EXCEEDED after `timeout`.
void SetTimeout(grpc::ClientContext& context, absl::Duration timeout);

// The status of a finished call, with the reason that the broker put into its
// trailing metadata.
absl::Status FromGrpc(const grpc::Status& status,
                      const grpc::ClientContext& context);

// Whether the broker serves: the standard health call. Blocks at most
// `timeout`. UNAVAILABLE (BROKER_DRAINING) if it is about to leave;
// DEADLINE_EXCEEDED if it says nothing.
absl::Status CheckHealth(const std::shared_ptr<grpc::Channel>& channel,
                         absl::Duration timeout);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LINK_CHANNEL_H_
