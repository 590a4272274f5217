#ifndef PI_INTERCOM_TESTS_INTEGRATION_BROKER_FIXTURE_H_
#define PI_INTERCOM_TESTS_INTEGRATION_BROKER_FIXTURE_H_

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/broker_client.h"
#include "tests/support/offset_clock.h"
#include "tests/support/running_broker.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/workspace_files.h"

namespace intercom {

MATCHER_P2(EndsWithReason, code, reason, "ends with that code and reason") {
  *result_listener << "which is " << arg.code << " " << arg.reason << " "
                   << arg.message;
  return arg.code == code && arg.reason == reason;
}

// A broker on a free port and its Unix socket, with a home and a workspace of
// its own: coordinator c-1, workers w-1 "Reviewer" and w-2 "Builder".
class BrokerFixture : public ::testing::Test {
 protected:
  using Frame = v1::AttachResponse;

  BrokerFixture() {
    WriteConfig(root_, ConfigText({{"c-1", "Coordinator"},
                                   {"w-1", "Reviewer"},
                                   {"w-2", "Builder"}}));
  }

  BrokerOptions Options() {
    BrokerOptions options;
    options.home = home_;
    options.account_home = "/home/of-nobody";
    options.port = 0;
    options.idle_exit = absl::InfiniteDuration();
    options.version = "0.0.0";
    return options;
  }
  void StartBroker() {
    auto broker = RunningBroker::Start(Options(), clock_);
    ASSERT_THAT(broker, IsOk());
    broker_ = *std::move(broker);
  }
  void RestartBroker() {
    broker_->Stop();
    broker_.reset();
    StartBroker();
  }

  std::string Token() {
    std::string token = ReadText(TokenPath(home_));
    while (!token.empty() && token.back() == '\n') token.pop_back();
    return token;
  }
  std::shared_ptr<BrokerClient> Unix() { return BrokerClient::OverUnix(home_); }
  std::shared_ptr<BrokerClient> Tcp() {
    return BrokerClient::OverTcp(broker_->port(), Token());
  }

  // Hosted by a process that does not exist, unless `pid` says otherwise.
  v1::Hello HelloOf(const std::string& session_id, int64_t pid = 0) {
    v1::Hello hello;
    hello.set_protocol_version(1);
    hello.set_session_id(session_id);
    hello.set_host_kind("test");
    hello.set_host_pid(pid == 0 ? 4'999'999 : pid);
    hello.set_cwd(root_);
    hello.set_start_reason(v1::START_REASON_RECONNECT);
    return hello;
  }
  // Attached over TCP, and so hosted by whom Hello says; ready for mail.
  std::unique_ptr<AttachClient> Attach(
      const std::string& session_id, AttachClient::OnFrame on_frame = nullptr,
      const std::vector<std::string>& present = {}) {
    auto client = std::make_unique<AttachClient>(Tcp(), std::move(on_frame));
    EXPECT_TRUE(client->SayHello(HelloOf(session_id)));
    client->StartReading();
    client->frames.WaitFor(Frame::kReconcile);
    EXPECT_TRUE(client->SayPresent(present));
    return client;
  }
  // Puts each delivery into the session at once.
  static void InjectAtOnce(AttachClient& client, const Frame& frame) {
    if (!frame.has_delivery()) return;
    client.SayReceipt(frame.delivery().delivery_id(),
                      v1::Receipt::EVENT_INJECTED);
  }
  // Leaves with a word and waits for the end.
  static void Leave(AttachClient& client) {
    client.SayGoodbye(v1::Goodbye::REASON_QUIT);
    EXPECT_TRUE(client.End().ok());
  }

  static v1::Envelope Message(const std::string& id,
                              const std::string& text = "") {
    v1::Envelope envelope;
    envelope.set_envelope_id(id);
    envelope.set_kind(v1::ENVELOPE_KIND_MESSAGE);
    envelope.set_text(text.empty() ? "text of " + id : text);
    return envelope;
  }

  TempDir dir_;
  const std::string home_ = dir_ / "home";
  const std::string root_ = dir_ / "project";
  OffsetClock clock_;
  std::unique_ptr<RunningBroker> broker_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_INTEGRATION_BROKER_FIXTURE_H_
