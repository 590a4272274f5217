#include "worker-agent/cli/mail_commands.h"

#include <signal.h>
#include <unistd.h>

#include <future>
#include <sstream>
#include <string>
#include <vector>

#include "broker/base/error.h"
#include "broker/domain/identity.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/link/fake_broker.h"
#include "worker-agent/cli/arguments.h"
#include "worker-agent/cli/commands.h"
#include "worker-agent/cli/mail_report.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

v1::DeliveryRecord Mail(const std::string& id, const std::string& text) {
  v1::DeliveryRecord record;
  record.set_delivery_id("w-1/" + id);
  record.mutable_envelope()->set_envelope_id(id);
  record.mutable_envelope()->set_kind(v1::ENVELOPE_KIND_MESSAGE);
  record.mutable_envelope()->set_text(text);
  record.mutable_sender()->set_session_id("w-1");
  record.mutable_sender()->set_name("Builder");
  record.mutable_sender()->set_origin(v1::ORIGIN_SESSION);
  record.mutable_sender()->set_role(v1::ROLE_WORKER);
  record.set_state(v1::DELIVERY_STATE_ACCEPTED);
  v1::DeliveryMark& mark = *record.add_marks();
  mark.set_state(v1::DELIVERY_STATE_ACCEPTED);
  mark.mutable_at()->set_seconds(1'800'000'000);
  return record;
}

// A person, unless a test says otherwise, at a broker that answers as told.
class MailCommandsTest : public ::testing::Test {
 protected:
  MailCommandsTest() { IsSentBy("person:1000", v1::ORIGIN_PERSON); }

  void IsSentBy(const std::string& session_id, v1::Origin origin) {
    v1::DeliveryRecord more;
    more.mutable_sender()->set_session_id(session_id);
    more.mutable_sender()->set_origin(origin);
    broker_.SetAccepted(more);
  }
  int RunOn(std::ostream& out, std::vector<std::string> words,
            Terminal::Progress progress = Terminal::Progress::kNone) {
    words.insert(words.begin(), {"--home", home_.path().string()});
    const ParsedArguments parsed = ParseArguments(words);
    if (!parsed.arguments.has_value()) return parsed.exit_code;
    std::istringstream in;
    err_.str("");
    return RunCommand(*parsed.arguments, in, out, err_,
                      Terminal(/*colour=*/false, /*can_ask=*/false, progress));
  }
  int Run(const std::vector<std::string>& words,
          Terminal::Progress progress = Terminal::Progress::kNone) {
    out_.str("");
    return RunOn(out_, words, progress);
  }
  // What AwaitReply says of the ask a1.
  void AskIs(v1::Ask::State state, const std::string& answer = "") {
    v1::AwaitReplyResponse response;
    response.mutable_ask()->set_state(state);
    response.mutable_ask()->set_delivery_state(v1::DELIVERY_STATE_SEEN);
    if (!answer.empty()) *response.mutable_reply() = Mail("r1", answer);
    broker_.AddAnswer("AwaitReply a1", response);
  }
  std::vector<std::string> Marks() {
    std::vector<std::string> marks;
    for (const std::string& call : broker_.seen().calls) {
      if (call.starts_with("MarkRead")) marks.push_back(call);
    }
    return marks;
  }

  TempDir home_;
  FakeBroker broker_{FakeBroker::Options{.home = home_.path()}};
  std::ostringstream out_;
  std::ostringstream err_;
};

// --- ask

TEST_F(MailCommandsTest, AnAskPrintsTheAnswerAloneAndThenItIsRead) {
  AskIs(v1::Ask::STATE_OPEN);
  AskIs(v1::Ask::STATE_ANSWERED, "Yes,\x1b[2J of course.");
  EXPECT_EQ(Run({"ask", "Builder", "Ready?", "--id", "a1"}), kExitOk);
  EXPECT_EQ(out_.str(), "Yes, of course.\n");
  EXPECT_EQ(err_.str(), "");
  EXPECT_THAT(Marks(), ElementsAre("MarkRead delivery_ids: \"w-1/r1\""));
}

TEST_F(MailCommandsTest, AnAnswerThatCouldNotBeWrittenStaysUnread) {
  AskIs(v1::Ask::STATE_ANSWERED, "Yes.");
  std::ostringstream closed;
  closed.setstate(std::ios::badbit);
  EXPECT_EQ(RunOn(closed, {"ask", "Builder", "Ready?", "--id", "a1"}),
            kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("intercom inbox"));
  EXPECT_THAT(Marks(), IsEmpty());
}

// What it did can't be said, which is no success.
TEST_F(MailCommandsTest, ACommandWhoseOutputIsLostFails) {
  std::ostringstream closed;
  closed.setstate(std::ios::badbit);
  EXPECT_EQ(RunOn(closed, {"send", "Builder", "go"}), kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("standard output takes nothing"));
  EXPECT_EQ(RunOn(closed, {"version"}), kExitFailed);
}

TEST_F(MailCommandsTest, AnAnswerIsShownThoughItCouldNotBeMarked) {
  AskIs(v1::Ask::STATE_ANSWERED, "Yes.");
  broker_.AddError("MarkRead", Error(absl::StatusCode::kResourceExhausted,
                                     "STORAGE_FULL", "the disk is full"));
  EXPECT_EQ(Run({"ask", "Builder", "Ready?", "--id", "a1"}), kExitOk);
  EXPECT_EQ(out_.str(), "Yes.\n");
  EXPECT_THAT(err_.str(),
              AllOf(HasSubstr("stays unread"), HasSubstr("the disk is full")));
}

TEST_F(MailCommandsTest, AShellsAnswerIsNoMailOfAPersons) {
  IsSentBy("w-2", v1::ORIGIN_SHELL);
  AskIs(v1::Ask::STATE_ANSWERED, "Yes.");
  EXPECT_EQ(Run({"ask", "Builder", "Ready?", "--id", "a1"}), kExitOk);
  EXPECT_THAT(Marks(), IsEmpty());
}

TEST_F(MailCommandsTest, WithoutWaitingTheIdAndTheInboxAreNamed) {
  EXPECT_EQ(Run({"ask", "Builder", "Ready?", "--no-wait", "--id", "a1"}),
            kExitOk);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("id a1"),
                                HasSubstr("The answer will be in: intercom "
                                          "inbox.\n")));
  EXPECT_THAT(broker_.seen().calls, Not(Contains(StartsWith("AwaitReply"))));
}

