#include "worker-agent/link/pending_submits.h"

#include <algorithm>
#include <utility>

#include "broker/base/error.h"

namespace intercom {

int64_t PendingSubmits::Add(v1::Submit submit, Answer answer, bool sent) {
  if (entries_.size() >= kMax) {
    answer(Error(absl::StatusCode::kResourceExhausted, "TOO_MANY_SUBMITS",
                 std::to_string(kMax) +
                     " messages of this session wait for the broker's answer; "
                     "repeat later"));
    return 0;
  }
  entries_.push_back(
      {std::move(submit), std::move(answer), ++last_ticket_, sent});
  return last_ticket_;
}

void PendingSubmits::MarkSent() {
  for (Entry& entry : entries_) entry.sent = true;
}

void PendingSubmits::ForEach(
    const std::function<void(const v1::Submit&)>& send) const {
  for (const Entry& entry : entries_) send(entry.submit);
}

bool PendingSubmits::Take(const std::string& envelope_id, Entry& entry) {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) {
        return e.submit.envelope().envelope_id() == envelope_id;
      });
  if (found == entries_.end()) return false;
  entry = std::move(*found);
  entries_.erase(found);
  return true;
}

bool PendingSubmits::Resolve(v1::Submitted submitted) {
  Entry entry;
  if (!Take(submitted.envelope_id(), entry)) return false;
  if (submitted.has_failure()) {
    const v1::Failure& failure = submitted.failure();
    // A failure with code 0 would be a broker's bug; it is no success.
    const auto code = failure.code() == 0
                          ? absl::StatusCode::kInternal
                          : static_cast<absl::StatusCode>(failure.code());
    entry.answer(Error(code, failure.reason(), failure.message()));
  } else {
    entry.answer(std::move(*submitted.mutable_record()));
  }
  return true;
}

void PendingSubmits::FailAll(const absl::Status& status) {
  const auto entries = std::exchange(entries_, {});
  for (const Entry& entry : entries) {
    if (!entry.sent) {
      entry.answer(status);
      continue;
    }
    entry.answer(Error(absl::StatusCode::kUnavailable, "OUTCOME_UNKNOWN",
                       "the link ended before the broker answered (" +
                           MessageOf(status) +
                           "); whether it was sent is unknown: intercom "
                           "status " +
                           entry.submit.envelope().envelope_id()));
  }
}

void PendingSubmits::FailUnsent(const absl::Status& status) {
  std::deque<Entry> kept;
  for (Entry& entry : std::exchange(entries_, {})) {
    if (entry.sent) {
      kept.push_back(std::move(entry));
    } else {
      entry.answer(status);
    }
  }
  entries_ = std::move(kept);
}

void PendingSubmits::Expire(int64_t ticket) {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(),
                   [&](const Entry& entry) { return entry.ticket == ticket; });
  if (found == entries_.end()) return;
  const Entry entry = std::move(*found);
  entries_.erase(found);
  if (entry.sent) {
    entry.answer(Error(absl::StatusCode::kDeadlineExceeded, "OUTCOME_UNKNOWN",
                       "the broker did not answer in time; whether it was sent "
                       "is unknown, so do not simply repeat it: intercom "
                       "status " +
                           entry.submit.envelope().envelope_id()));
  } else {
    entry.answer(Error(absl::StatusCode::kUnavailable, "NOT_SENT",
                       "no broker could be reached in time; nothing was sent, "
                       "repeat it later"));
  }
}

void PendingSubmits::Cancel(const std::string& envelope_id) {
  Entry entry;
  if (!Take(envelope_id, entry)) return;
  if (entry.sent) {
    entry.answer(Error(absl::StatusCode::kCancelled, "OUTCOME_UNKNOWN",
                       "cancelled while the broker had not answered; whether "
                       "it was sent is unknown: intercom status " +
                           envelope_id));
  } else {
    entry.answer(Error(absl::StatusCode::kCancelled, "NOT_SENT",
                       "cancelled before it was sent"));
  }
}

}  // namespace intercom
