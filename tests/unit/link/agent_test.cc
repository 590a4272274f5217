#include "worker-agent/agent.h"

#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/link/agent_rig.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using AgentTest = AgentRig;

TEST_F(AgentTest, TellsTheHostItsRoleToolsAndInstructions) {
  const Json session = Initialize();
  EXPECT_EQ(session["role"], "coordinator");
  EXPECT_THAT(session["tools"], SizeIs(6));
  EXPECT_THAT(session["instructions"].get<std::string>(),
              HasSubstr("You are the coordinator"));
  EXPECT_EQ(session["statusText"], "intercom: coordinator · space");
}

TEST_F(AgentTest, NothingComesBeforeInitialize) {
  CallSend("call-1");
  EXPECT_EQ(Next("call-1")["error"]["data"]["reason"], "NOT_INITIALIZED");
}

TEST_F(AgentTest, ASendIsAcceptedUnderItsCallIdAndSaysWhyItWaits) {
  broker_.SetWaitReason(v1::WAIT_REASON_AWAY);
  Initialize();
  CallSend("call-1");
  const Json result = Next("call-1")["result"];
  EXPECT_EQ(result["isError"], false);
  EXPECT_THAT(result["text"].get<std::string>(),
              HasSubstr("queued: Builder is away"));
  EXPECT_THAT(broker_.accepted(), ElementsAre("call-1"));
}

TEST_F(AgentTest, ASendWaitsForTheBrokerToComeBack) {
  broker_.BreakAtSubmit(true);
  Initialize();
  CallSend("call-1");
  ASSERT_TRUE(broker_.Await(
      [](const FakeBroker::Seen& seen) { return seen.Submits().size() >= 2; }));
  broker_.BreakAtSubmit(false);
  EXPECT_EQ(Next("call-1")["result"]["isError"], false);
  EXPECT_THAT(broker_.accepted(), ElementsAre("call-1"));
}

TEST_F(AgentTest, AConfigureCallReachesTheBroker) {
  Initialize();
  Request("c", "tools/call",
          {{"name", "intercom_configure_worker"},
           {"callId", "call-2"},
           {"arguments",
            {{"sessionId", "s-2"}, {"name", "Ann"}, {"description", "d"}}}});
  EXPECT_THAT(Next("c")["result"]["text"].get<std::string>(),
              HasSubstr("intercom_reload_worker"));
  EXPECT_THAT(broker_.seen().calls,
              ElementsAre("ConfigureWorker Ann by session-token-1"));
}

TEST_F(AgentTest, AChangeWhoseConnectionBreaksIsUnknown) {
  Initialize();
  broker_.BreakCalls(1);
  Request("c", "tools/call",
          {{"name", "intercom_configure_worker"},
           {"callId", "call-2"},
           {"arguments",
            {{"sessionId", "s-2"}, {"name", "Ann"}, {"description", "d"}}}});
  EXPECT_EQ(Next("c")["result"]["reason"], "OUTCOME_UNKNOWN");
}

TEST_F(AgentTest, BadArgumentsAreAResultThatSaysSo) {
  Initialize();
  Request("c", "tools/call",
          {{"name", "intercom_send"},
           {"callId", "call-2"},
           {"arguments", {{"to", "Ann"}}}});
  const Json result = Next("c")["result"];
  EXPECT_EQ(result["isError"], true);
  EXPECT_EQ(result["reason"], "ARGUMENT_INVALID");
}

TEST_F(AgentTest, ADeliveryGoesToTheHostAndItsReceiptsBack) {
  Initialize();
  ASSERT_TRUE(broker_.Deliver("e-1", "hello"));
  const Json params = Next("deliver")["params"];
  EXPECT_EQ(params["deliveryId"], "session-2/e-1");
  EXPECT_THAT(params["content"].get<std::string>(), HasSubstr("> hello"));
  ASSERT_TRUE(AwaitReceipt(v1::Receipt::EVENT_DELIVERED));
  EXPECT_EQ(broker_.seen().Receipts().back().evidence(),
            "agent process " + std::to_string(getpid()));
  Notify("receipt", {{"deliveryId", "session-2/e-1"}, {"event", "injected"}});
  ASSERT_TRUE(AwaitReceipt(v1::Receipt::EVENT_INJECTED));
}

TEST_F(AgentTest, WhyAHostHoldsADeliveryIsPassedOn) {
  Initialize();
  const std::vector<std::pair<std::string, v1::WaitReason>> reasons = {
      {"compaction", v1::WAIT_REASON_COMPACTION},
      {"starting", v1::WAIT_REASON_STARTING},
      {"busy", v1::WAIT_REASON_BUSY},
      {"closing", v1::WAIT_REASON_CLOSING}};
  for (const auto& [word, reason] : reasons) {
    Notify("receipt", {{"deliveryId", "session-2/" + word},
                       {"event", "held"},
                       {"waitReason", word}});
  }
  ASSERT_TRUE(broker_.Await([&](const FakeBroker::Seen& seen) {
    return seen.Receipts().size() == reasons.size();
  }));
  for (size_t i = 0; i < reasons.size(); ++i) {
    EXPECT_EQ(broker_.seen().Receipts()[i].wait_reason(), reasons[i].second);
  }
}

