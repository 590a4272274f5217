#include "worker-agent/monitor/monitor.h"

#include <unistd.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_inspection.h"
#include "tests/support/hostile_text.h"
#include "tests/support/sample_team.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/link/loop_thread.h"
#include "worker-agent/monitor/poll_loop.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr absl::Duration kPatience = absl::Seconds(30);

// What was drawn, for another thread to wait for. Thread-safe.
class Drawn {
 public:
  void Add(const ScreenText& screen) {
    MutexLock lock(mu_);
    ++draws_;
    text_.clear();
    for (const Line& line : screen.lines) text_ += line.Text() + "\n";
    changed_.NotifyAll();
  }
  void SetOver() {
    MutexLock lock(mu_);
    over_ = true;
  }
  // Whether the last one has it, within a minute.
  bool Shows(const std::string& part) {
    return Until([&] { return text_.find(part) != std::string::npos; });
  }
  bool Lacks(const std::string& part) {
    return Until([&] { return text_.find(part) == std::string::npos; });
  }
  std::string text() {
    MutexLock lock(mu_);
    return text_;
  }
  int draws() {
    MutexLock lock(mu_);
    return draws_;
  }
  bool DrewMoreThan(int count) {
    return Until([&] { return draws_ > count; });
  }
  bool is_over() {
    MutexLock lock(mu_);
    return over_;
  }

 private:
  bool Until(const std::function<bool()>& holds) {
    const absl::Duration end = clock_.Steady() + kPatience;
    MutexLock lock(mu_);
    while (!holds()) {
      if (clock_.Steady() > end) return false;
      changed_.WaitFor(mu_, std::chrono::milliseconds(100));
    }
    return true;
  }

  const SystemClock clock_;
  Mutex mu_;
  CondVar changed_;
  int draws_ ABSL_GUARDED_BY(mu_) = 0;
  bool over_ ABSL_GUARDED_BY(mu_) = false;
  std::string text_ ABSL_GUARDED_BY(mu_);
};

// A team on whose screen no age changes within a test.
v1::WatchOverviewResponse CalmOverview(const std::string& name = "Builder") {
  v1::WatchOverviewResponse overview = SampleTeam::Overview();
  overview.clear_waits();
  v1::WorkspaceOverview& workspace = *overview.mutable_workspaces(0);
  workspace.clear_sessions();
  *workspace.add_sessions() =
      SampleTeam::Session("coordinator-1", "Coordinator", v1::ROLE_COORDINATOR,
                          absl::Minutes(90), v1::ACTIVITY_PHASE_IDLE, "");
  *workspace.add_sessions() =
      SampleTeam::Session("builder-1", name, v1::ROLE_WORKER, absl::Minutes(90),
                          v1::ACTIVITY_PHASE_IDLE, "");
  return overview;
}

class MonitorTest : public ::testing::Test {
 protected:
  MonitorTest() { Serve(); }
  ~MonitorTest() override {
    loop_.Do([this] { monitor_.reset(); });
  }

  void Serve() { fake_ = std::make_unique<FakeInspection>(home_.path()); }

  void Begin(MonitorModel::Scope scope = {.directory = "/proj/ann/shop"}) {
    loop_.Do([&] {
      monitor_ = std::make_unique<Monitor>(
          Monitor::Options{.home = home_.path(),
                           .scope = scope,
                           .claim_id = "claim-1",
                           .about = {.version = INTERCOM_VERSION,
                                     .person_home = "",
                                     .notes = {}}},
          loop_.runner(), clock_, random_,
          Monitor::Outlets{
              .draw = [this](const ScreenText& text) { drawn_.Add(text); },
              .over = [this] { drawn_.SetOver(); }});
      monitor_->Resize({.rows = 30, .columns = 100});
    });
  }
  void Press(MonitorKey key) {
    loop_.Do([&] { monitor_->Press(key); });
  }

  TempDir home_;
  SystemClock clock_;
  SystemRandom random_;
  Drawn drawn_;
  std::unique_ptr<FakeInspection> fake_;
  // On the loop's thread.
  std::unique_ptr<Monitor> monitor_;
  LoopThread loop_;
};

TEST_F(MonitorTest, ShowsWhatTheBrokerTells) {
  fake_->SetOverview(CalmOverview());
  fake_->SetDeliveries(SampleTeam::Deliveries());
  Begin();
  EXPECT_TRUE(drawn_.Shows("Builder         attached")) << drawn_.text();
  EXPECT_TRUE(drawn_.Shows("waits away")) << drawn_.text();
  EXPECT_THAT(fake_->calls(),
              Contains("WatchOverview directory: \"/proj/ann/shop\" "
                       "monitor_claim_id: \"claim-1\""));
}

