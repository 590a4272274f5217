#ifndef PI_INTERCOM_BROKER_ROUTING_OUTBOX_H_
#define PI_INTERCOM_BROKER_ROUTING_OUTBOX_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "broker/roster/session_link.h"

namespace intercom {

// How much may be on its way to one attachment.
struct WindowLimits {
  size_t envelopes = 32;
  int64_t bytes = 1 << 20;
};

// The way of mail to one attachment: what is in flight, and what has been
// offered. A value of the state's thread.
class Outbox {
 public:
  Outbox(std::shared_ptr<SessionLink> link, int64_t epoch, WindowLimits limits)
      : link_(std::move(link)), epoch_(epoch), limits_(limits) {}

  SessionLink& link() { return *link_; }
  int64_t epoch() const { return epoch_; }

  // Deliveries flow only once the session said what it has.
  bool open() const { return open_; }
  void Open() { open_ = true; }

  // An envelope always fits into an empty window.
  bool HasRoom(int64_t bytes) const {
    return in_flight_.empty() || (in_flight_.size() < limits_.envelopes &&
                                  in_flight_bytes_ + bytes <= limits_.bytes);
  }

  // Offers from the first on, but for what is in flight.
  void Rewind() { cursor_ = 0; }
  // The greatest sequence offered so far.
  int64_t cursor() const { return cursor_; }

  void Offered(int64_t sequence, const std::string& delivery_id,
               int64_t bytes) {
    if (!in_flight_.emplace(sequence, Offer{delivery_id, bytes}).second) return;
    by_id_[delivery_id] = sequence;
    in_flight_bytes_ += bytes;
    cursor_ = std::max(cursor_, sequence);
  }
  void MovePast(int64_t sequence) { cursor_ = std::max(cursor_, sequence); }
  bool IsInFlight(int64_t sequence) const {
    return in_flight_.contains(sequence);
  }
  bool IsInFlight(std::string_view delivery_id) const {
    return by_id_.contains(
        absl::string_view(delivery_id.data(), delivery_id.size()));
  }
  // Sequences in flight.
  std::set<int64_t> InFlight() const {
    std::set<int64_t> sequences;
    for (const auto& [sequence, offer] : in_flight_) {
      sequences.insert(sequence);
    }
    return sequences;
  }
  // Gives its room back; true if it was in flight.
  bool Settle(int64_t sequence) {
    const auto found = in_flight_.find(sequence);
    if (found == in_flight_.end()) return false;
    in_flight_bytes_ -= found->second.bytes;
    by_id_.erase(found->second.delivery_id);
    in_flight_.erase(found);
    return true;
  }
  // How many more envelopes may be offered, whatever their size.
  int free_slots() const {
    return std::max(0, static_cast<int>(limits_.envelopes) -
                           static_cast<int>(in_flight_.size()));
  }

  // What a sender has sent from `sequence` on waits until an earlier one of it
  // is withdrawn. Others' mail goes on.
  void HoldBack(const std::string& sender, int64_t sequence) {
    held_back_.try_emplace(sender, sequence);
  }
  bool IsHeldBack(std::string_view sender) const {
    return held_back_.contains(absl::string_view(sender.data(), sender.size()));
  }
  // Its mail is offered from there on.
  void Release(const std::string& sender) {
    const auto found = held_back_.find(sender);
    if (found == held_back_.end()) return;
    cursor_ = std::min(cursor_, found->second - 1);
    held_back_.erase(found);
  }

  // Sequences that the session was offered before and did not keep.
  std::set<int64_t>& repeats() { return repeats_; }

 private:
  struct Offer {
    std::string delivery_id;
    int64_t bytes = 0;
  };

  std::shared_ptr<SessionLink> link_;
  int64_t epoch_;
  WindowLimits limits_;
  bool open_ = false;
  int64_t cursor_ = 0;
  std::map<int64_t, Offer> in_flight_;
  absl::flat_hash_map<std::string, int64_t> by_id_;
  int64_t in_flight_bytes_ = 0;
  std::set<int64_t> repeats_;
  absl::flat_hash_map<std::string, int64_t> held_back_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_ROUTING_OUTBOX_H_
