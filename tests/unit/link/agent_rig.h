#ifndef PI_INTERCOM_TESTS_UNIT_LINK_AGENT_RIG_H_
#define PI_INTERCOM_TESTS_UNIT_LINK_AGENT_RIG_H_

#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/link/fake_broker.h"
#include "tests/unit/link/fake_launch_room.h"
#include "tests/unit/link/inbox.h"
#include "tests/unit/link/loop_thread.h"
#include "worker-agent/agent.h"

namespace intercom {

// A whole agent between a host, which the test plays, a fake broker, and a fake
// multiplexer.
class AgentRig : public ::testing::Test {
 protected:
  static constexpr LongPolls::Pace kPolls = {
      .first_wait = absl::Milliseconds(10),
      .longest_wait = absl::Seconds(5),
      .pause = absl::Milliseconds(5)};

  AgentRig() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    agent_end_ = ends[0];
    host_ = ends[1];
    loop_.Do([this] {
      agent_ = std::make_unique<Agent>(
          Agent::Options{
              .link = {.home = home_.path(),
                       .backoff = {.first = absl::Milliseconds(1),
                                   .limit = absl::Milliseconds(20)},
                       .mend_interval = absl::Milliseconds(20)},
              .workspace_root = "",
              .goodbye_timeout = absl::Seconds(20),
              .asks = {.polls = kPolls, .acceptance = absl::Milliseconds(30)},
              .waits = {.polls = kPolls}},
          agent_end_, agent_end_,
          Agent::Runners{.agent = loop_.runner(),
                         .starting = starting_.runner(),
                         .launching = launching_.runner(),
                         .panes = panes_.runner()},
          clock_, random_, [](const std::string&) { return absl::OkStatus(); },
          room_.Make(), [this] { finished_.Put(true); });
    });
  }
  ~AgentRig() override {
    room_.Unblock();
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

  // With facts of the host beside those that each has.
  Json Initialize(const Json& more = Json::object()) {
    Json params = {
        {"protocolVersion", 1},
        {"sessionId", "session-1"},
        {"cwd", "/home/ada/space"},
        {"host", {{"kind", "pi"}, {"version", "1"}, {"pid", getpid()}}},
        {"startReason", "startup"},
        {"workspaceMode", "auto"},
        {"monitor", false}};
    params.update(more);
    Request("init", "initialize", std::move(params));
    EXPECT_EQ(Next("init")["result"]["protocolVersion"], 1);
    return NextSession("connected");
  }
  void CallSend(const std::string& call_id) {
    Request(call_id, "tools/call",
            {{"name", "intercom_send"},
             {"callId", call_id},
             {"arguments", {{"to", "Builder"}, {"message", "go"}}}});
  }

  void Call(const std::string& call_id, const std::string& tool, Json arguments,
            bool repeated = false) {
    Request(call_id, "tools/call",
            {{"name", tool},
             {"callId", call_id},
             {"repeated", repeated},
             {"arguments", std::move(arguments)}});
  }
  Json Result(const std::string& call_id) { return Next(call_id)["result"]; }

  // Answers a request of the agent.
  void Respond(const Json& request, Json result) {
    Write({{"jsonrpc", "2.0"}, {"id", request["id"]}, {"result", result}});
  }
  void SendControl(v1::Control control) {
    v1::AttachResponse frame;
    *frame.mutable_control() = std::move(control);
    ASSERT_TRUE(broker_.Send(std::move(frame)));
  }
  // The answer to the control, once it is there.
  v1::ControlResult ControlResult(const std::string& control_id) {
    v1::ControlResult result;
    EXPECT_TRUE(broker_.Await([&](const FakeBroker::Seen& seen) {
      for (const auto& frame : seen.frames) {
        if (frame.control_result().control_id() != control_id) continue;
        result = frame.control_result();
        return true;
      }
      return false;
    }));
    return result;
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
  SystemClock clock_;
  SystemRandom random_;
  FakeBroker broker_{FakeBroker::Options{.home = home_.path(), .tcp = true}};
  int agent_end_ = -1;
  int host_ = -1;
  std::string buffer_;
  Inbox<bool> finished_;
  FakeLaunchRoom room_;
  LoopThread starting_;
  LoopThread launching_;
  LoopThread panes_;
  LoopThread loop_;
  std::unique_ptr<Agent> agent_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_UNIT_LINK_AGENT_RIG_H_