struct NoAnswerCase {
  v1::Ask::State state;
  const char* says;
};
void PrintTo(const NoAnswerCase& c, std::ostream* out) { *out << c.says; }

class NoAnswerTest : public MailCommandsTest,
                     public ::testing::WithParamInterface<NoAnswerCase> {};

TEST_P(NoAnswerTest, IsExitCodeFourAndSaysWhy) {
  AskIs(GetParam().state);
  EXPECT_EQ(Run({"ask", "Builder", "Ready?", "--id", "a1", "--timeout", "2m"}),
            kExitNoAnswer);
  EXPECT_THAT(err_.str(), HasSubstr(GetParam().says));
  EXPECT_EQ(out_.str(), "");
}

INSTANTIATE_TEST_SUITE_P(
    Ends, NoAnswerTest,
    ::testing::Values(
        NoAnswerCase{v1::Ask::STATE_TIMED_OUT, "did not answer within 2m"},
        NoAnswerCase{v1::Ask::STATE_RECIPIENT_GONE, "left before it answered"},
        NoAnswerCase{v1::Ask::STATE_CANCELLED, "taken back"}));

TEST_F(MailCommandsTest, ALateAnswerIsSaidToBeInTheInbox) {
  AskIs(v1::Ask::STATE_TIMED_OUT);
  EXPECT_EQ(Run({"ask", "Builder", "Ready?", "--id", "a1"}), kExitNoAnswer);
  EXPECT_THAT(err_.str(),
              HasSubstr("A late answer will be in: intercom inbox"));
}

TEST_F(MailCommandsTest, WithJsonTheAskIsPrintedThoughItHasNoAnswer) {
  AskIs(v1::Ask::STATE_TIMED_OUT);
  EXPECT_EQ(Run({"--json", "ask", "Builder", "Ready?", "--id", "a1"}),
            kExitNoAnswer);
  EXPECT_THAT(out_.str(), HasSubstr("\"STATE_TIMED_OUT\""));
}

TEST_F(MailCommandsTest, CtrlCEndsTheWaitAndSaysWhereTheAnswerWillBe) {
  broker_.Hold("AwaitReply a1");
  auto running = std::async(std::launch::async, [this] {
    return Run({"ask", "Builder", "Ready?", "--id", "a1"});
  });
  EXPECT_TRUE(broker_.Await([](const FakeBroker::Seen& seen) {
    for (const std::string& call : seen.calls) {
      if (call.starts_with("AwaitReply a1")) return true;
    }
    return false;
  }));
  kill(getpid(), SIGINT);
  EXPECT_EQ(running.get(), kExitNoAnswer);
  EXPECT_THAT(err_.str(),
              AllOf(HasSubstr("its answer will be in: intercom inbox"),
                    HasSubstr("intercom cancel a1")));
  EXPECT_EQ(out_.str(), "");
  broker_.Release("AwaitReply a1");
}

