#ifndef PI_INTERCOM_TESTS_SUPPORT_ASK_RIG_H_
#define PI_INTERCOM_TESTS_SUPPORT_ASK_RIG_H_

#include <string>
#include <vector>

#include "tests/support/work_rig.h"

namespace intercom {

// A team of five that ask each other: c-1 "Coordinator", and the workers w-1
// "Planner", w-2 "Builder", w-3 "Tester" and w-4 "Writer", all attached.
class AskRig : public WorkRig {
 protected:
  using AwaitAnswer = Answer<absl::StatusOr<v1::AwaitReplyResponse>>;

  AskRig() {
    WriteConfig(root_, ConfigText({{"c-1", "Coordinator"},
                                   {"w-1", "Planner"},
                                   {"w-2", "Builder"},
                                   {"w-3", "Tester"},
                                   {"w-4", "Writer"}}));
    coordinator_ = Join("c-1");
    planner_ = Join("w-1");
    builder_ = Join("w-2");
    tester_ = Join("w-3");
    writer_ = Join("w-4");
  }
  ~AskRig() override { runner_->Stop(); }

  static v1::Envelope Question(const std::string& id,
                               const std::string& text = "") {
    v1::Envelope ask = Message(id, text.empty() ? "question " + id : text);
    ask.set_kind(v1::ENVELOPE_KIND_ASK);
    *ask.mutable_reply_within() = ToProtoDuration(absl::Minutes(10));
    return ask;
  }
  absl::StatusOr<v1::DeliveryRecord> Ask(const TestSession& asker,
                                         const std::string& to,
                                         const std::string& id) {
    return Send(CallOf(asker), to, Question(id));
  }
  // Asked, and put into the recipient's session.
  void AskInjected(const TestSession& asker, const std::string& to,
                   const TestSession& recipient, const std::string& id) {
    const auto record = Ask(asker, to, id);
    ASSERT_THAT(record, IsOk());
    SayReceipt(recipient, record->delivery_id(), v1::Receipt::EVENT_INJECTED);
  }

  struct ReplySpec {
    std::string to = {};
    std::string reply_to = {};
    std::string trigger = {};
    std::string supersedes = {};
  };
  absl::StatusOr<v1::DeliveryRecord> Reply(const TestSession& session,
                                           const std::string& id,
                                           const ReplySpec& spec) {
    v1::SendRequest request;
    *request.mutable_envelope() = Message(id);
    request.mutable_envelope()->set_kind(v1::ENVELOPE_KIND_REPLY);
    request.mutable_envelope()->set_reply_to(spec.reply_to);
    request.mutable_envelope()->set_supersedes(spec.supersedes);
    request.set_to(spec.to);
    request.set_trigger(spec.trigger);
    RecordAnswer answer;
    mail_.Send(CallOf(session), request, answer.Callback());
    auto record = answer.Wait();
    Sync();
    return record;
  }
  absl::StatusOr<v1::DeliveryRecord> Reply(const TestSession& session,
                                           const std::string& id) {
    return Reply(session, id, ReplySpec());
  }

  // Begins to wait.
  AwaitAnswer Await(const CallerEvidence& evidence, const std::string& id,
                    absl::Duration wait = absl::Seconds(30),
                    int64_t* ticket = nullptr) {
    v1::AwaitReplyRequest request;
    request.set_envelope_id(id);
    *request.mutable_wait() = ToProtoDuration(wait);
    AwaitAnswer answer;
    const int64_t number =
        asks_.AwaitReply(evidence, request, answer.Callback());
    if (ticket != nullptr) *ticket = number;
    Sync();
    return answer;
  }
  AwaitAnswer Await(const TestSession& asker, const std::string& id) {
    return Await(CallOf(asker), id);
  }
  // How it is, without waiting.
  absl::StatusOr<v1::AwaitReplyResponse> Look(const CallerEvidence& evidence,
                                              const std::string& id) {
    auto answer = Await(evidence, id, absl::ZeroDuration()).Wait();
    Sync();
    return answer;
  }
  // How it is on disk; nobody waits by that.
  AskRow AskOf(const std::string& delivery_id) {
    return OnState([&] {
      return ask_store_.Find(delivery_id).value().value_or(AskRow());
    });
  }
  v1::Ask::State StateOf(const std::string& delivery_id) {
    return AskOf(delivery_id).state;
  }

  // Time passes, and the broker notices.
  void Pass(absl::Duration by) {
    clock_.Advance(by);
    runner_->WakeTimers();
    Sync();
    runner_->PostTask([this] { asks_.Tick(); });
    Sync();
  }

  std::vector<v1::Ask> List(const CallerEvidence& evidence, bool sent) {
    v1::ListAsksRequest request;
    request.set_sent(sent);
    const auto response = CallOn(asks_, &AskDesk::ListAsks, evidence, request);
    EXPECT_THAT(response, IsOk());
    return {response->asks().begin(), response->asks().end()};
  }
  static std::vector<std::string> Ids(const std::vector<v1::Ask>& asks) {
    std::vector<std::string> ids;
    for (const v1::Ask& ask : asks) ids.push_back(ask.delivery_id());
    return ids;
  }
  std::vector<std::string> Pending(const TestSession& session) {
    return Ids(List(CallOf(session), /*sent=*/false));
  }
  // What each of its frames told a session of the asks to it.
  static std::vector<std::vector<std::string>> Told(
      const TestSession& session) {
    std::vector<std::vector<std::string>> told;
    for (const auto& frame :
         session.link->Of(v1::AttachResponse::kPendingAsks)) {
      std::vector<std::string> ids;
      for (const v1::Ask& ask : frame.pending_asks().asks()) {
        ids.push_back(ask.delivery_id());
      }
      told.push_back(ids);
    }
    return told;
  }
  // Ids of the envelopes that a session was offered.
  static std::vector<std::string> Offered(const TestSession& session) {
    std::vector<std::string> ids;
    for (const v1::Delivery& delivery : session.link->deliveries()) {
      ids.push_back(delivery.envelope().envelope_id());
    }
    return ids;
  }

  TestSession coordinator_, planner_, builder_, tester_, writer_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_SUPPORT_ASK_RIG_H_
