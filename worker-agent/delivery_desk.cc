#include "worker-agent/delivery_desk.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "broker/base/log.h"
#include "broker/domain/fence.h"

namespace intercom {
namespace {

constexpr size_t kMaxEvidenceCharacters = 512;

v1::Receipt ReceiptOf(const std::string& delivery_id,
                      v1::Receipt::Event event) {
  v1::Receipt receipt;
  receipt.set_delivery_id(delivery_id);
  receipt.set_event(event);
  return receipt;
}

std::optional<v1::Receipt::Event> EventOf(const std::string& text) {
  if (text == "held") return v1::Receipt::EVENT_HELD;
  if (text == "injected") return v1::Receipt::EVENT_INJECTED;
  if (text == "seen") return v1::Receipt::EVENT_SEEN;
  if (text == "failed") return v1::Receipt::EVENT_FAILED;
  if (text == "notTaken") return v1::Receipt::EVENT_NOT_TAKEN;
  return std::nullopt;
}

v1::WaitReason WaitReasonOf(const std::string& text) {
  if (text == "compaction") return v1::WAIT_REASON_COMPACTION;
  if (text == "starting") return v1::WAIT_REASON_STARTING;
  if (text == "busy") return v1::WAIT_REASON_BUSY;
  if (text == "closing") return v1::WAIT_REASON_CLOSING;
  return v1::WAIT_REASON_UNSPECIFIED;
}

}  // namespace

DeliveryDesk::DeliveryDesk(JsonRpc& host, SendFrame send,
                           std::function<Reader()> reader)
    : host_(host), send_(std::move(send)), reader_(std::move(reader)) {}

void DeliveryDesk::Deliver(const v1::Delivery& delivery) {
  if (with_host_.insert(delivery.delivery_id()).second) {
    host_.Notify("deliver", DeliverParams(delivery, reader_()));
  }
  v1::Receipt receipt =
      ReceiptOf(delivery.delivery_id(), v1::Receipt::EVENT_DELIVERED);
  receipt.set_evidence("agent process " + std::to_string(getpid()));
  Send(std::move(receipt));
}

void DeliveryDesk::Withdraw(const std::string& delivery_id) {
  host_.Request(
      "withdraw", {{"deliveryId", delivery_id}},
      [this, delivery_id](absl::StatusOr<Json> answer) {
        if (!answer.ok()) {
          SPDLOG_WARN("the host did not answer a withdrawal");
          return;
        }
        const bool withdrawn = StringOr(*answer, "outcome", "") == "withdrawn";
        if (withdrawn) with_host_.erase(delivery_id);
        Send(ReceiptOf(delivery_id, withdrawn ? v1::Receipt::EVENT_WITHDRAWN
                                              : v1::Receipt::EVENT_TOO_LATE));
      });
}

void DeliveryDesk::Reconcile(const v1::Reconcile& reconcile) {
  if (reconcile.delivery_ids().empty()) return SendPresent({});
  Json ids = Json::array();
  for (const std::string& id : reconcile.delivery_ids()) ids.push_back(id);
  host_.Request("reconcile", {{"deliveryIds", std::move(ids)}},
                [this, stream = stream_](absl::StatusOr<Json> answer) {
                  if (stream != stream_) return;
                  if (!answer.ok()) SPDLOG_WARN("the host did not reconcile");
                  // What can't be told counts as absent: at worst it comes
                  // again, marked.
                  SendPresent(answer.ok() ? StringsField(*answer, "present")
                                          : std::vector<std::string>());
                });
}

void DeliveryDesk::SendPresent(const std::vector<std::string>& delivery_ids) {
  v1::AttachRequest frame;
  v1::Present& present = *frame.mutable_present();
  for (const std::string& id : delivery_ids) present.add_delivery_ids(id);
  send_(std::move(frame));
  for (const v1::Receipt& receipt : remembered_) {
    v1::AttachRequest repeat;
    *repeat.mutable_receipt() = receipt;
    send_(std::move(repeat));
  }
}

void DeliveryDesk::HandleReceipt(const Json& params) {
  const std::string delivery_id = StringOr(params, "deliveryId", "");
  const auto event = EventOf(StringOr(params, "event", ""));
  if (delivery_id.empty() || !event.has_value()) {
    SPDLOG_ERROR("protocol: a receipt without delivery or event");
    return;
  }
  v1::Receipt receipt = ReceiptOf(delivery_id, *event);
  receipt.set_wait_reason(WaitReasonOf(StringOr(params, "waitReason", "")));
  const std::string evidence = StringOr(params, "evidence", "");
  if (!evidence.empty()) {
    receipt.set_evidence(SafeLabel(evidence, kMaxEvidenceCharacters));
  }
  if (*event != v1::Receipt::EVENT_HELD) with_host_.erase(delivery_id);
  Remember(receipt);
  Send(std::move(receipt));
}

void DeliveryDesk::Remember(const v1::Receipt& receipt) {
  std::erase_if(remembered_, [&](const v1::Receipt& earlier) {
    return earlier.delivery_id() == receipt.delivery_id();
  });
  // What the host failed to take may have been offered to it anew since.
  if (receipt.event() == v1::Receipt::EVENT_FAILED ||
      receipt.event() == v1::Receipt::EVENT_NOT_TAKEN) {
    return;
  }
  remembered_.push_back(receipt);
  if (remembered_.size() > kMaxRemembered) remembered_.pop_front();
}

void DeliveryDesk::Send(v1::Receipt receipt) {
  v1::AttachRequest frame;
  *frame.mutable_receipt() = std::move(receipt);
  send_(std::move(frame));
}

}  // namespace intercom
