#ifndef PI_INTERCOM_BROKER_ROSTER_SESSION_LINK_H_
#define PI_INTERCOM_BROKER_ROSTER_SESSION_LINK_H_

#include "absl/status/status.h"
#include "intercom/v1/session.pb.h"

namespace intercom {

// The way to one attached session's agent. Thread-safe; calls only queue and
// never block. What is queued when the stream breaks is dropped: whoever needs
// certainty waits for the agent's answer.
class SessionLink {
 public:
  virtual ~SessionLink() = default;

  // Queues one frame behind those before it.
  virtual void Send(v1::AttachResponse frame) = 0;

  // Ends the stream with `status` after the queued frames. Later calls do
  // nothing.
  virtual void Close(absl::Status status) = 0;

  // Whether the client is known to have left.
  virtual bool IsGone() const = 0;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_ROSTER_SESSION_LINK_H_
