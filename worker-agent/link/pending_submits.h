#ifndef PI_INTERCOM_WORKER_AGENT_LINK_PENDING_SUBMITS_H_
#define PI_INTERCOM_WORKER_AGENT_LINK_PENDING_SUBMITS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "intercom/v1/session.pb.h"

namespace intercom {

// Submits that the broker has not answered. They outlive a stream: the next one
// repeats them in order, under the same envelope ids, so that each is accepted
// once. Not thread-safe.
class PendingSubmits {
 public:
  using Answer = std::function<void(absl::StatusOr<v1::DeliveryRecord>)>;

  static constexpr size_t kMax = 256;

  // Remembers it and returns its ticket, unless there are too many: then it
  // answers RESOURCE_EXHAUSTED (TOO_MANY_SUBMITS) and returns 0. `sent`: a
  // broker may have seen it already.
  int64_t Add(v1::Submit submit, Answer answer, bool sent = false);

  // Remembers that what is pending may have reached a broker from now on.
  void MarkSent();

  // Calls `send` with each, in the order of Add().
  void ForEach(const std::function<void(const v1::Submit&)>& send) const;

  // Answers the oldest with the envelope id of `submitted`. False if none has.
  bool Resolve(v1::Submitted submitted);

  // Answers all: with `status` where no broker can have seen them, else with
  // UNAVAILABLE, reason OUTCOME_UNKNOWN.
  void FailAll(const absl::Status& status);

  // Answers those that no broker can have seen with `status`.
  void FailUnsent(const absl::Status& status);

  // The time of `ticket` is over: answers it, if it is still there, with
  // UNAVAILABLE, reason NOT_SENT, where no broker can have seen it, else with
  // DEADLINE_EXCEEDED, reason OUTCOME_UNKNOWN.
  void Expire(int64_t ticket);

  // The caller of `envelope_id` no longer waits: answers it with CANCELLED,
  // reason NOT_SENT if no broker can have seen it, else OUTCOME_UNKNOWN.
  void Cancel(const std::string& envelope_id);

  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    v1::Submit submit;
    Answer answer;
    int64_t ticket = 0;
    bool sent = false;
  };

  // Takes the oldest with that id out; false if there is none.
  bool Take(const std::string& envelope_id, Entry& entry);

  std::deque<Entry> entries_;
  int64_t last_ticket_ = 0;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LINK_PENDING_SUBMITS_H_
