// What sessions say of deliveries: receipts, and what they have at attach.
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/routing/dispatcher.h"
#include "spdlog/spdlog.h"

namespace intercom {
namespace {

constexpr size_t kMaxEvidenceBytes = 512;

}  // namespace

void Dispatcher::OnReceipt(SessionKey key, v1::Receipt receipt) {
  if (receipt.evidence().size() > kMaxEvidenceBytes) {
    receipt.mutable_evidence()->resize(kMaxEvidenceBytes);
  }
  *receipt.mutable_evidence() = StripControls(receipt.evidence());
  runner_.PostCommand(
      {[this, key, receipt = std::move(receipt)](Effects& effects) {
         return Record(key, receipt, effects);
       },
       [this, key](const absl::Status& status) {
         spdlog::warn("receipt of {} not recorded: {}", key.session_id,
                      MessageOf(status));
         // A wrong receipt does no harm. Otherwise the state is behind the
         // facts, and so is the window: attaching anew mends both.
         const std::string reason = ReasonOf(status);
         if (reason == "OLD_EPOCH" || reason == "UNKNOWN_ENVELOPE" ||
             reason == "RECEIPT_INVALID") {
           return;
         }
         CloseLink(key, status);
       }});
}

absl::Status Dispatcher::Record(const SessionKey& key,
                                const v1::Receipt& receipt, Effects& effects) {
  const Outbox* outbox = Find(key.session_id);
  if (outbox == nullptr || outbox->epoch() != key.epoch) {
    return Error(absl::StatusCode::kAborted, "OLD_EPOCH",
                 "the attachment that sent it was replaced");
  }
  INTERCOM_ASSIGN_OR_RETURN(const auto status,
                            deliveries_.FindStatus(receipt.delivery_id()));
  if (!status.has_value() || status->recipient_session_id != key.session_id) {
    return Error(absl::StatusCode::kNotFound, "UNKNOWN_ENVELOPE",
                 "no such delivery to this session");
  }
  const int64_t sequence = status->sequence;
  const auto mark = [&](v1::DeliveryState state) -> absl::Status {
    INTERCOM_ASSIGN_OR_RETURN(const DeliveryChange change,
                              Mark(receipt.delivery_id(), sequence, state,
                                   receipt.evidence(), effects));
    if (!change.after.open()) {
      effects.AfterCommit([this, id = key.session_id,
                           delivery_id = receipt.delivery_id(),
                           sequence] { Settled(id, delivery_id, sequence); });
    }
    if (change.before.state >= v1::DELIVERY_STATE_INJECTED ||
        change.after.state < v1::DELIVERY_STATE_INJECTED) {
      return absl::OkStatus();
    }
    return Arrived(receipt.delivery_id(), /*is_there=*/true, effects);
  };
  switch (receipt.event()) {
    case v1::Receipt::EVENT_DELIVERED:
      return mark(v1::DELIVERY_STATE_DELIVERED);
    case v1::Receipt::EVENT_HELD:
      return SetWait(receipt.delivery_id(), *status, receipt.wait_reason(),
                     effects);
    case v1::Receipt::EVENT_INJECTED: {
      INTERCOM_RETURN_IF_ERROR(mark(v1::DELIVERY_STATE_INJECTED));
      return MarkEarlyReply(sequence, receipt.delivery_id(), effects);
    }
    case v1::Receipt::EVENT_SEEN:
      return mark(v1::DELIVERY_STATE_SEEN);
    case v1::Receipt::EVENT_FAILED:
      return RecordFailure(key, *status, receipt, effects);
    case v1::Receipt::EVENT_WITHDRAWN: {
      const Withdrawals::Pending* pending =
          withdrawals_.Find(receipt.delivery_id());
      const v1::DeliveryEnd end =
          pending == nullptr ? v1::DELIVERY_END_CANCELLED : pending->end;
      INTERCOM_ASSIGN_OR_RETURN(
          const bool ended,
          End(receipt.delivery_id(), *status, end,
              pending == nullptr ? "withdrawn by the host" : pending->evidence,
              effects));
      // One that had ended is now known not to have arrived.
      const bool had_ended = status->end != v1::DELIVERY_END_UNSPECIFIED &&
                             status->state < v1::DELIVERY_STATE_INJECTED;
      if (ended || had_ended) {
        INTERCOM_RETURN_IF_ERROR(Ended(receipt.delivery_id(),
                                       ended ? end : status->end,
                                       /*is_certain=*/true, effects)
                                     .status());
      }
      effects.AfterCommit([this, id = key.session_id,
                           delivery_id = receipt.delivery_id(),
                           sequence] { Settled(id, delivery_id, sequence); });
      effects.AfterSync([this, delivery_id = receipt.delivery_id(),
                         is_out = ended || had_ended, status = *status] {
        runner_.PostTask([this, delivery_id, is_out, status] {
          withdrawals_.Resolve(delivery_id,
                               is_out ? absl::OkStatus() : TooLate(status));
        });
      });
      return absl::OkStatus();
    }
    case v1::Receipt::EVENT_NOT_TAKEN:
      // One that is offered already is mail as it is.
      effects.AfterCommit([this, delivery_id = receipt.delivery_id()] {
        Release(delivery_id);
      });
      return absl::OkStatus();
    case v1::Receipt::EVENT_TOO_LATE:
      effects.AfterCommit(
          [this, delivery_id = receipt.delivery_id(), status = *status] {
            withdrawals_.Resolve(delivery_id, TooLate(status));
          });
      return absl::OkStatus();
    default:
      return Error(absl::StatusCode::kInvalidArgument, "RECEIPT_INVALID",
                   "the receipt has no event");
  }
}

absl::Status Dispatcher::Arrived(const std::string& delivery_id, bool is_there,
                                 Effects& effects) {
  if (!on_arrived_) return absl::OkStatus();
  return on_arrived_(delivery_id, is_there, effects);
}

absl::Status Dispatcher::MarkEarlyReply(int64_t sequence,
                                        const std::string& delivery_id,
                                        Effects& effects) {
  const auto reply = early_replies_.find(delivery_id);
  if (reply == early_replies_.end()) return absl::OkStatus();
  effects.AfterCommit(
      [this, delivery_id] { early_replies_.erase(delivery_id); });
  return Mark(delivery_id, sequence, v1::DELIVERY_STATE_REPLIED, reply->second,
              effects)
      .status();
}

void Dispatcher::KeepEarlyReply(const std::string& delivery_id,
                                const std::string& evidence) {
  const auto status = deliveries_.FindStatus(delivery_id);
  if (!status.ok() || !status->has_value()) return;
  if ((*status)->state < v1::DELIVERY_STATE_INJECTED) {
    if (early_replies_.size() >= kMaxEarlyReplies) early_replies_.clear();
    early_replies_[delivery_id] = evidence;
    return;
  }
  runner_.PostCommand({[this, delivery_id, sequence = (*status)->sequence,
                        evidence](Effects& effects) {
                         return Mark(delivery_id, sequence,
                                     v1::DELIVERY_STATE_REPLIED, evidence,
                                     effects)
                             .status();
                       },
                       nullptr});
}

absl::Status Dispatcher::RecordFailure(const SessionKey& key,
                                       const DeliveryStatus& status,
                                       const v1::Receipt& receipt,
                                       Effects& effects) {
  INTERCOM_ASSIGN_OR_RETURN(
      const bool ended,
      End(receipt.delivery_id(), status, v1::DELIVERY_END_DEAD_LETTERED,
          "the host failed to take it: " + receipt.evidence(), effects));
  if (!ended) return absl::OkStatus();
  effects.AfterCommit(
      [this, id = key.session_id, delivery_id = receipt.delivery_id(),
       sequence = status.sequence] { Settled(id, delivery_id, sequence); });
  INTERCOM_ASSIGN_OR_RETURN(
      const bool is_told,
      Ended(receipt.delivery_id(), v1::DELIVERY_END_DEAD_LETTERED,
            /*is_certain=*/true, effects));
  if (is_told) return absl::OkStatus();
  INTERCOM_ASSIGN_OR_RETURN(const auto record,
                            deliveries_.Find(receipt.delivery_id()));
  return TellSender(*record, "DEAD_LETTERED",
                    "was not delivered: the recipient's host failed to take it "
                    "(" +
                        receipt.evidence() + ")",
                    effects);
}

// The agent attaches again and is reconciled then.
void Dispatcher::CloseLink(const SessionKey& key, const absl::Status& status) {
  Attachment* attachment = roster_.Find(key.session_id);
  if (attachment != nullptr && attachment->epoch == key.epoch) {
    attachment->link->Close(status);
  }
}

void Dispatcher::OnPresent(SessionKey key, v1::Present present) {
  runner_.PostCommand(
      {[this, key, present = std::move(present)](Effects& effects) {
         return RecordPresent(key, present, effects);
       },
       [this, key](const absl::Status& status) {
         spdlog::error("reconciling {} failed: {}", key.session_id,
                       MessageOf(status));
         CloseLink(key, status);
       }});
}

absl::Status Dispatcher::RecordPresent(const SessionKey& key,
                                       const v1::Present& present,
                                       Effects& effects) {
  const Outbox* outbox = Find(key.session_id);
  if (outbox == nullptr || outbox->epoch() != key.epoch || outbox->open()) {
    return absl::OkStatus();
  }
  const std::set<std::string> ids(present.delivery_ids().begin(),
                                  present.delivery_ids().end());
  INTERCOM_ASSIGN_OR_RETURN(const auto named,
                            deliveries_.ToReconcile(key.session_id));
  std::vector<int64_t> repeats;
  std::vector<std::string> arrived;
  std::vector<v1::DeliveryRecord> to_withdraw;
  // Such a host may work on what is not among its entries on disk yet.
  const Attachment* attachment = roster_.Find(key.session_id);
  const bool host_went_on =
      attachment != nullptr &&
      attachment->hello.start_reason() == v1::START_REASON_RECONNECT;
  for (const v1::DeliveryRecord& record : named) {
    const bool is_present = ids.contains(record.delivery_id());
    if (is_present && record.state() < v1::DELIVERY_STATE_INJECTED) {
      INTERCOM_RETURN_IF_ERROR(Mark(record.delivery_id(), record.sequence(),
                                    v1::DELIVERY_STATE_INJECTED,
                                    "found in the session at attach", effects)
                                   .status());
      INTERCOM_RETURN_IF_ERROR(
          MarkEarlyReply(record.sequence(), record.delivery_id(), effects));
      INTERCOM_RETURN_IF_ERROR(
          Arrived(record.delivery_id(), /*is_there=*/true, effects));
      arrived.push_back(record.delivery_id());
    } else if (!is_present && record.state() >= v1::DELIVERY_STATE_INJECTED) {
      // What it has answered is not asked again.
      if (record.envelope().kind() == v1::ENVELOPE_KIND_ASK &&
          record.state() == v1::DELIVERY_STATE_REPLIED) {
        continue;
      }
      INTERCOM_RETURN_IF_ERROR(
          MarkUninjected(record, "not in the session at attach", effects));
      INTERCOM_RETURN_IF_ERROR(
          Arrived(record.delivery_id(), /*is_there=*/false, effects));
      repeats.push_back(record.sequence());
    } else if (!is_present && run_of_ &&
               !run_of_(record.delivery_id(), /*repeated=*/false).empty()) {
      if (record.end() != v1::DELIVERY_END_UNSPECIFIED) {
        to_withdraw.push_back(record);
      } else if (!host_went_on) {
        INTERCOM_RETURN_IF_ERROR(
            Arrived(record.delivery_id(), /*is_there=*/false, effects));
      }
    }
  }
  // What has ended, and what was to be replaced, is not offered again; the
  // host, which may hold it still, is asked to drop it.
  INTERCOM_ASSIGN_OR_RETURN(auto superseded,
                            deliveries_.Superseded(key.session_id));
  std::move(superseded.begin(), superseded.end(),
            std::back_inserter(to_withdraw));
  effects.AfterCommit([this, key, repeats = std::move(repeats),
                       arrived = std::move(arrived),
                       to_withdraw = std::move(to_withdraw)] {
    Outbox* outbox = Find(key.session_id);
    for (const std::string& id : arrived) set_aside_.erase(id);
    if (outbox == nullptr || outbox->epoch() != key.epoch) return;
    if (const auto node = unsettled_.extract(key.session_id)) {
      outbox->repeats().insert(node.mapped().begin(), node.mapped().end());
    }
    reconciled_.insert(key.session_id);
    outbox->repeats().insert(repeats.begin(), repeats.end());
    outbox->Open();
    for (const v1::DeliveryRecord& record : to_withdraw) {
      outbox->Offered(record.sequence(), record.delivery_id(), 0);
      BeginWithdraw(record.delivery_id(), StatusOf(record),
                    v1::DELIVERY_END_SUPERSEDED, "superseded by a later one",
                    [](const absl::Status&) {});
    }
    outbox->Rewind();
    Pump(key.session_id);
  });
  return absl::OkStatus();
}

void Dispatcher::Settled(const std::string& session_id,
                         const std::string& delivery_id, int64_t sequence) {
  set_aside_.erase(delivery_id);
  early_replies_.erase(delivery_id);
  Outbox* outbox = Find(session_id);
  if (outbox == nullptr) return;
  outbox->Settle(sequence);
  outbox->repeats().erase(sequence);
  Pump(session_id);
}

}  // namespace intercom
