#include "worker-agent/host/json_rpc.h"

#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/link/inbox.h"
#include "tests/unit/link/loop_thread.h"
#include "worker-agent/host/line_splitter.h"

namespace intercom {
namespace {

// The agent's end of a link; the test plays the host on the other.
class JsonRpcTest : public ::testing::Test {
 protected:
  JsonRpcTest() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    agent_ = ends[0];
    host_ = ends[1];
    loop_.Do([this] {
      rpc_ = std::make_unique<JsonRpc>(
          agent_, agent_, loop_.runner(),
          JsonRpc::Events{
              .notification =
                  [this](const std::string& method, Json params) {
                    notifications_.Put({method, std::move(params)});
                  },
              .request =
                  [](const std::string& method, Json params,
                     JsonRpc::Respond respond) {
                    if (method == "fail") {
                      respond(Error(absl::StatusCode::kNotFound,
                                    "UNKNOWN_WORKER", "who?"));
                    } else {
                      respond(std::move(params));
                    }
                  },
              .blocked = [this](bool blocked) { blocked_.Put(blocked); },
              .closed = [this] { closed_.Put(true); }},
          LineWriter::Limits{.blocked_bytes = 64 << 10,
                             .resumed_bytes = 16 << 10,
                             .max_bytes = 64 << 20});
    });
  }
  ~JsonRpcTest() override {
    loop_.Do([this] { rpc_.reset(); });
    close(agent_);
    if (host_ >= 0) close(host_);
  }

  void Write(const std::string& bytes) {
    ASSERT_EQ(write(host_, bytes.data(), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
  }
  // The next line from the agent.
  Json ReadLine() {
    std::string line;
    char c = 0;
    while (read(host_, &c, 1) == 1 && c != '\n') line += c;
    return ParseJson(line);
  }

  int agent_ = -1;
  int host_ = -1;
  Inbox<std::pair<std::string, Json>> notifications_;
  Inbox<bool> blocked_;
  Inbox<bool> closed_;
  LoopThread loop_;
  std::unique_ptr<JsonRpc> rpc_;
};

TEST_F(JsonRpcTest, AnswersARequestUnderItsId) {
  Write(R"({"jsonrpc":"2.0","id":"a","method":"echo","params":{"x":"ü"}})"
        "\n");
  const Json answer = ReadLine();
  EXPECT_EQ(answer["id"], "a");
  EXPECT_EQ(answer["result"]["x"], "ü");
}

TEST_F(JsonRpcTest, ARefusalCarriesCodeAndReason) {
  Write("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"fail\"}\n");
  const Json error = ReadLine()["error"];
  EXPECT_EQ(error["data"]["code"], "NOT_FOUND");
  EXPECT_EQ(error["data"]["reason"], "UNKNOWN_WORKER");
  EXPECT_EQ(error["message"], "who?");
}

TEST_F(JsonRpcTest, GarbageIsSkippedAndTheNextLineIsServed) {
  Write("no json\n\xff\xfe\n[1,2]\n{\"jsonrpc\":\"2.0\",\"method\":\"ok\"}\n");
  EXPECT_EQ(notifications_.Take()->first, "ok");
}

TEST_F(JsonRpcTest, ABadRequestWithAnIdIsAnsweredAsOne) {
  Write("{\"jsonrpc\":\"1.0\",\"id\":7,\"method\":\"x\"}\n");
  EXPECT_EQ(ReadLine()["error"]["code"], -32600);
}

TEST_F(JsonRpcTest, ACutOffLastLineIsNotExecuted) {
  Write(R"({"jsonrpc":"2.0","method":"never"})");
  shutdown(host_, SHUT_WR);
  ASSERT_TRUE(closed_.Take().has_value());
  EXPECT_EQ(notifications_.size(), 0u);
}

TEST_F(JsonRpcTest, TheHostsAnswerReachesTheCaller) {
  Inbox<absl::StatusOr<Json>> answers;
  loop_.Do([&] {
    rpc_->Request("reconcile", Json::object(),
                  [&](absl::StatusOr<Json> a) { answers.Put(std::move(a)); });
  });
  const Json request = ReadLine();
  EXPECT_EQ(request["method"], "reconcile");
  Write("{\"jsonrpc\":\"2.0\",\"id\":" + request["id"].dump() +
        ",\"result\":{\"present\":[]}}\n");
  EXPECT_TRUE((*answers.Take())->contains("present"));
}

TEST_F(JsonRpcTest, OpenRequestsEndWithTheHost) {
  Inbox<absl::StatusOr<Json>> answers;
  loop_.Do([&] {
    rpc_->Request("reconcile", Json::object(),
                  [&](absl::StatusOr<Json> a) { answers.Put(std::move(a)); });
  });
  shutdown(host_, SHUT_WR);
  EXPECT_THAT(*answers.Take(),
              FailsWith(absl::StatusCode::kCancelled, "HOST_GONE"));
}

TEST_F(JsonRpcTest, SaysWhenTheHostDoesNotReadAndWhenItDoesAgain) {
  constexpr int kLines = 40;
  loop_.Do([&] {
    for (int i = 0; i < kLines; ++i) {
      rpc_->Notify("deliver", {{"i", i}, {"text", std::string(64 << 10, 'x')}});
    }
  });
  EXPECT_EQ(blocked_.Take(), true);
  for (int i = 0; i < kLines; ++i) {
    ASSERT_EQ(ReadLine()["params"]["i"], i);
  }
  EXPECT_EQ(blocked_.Take(), false);
}

TEST_F(JsonRpcTest, AHostThatClosesItsReadingEndEndsTheLink) {
  close(std::exchange(host_, -1));
  EXPECT_TRUE(closed_.Take().has_value());
}

TEST_F(JsonRpcTest, AMessageOverTheLimitIsNotSent) {
  loop_.Do([&] {
    rpc_->Notify("big",
                 {{"text", std::string(LineSplitter::kMaxLineBytes, 'x')}});
    rpc_->Notify("small", Json::object());
  });
  EXPECT_EQ(ReadLine()["method"], "small");
}

}  // namespace
}  // namespace intercom
