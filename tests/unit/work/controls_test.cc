#include "broker/work/controls.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/work_rig.h"

namespace intercom {
namespace {

using ::testing::SizeIs;

// One attached session "w-1".
class ControlsTest : public WorkRig {
 protected:
  using ResultAnswer = Answer<absl::StatusOr<v1::ControlResult>>;

  ControlsTest() {
    WriteTeam();
    worker_ = Join("w-1");
  }
  ResultAnswer Ask(const std::string& session_id = "w-1") {
    ResultAnswer answer;
    runner_->PostTask([=, this, put = answer.Callback()] {
      v1::Control control;
      control.set_kind(v1::Control::KIND_REPORT_STATUS);
      controls_.Send(session_id, control, absl::Seconds(5), put);
    });
    Sync();
    return answer;
  }
  std::vector<v1::Control> Asked() const {
    std::vector<v1::Control> controls;
    for (const auto& frame : worker_.link->Of(v1::AttachResponse::kControl)) {
      controls.push_back(frame.control());
    }
    return controls;
  }
  void Say(const SessionKey& key, const std::string& control_id) {
    v1::ControlResult result;
    result.set_control_id(control_id);
    result.set_ok(true);
    controls_.OnResult(key, result);
    Sync();
  }

  TestSession worker_;
};

TEST_F(ControlsTest, AHostsAnswerComesBackByItsId) {
  const ResultAnswer first = Ask();
  const ResultAnswer second = Ask();
  ASSERT_THAT(Asked(), SizeIs(2));
  EXPECT_NE(Asked()[0].control_id(), Asked()[1].control_id());
  EXPECT_EQ(Asked()[0].timeout().seconds(), 5);
  Say(worker_.key, Asked()[1].control_id());
  EXPECT_THAT(second.Wait(), IsOk());
  EXPECT_EQ(first.count(), 0);
}

TEST_F(ControlsTest, ATimeoutBelowASecondReachesTheHost) {
  runner_->PostTask([this] {
    v1::Control control;
    control.set_kind(v1::Control::KIND_PROBE);
    controls_.Send("w-1", control, absl::Milliseconds(750), [](auto) {});
  });
  Sync();
  ASSERT_THAT(Asked(), SizeIs(1));
  EXPECT_EQ(Asked()[0].timeout().seconds(), 0);
  EXPECT_EQ(Asked()[0].timeout().nanos(), 750'000'000);
}

TEST_F(ControlsTest, AnAnswerCountsOnce) {
  const ResultAnswer answer = Ask();
  Say(worker_.key, Asked()[0].control_id());
  Say(worker_.key, Asked()[0].control_id());
  Advance(absl::Seconds(5));
  EXPECT_EQ(answer.count(), 1);
  EXPECT_THAT(answer.Wait(), IsOk());
}

TEST_F(ControlsTest, WithoutAnAnswerInTimeTheOutcomeIsUnknown) {
  const ResultAnswer answer = Ask();
  Advance(absl::Seconds(5) - absl::Milliseconds(1));
  EXPECT_EQ(answer.count(), 0);
  Advance(absl::Milliseconds(1));
  EXPECT_THAT(answer.Wait(), FailsWith(absl::StatusCode::kDeadlineExceeded,
                                       "OUTCOME_UNKNOWN"));
}

TEST_F(ControlsTest, AtMost32WaitForASession) {
  for (int i = 0; i < 32; ++i) EXPECT_EQ(Ask().count(), 0);
  EXPECT_THAT(Ask().Wait(),
              FailsWith(absl::StatusCode::kResourceExhausted, "CONTROLS_FULL"));
  EXPECT_THAT(Asked(), SizeIs(32));
  Say(worker_.key, Asked()[7].control_id());
  EXPECT_EQ(Ask().count(), 0);
}

TEST_F(ControlsTest, ALimitIsOneSessionsOwn) {
  for (int i = 0; i < 32; ++i) Ask();
  Join("x-1");
  EXPECT_EQ(Ask("x-1").count(), 0);
}

TEST_F(ControlsTest, AnAbsentSessionIsAway) {
  EXPECT_THAT(Ask("gone").Wait(),
              FailsWith(absl::StatusCode::kUnavailable, "SESSION_AWAY"));
}

TEST_F(ControlsTest, ASessionThatLeavesAnswersAllItsControls) {
  const ResultAnswer first = Ask();
  const ResultAnswer second = Ask();
  Detach(worker_);
  for (const ResultAnswer& answer : {first, second}) {
    EXPECT_THAT(answer.Wait(),
                FailsWith(absl::StatusCode::kUnavailable, "SESSION_AWAY"));
  }
}

TEST_F(ControlsTest, AnotherSessionOrEpochCannotAnswer) {
  const ResultAnswer answer = Ask();
  const TestSession other = Join("x-1");
  Say(other.key, Asked()[0].control_id());
  Say({"w-1", worker_.key.epoch - 1}, Asked()[0].control_id());
  EXPECT_EQ(answer.count(), 0);
}

TEST_F(ControlsTest, ControlsDoNotWaitBehindMail) {
  for (int i = 0; i < 40; ++i) {
    EXPECT_THAT(Accept(Message("e" + std::to_string(i)), "c-1", "w-1"), IsOk());
  }
  Ask();
  EXPECT_THAT(Asked(), SizeIs(1));
}

}  // namespace
}  // namespace intercom
