#include "worker-agent/link/broker_link.h"

#include <signal.h>

#include <memory>
#include <string>

#include "broker/base/error.h"
#include "broker/base/home.h"
#include "broker/base/lock_file.h"
#include "broker/base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/stop_process.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/link/fake_broker.h"
#include "tests/unit/link/inbox.h"
#include "tests/unit/link/loop_thread.h"
#include "worker-agent/link/broker_starter.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

v1::Submit SubmitOf(const std::string& id, const std::string& text = "hi") {
  v1::Submit submit;
  submit.set_to("Builder");
  submit.mutable_envelope()->set_envelope_id(id);
  submit.mutable_envelope()->set_kind(v1::ENVELOPE_KIND_MESSAGE);
  submit.mutable_envelope()->set_text(text);
  return submit;
}

// A link of one session over a fake broker in this process.
class BrokerLinkTest : public ::testing::Test {
 protected:
  struct Refusal {
    absl::Status status;
    bool final = false;
  };

  BrokerLinkTest() { broker_ = NewBroker(); }
  ~BrokerLinkTest() override {
    loop_.Do([this] { link_.reset(); });
    broker_.reset();
  }

  std::unique_ptr<FakeBroker> NewBroker() {
    return std::make_unique<FakeBroker>(
        FakeBroker::Options{.home = home_.path(), .tcp = true});
  }

  absl::Duration submit_timeout_ = absl::Seconds(60);
  absl::Duration mend_interval_ = absl::Milliseconds(20);
  bool repeated_ = false;

  void Start(bool tcp = false, std::string home = "") {
    BrokerLink::Options options;
    options.home = home.empty() ? home_.path().string() : home;
    options.tcp = tcp;
    options.backoff = {.first = absl::Milliseconds(1),
                       .limit = absl::Milliseconds(20)};
    options.mend_interval = mend_interval_;
    options.ping_after = absl::Milliseconds(500);
    options.ping_timeout = absl::Milliseconds(500);
    options.submit_timeout = submit_timeout_;
    loop_.Do([&] {
      link_ = std::make_unique<BrokerLink>(
          options, loop_.runner(), blocking_.runner(), random_,
          [] { return absl::OkStatus(); },
          BrokerLink::Events{
              .welcome = [this](const v1::Welcome& w) { welcomes_.Put(w); },
              .frame = [this](v1::AttachResponse f) { frames_.Put(f); },
              .lost = [this](const absl::Status& s) { losses_.Put(s); },
              .refused =
                  [this](const absl::Status& s, bool final) {
                    refusals_.Put({s, final});
                  },
              .superseded = [this](const std::string& m) { ends_.Put(m); }});
      v1::Hello hello;
      hello.set_protocol_version(1);
      hello.set_session_id("session-1");
      hello.set_start_reason(v1::START_REASON_STARTUP);
      link_->Start(hello);
    });
  }

  void Submit(const v1::Submit& submit) {
    loop_.Do([&] {
      link_->Submit(submit, /*repeated=*/repeated_,
                    [this](absl::StatusOr<v1::DeliveryRecord> record) {
                      answers_.Put(std::move(record));
                    });
    });
  }

  TempDir home_;
  SystemRandom random_;
  Inbox<v1::Welcome> welcomes_;
  Inbox<v1::AttachResponse> frames_;
  Inbox<absl::Status> losses_;
  Inbox<Refusal> refusals_;
  Inbox<std::string> ends_;
  Inbox<absl::StatusOr<v1::DeliveryRecord>> answers_;
  std::unique_ptr<FakeBroker> broker_;
  LoopThread blocking_;
  LoopThread loop_;
  std::unique_ptr<BrokerLink> link_;
};

TEST_F(BrokerLinkTest, AttachesOverTheUnixSocket) {
  Start();
  const auto welcome = welcomes_.Take();
  ASSERT_TRUE(welcome.has_value());
  EXPECT_EQ(welcome->role(), v1::ROLE_COORDINATOR);
  EXPECT_THAT(broker_->seen().authorizations, ElementsAre(""));
  ASSERT_TRUE(frames_.Take()->has_reconcile());
}

TEST_F(BrokerLinkTest, AttachesOverTcpWithTheToken) {
  Start(/*tcp=*/true);
  ASSERT_TRUE(welcomes_.Take().has_value());
  EXPECT_THAT(broker_->seen().authorizations,
              ElementsAre("Bearer account-token"));
}

