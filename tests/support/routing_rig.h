#ifndef PI_INTERCOM_TESTS_SUPPORT_ROUTING_RIG_H_
#define PI_INTERCOM_TESTS_SUPPORT_ROUTING_RIG_H_

#include <memory>
#include <string>
#include <utility>

#include "broker/routing/dispatcher.h"
#include "broker/storage/delivery_store.h"
#include "broker/storage/mailbox_store.h"
#include "tests/support/roster_rig.h"

namespace intercom {

// The dispatcher over the roster's rig. Sessions here are peers.
class RoutingRig : public RosterRig {
 protected:
  using RecordAnswer = Answer<absl::StatusOr<v1::DeliveryRecord>>;

  explicit RoutingRig(MailLimits limits = {},
                      std::unique_ptr<Database> db = OpenMemory())
      : RosterRig(std::move(db)), limits_(limits) {
    registrar_.AddObserver(dispatcher_);
  }
  ~RoutingRig() override { runner_->Stop(); }

  v1::Hello PeerHello(const std::string& session_id) {
    v1::Hello hello = HelloOf(session_id);
    hello.set_workspace_mode(v1::WORKSPACE_MODE_NEVER);
    return hello;
  }
  // Attached, but silent about what it has.
  TestSession AttachSilent(const std::string& session_id) {
    auto session = TryAttach(PeerHello(session_id));
    EXPECT_THAT(session, IsOk());
    return *session;
  }
  // Attached and ready for mail, with nothing of what it may have been given.
  TestSession AttachPeer(const std::string& session_id) {
    TestSession session = AttachSilent(session_id);
    SayPresent(session, {});
    return session;
  }
  void SayPresent(const TestSession& session,
                  const std::vector<std::string>& delivery_ids) {
    v1::Present present;
    for (const std::string& id : delivery_ids) present.add_delivery_ids(id);
    dispatcher_.OnPresent(session.key, present);
    Sync();
  }
  void SayReceipt(const TestSession& session, const std::string& delivery_id,
                  v1::Receipt::Event event, const std::string& evidence = "",
                  v1::WaitReason reason = v1::WAIT_REASON_UNSPECIFIED) {
    v1::Receipt receipt;
    receipt.set_delivery_id(delivery_id);
    receipt.set_event(event);
    receipt.set_evidence(evidence);
    receipt.set_wait_reason(reason);
    dispatcher_.OnReceipt(session.key, receipt);
    Sync();
  }

  static v1::Envelope Message(const std::string& id,
                              const std::string& text = "") {
    v1::Envelope envelope;
    envelope.set_envelope_id(id);
    envelope.set_kind(v1::ENVELOPE_KIND_MESSAGE);
    envelope.set_text(text.empty() ? "text of " + id : text);
    return envelope;
  }
  static v1::Sender SenderNamed(const std::string& session_id) {
    v1::Sender sender;
    sender.set_session_id(session_id);
    sender.set_name("name of " + session_id);
    sender.set_origin(v1::ORIGIN_SESSION);
    sender.set_role(v1::ROLE_WORKER);
    return sender;
  }
  // Posts the command that accepts; the answer comes when it is durable.
  RecordAnswer PostAccept(v1::Envelope envelope, v1::Sender sender,
                          Recipient recipient) {
    RecordAnswer answer;
    const auto put = answer.Callback();
    runner_->PostCommand(
        {[this, put, envelope = std::move(envelope), sender = std::move(sender),
          recipient = std::move(recipient)](Effects& effects) -> absl::Status {
           auto valid = ValidatedEnvelope::FromBroker(envelope);
           if (!valid.ok()) return valid.status();
           auto record = dispatcher_.Accept(*valid, sender, recipient, effects);
           if (!record.ok()) return record.status();
           effects.AfterSync([put, record = *record] { put(record); });
           return absl::OkStatus();
         },
         [put](const absl::Status& status) { put(status); }});
    return answer;
  }
  absl::StatusOr<v1::DeliveryRecord> Accept(v1::Envelope envelope,
                                            const std::string& from = "alice",
                                            const std::string& to = "bob") {
    auto record = PostAccept(std::move(envelope), SenderNamed(from),
                             {to, "name of " + to, {}})
                      .Wait();
    Sync();
    return record;
  }
  absl::Status Notice(const std::string& about, const std::string& topic,
                      const std::string& text, const std::string& to = "bob") {
    Answer<absl::Status> answer;
    const auto put = answer.Callback();
    runner_->PostCommand(
        {[=, this](Effects& effects) -> absl::Status {
           effects.AfterCommit([put] { put(absl::OkStatus()); });
           return dispatcher_.AcceptNotice(SenderNamed(about), {to, "", {}},
                                           topic, text, /*quiet=*/true,
                                           effects);
         },
         [put](const absl::Status& status) { put(status); }});
    const absl::Status status = answer.Wait();
    Sync();
    return status;
  }
  Answer<absl::Status> Withdraw(
      const std::string& delivery_id,
      v1::DeliveryEnd end = v1::DELIVERY_END_CANCELLED) {
    Answer<absl::Status> answer;
    runner_->PostTask([=, this, put = answer.Callback()] {
      dispatcher_.Withdraw(delivery_id, end, "asked to",
                           [put](const absl::Status& status) { put(status); });
    });
    Sync();
    return answer;
  }
  // What GetMessage would say.
  v1::DeliveryRecord RecordOf(const std::string& delivery_id) {
    return OnState([&] {
      auto record = deliveries_.Find(delivery_id).value();
      if (!record.has_value()) return v1::DeliveryRecord();
      dispatcher_.DescribeWait(*record);
      return *record;
    });
  }
  Mailbox MailboxOf(const std::string& session_id) {
    return OnState([&] { return mailboxes_.Find(session_id).value(); });
  }
  // The evidence of a state of the record; "none" when it was not reached.
  static std::string EvidenceOf(const v1::DeliveryRecord& record,
                                v1::DeliveryState state) {
    for (const v1::DeliveryMark& mark : record.marks()) {
      if (mark.state() == state) return mark.evidence();
    }
    return "none";
  }

  const MailLimits limits_;
  DeliveryStore deliveries_{runner_->database()};
  MailboxStore mailboxes_{runner_->database()};
  Dispatcher dispatcher_{*runner_, deliveries_, mailboxes_, roster_,
                         clock_,   random_,     limits_};
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_SUPPORT_ROUTING_RIG_H_
