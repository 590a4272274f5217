#include "broker/work/mailbox_heirs.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/work_rig.h"

namespace intercom {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Peers in directories of their own, which leave and are followed by others.
class MailboxHeirsTest : public WorkRig {
 protected:
  v1::Hello HelloIn(const std::string& id, const std::string& directory,
                    const std::string& name) {
    fs::create_directories(dir_ / directory);
    v1::Hello hello = HelloOf(id);
    hello.set_cwd(dir_ / directory);
    hello.set_session_name(name);
    hello.set_workspace_mode(v1::WORKSPACE_MODE_EXISTING);
    return hello;
  }
  TestSession Come(const v1::Hello& hello) {
    auto session = TryAttach(hello);
    EXPECT_THAT(session, IsOk());
    SayPresent(*session, {});
    return *session;
  }
  // A session that is away, and what was sent to it since.
  void Leave(const v1::Hello& hello, const std::string& from = "alice") {
    Detach(Come(hello));
    EXPECT_THAT(
        Accept(Message("to-" + hello.session_id()), from, hello.session_id()),
        IsOk());
  }
  std::string HolderOf(const std::string& delivery_id) {
    return RecordOf(delivery_id).recipient_session_id();
  }

  const std::string mail_id_ = "alice/to-old";
};

TEST_F(MailboxHeirsTest, AReturnUnderTheSameNameAndDirectoryGetsTheMail) {
  Leave(HelloIn("old", "one", "Planner"));
  std::vector<std::string> moves;
  heirs_.SetOnMoved([&](const std::string& from, const std::string& to) {
    moves.push_back(from + ">" + to);
  });
  const auto heir = Come(HelloIn("new", "one", "planner"));
  EXPECT_THAT(heir.link->texts(), ElementsAre("text of to-old"));
  EXPECT_FALSE(heir.link->deliveries()[0].redelivered());
  const v1::DeliveryRecord record = RecordOf(mail_id_);
  EXPECT_EQ(record.recipient_session_id(), "new");
  EXPECT_EQ(record.addressed_session_id(), "old");
  EXPECT_THAT(EvidenceOf(record, v1::DELIVERY_STATE_ACCEPTED),
              HasSubstr("it passed from session old, which is away, to new"));
  EXPECT_EQ(MailboxOf("old").envelopes, 0);
  EXPECT_EQ(MailboxOf("old").bytes, 0);
  EXPECT_EQ(MailboxOf("new").envelopes, 1);
  EXPECT_THAT(moves, ElementsAre("old>new"));

  SayReceipt(heir, mail_id_, v1::Receipt::EVENT_INJECTED);
  EXPECT_EQ(RecordOf(mail_id_).state(), v1::DELIVERY_STATE_INJECTED);
  EXPECT_EQ(MailboxOf("new").envelopes, 0);
  // It does not come to the first one as well.
  EXPECT_THAT(Come(HelloIn("old", "one", "Planner")).link->texts(), IsEmpty());
}

TEST_F(MailboxHeirsTest, WhatReconcileNamesIncludesIt) {
  Leave(HelloIn("old", "one", "planner"));
  const auto heir = Come(HelloIn("new", "one", "planner"));
  const auto named = heir.link->Of(v1::AttachResponse::kReconcile);
  EXPECT_THAT(named[0].reconcile().delivery_ids(), ElementsAre(mail_id_));
}

TEST_F(MailboxHeirsTest, MailStaysWithASameNamedSessionInAnotherProject) {
  Leave(HelloIn("old", "one", "planner"));
  Come(HelloIn("new", "two", "planner"));
  EXPECT_EQ(HolderOf(mail_id_), "old");
}

TEST_F(MailboxHeirsTest, MailStaysInItsWorkspace) {
  Leave(HelloIn("old", "one", "planner"));
  WriteConfig(dir_ / "one", ConfigText({{"c-9", "Coordinator"}}));
  Come(HelloIn("new", "one", "planner"));
  EXPECT_EQ(HolderOf(mail_id_), "old");
}

TEST_F(MailboxHeirsTest, MailStaysInItsScope) {
  Leave(HelloIn("old", "one", "planner"));
  v1::Hello hello = HelloIn("new", "one", "planner");
  hello.set_scope("red");
  Come(hello);
  EXPECT_EQ(HolderOf(mail_id_), "old");
}

TEST_F(MailboxHeirsTest, UnnamedSessionsInheritNothing) {
  Leave(HelloIn("old", "one", ""));
  Come(HelloIn("new", "one", " "));
  EXPECT_EQ(HolderOf(mail_id_), "old");
}

TEST_F(MailboxHeirsTest, MailNeverReturnsToItsOwnSender) {
  Leave(HelloIn("old", "one", "planner"), "new");
  EXPECT_THAT(Accept(Message("e1"), "alice", "old"), IsOk());
  const auto heir = Come(HelloIn("new", "one", "planner"));
  EXPECT_EQ(HolderOf("new/to-old"), "old");
  EXPECT_EQ(HolderOf("alice/e1"), "new");
  EXPECT_EQ(MailboxOf("old").envelopes, 1);
}

TEST_F(MailboxHeirsTest, WhatAnHeirWasOfferedStaysWithItWhenItLeavesToo) {
  Leave(HelloIn("old", "one", "planner"));
  Leave(HelloIn("heir", "one", "planner"));
  Come(HelloIn("new", "one", "planner"));
  EXPECT_EQ(HolderOf(mail_id_), "heir");
  EXPECT_EQ(HolderOf("alice/to-heir"), "new");
}

TEST_F(MailboxHeirsTest, WhereTwoMailboxesFitNoneIsGivenAway) {
  Leave(HelloIn("old", "one", "planner"));
  // A new session keeps what it has; the other came without inheriting.
  v1::Hello hello = HelloIn("older", "one", "planner");
  hello.set_start_reason(v1::START_REASON_NEW);
  Leave(hello);
  Come(HelloIn("new", "one", "planner"));
  EXPECT_EQ(HolderOf(mail_id_), "old");
  EXPECT_EQ(HolderOf("alice/to-older"), "older");
}

TEST_F(MailboxHeirsTest, NewAndForkedSessionsLeaveMailWithTheOldId) {
  Leave(HelloIn("old", "one", "planner"));
  for (const v1::StartReason reason :
       {v1::START_REASON_NEW, v1::START_REASON_FORK, v1::START_REASON_RELOAD,
        v1::START_REASON_RECONNECT}) {
    v1::Hello hello = HelloIn("s-" + std::to_string(reason), "one", "planner");
    hello.set_start_reason(reason);
    Detach(Come(hello));
    EXPECT_EQ(HolderOf(mail_id_), "old") << reason;
  }
  v1::Hello hello = HelloIn("new", "one", "planner");
  hello.set_start_reason(v1::START_REASON_RESUME);
  Come(hello);
  EXPECT_EQ(HolderOf(mail_id_), "new");
}

TEST_F(MailboxHeirsTest, ALiveSessionKeepsItsMail) {
  const auto old = AttachSilent("old");  // "name of old", waits for Present
  Accept(Message("to-old"), "alice", "old").IgnoreError();
  Come(HelloIn("new", "project", "name of old"));
  EXPECT_EQ(HolderOf(mail_id_), "old");
}

TEST_F(MailboxHeirsTest, ASessionThatComesBackAtOnceKeepsItsMail) {
  const auto old = Come(HelloIn("old", "one", "planner"));
  Detach(old, v1::Goodbye::REASON_RELOAD);
  Accept(Message("to-old"), "alice", "old").IgnoreError();
  Come(HelloIn("new", "one", "planner"));
  EXPECT_EQ(HolderOf(mail_id_), "old");
}

TEST_F(MailboxHeirsTest, WhereALiveSessionHasTheNameNobodyElseInherits) {
  Leave(HelloIn("old", "one", "planner"));
  v1::Hello hello = HelloIn("there", "one", "planner");
  hello.set_start_reason(v1::START_REASON_NEW);
  const auto there = Come(hello);
  Come(HelloIn("new", "one", "planner"));
  EXPECT_EQ(HolderOf(mail_id_), "old");
}

TEST_F(MailboxHeirsTest, ARenameInheritsAndWhatWasBeforeIsOfferedAfterAll) {
  Leave(HelloIn("old", "one", "planner"));
  const auto heir = Come(HelloIn("new", "one", ""));
  Accept(Message("later"), "alice", "new").IgnoreError();
  EXPECT_THAT(heir.link->texts(), ElementsAre("text of later"));
  registrar_.Rename(heir.key, "planner");
  Sync();
  EXPECT_THAT(heir.link->texts(),
              ElementsAre("text of later", "text of to-old"));
  EXPECT_EQ(HolderOf(mail_id_), "new");
}

TEST_F(MailboxHeirsTest, AStableIdInheritsUnderAnyNameButOnlyInItsDirectory) {
  v1::Hello hello = HelloIn("old", "one", "");
  hello.set_stable_id("desk");
  Leave(hello);
  hello = HelloIn("elsewhere", "two", "");
  hello.set_stable_id("desk");
  Detach(Come(hello));
  EXPECT_EQ(HolderOf(mail_id_), "old");
  hello = HelloIn("new", "one", "named since");
  hello.set_stable_id("desk");
  Come(hello);
  EXPECT_EQ(HolderOf(mail_id_), "new");
}

TEST_F(MailboxHeirsTest, ConfiguredSessionsNeitherInheritNorLeaveMail) {
  WriteTeam();
  Detach(Join("w-1"));  // "name of w-1" to its host
  Accept(Message("e1"), "alice", "w-1").IgnoreError();
  v1::Hello hello = HelloOf("x-1");
  hello.set_session_name("name of w-1");
  Come(hello);
  EXPECT_EQ(HolderOf("alice/e1"), "w-1");

  hello = HelloOf("x-2");
  hello.set_session_name("name of c-1");
  Leave(hello);
  Join("c-1");
  EXPECT_EQ(HolderOf("alice/to-x-2"), "x-2");
}

TEST_F(MailboxHeirsTest, WhatTheFirstOneMayHaveStaysItsOwn) {
  const auto old = Come(HelloIn("old", "one", "planner"));
  Accept(Message("offered"), "alice", "old").IgnoreError();
  Detach(old);
  Accept(Message("later"), "alice", "old").IgnoreError();
  const auto heir = Come(HelloIn("new", "one", "planner"));
  EXPECT_EQ(HolderOf("alice/offered"), "old");
  EXPECT_EQ(HolderOf("alice/later"), "new");
  EXPECT_THAT(heir.link->texts(), ElementsAre("text of later"));
}

TEST_F(MailboxHeirsTest, ARestartForgetsNothingOfThat) {
  const auto old = Come(HelloIn("old", "one", "planner"));
  Accept(Message("offered"), "alice", "old").IgnoreError();
  Detach(old);
  Accept(Message("later"), "alice", "old").IgnoreError();
  // As at the start of a broker, for which everything is of an earlier one.
  Dispatcher restarted(*runner_, deliveries_, mailboxes_, roster_, clock_,
                       random_, limits_);
  MailboxHeirs heirs(mirror_, roster_, session_store_, restarted);
  const auto row = OnState([&] {
    EXPECT_THAT(restarted.Load(), IsOk());
    SessionRow newcomer = **session_store_.Find("old");
    newcomer.session_id = "new";
    return newcomer;
  });
  runner_->PostCommand({[&](Effects& effects) {
                          return heirs.OnArrival(
                              {row, v1::START_REASON_STARTUP, false}, effects);
                        },
                        nullptr});
  Sync();
  EXPECT_EQ(HolderOf("alice/offered"), "old");
  EXPECT_EQ(HolderOf("alice/later"), "new");
}

TEST_F(MailboxHeirsTest, AfterAKillWithTheSessionAttachedAllMayHaveArrived) {
  // It never said goodbye to a broker.
  const auto old = Come(HelloIn("old", "one", "planner"));
  Accept(Message("e1"), "alice", "old").IgnoreError();
  Roster empty(clock_);
  Dispatcher restarted(*runner_, deliveries_, mailboxes_, empty, clock_,
                       random_, limits_);
  MailboxHeirs heirs(mirror_, empty, session_store_, restarted);
  const auto row = OnState([&] {
    EXPECT_THAT(restarted.Load(), IsOk());
    SessionRow newcomer = **session_store_.Find("old");
    newcomer.session_id = "new";
    return newcomer;
  });
  runner_->PostCommand({[&](Effects& effects) {
                          return heirs.OnArrival(
                              {row, v1::START_REASON_STARTUP, false}, effects);
                        },
                        nullptr});
  Sync();
  EXPECT_EQ(HolderOf("alice/e1"), "old");
}

TEST_F(MailboxHeirsTest, ARepeatedSendFindsTheMailThatMoved) {
  Leave(HelloIn("old", "one", "planner"));
  Come(HelloIn("new", "one", "planner"));
  const auto again = Accept(Message("to-old"), "alice", "old");
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->recipient_session_id(), "new");
}

TEST_F(MailboxHeirsTest, AFailedCommitMovesNothing) {
  Leave(HelloIn("old", "one", "planner"));
  const auto heir = Come(HelloIn("new", "one", ""));
  InFailingBatch([&] {
    runner_->PostCommand({[&](Effects& effects) -> absl::Status {
                            return dispatcher_
                                .MoveMail("old", 0, "new", "moved", effects)
                                .status();
                          },
                          nullptr});
  });
  EXPECT_EQ(HolderOf(mail_id_), "old");
  EXPECT_THAT(heir.link->texts(), IsEmpty());
}

}  // namespace
}  // namespace intercom
