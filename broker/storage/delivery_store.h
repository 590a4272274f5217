#ifndef PI_INTERCOM_BROKER_STORAGE_DELIVERY_STORE_H_
#define PI_INTERCOM_BROKER_STORAGE_DELIVERY_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/storage/database.h"
#include "intercom/v1/envelope.pb.h"

namespace intercom {

// A validated envelope whose recipient is known.
struct NewDelivery {
  v1::Envelope envelope;
  v1::Sender sender;
  std::string recipient_session_id;
  std::string recipient_name;
  std::string scope;
  absl::Time accepted_at;
  std::optional<absl::Time> expires_at;
  // Why it waits from the start, if it does.
  v1::WaitReason wait_reason = v1::WAIT_REASON_UNSPECIFIED;
};

struct InsertedDelivery {
  v1::DeliveryRecord record;
  // True when the same envelope was there before; `record` is as it is now.
  bool existed = false;
};

// The part of a delivery that changes.
struct DeliveryStatus {
  int64_t sequence = 0;
  std::string recipient_session_id;
  v1::DeliveryState state = v1::DELIVERY_STATE_UNSPECIFIED;
  v1::DeliveryEnd end = v1::DELIVERY_END_UNSPECIFIED;
  v1::WaitReason wait_reason = v1::WAIT_REASON_UNSPECIFIED;
  // What it counts in its mailbox: the size of the encoded envelope.
  int64_t bytes = 0;

  // Neither injected nor ended: it counts in its recipient's mailbox.
  bool open() const {
    return state < v1::DELIVERY_STATE_INJECTED &&
           end == v1::DELIVERY_END_UNSPECIFIED;
  }
};

DeliveryStatus StatusOf(const v1::DeliveryRecord& record);

// To whom it was sent, whoever has its mailbox now.
const std::string& AddresseeOf(const v1::DeliveryRecord& record);

// The last delivery of a page of expired ones.
struct ExpiryCursor {
  absl::Time expires_at = absl::UnixEpoch();
  int64_t sequence = 0;
};

struct DeliveryChange {
  DeliveryStatus before;
  DeliveryStatus after;
  // True when it was open before and is not any more.
  bool left_mailbox = false;
};

// Envelopes, which never change, and their deliveries, which do, with the
// counters of each recipient's mailbox. Methods run in the caller's
// transaction, on the thread of `db`, which must outlive this object; errors as
// described at Database. A method that takes a sequence fails with NOT_FOUND
// DELIVERY_UNKNOWN when there is no such delivery.
class DeliveryStore {
 public:
  explicit DeliveryStore(Database& db) : db_(db) {}

  // Stores an envelope with the next sequence. A repeat (same sender and
  // envelope id, same content and addressee) changes nothing and gives the
  // first record; with other content it is ALREADY_EXISTS ENVELOPE_ID_REUSED.
  absl::StatusOr<InsertedDelivery> Insert(NewDelivery delivery);

  // `delivery_id` is `<sender session id>/<envelope id>`.
  absl::StatusOr<std::optional<v1::DeliveryRecord>> Find(
      std::string_view delivery_id);
  // The same without the envelope.
  absl::StatusOr<std::optional<DeliveryStatus>> FindStatus(
      std::string_view delivery_id);
  // The delivery with exactly this id, or those whose envelope id begins with
  // `prefix`, by envelope id and sender. None for an empty prefix.
  absl::StatusOr<std::vector<v1::DeliveryRecord>> FindByIdPrefix(
      std::string_view prefix, int limit);

  // Deliveries to `recipient` whose envelope id begins with `prefix`, by
  // envelope id and sender. None for an empty prefix.
  absl::StatusOr<std::vector<v1::DeliveryRecord>> FindReceived(
      std::string_view recipient, std::string_view prefix, int limit);
  // The latest delivery of `sender_session_id` that is in the session of
  // `recipient`, among its last 1,000.
  absl::StatusOr<std::optional<v1::DeliveryRecord>> LastInjected(
      std::string_view recipient, std::string_view sender_session_id);

  // Open deliveries to `recipient` with a greater sequence, by sequence.
  absl::StatusOr<std::vector<v1::DeliveryRecord>> NextOpen(
      std::string_view recipient, int64_t after_sequence, int limit);

  // Open deliveries to `recipient` of one kind, topic (not empty) and sender,
  // by sequence: notices to coalesce or withdraw.
  absl::StatusOr<std::vector<v1::DeliveryRecord>> OpenTo(
      std::string_view recipient, v1::EnvelopeKind kind, std::string_view topic,
      std::string_view sender_session_id);

  // Records that the delivery reached `state`, which implies the earlier ones.
  // The state never goes back; the first time and evidence of each state stay.
  // INJECTED or later takes it out of the mailbox and clears an end and a
  // wait.
  absl::StatusOr<DeliveryChange> Mark(int64_t sequence, v1::DeliveryState state,
                                      absl::Time at, std::string_view evidence);

  // The session turns out not to have an injected delivery: it is open again,
  // ACCEPTED, in the mailbox, without later marks; the note goes into the
  // evidence of ACCEPTED. Does nothing to one that is not injected.
  absl::StatusOr<DeliveryChange> MarkUninjected(int64_t sequence, absl::Time at,
                                                std::string_view evidence);

  // Says why an open delivery waits; UNSPECIFIED: it is on its way. Does
  // nothing when it is not open; the time stays when the reason does.
  absl::Status SetWait(int64_t sequence, v1::WaitReason reason, absl::Time at);

  // Ends an open delivery. False, and no change, when it was not open.
  absl::StatusOr<bool> End(int64_t sequence, v1::DeliveryEnd end, absl::Time at,
                           std::string_view evidence);

  // Moves the open deliveries of `from` that `accept` takes to the mailbox of
  // `to`, with the asks and runs among them, and returns how many. The
  // envelopes stay as they are; the note goes into the evidence of ACCEPTED.
  // What `to` sent itself stays.
  absl::StatusOr<int64_t> MoveOpen(
      std::string_view from, std::string_view to,
      absl::FunctionRef<bool(const DeliveryStatus&)> accept,
      std::string_view evidence);

  // Open deliveries to `recipient` that never expire do so at `at`.
  absl::Status SetExpiry(std::string_view recipient, absl::Time at);
  // Takes that back: what was accepted to never expire does not.
  absl::Status ClearExpiry(std::string_view recipient);

  // Whether `recipient` has, or will get, a notice of this topic and sender:
  // one that is open or injected.
  absl::StatusOr<bool> HasNotice(std::string_view recipient,
                                 std::string_view topic,
                                 std::string_view sender_session_id);

  // The greatest sequence so far; 0 if there is none.
  absl::StatusOr<int64_t> LastSequence();

  // What to name in Reconcile when `recipient` attaches: its first 64 open
  // deliveries, of which any may have been offered, its last 64 injected ones,
  // and its last 64 that ended otherwise, which it may have all the same; by
  // sequence.
  absl::StatusOr<std::vector<v1::DeliveryRecord>> ToReconcile(
      std::string_view recipient);

  // Open deliveries to `recipient` that a later envelope supersedes, by
  // sequence.
  absl::StatusOr<std::vector<v1::DeliveryRecord>> Superseded(
      std::string_view recipient);

  // Open deliveries that expire at or before `now`, by expiry and sequence,
  // from the one after `after` on.
  absl::StatusOr<std::vector<v1::DeliveryRecord>> ExpiredBefore(
      absl::Time now, int limit, const ExpiryCursor& after = {});

 private:
  Database& db_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_DELIVERY_STORE_H_