TEST_F(AgentTest, ADeliveryThatTheHostStillHoldsIsNotHandedOverAgain) {
  Initialize();
  broker_.Deliver("e-1", "first");
  Next("deliver");
  broker_.BreakStreams();
  NextSession("connected");
  broker_.Deliver("e-1", "first");
  broker_.Deliver("e-2", "second");
  EXPECT_EQ(Next("deliver")["params"]["envelopeId"], "e-2");
}

TEST_F(AgentTest, ReconcilesFromTheHostsEntriesAndRepeatsReceipts) {
  Initialize();
  // Receipts from before the first Present are repeated after it.
  ASSERT_TRUE(broker_.Await([](const FakeBroker::Seen& seen) {
    return seen.Count(v1::AttachRequest::kPresent) == 1;
  }));
  Notify("receipt", {{"deliveryId", "session-2/e-1"}, {"event", "seen"}});
  ASSERT_TRUE(AwaitReceipt(v1::Receipt::EVENT_SEEN));
  broker_.SetReconcile({"session-2/e-1", "session-2/e-2"});
  broker_.BreakStreams();
  const Json request = Next("reconcile");
  EXPECT_THAT(request["params"]["deliveryIds"], SizeIs(2));
  Write({{"jsonrpc", "2.0"},
         {"id", request["id"]},
         {"result", {{"present", {"session-2/e-1"}}}}});
  ASSERT_TRUE(broker_.Await([](const FakeBroker::Seen& seen) {
    return seen.Count(v1::AttachRequest::kPresent) == 2 &&
           seen.Receipts().size() == 2;
  }));
  const auto frames = broker_.seen().frames;
  EXPECT_EQ(frames.back().receipt().event(), v1::Receipt::EVENT_SEEN);
  EXPECT_THAT(frames[frames.size() - 2].present().delivery_ids(),
              ElementsAre("session-2/e-1"));
}

TEST_F(AgentTest, AWithdrawalAsksTheHost) {
  Initialize();
  v1::AttachResponse frame;
  frame.mutable_withdraw()->set_delivery_id("session-2/e-1");
  broker_.Send(frame);
  const Json request = Next("withdraw");
  Write({{"jsonrpc", "2.0"},
         {"id", request["id"]},
         {"result", {{"outcome", "tooLate"}}}});
  EXPECT_TRUE(AwaitReceipt(v1::Receipt::EVENT_TOO_LATE));
}

TEST_F(AgentTest, AKnownWorkerLoadsItsEntryAndSaysSoAgainAfterABreak) {
  broker_.SetWelcome(WorkerWelcome());
  const Json session = Initialize();
  EXPECT_EQ(session["loaded"], false);
  EXPECT_FALSE(session.contains("awaitReload"));
  Notify("responsibility/loaded", {{"entryHash", "h1"}});
  EXPECT_EQ(NextSession("connected")["loaded"], true);
  const auto await_loaded = [&](int times) {
    return broker_.Await([times](const FakeBroker::Seen& seen) {
      return seen.Count(v1::AttachRequest::kResponsibilityLoaded) == times;
    });
  };
  ASSERT_TRUE(await_loaded(1));
  broker_.BreakStreams();
  EXPECT_TRUE(await_loaded(2));
}

TEST_F(AgentTest, AnAnonymousSessionThatIsConfiguredWaitsForTheReload) {
  v1::Welcome anonymous;
  anonymous.set_role(v1::ROLE_ANONYMOUS);
  anonymous.set_workspace_root("/home/ada/space");
  broker_.SetWelcome(anonymous);
  Initialize();
  v1::AttachResponse change;
  change.mutable_role_changed()->set_role(v1::ROLE_WORKER);
  *change.mutable_role_changed()->mutable_agent_entry() = Entry("h1");
  broker_.Send(change);
  const Json waiting = NextSession("connected");
  EXPECT_EQ(waiting["awaitReload"], true);
  EXPECT_EQ(waiting["loaded"], false);

  v1::AttachResponse frame;
  frame.mutable_control()->set_control_id("k-1");
  frame.mutable_control()->set_kind(v1::Control::KIND_RELOAD_RESPONSIBILITY);
  *frame.mutable_control()->mutable_agent_entry() = Entry("h1");
  broker_.Send(frame);
  const Json request = Next("control");
  EXPECT_EQ(request["params"]["entry"]["name"], "Builder");
  EXPECT_THAT(request["params"]["instructions"].get<std::string>(),
              HasSubstr("Build h1"));
  Write(
      {{"jsonrpc", "2.0"}, {"id", request["id"]}, {"result", {{"ok", true}}}});
  EXPECT_EQ(NextSession("connected")["loaded"], true);
  ASSERT_TRUE(broker_.Await([](const FakeBroker::Seen& seen) {
    return seen.Count(v1::AttachRequest::kControlResult) == 1;
  }));
  EXPECT_TRUE(broker_.seen().frames.back().control_result().ok());
}