TEST_F(MonitorTest, AnEventMovesTheTimelineOn) {
  fake_->SetOverview(CalmOverview());
  fake_->SetDeliveries(SampleTeam::Deliveries());
  Begin();
  ASSERT_TRUE(drawn_.Shows("waits away"));
  v1::WatchEventsResponse event;
  *event.mutable_at() = ToProto(SampleTeam::Now());
  *event.mutable_delivery()->mutable_delivery() =
      SampleTeam::Deliveries().deliveries(3);
  event.mutable_delivery()->mutable_delivery()->clear_wait_reason();
  event.mutable_delivery()->mutable_delivery()->set_state(
      v1::DELIVERY_STATE_SEEN);
  *event.mutable_delivery()->mutable_latency() =
      ToProtoDuration(absl::Minutes(5));
  fake_->AddEvent(event);
  EXPECT_TRUE(drawn_.Lacks("waits away"));
  EXPECT_THAT(drawn_.text(), HasSubstr("message  seen                   5m"));
}

TEST_F(MonitorTest, WithoutAChangeNothingIsDrawn) {
  fake_->SetOverview(CalmOverview());
  Begin();
  ASSERT_TRUE(drawn_.Shows("Builder"));
  ASSERT_TRUE(drawn_.Shows("Nothing was sent yet."));
  const int before = drawn_.draws();
  // Told again, the same is no change; a key that changes nothing, neither.
  for (int i = 0; i < 5; ++i) fake_->SetOverview(CalmOverview());
  Press(MonitorKey::kUp);
  fake_->SetOverview(CalmOverview("Rebuilder"));
  ASSERT_TRUE(drawn_.Shows("Rebuilder"));
  EXPECT_EQ(drawn_.draws(), before + 1);
}

// Ctrl-L and a new size: what the terminal shows is not known.
TEST_F(MonitorTest, TheScreenIsDrawnAnewThoughItIsTheSame) {
  fake_->SetOverview(CalmOverview());
  Begin();
  ASSERT_TRUE(drawn_.Shows("Builder"));
  ASSERT_TRUE(drawn_.Shows("Nothing was sent yet."));
  const int before = drawn_.draws();
  loop_.Do([this] { monitor_->Resize({.rows = 30, .columns = 100}); });
  EXPECT_TRUE(drawn_.DrewMoreThan(before));
}

TEST_F(MonitorTest, AnAgeThatReadsDifferentlyIsDrawn) {
  v1::WatchOverviewResponse overview = CalmOverview();
  *overview.mutable_workspaces(0)
       ->mutable_sessions(1)
       ->mutable_last_activity()
       ->mutable_at() = SampleTeam::Ago(absl::Seconds(10));
  fake_->SetOverview(overview);
  Begin();
  EXPECT_TRUE(drawn_.Shows("10s ago"));
  EXPECT_TRUE(drawn_.Shows("11s ago"));
}

TEST_F(MonitorTest, DetailsAreReadAgainWhenSomethingChanged) {
  fake_->SetOverview(SampleTeam::Overview());
  v1::GetSessionResponse session = SampleTeam::Reviewer();
  session.mutable_entry()->set_session_id("coordinator-1");
  fake_->SetSession(session);
  Begin();
  ASSERT_TRUE(drawn_.Shows("Coordinator"));
  Press(MonitorKey::kEnter);
  ASSERT_TRUE(drawn_.Shows("Reviews every change"));
  EXPECT_EQ(fake_->CountOf("GetSession"), 1);
  session.mutable_entry()->set_description("Something else");
  fake_->SetSession(session);
  for (int i = 0; i < 4; ++i) {
    v1::WatchOverviewResponse overview = SampleTeam::Overview();
    overview.add_notices("notice " + std::to_string(i));
    fake_->SetOverview(overview);
    ASSERT_TRUE(drawn_.Shows("notice " + std::to_string(i)));
  }
  EXPECT_TRUE(drawn_.Shows("Something else"));
  // At most once a second, however often something changes.
  EXPECT_LE(fake_->CountOf("GetSession"), 3);
}

TEST_F(MonitorTest, ABodyIsReadOnlyWhenAKeyAsksForIt) {
  fake_->SetOverview(CalmOverview());
  fake_->SetDeliveries(SampleTeam::Deliveries());
  fake_->SetMessage(SampleTeam::Record("d12", "Which endpoint?"));
  Begin();
  ASSERT_TRUE(drawn_.Shows("waits away"));
  Press(MonitorKey::kTimeline);
  EXPECT_EQ(fake_->CountOf("GetMessage"), 0);
  Press(MonitorKey::kBody);
  EXPECT_TRUE(drawn_.Shows("│ Which endpoint?"));
  Press(MonitorKey::kEscape);
  EXPECT_TRUE(drawn_.Lacks("Which endpoint?"));
}

TEST_F(MonitorTest, ABrokerThatGoesAndComesBackIsTold) {
  fake_->SetOverview(CalmOverview());
  Begin();
  ASSERT_TRUE(drawn_.Shows("Builder"));
  fake_.reset();
  EXPECT_TRUE(drawn_.Shows("this is how things were"));
  EXPECT_THAT(drawn_.text(), AllOf(HasSubstr("away"), HasSubstr("Builder")));
  Serve();
  fake_->SetOverview(CalmOverview("Rebuilder"));
  EXPECT_TRUE(drawn_.Shows("Rebuilder"));
  EXPECT_THAT(drawn_.text(), ::testing::Not(HasSubstr("how things were")));
}