TEST_F(BrokerLinkTest, AnswersASubmitWithItsRecord) {
  Start();
  Submit(SubmitOf("e-1"));
  const auto answer = answers_.Take();
  ASSERT_THAT(*answer, IsOk());
  EXPECT_EQ((*answer)->delivery_id(), "session-1/e-1");
}

TEST_F(BrokerLinkTest, ReconnectsWithTheTokenOfThePreviousWelcome) {
  Start();
  const std::string token = welcomes_.Take()->session_token();
  broker_->BreakStreams();
  ASSERT_TRUE(losses_.Take().has_value());
  ASSERT_TRUE(welcomes_.Take().has_value());

  const auto hellos = broker_->seen().Hellos();
  ASSERT_THAT(hellos, SizeIs(2));
  EXPECT_EQ(hellos[0].previous_session_token(), "");
  EXPECT_EQ(hellos[1].previous_session_token(), token);
  EXPECT_EQ(hellos[1].start_reason(), v1::START_REASON_RECONNECT);
}

TEST_F(BrokerLinkTest, RepeatsUnansweredSubmitsInOrderAfterABreak) {
  broker_->IgnoreSubmits(true);
  Start();
  Submit(SubmitOf("e-1"));
  Submit(SubmitOf("e-2"));
  ASSERT_TRUE(broker_->Await(
      [](const FakeBroker::Seen& seen) { return seen.Submits().size() == 2; }));
  broker_->IgnoreSubmits(false);
  broker_->BreakStreams();

  ASSERT_THAT(*answers_.Take(), IsOk());
  ASSERT_THAT(*answers_.Take(), IsOk());
  std::vector<std::string> ids;
  for (const auto& submit : broker_->seen().Submits()) {
    ids.push_back(submit.envelope().envelope_id());
  }
  EXPECT_THAT(ids, ElementsAre("e-1", "e-2", "e-1", "e-2"));
}

TEST_F(BrokerLinkTest, ASubmitWhoseAnswerWasLostIsAcceptedOnce) {
  broker_->BreakAtSubmit(true);
  Start();
  Submit(SubmitOf("e-1"));
  ASSERT_TRUE(losses_.Take().has_value());
  broker_->BreakAtSubmit(false);

  const auto answer = answers_.Take();
  ASSERT_THAT(*answer, IsOk());
  EXPECT_EQ((*answer)->sequence(), 1);
  EXPECT_THAT(broker_->accepted(), ElementsAre("e-1"));
}

TEST_F(BrokerLinkTest, FindsABrokerThatWasReplaced) {
  Start();
  ASSERT_TRUE(welcomes_.Take().has_value());
  broker_.reset();
  ASSERT_TRUE(losses_.Take().has_value());
  Submit(SubmitOf("e-1"));
  broker_ = NewBroker();
  ASSERT_TRUE(welcomes_.Take().has_value());
  ASSERT_THAT(*answers_.Take(), IsOk());
}

TEST_F(BrokerLinkTest, GivesUpWhenTheSessionIsTaken) {
  broker_->Refuse(Error(absl::StatusCode::kFailedPrecondition,
                        "SESSION_ALREADY_ATTACHED", "it is attached"));
  Start();
  const auto refusal = refusals_.Take();
  EXPECT_THAT(refusal->status, FailsWith(absl::StatusCode::kFailedPrecondition,
                                         "SESSION_ALREADY_ATTACHED"));
  EXPECT_TRUE(refusal->final);
  Submit(SubmitOf("e-1"));
  EXPECT_THAT(*answers_.Take(),
              FailsWith(absl::StatusCode::kFailedPrecondition, "NOT_ATTACHED"));
  EXPECT_THAT(broker_->seen().authorizations, SizeIs(1));
}

TEST_F(BrokerLinkTest, ComesBackWhenAnInvalidConfigIsRepaired) {
  broker_->Refuse(Error(absl::StatusCode::kFailedPrecondition, "CONFIG_INVALID",
                        "config.json:3:7"));
  Start();
  const auto refusal = refusals_.Take();
  EXPECT_FALSE(refusal->final);
  ASSERT_TRUE(broker_->Await([](const FakeBroker::Seen& seen) {
    return seen.authorizations.size() >= 3;
  }));
  broker_->Refuse(absl::OkStatus());
  ASSERT_TRUE(welcomes_.Take().has_value());
  EXPECT_EQ(refusals_.size(), 0u) << "an equal refusal was told twice";
}