TEST_F(MailCommandsTest, AWaitOutlastsABrokerThatIsLostForAMoment) {
  broker_.AddError("AwaitReply a1", absl::UnavailableError("broken"));
  AskIs(v1::Ask::STATE_ANSWERED, "Yes.");
  EXPECT_EQ(Run({"ask", "Builder", "Ready?", "--id", "a1"}), kExitOk);
  EXPECT_EQ(out_.str(), "Yes.\n");
}

TEST_F(MailCommandsTest, ARefusedAskIsExitCodeOneInWords) {
  broker_.AddError("AwaitReply a1", Error(absl::StatusCode::kNotFound,
                                          "UNKNOWN_ASK", "nothing is asked"));
  EXPECT_EQ(Run({"ask", "Builder", "Ready?", "--id", "a1"}), kExitFailed);
  EXPECT_EQ(err_.str(), "intercom: nothing is asked\n");
}

TEST_F(MailCommandsTest, AtATerminalTheWaitIsShownAndGoneAfterwards) {
  AskIs(v1::Ask::STATE_OPEN);
  AskIs(v1::Ask::STATE_ANSWERED, "Yes.");
  EXPECT_EQ(Run({"ask", "Builder", "Ready?", "--id", "a1"},
                Terminal::Progress::kRewriting),
            kExitOk);
  EXPECT_THAT(err_.str(),
              AllOf(StartsWith("\r\x1b[KWaiting for the answer of Builder: "),
                    HasSubstr("seen"), EndsWith("\r\x1b[K")));
  EXPECT_EQ(out_.str(), "Yes.\n");
}

TEST_F(MailCommandsTest, ADumbTerminalGetsALineForEachState) {
  AskIs(v1::Ask::STATE_OPEN);
  AskIs(v1::Ask::STATE_OPEN);
  AskIs(v1::Ask::STATE_ANSWERED, "Yes.");
  EXPECT_EQ(Run({"ask", "Builder", "Ready?", "--id", "a1"},
                Terminal::Progress::kLines),
            kExitOk);
  EXPECT_EQ(err_.str(),
            "Waiting for the answer of Builder: accepted\n"
            "Waiting for the answer of Builder: seen\n");
}

TEST_F(MailCommandsTest, ATimeThatNoAskMayHaveIsMisuse) {
  for (const char* time : {"0s", "25h", "soon", "10"}) {
    EXPECT_EQ(Run({"ask", "Builder", "Ready?", "--timeout", time}), kExitUsage);
  }
}

// --- send, reply, cancel

TEST_F(MailCommandsTest, WhoIsNotInTheWorkspaceIsLookedForInTheAccount) {
  broker_.SetElsewhere("Far");
  EXPECT_EQ(Run({"send", "Far", "hello"}), kExitOk);
  EXPECT_THAT(broker_.seen().calls,
              ElementsAre("Send Far hello", "Send Far hello"));
  EXPECT_EQ(broker_.accepted().size(), 1);
}

TEST_F(MailCommandsTest, AReplyNamesWhatItAnswers) {
  EXPECT_EQ(Run({"reply", "abcdef", "Do it.", "--id", "r-1"}), kExitOk);
  EXPECT_EQ(Run({"--json", "status", "r-1"}), kExitOk);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("\"replyTo\": \"abcdef\""),
                                HasSubstr("\"ENVELOPE_KIND_REPLY\"")));
}

TEST_F(MailCommandsTest, ACancelFindsTheMessageByTheBeginningOfItsId) {
  ASSERT_EQ(Run({"send", "Builder", "x", "--id", "abcdef-1"}), kExitOk);
  v1::WithdrawMessageResponse withdrawn;
  *withdrawn.mutable_record() = Mail("abcdef-1", "x");
  withdrawn.mutable_record()->set_recipient_name("Builder");
  broker_.AddAnswer("WithdrawMessage", withdrawn);
  EXPECT_EQ(Run({"cancel", "abcdef"}), kExitOk);
  EXPECT_EQ(out_.str(), "abcdef-1 never reaches Builder.\n");
  EXPECT_THAT(broker_.seen().calls,
              Contains("WithdrawMessage envelope_id: \"abcdef-1\" "
                       "request_if_late: true"));
}