TEST_F(MonitorTest, WithoutABrokerItSaysSoAndWaits) {
  fake_.reset();
  Begin();
  EXPECT_TRUE(drawn_.Shows("No broker answers. A Pi session starts one"));
  Serve();
  fake_->SetOverview(CalmOverview());
  EXPECT_TRUE(drawn_.Shows("Builder"));
}

TEST_F(MonitorTest, ADirectoryWithoutAWorkspaceIsSaidWithTheWayOut) {
  fake_->EndStreams(Error(absl::StatusCode::kNotFound, "NO_WORKSPACE",
                          "there is no workspace in /tmp"));
  Begin();
  EXPECT_TRUE(
      drawn_.Shows("There is no workspace here. Press a for all workspaces"));
  fake_->Accept();
  fake_->SetOverview(CalmOverview());
  Press(MonitorKey::kAll);
  EXPECT_TRUE(drawn_.Shows("all workspaces"));
  EXPECT_TRUE(drawn_.Shows("Builder"));
  EXPECT_THAT(fake_->calls(),
              Contains("WatchOverview monitor_claim_id: \"claim-1\""));
}

TEST_F(MonitorTest, AnExpiredCursorBeginsAnew) {
  fake_->SetOverview(CalmOverview());
  Begin();
  ASSERT_TRUE(drawn_.Shows("Nothing was sent yet."));
  fake_->EndStreams(Error(absl::StatusCode::kOutOfRange, "CURSOR_EXPIRED",
                          "what came after it is not kept any more"));
  ASSERT_TRUE(drawn_.Shows("not kept any more"));
  fake_->SetDeliveries(SampleTeam::Deliveries());
  fake_->Accept();
  EXPECT_TRUE(drawn_.Shows("waits away"));
  EXPECT_EQ(fake_->CountOf("WatchEvents directory: \"/proj/ann/shop\""),
            fake_->CountOf("WatchEvents"));
}

TEST_F(MonitorTest, HostileNamesArrive) {
  v1::WatchOverviewResponse overview = CalmOverview();
  v1::WorkspaceOverview& workspace = *overview.mutable_workspaces(0);
  std::vector<std::string> texts = HostileTexts();
  texts.insert(texts.begin(), {"👩\u200d👩\u200d👧\u200d👦 family", "🇩🇪🇫🇷 flags",
                               "e\u0301\u0302 marks", "翻訳翻訳翻訳翻訳翻訳"});
  for (const std::string& text : texts) {
    // No message carries what is not UTF-8.
    if (!CountCharacters(text).has_value()) continue;
    *workspace.add_sessions() = SampleTeam::Session(
        "id-" + std::to_string(workspace.sessions_size()), text,
        v1::ROLE_WORKER, absl::Minutes(90), v1::ACTIVITY_PHASE_IDLE, text);
  }
  fake_->SetOverview(overview);
  Begin();
  EXPECT_TRUE(drawn_.Shows("翻訳翻訳翻訳…")) << drawn_.text();
}

TEST_F(MonitorTest, WhatCannotBeReadIsSaidAndTriedAgain) {
  fake_->SetOverview(CalmOverview("no UTF-8: \xff"));
  Begin();
  EXPECT_TRUE(drawn_.Shows("The broker does not tell")) << drawn_.text();
  fake_->SetOverview(CalmOverview("Rebuilder"));
  EXPECT_TRUE(drawn_.Shows("Rebuilder")) << drawn_.text();
}

TEST_F(MonitorTest, QuitEndsIt) {
  Begin();
  Press(MonitorKey::kQuit);
  EXPECT_TRUE(drawn_.is_over());
}

TEST(PollLoopTest, RunsTasksInOrderAndThoseThatAreDue) {
  const SystemClock clock;
  const std::unique_ptr<PollLoop> loop = PollLoop::Create(clock).value();
  std::vector<int> ran;
  loop->PostDelayedTask([&] { loop->Quit(); }, absl::Milliseconds(20));
  loop->PostDelayedTask([&] { ran.push_back(3); }, absl::Milliseconds(10));
  loop->PostTask([&] {
    ran.push_back(1);
    loop->PostTask([&] { ran.push_back(2); });
  });
  loop->Run();
  EXPECT_THAT(ran, ElementsAre(1, 2, 3));
}

TEST(PollLoopTest, ReadsWhatItWatches) {
  const SystemClock clock;
  const std::unique_ptr<PollLoop> loop = PollLoop::Create(clock).value();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  char byte = 0;
  loop->Watch(ends[0], [&] {
    ASSERT_EQ(read(ends[0], &byte, 1), 1);
    loop->Quit();
  });
  loop->PostTask([&] { ASSERT_EQ(write(ends[1], "x", 1), 1); });
  loop->Run();
  EXPECT_EQ(byte, 'x');
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace intercom