TEST_F(BrokerLinkTest, NoticesABrokerThatWasStopped) {
  const std::string home = home_ / "state";
  ASSERT_THAT(
      BrokerStarter({.home = home, .workspace = "/", .program = FAKE_BROKER})
          .Ensure(),
      IsOk());
  const auto pid = static_cast<pid_t>(LockFile::Holder(BrokerLockPath(home)));
  Start(/*tcp=*/false, home);
  EXPECT_TRUE(welcomes_.Take().has_value());
  EXPECT_TRUE(StopProcess(pid));
  EXPECT_TRUE(losses_.Take().has_value());
  EXPECT_EQ(kill(pid, SIGKILL), 0);
}

TEST_F(BrokerLinkTest, EndsWhenSuperseded) {
  Start();
  ASSERT_TRUE(welcomes_.Take().has_value());
  v1::AttachResponse frame;
  frame.mutable_superseded()->set_message("taken over");
  broker_->Send(frame);
  EXPECT_EQ(ends_.Take(), "taken over");
  bool attached = true;
  loop_.Do([&] { attached = link_->attached(); });
  EXPECT_FALSE(attached);
}

TEST_F(BrokerLinkTest, SaysGoodbyeAndWaitsForTheEndOfTheStream) {
  Start();
  ASSERT_TRUE(welcomes_.Take().has_value());
  Inbox<bool> done;
  loop_.Do([&] {
    link_->SayGoodbye(v1::Goodbye::REASON_QUIT, absl::Seconds(20),
                      [&] { done.Put(true); });
  });
  ASSERT_TRUE(done.Take().has_value());
  EXPECT_EQ(broker_->seen().Count(v1::AttachRequest::kGoodbye), 1);
  EXPECT_THAT(broker_->seen().Hellos(), SizeIs(1));
}

TEST_F(BrokerLinkTest, CallsTheWorkspaceWithTheSessionToken) {
  Start();
  ASSERT_TRUE(welcomes_.Take().has_value());
  Inbox<absl::StatusOr<v1::ReloadWorkerResponse>> answers;
  loop_.Do([&] {
    v1::ReloadWorkerRequest request;
    request.set_to("Builder");
    link_->calls()->Call<v1::ReloadWorkerResponse>(
        request, [&](absl::StatusOr<v1::ReloadWorkerResponse> response) {
          answers.Put(std::move(response));
        });
  });
  ASSERT_THAT(*answers.Take(), IsOk());
  EXPECT_THAT(broker_->seen().calls,
              ElementsAre("ReloadWorker Builder by session-token-1"));
}