TEST_F(AgentTest, AChangedEntryIsNotInForceBeforeItsReload) {
  broker_.SetWelcome(WorkerWelcome());
  Initialize();
  Notify("responsibility/loaded", {{"entryHash", "h1"}});
  NextSession("connected");
  v1::AttachResponse change;
  change.mutable_role_changed()->set_role(v1::ROLE_WORKER);
  *change.mutable_role_changed()->mutable_agent_entry() = Entry("h2");
  change.mutable_role_changed()->add_operations("roster.list");
  broker_.Send(change);
  const Json session = NextSession("connected");
  EXPECT_EQ(session["entry"]["hash"], "h1");
  EXPECT_THAT(session["instructions"].get<std::string>(),
              HasSubstr("Build h1"));
}

TEST_F(AgentTest, StatusIsReportedWithTheHostsActivity) {
  Initialize();
  Notify("activity", {{"phase", "tool"}, {"label", "Running command"}});
  v1::AttachResponse frame;
  frame.mutable_control()->set_control_id("k-1");
  frame.mutable_control()->set_kind(v1::Control::KIND_REPORT_STATUS);
  broker_.Send(frame);
  const Json request = Next("control");
  Write({{"jsonrpc", "2.0"},
         {"id", request["id"]},
         {"result", {{"ok", true}, {"busy", true}}}});
  ASSERT_TRUE(broker_.Await([](const FakeBroker::Seen& seen) {
    return seen.Count(v1::AttachRequest::kControlResult) == 1;
  }));
  const auto status = broker_.seen().frames.back().control_result().status();
  EXPECT_TRUE(status.busy());
  EXPECT_EQ(status.activity().label(), "Running command");
}

TEST_F(AgentTest, ARefusalIsToldWithItsReason) {
  broker_.Refuse(Error(absl::StatusCode::kFailedPrecondition,
                       "SESSION_ALREADY_ATTACHED", "it is attached"));
  Request("init", "initialize",
          {{"protocolVersion", 1},
           {"sessionId", "session-1"},
           {"cwd", "/w"},
           {"host", {{"kind", "pi"}, {"pid", 1}}}});
  const Json session = NextSession("refused");
  EXPECT_EQ(session["error"]["reason"], "SESSION_ALREADY_ATTACHED");
  EXPECT_EQ(session["error"]["code"], "FAILED_PRECONDITION");
  EXPECT_EQ(session["final"], true);
  EXPECT_THAT(session["tools"], IsEmpty());
}

TEST_F(AgentTest, WhatAHostDroppedAtARefusalIsHandedOverAgain) {
  Initialize();
  broker_.Deliver("e-1", "first");
  EXPECT_EQ(Next("deliver")["params"]["envelopeId"], "e-1");
  broker_.Refuse(Error(absl::StatusCode::kFailedPrecondition, "CONFIG_INVALID",
                       "line 3, column 7"));
  broker_.BreakStreams();
  const Json session = NextSession("refused");
  EXPECT_FALSE(session.contains("final"));
  broker_.Refuse(absl::OkStatus());
  NextSession("connected");
  broker_.Deliver("e-1", "first");
  EXPECT_EQ(Next("deliver")["params"]["envelopeId"], "e-1");
}

TEST_F(AgentTest, GoodbyeReachesTheBrokerAndEndsTheAgent) {
  Initialize();
  Notify("goodbye", {{"reason", "reload"}});
  ASSERT_TRUE(finished_.Take().has_value());
  EXPECT_EQ(broker_.seen().frames.back().goodbye().reason(),
            v1::Goodbye::REASON_RELOAD);
}

TEST_F(AgentTest, AHostThatClosesIsSaidToBeGone) {
  Initialize();
  shutdown(host_, SHUT_WR);
  ASSERT_TRUE(finished_.Take().has_value());
  EXPECT_EQ(broker_.seen().frames.back().goodbye().reason(),
            v1::Goodbye::REASON_HOST_GONE);
}

TEST_F(AgentTest, AHostThatDoesNotReadStopsTheBroker) {
  constexpr int kDeliveries = 600;
  Initialize();
  for (int i = 0; i < kDeliveries; ++i) {
    broker_.Deliver("e-" + std::to_string(i), std::string(32 << 10, 'x'));
  }
  // The agent answers the host while the broker's frames pile up.
  for (int i = 0; i < 20; ++i) {
    Notify("activity", {{"phase", "idle"}, {"turns", i}});
  }
  ASSERT_TRUE(broker_.Await([](const FakeBroker::Seen& seen) {
    return seen.Count(v1::AttachRequest::kActivity) == 20;
  }));
  EXPECT_LT(broker_.seen().frames_written, kDeliveries / 2);
  for (int i = 0; i < kDeliveries; ++i) {
    ASSERT_EQ(Next("deliver")["params"]["envelopeId"],
              "e-" + std::to_string(i));
  }
}

}  // namespace
}  // namespace intercom
