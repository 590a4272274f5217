#include "worker-agent/background.h"

#include <future>
#include <string>

#include "gtest/gtest.h"
#include "tests/unit/link/inbox.h"
#include "tests/unit/link/loop_thread.h"

namespace intercom {
namespace {

class BackgroundTest : public ::testing::Test {
 protected:
  BackgroundTest() {
    home_.Do([this] {
      background_ =
          std::make_unique<Background>(home_.runner(), where_.runner());
    });
  }
  ~BackgroundTest() override {
    home_.Do([this] { background_.reset(); });
  }

  Inbox<std::string> inbox_;
  LoopThread where_;
  LoopThread home_;
  std::unique_ptr<Background> background_;
};

TEST_F(BackgroundTest, WorkRunsElsewhereAndItsResultComesHome) {
  std::thread::id home;
  std::thread::id there;
  std::thread::id back;
  home_.Do([&] {
    home = std::this_thread::get_id();
    background_->Run(
        [&] {
          there = std::this_thread::get_id();
          return 7;
        },
        [&](int result) {
          back = std::this_thread::get_id();
          inbox_.Put(std::to_string(result));
        });
  });
  EXPECT_EQ(inbox_.Take(), "7");
  EXPECT_NE(there, home);
  EXPECT_EQ(back, home);
}

TEST_F(BackgroundTest, AnActionThatHasNotBegunInTimeNeverDoes) {
  std::promise<void> go;
  home_.Do([&] {
    background_->Run(
        [&] {
          go.get_future().wait();
          return 0;
        },
        [](int) {});
    background_->Act(
        absl::Milliseconds(1),
        [this] {
          inbox_.Put("begun");
          return 0;
        },
        [](int) {}, [this] { inbox_.Put("too late"); });
  });
  EXPECT_EQ(inbox_.Take(), "too late");
  go.set_value();
  home_.Do([&] {
    background_->Run([] { return 0; }, [this](int) { inbox_.Put("after"); });
  });
  EXPECT_EQ(inbox_.Take(), "after");
}

TEST_F(BackgroundTest, AnActionThatHasBegunIsAnsweredHoweverLate) {
  std::promise<void> begun;
  std::promise<void> go;
  home_.Do([&] {
    background_->Act(
        absl::Seconds(20),
        [&] {
          begun.set_value();
          go.get_future().wait();
          return 0;
        },
        [this](int) { inbox_.Put("done"); },
        [this] { inbox_.Put("too late"); });
  });
  begun.get_future().wait();
  go.set_value();
  EXPECT_EQ(inbox_.Take(), "done");
}

TEST_F(BackgroundTest, AQuestionIsOfNoUseAfterItsTime) {
  std::promise<void> go;
  home_.Do([&] {
    background_->Ask(
        absl::Milliseconds(1),
        [&] {
          go.get_future().wait();
          return 0;
        },
        [this](int) { inbox_.Put("answer"); },
        [this] { inbox_.Put("too late"); });
  });
  EXPECT_EQ(inbox_.Take(), "too late");
  go.set_value();
  home_.Do([&] {
    background_->Run([] { return 0; }, [this](int) { inbox_.Put("after"); });
  });
  EXPECT_EQ(inbox_.Take(), "after");
}

TEST_F(BackgroundTest, ResultsAreDroppedOnceItIsGone) {
  std::promise<void> begun;
  std::promise<void> go;
  home_.Do([&] {
    background_->Run(
        [&] {
          begun.set_value();
          go.get_future().wait();
          return 0;
        },
        [this](int) { inbox_.Put("result"); });
  });
  begun.get_future().wait();
  home_.Do([this] { background_.reset(); });
  go.set_value();
  where_.Do([] {});
  home_.Do([] {});
  EXPECT_EQ(inbox_.size(), 0);
}

}  // namespace
}  // namespace intercom
