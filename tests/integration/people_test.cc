// A person's mailbox and their asks, over real connections.
#include <unistd.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "broker/base/proto_time.h"
#include "tests/integration/broker_fixture.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kPerson = "person:" + std::to_string(getuid());

// w-1 "Reviewer" and a person on the socket.
class PeopleTest : public BrokerFixture {
 protected:
  PeopleTest() {
    StartBroker();
    Come();
  }
  void Come(const std::vector<std::string>& has = {}) {
    reviewer_ = Attach("w-1", InjectAtOnce, has);
    person_ = Unix();
  }
  v1::ListInboxResponse Inbox(bool with_read = false) {
    v1::ListInboxRequest request;
    request.set_with_read(with_read);
    v1::ListInboxResponse response;
    const CallEnd end =
        person_->Call(*person_->messages, &v1::MessageService::Stub::ListInbox,
                      request, response);
    EXPECT_TRUE(end.ok()) << end.message;
    return response;
  }
  std::vector<std::string> Ids(bool with_read = false) {
    std::vector<std::string> ids;
    const v1::ListInboxResponse inbox = Inbox(with_read);
    for (const v1::DeliveryRecord& record : inbox.records()) {
      ids.push_back(record.delivery_id());
    }
    return ids;
  }
  v1::MarkReadResponse MarkRead(const std::string& id) {
    v1::MarkReadRequest request;
    request.add_delivery_ids(id);
    v1::MarkReadResponse response;
    const CallEnd end =
        person_->Call(*person_->messages, &v1::MessageService::Stub::MarkRead,
                      request, response);
    EXPECT_TRUE(end.ok()) << end.message;
    return response;
  }
  v1::Submitted Submit(const std::string& to, const v1::Envelope& envelope) {
    EXPECT_TRUE(reviewer_->Submit(to, envelope));
    return reviewer_->frames.WaitFor(Frame::kSubmitted, ++submitted_)
        .back()
        .submitted();
  }
  static v1::Envelope Reply(const std::string& id, const std::string& to) {
    v1::Envelope reply = Message(id);
    reply.set_kind(v1::ENVELOPE_KIND_REPLY);
    reply.set_reply_to(to);
    return reply;
  }
  // The person asks, and the session has it.
  std::string Ask(const std::string& id) {
    v1::Envelope ask = Message(id);
    ask.set_kind(v1::ENVELOPE_KIND_ASK);
    const CallEnd end = person_->Send("Reviewer", ask, root_, nullptr);
    EXPECT_TRUE(end.ok()) << end.message;
    reviewer_->frames.WaitFor(Frame::kDelivery);
    return kPerson + "/" + id;
  }

  std::unique_ptr<AttachClient> reviewer_;
  std::shared_ptr<BrokerClient> person_;
  size_t submitted_ = 0;
};

TEST_F(PeopleTest, MailToThePersonWaitsOverARestartUntilItWasShown) {
  const v1::Submitted sent = Submit("person", Message("m1"));
  EXPECT_EQ(sent.failure().reason(), "");
  EXPECT_EQ(sent.record().wait_reason(), v1::WAIT_REASON_UNREAD);
  RestartBroker();
  Come();
  clock_.Advance(absl::Hours(24 * 30));
  EXPECT_THAT(Ids(), ElementsAre("w-1/m1"));

  const v1::MarkReadResponse marked = MarkRead("w-1/m1");

  EXPECT_EQ(marked.records(0).state(), v1::DELIVERY_STATE_SEEN);
  EXPECT_THAT(marked.records(0).marks(1).evidence(),
              HasSubstr("process " + std::to_string(getpid())));
  EXPECT_THAT(Ids(), IsEmpty());
  EXPECT_THAT(Ids(/*with_read=*/true), ElementsAre("w-1/m1"));
}

TEST_F(PeopleTest, AnAnswerGoesToTheCommandThatWaitsAndIsReadOnceItSaysSo) {
  const std::string ask = Ask("a1");
  auto waiting = std::async(std::launch::async, [this] {
    v1::AwaitReplyRequest request;
    request.set_envelope_id("a1");
    *request.mutable_wait() = ToProtoDuration(absl::Seconds(30));
    v1::AwaitReplyResponse response;
    const auto client = Unix();
    EXPECT_TRUE(client
                    ->Call(*client->asks, &v1::AskService::Stub::AwaitReply,
                           request, response)
                    .ok());
    return response;
  });
  EXPECT_EQ(Submit("", Reply("r1", ask)).failure().reason(), "");
  EXPECT_EQ(waiting.get().reply().envelope().text(), "text of r1");
  EXPECT_THAT(Ids(), ElementsAre("w-1/r1"));  // It has not been shown yet.
  MarkRead("w-1/r1");
  EXPECT_THAT(Ids(), IsEmpty());
}

