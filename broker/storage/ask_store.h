#ifndef PI_INTERCOM_BROKER_STORAGE_ASK_STORE_H_
#define PI_INTERCOM_BROKER_STORAGE_ASK_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/storage/database.h"
#include "intercom/v1/ask.pb.h"

namespace intercom {

// What is stored of an ask beside its envelope.
struct AskRow {
  std::string delivery_id;
  // Of its delivery; 0 where that could not be saved from a damaged file.
  int64_t sequence = 0;
  std::string scope;
  std::string asker_session_id;
  std::string recipient_session_id;
  v1::Ask::State state = v1::Ask::STATE_OPEN;
  absl::Time asked_at;
  absl::Time deadline_at;
  std::optional<absl::Time> settled_at = {};
  // The delivery that answered it. Empty before.
  std::string reply_delivery_id = {};

  bool open() const { return state == v1::Ask::STATE_OPEN; }
  // Whether a reply would still be its answer, in time or late.
  bool unanswered() const {
    return reply_delivery_id.empty() && state != v1::Ask::STATE_CANCELLED;
  }
};

// Asks by the delivery id of their envelope. Methods run in the caller's
// transaction, on the thread of `db`, which must outlive this object; errors as
// described at Database. Lists are in the order of asking.
class AskStore {
 public:
  explicit AskStore(Database& db) : db_(db) {}

  // Stores a new ask. False, and no change, if it was there before.
  absl::StatusOr<bool> Add(const AskRow& ask);

  absl::StatusOr<std::optional<AskRow>> Find(std::string_view delivery_id);
  // The one that this delivery answers.
  absl::StatusOr<std::optional<AskRow>> FindByReply(
      std::string_view reply_delivery_id);

  // Ends an open ask without a reply. False, and no change, if it is not open.
  absl::StatusOr<bool> Settle(std::string_view delivery_id,
                              v1::Ask::State state, absl::Time at);
  // Records its reply: an open ask becomes ANSWERED, one that timed out or
  // whose recipient was gone stays so. False, and no change, if it has a reply
  // or was cancelled.
  absl::StatusOr<bool> Answer(std::string_view delivery_id,
                              std::string_view reply_delivery_id,
                              absl::Time at);
  // Takes a reply back: an ANSWERED ask is open again.
  absl::Status ForgetReply(std::string_view delivery_id);
  absl::StatusOr<std::vector<AskRow>> AllOpen();
  absl::StatusOr<std::vector<AskRow>> OpenOf(std::string_view asker);
  // Those to `recipient` that are unanswered and were asked after `since`: the
  // latest `limit`.
  absl::StatusOr<std::vector<AskRow>> Unanswered(std::string_view recipient,
                                                 absl::Time since, int limit);
  // ANSWERED ones whose reply has neither reached the asker's session nor
  // ended.
  absl::StatusOr<std::vector<AskRow>> WithReplyUnderWay();

  // The ask as the wire shows it, with what its envelope tells as far as that
  // is kept; without `awaited` and how far the delivery is.
  absl::StatusOr<v1::Ask> Describe(const AskRow& ask);

  // Removes at most `limit` asks settled before `older_than`. Returns how many.
  absl::StatusOr<int> Prune(absl::Time older_than, int limit);

 private:
  Database& db_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_ASK_STORE_H_
