#ifndef PI_INTERCOM_WORKER_AGENT_DELIVERY_DESK_H_
#define PI_INTERCOM_WORKER_AGENT_DELIVERY_DESK_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <set>
#include <string>

#include "intercom/v1/session.pb.h"
#include "worker-agent/host/json_rpc.h"
#include "worker-agent/tools/delivery_text.h"

namespace intercom {

// Passes deliveries to the host and the host's receipts to the broker. Knows
// which deliveries the host has without having answered: one that comes again
// after a reconnection is not handed over twice. Receipts that a broken stream
// may have lost are repeated on the next one. Not thread-safe.
class DeliveryDesk {
 public:
  using SendFrame = std::function<void(v1::AttachRequest)>;

  // `send` drops frames while nothing is attached; `reader` tells who reads
  // what is delivered now. `host` must outlive this object.
  DeliveryDesk(JsonRpc& host, SendFrame send, std::function<Reader()> reader);

  // A new stream: answers of the host for the old one are void.
  void StreamStarted() { ++stream_; }

  // The host was told that its session is refused, and dropped what it held:
  // the next stream brings it again.
  void HostDropped() { with_host_.clear(); }

  // Frames of the broker.
  void Deliver(const v1::Delivery& delivery);
  void Withdraw(const std::string& delivery_id);
  void Reconcile(const v1::Reconcile& reconcile);

  // The host's `receipt` notification.
  void HandleReceipt(const Json& params);

 private:
  // More than any window and list of a reconciliation.
  static constexpr size_t kMaxRemembered = 256;

  void Send(v1::Receipt receipt);
  // Keeps `receipt` as the latest of its delivery.
  void Remember(const v1::Receipt& receipt);
  void SendPresent(const std::vector<std::string>& delivery_ids);

  JsonRpc& host_;
  const SendFrame send_;
  const std::function<Reader()> reader_;
  int64_t stream_ = 0;
  // Handed over, and neither injected nor failed nor withdrawn.
  std::set<std::string> with_host_;
  // The latest of each delivery, oldest first.
  std::deque<v1::Receipt> remembered_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_DELIVERY_DESK_H_