TEST_F(BrokerLinkTest, ACallsRefusalKeepsCodeAndReason) {
  Start();
  ASSERT_TRUE(welcomes_.Take().has_value());
  broker_->Refuse(Error(absl::StatusCode::kNotFound, "UNKNOWN_WORKER", "who?"));
  Inbox<absl::StatusOr<v1::ReloadWorkerResponse>> answers;
  loop_.Do([&] {
    link_->calls()->Call<v1::ReloadWorkerResponse>(
        v1::ReloadWorkerRequest(),
        [&](absl::StatusOr<v1::ReloadWorkerResponse> response) {
          answers.Put(std::move(response));
        });
  });
  EXPECT_THAT(*answers.Take(),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_WORKER"));
}

TEST_F(BrokerLinkTest, ReadsNothingFurtherWhileBlocked) {
  constexpr int kFrames = 1000;
  Start();
  ASSERT_TRUE(welcomes_.Take().has_value());
  ASSERT_TRUE(frames_.Take()->has_reconcile());
  loop_.Do([&] { link_->SetBlocked(true); });
  for (int i = 0; i < kFrames; ++i) {
    ASSERT_TRUE(
        broker_->Deliver("e-" + std::to_string(i), std::string(32 << 10, 'x')));
  }
  // Calls on the same connection give the broker every chance to write on.
  for (int i = 0; i < 20; ++i) {
    Inbox<bool> done;
    loop_.Do([&] {
      link_->calls()->Call<v1::GetWorkspaceResponse>(
          v1::GetWorkspaceRequest(),
          [&](absl::StatusOr<v1::GetWorkspaceResponse> response) {
            done.Put(response.ok());
          });
    });
    ASSERT_EQ(done.Take(), true);
  }
  EXPECT_EQ(frames_.size(), 0u);
  EXPECT_LT(broker_->seen().frames_written, kFrames / 2);

  loop_.Do([&] { link_->SetBlocked(false); });
  for (int i = 0; i < kFrames; ++i) {
    const auto frame = frames_.Take();
    ASSERT_TRUE(frame.has_value());
    ASSERT_EQ(frame->delivery().envelope().envelope_id(),
              "e-" + std::to_string(i));
  }
}

TEST_F(BrokerLinkTest, ASubmitThatNobodyAnswersInTimeIsUnknown) {
  submit_timeout_ = absl::Milliseconds(50);
  broker_->IgnoreSubmits(true);
  Start();
  ASSERT_TRUE(welcomes_.Take().has_value());
  Submit(SubmitOf("e-1"));
  const auto answer = *answers_.Take();
  EXPECT_THAT(answer, FailsWith(absl::StatusCode::kDeadlineExceeded,
                                "OUTCOME_UNKNOWN"));
  EXPECT_THAT(std::string(answer.status().message()),
              HasSubstr("intercom status e-1"));
}

TEST_F(BrokerLinkTest, ASubmitThatNoBrokerCouldGetInTimeIsNotSentLater) {
  submit_timeout_ = absl::Milliseconds(50);
  broker_.reset();
  Start();
  Submit(SubmitOf("e-1"));
  EXPECT_THAT(*answers_.Take(),
              FailsWith(absl::StatusCode::kUnavailable, "NOT_SENT"));
  broker_ = NewBroker();
  ASSERT_TRUE(welcomes_.Take().has_value());
  Submit(SubmitOf("e-2"));
  ASSERT_TRUE(broker_->Await(
      [](const FakeBroker::Seen& seen) { return !seen.Submits().empty(); }));
  EXPECT_EQ(broker_->seen().Submits()[0].envelope().envelope_id(), "e-2");
}

TEST_F(BrokerLinkTest, WhatAnEarlierAgentMayHaveSentIsNeverSaidToBeUnsent) {
  submit_timeout_ = absl::Milliseconds(50);
  repeated_ = true;
  broker_->Refuse(Error(absl::StatusCode::kFailedPrecondition, "CONFIG_INVALID",
                        "line 3, column 7"));
  Start();
  Submit(SubmitOf("e-1"));
  EXPECT_THAT(*answers_.Take(), FailsWith(absl::StatusCode::kDeadlineExceeded,
                                          "OUTCOME_UNKNOWN"));
}

TEST_F(BrokerLinkTest, ASubmitFindsOutAtOnceThatARefusalIsMended) {
  mend_interval_ = absl::InfiniteDuration();
  broker_->Refuse(Error(absl::StatusCode::kFailedPrecondition, "CONFIG_INVALID",
                        "line 3, column 7"));
  Start();
  ASSERT_TRUE(refusals_.Take().has_value());
  broker_->Refuse(absl::OkStatus());
  Submit(SubmitOf("e-1"));
  EXPECT_THAT(*answers_.Take(), IsOk());
}

TEST_F(BrokerLinkTest, ARefusalThatLastsIsTheAnswerOfWhatWasNotSent) {
  broker_->Refuse(Error(absl::StatusCode::kFailedPrecondition, "CONFIG_INVALID",
                        "line 3, column 7"));
  Start();
  Submit(SubmitOf("e-1"));
  const auto refused =
      FailsWith(absl::StatusCode::kFailedPrecondition, "CONFIG_INVALID");
  EXPECT_THAT(*answers_.Take(), refused);
  Submit(SubmitOf("e-2"));
  EXPECT_THAT(*answers_.Take(), refused);
  broker_->Refuse(absl::OkStatus());
  ASSERT_TRUE(welcomes_.Take().has_value());
  Submit(SubmitOf("e-3"));
  EXPECT_THAT(*answers_.Take(), IsOk());
}

TEST_F(BrokerLinkTest, ACancelledSubmitSaysWhetherItMayHaveBeenSent) {
  broker_->IgnoreSubmits(true);
  Start();
  Submit(SubmitOf("e-1"));
  ASSERT_TRUE(broker_->Await(
      [](const FakeBroker::Seen& seen) { return seen.Submits().size() == 1; }));
  loop_.Do([&] { link_->CancelSubmit("e-1"); });
  EXPECT_THAT(*answers_.Take(),
              FailsWith(absl::StatusCode::kCancelled, "OUTCOME_UNKNOWN"));
}

}  // namespace
}  // namespace intercom
