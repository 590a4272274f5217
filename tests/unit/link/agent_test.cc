#include "worker-agent/agent.h"

#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/link/fake_broker.h"
#include "tests/unit/link/inbox.h"
#include "tests/unit/link/loop_thread.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A whole agent between a host, which the test plays, and a fake broker.
class AgentTest : public ::testing::Test {
 protected:
  AgentTest() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    agent_end_ = ends[0];
    host_ = ends[1];
    loop_.Do([this] {
      agent_ = std::make_unique<Agent>(
          Agent::Options{.link = {.home = home_.path(),
                                  .backoff = {.first = absl::Milliseconds(1),
                                              .limit = absl::Milliseconds(20)},
                                  .mend_interval = absl::Milliseconds(20)},
                         .workspace_root = "",
                         .goodbye_timeout = absl::Seconds(20)},
          agent_end_, agent_end_, loop_.runner(), blocking_.runner(), random_,
          [](const std::string&) { return absl::OkStatus(); },
          [this] { finished_.Put(true); });
    });
  }
  ~AgentTest() override {
    loop_.Do([this] { agent_.reset(); });
    close(agent_end_);
    close(host_);
  }

  void Write(const Json& message) {
    const std::string line = message.dump() + "\n";
    ASSERT_EQ(write(host_, line.data(), line.size()),
              static_cast<ssize_t>(line.size()));
  }
  void Notify(const std::string& method, Json params) {
    Write({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
  }
  void Request(const std::string& id, const std::string& method, Json params) {
    Write({{"jsonrpc", "2.0"},
           {"id", id},
           {"method", method},
           {"params", params}});
  }

  Json ReadLine() {
    while (buffer_.find('\n') == std::string::npos) {
      char bytes[64 << 10];
      const ssize_t count = read(host_, bytes, sizeof(bytes));
      if (count <= 0) return Json::object();
      buffer_.append(bytes, static_cast<size_t>(count));
    }
    const size_t end = buffer_.find('\n');
    Json message = ParseJson(buffer_.substr(0, end));
    buffer_.erase(0, end + 1);
    return message;
  }
  // The next message of `method` or answer to `id`; others are skipped.
  Json Next(const std::string& method_or_id) {
    while (true) {
      Json message = ReadLine();
      if (message.empty() || Field(message, "method") == method_or_id ||
          (!message.contains("method") &&
           Field(message, "id") == method_or_id)) {
        return message;
      }
    }
  }
  // The parameters of the next `session` with that connection.
  Json NextSession(const std::string& connection) {
    while (true) {
      const Json message = Next("session");
      if (message.empty()) return message;
      if (message["params"]["connection"] == connection) {
        return message["params"];
      }
    }
  }

  Json Initialize() {
    Request("init", "initialize",
            {{"protocolVersion", 1},
             {"sessionId", "session-1"},
             {"cwd", "/home/ada/space"},
             {"host", {{"kind", "pi"}, {"version", "1"}, {"pid", 1}}},
             {"startReason", "startup"},
             {"workspaceMode", "auto"}});
    EXPECT_EQ(Next("init")["result"]["protocolVersion"], 1);
    return NextSession("connected");
  }
  void CallSend(const std::string& call_id) {
    Request(call_id, "tools/call",
            {{"name", "intercom_send"},
             {"callId", call_id},
             {"arguments", {{"to", "Builder"}, {"message", "go"}}}});
  }

  static v1::AgentEntry Entry(const std::string& hash) {
    v1::AgentEntry entry;
    entry.set_session_id("session-1");
    entry.set_name("Builder");
    entry.set_description("Build " + hash);
    entry.set_entry_hash(hash);
    return entry;
  }
  static v1::Welcome WorkerWelcome() {
    v1::Welcome welcome;
    welcome.set_role(v1::ROLE_WORKER);
    welcome.set_workspace_root("/home/ada/space");
    welcome.add_operations("message.send");
    *welcome.mutable_agent_entry() = Entry("h1");
    return welcome;
  }
  bool AwaitReceipt(v1::Receipt::Event event) {
    return broker_.Await([event](const FakeBroker::Seen& seen) {
      for (const auto& receipt : seen.Receipts()) {
        if (receipt.event() == event) return true;
      }
      return false;
    });
  }

  TempDir home_;
  SystemRandom random_;
  FakeBroker broker_{FakeBroker::Options{.home = home_.path(), .tcp = true}};
  int agent_end_ = -1;
  int host_ = -1;
  std::string buffer_;
  Inbox<bool> finished_;
  LoopThread blocking_;
  LoopThread loop_;
  std::unique_ptr<Agent> agent_;
};

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