TEST_F(PeopleTest, AnAnswerForWhichNobodyWaitsIsInTheInbox) {
  const std::string ask = Ask("a1");
  EXPECT_EQ(Submit("", Reply("r1", ask)).failure().reason(), "");
  const v1::ListInboxResponse inbox = Inbox();
  ASSERT_EQ(inbox.records_size(), 1);
  EXPECT_EQ(inbox.records(0).envelope().reply_to(), ask);
  EXPECT_EQ(inbox.records(0).envelope().kind(), v1::ENVELOPE_KIND_REPLY);
}

TEST_F(PeopleTest, APersonAnswersFromTheInbox) {
  Submit("person", Message("m1-of-reviewer"));
  v1::DeliveryRecord record;
  const CallEnd end = person_->SendAnywhere("", Reply("r1", "m1-of-"), &record);
  EXPECT_TRUE(end.ok()) << end.message;
  EXPECT_EQ(record.recipient_session_id(), "w-1");
  reviewer_->frames.WaitFor(Frame::kDelivery);
  EXPECT_THAT(reviewer_->frames.texts(), ElementsAre("text of r1"));
  EXPECT_THAT(Ids(), IsEmpty());
  v1::DeliveryRecord answered;
  EXPECT_TRUE(person_->Get("m1-of-reviewer", answered).ok());
  EXPECT_EQ(answered.state(), v1::DELIVERY_STATE_REPLIED);
}

TEST_F(PeopleTest, AShellOfASessionHasNoInbox) {
  // This very process hosts the session, so its calls are its shell's.
  AttachClient host(Tcp());
  EXPECT_TRUE(host.SayHello(HelloOf("w-2", getpid())));
  host.StartReading();
  host.frames.WaitFor(Frame::kReconcile);
  const auto shell = Unix();
  v1::ListInboxResponse response;
  EXPECT_THAT(
      shell->Call(*shell->messages, &v1::MessageService::Stub::ListInbox,
                  v1::ListInboxRequest(), response),
      EndsWithReason(grpc::StatusCode::PERMISSION_DENIED, "NOT_PERMITTED"));
}

TEST_F(PeopleTest, HistoryAndDeliveriesAreNarrowed) {
  Submit("Builder", Message("m1", "the needle"));
  Submit("person", Message("m2", "hay"));
  v1::ListMessagesRequest request;
  request.set_containing("NEEDLE");
  v1::ListMessagesResponse found;
  EXPECT_TRUE(person_
                  ->Call(*person_->messages,
                         &v1::MessageService::Stub::ListMessages, request,
                         found)
                  .ok());
  ASSERT_EQ(found.records_size(), 1);
  EXPECT_EQ(found.records(0).delivery_id(), "w-1/m1");
  v1::ListDeliveriesRequest waiting;
  waiting.set_waiting(true);
  waiting.set_session_id(kPerson);
  v1::ListDeliveriesResponse deliveries;
  EXPECT_TRUE(person_
                  ->Call(*person_->inspection,
                         &v1::InspectionService::Stub::ListDeliveries, waiting,
                         deliveries)
                  .ok());
  ASSERT_EQ(deliveries.deliveries_size(), 1);
  EXPECT_EQ(deliveries.deliveries(0).delivery_id(), "w-1/m2");
  EXPECT_EQ(deliveries.deliveries(0).wait_reason(), v1::WAIT_REASON_UNREAD);
}

TEST_F(PeopleTest, AConfigIsCheckedAsItIsOnDisk) {
  WriteConfig(root_, "{");
  v1::CheckConfigRequest request;
  request.set_directory(root_);
  v1::CheckConfigResponse response;
  EXPECT_TRUE(person_
                  ->Call(*person_->workspaces,
                         &v1::WorkspaceService::Stub::CheckConfig, request,
                         response)
                  .ok());
  ASSERT_EQ(response.findings_size(), 1);
  EXPECT_EQ(response.findings(0).severity(), v1::ConfigFinding::SEVERITY_ERROR);
}

}  // namespace
}  // namespace intercom