// --- inbox

TEST_F(MailCommandsTest, TheInboxIsPrintedAndThenRead) {
  v1::ListInboxResponse inbox;
  *inbox.add_records() = Mail("m1", "one\ntwo");
  v1::DeliveryRecord& reply = *inbox.add_records();
  reply = Mail("m2", "Yes.\x1b]0;x\x07");
  reply.mutable_envelope()->set_kind(v1::ENVELOPE_KIND_REPLY);
  reply.mutable_envelope()->set_reply_to("person:1000/a1");
  v1::DeliveryRecord& old = *inbox.add_records();
  old = Mail("m3", "old");
  old.set_state(v1::DELIVERY_STATE_SEEN);
  inbox.set_left_out(4);
  broker_.AddAnswer("ListInbox", inbox);
  EXPECT_EQ(Run({"inbox", "--all"}), kExitOk);
  EXPECT_EQ(out_.str(),
            "m1 2027-01-15 08:00:00Z message from Builder (worker)\n"
            "  one\n  two\n\n"
            "m2 2027-01-15 08:00:00Z reply from Builder (worker), answers your "
            "question a1\n"
            "  Yes.\n\n"
            "m3 2027-01-15 08:00:00Z message from Builder (worker), read\n"
            "  old\n\n"
            "4 more unread; intercom inbox shows them next.\n"
            "To answer: intercom reply ID TEXT\n");
  EXPECT_THAT(
      Marks(),
      ElementsAre(
          "MarkRead delivery_ids: \"w-1/m1\" delivery_ids: \"w-1/m2\""));
}

TEST_F(MailCommandsTest, APeekLeavesTheInboxUnread) {
  v1::ListInboxResponse inbox;
  *inbox.add_records() = Mail("m1", "one");
  broker_.AddAnswer("ListInbox", inbox);
  EXPECT_EQ(Run({"inbox", "--peek"}), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("one"));
  EXPECT_THAT(Marks(), IsEmpty());
}

TEST_F(MailCommandsTest, WhatTheBrokerTellsAsksForNoAnswer) {
  v1::ListInboxResponse inbox;
  v1::DeliveryRecord& notice = *inbox.add_records();
  notice = Mail("m1", "Message e1 to Builder expired.");
  notice.mutable_envelope()->set_kind(v1::ENVELOPE_KIND_NOTICE);
  *notice.mutable_sender() = BrokerSender();
  broker_.AddAnswer("ListInbox", inbox);
  EXPECT_EQ(Run({"inbox"}), kExitOk);
  EXPECT_EQ(out_.str(),
            "m1 2027-01-15 08:00:00Z notice from the broker\n"
            "  Message e1 to Builder expired.\n\n");
}

TEST_F(MailCommandsTest, AnEmptyInboxIsSaidToBeOne) {
  EXPECT_EQ(Run({"inbox"}), kExitOk);
  EXPECT_EQ(out_.str(), "No unread mail.\n");
  EXPECT_THAT(Marks(), IsEmpty());
}

TEST_F(MailCommandsTest, AListSaysHowMuchIsUnread) {
  v1::ListInboxResponse inbox;
  *inbox.add_records() = Mail("m1", "one");
  inbox.set_left_out(2);
  broker_.AddAnswer("ListInbox", inbox);
  EXPECT_EQ(Run({"list", "-w", "/home/ada/space"}), kExitOk);
  EXPECT_THAT(out_.str(), EndsWith("\n3 unread for you: intercom inbox\n"));
}

TEST_F(MailCommandsTest, WhoHasNoInboxIsToldNothingOfIt) {
  broker_.AddError("ListInbox", Error(absl::StatusCode::kPermissionDenied,
                                      "NOT_PERMITTED", "no person"));
  EXPECT_EQ(Run({"list"}), kExitOk);
  EXPECT_THAT(out_.str(), Not(HasSubstr("unread")));
}

// --- Text

TEST(MailReportTest, AnAnswerHasItsAttachmentsBelow) {
  v1::DeliveryRecord reply = Mail("r1", "See below.\n");
  v1::MessageAttachment& file = *reply.mutable_envelope()->add_attachments();
  file.set_type(v1::MessageAttachment::TYPE_FILE);
  file.set_name("a.txt");
  file.set_content("line");
  EXPECT_EQ(AnswerText(reply), "See below.\n\n[file a.txt]\nline\n");
}

}  // namespace
}  // namespace intercom
