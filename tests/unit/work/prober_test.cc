#include "broker/work/prober.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/work_rig.h"

namespace intercom {
namespace {

using ::testing::SizeIs;

class ProberTest : public WorkRig {
 protected:
  ProberTest() { WriteTeam(); }

  void JoinMany(int count) {
    for (int i = 0; i < count; ++i) {
      ids_.push_back("x-" + std::to_string(i));
      sessions_.push_back(Join(ids_.back()));
    }
  }
  Answer<Prober::Probes> Ask(Prober& prober) {
    Answer<Prober::Probes> answer;
    runner_->PostTask(
        [this, &prober, put = answer.Callback()] { prober.Ask(ids_, put); });
    Sync();
    return answer;
  }
  static std::vector<v1::Control> AskedOf(const TestSession& session) {
    std::vector<v1::Control> controls;
    for (const auto& frame : session.link->Of(v1::AttachResponse::kControl)) {
      controls.push_back(frame.control());
    }
    return controls;
  }
  int AskedInAll() const {
    int asked = 0;
    for (const TestSession& session : sessions_) {
      asked += static_cast<int>(AskedOf(session).size());
    }
    return asked;
  }
  void Say(const TestSession& session, const std::string& session_id,
           bool ok = true) {
    v1::ControlResult result;
    result.set_control_id(AskedOf(session).back().control_id());
    result.set_ok(ok);
    result.mutable_status()->set_session_id(session_id);
    controls_.OnResult(session.key, result);
    Sync();
  }
  static int Count(const Prober::Probes& probes, ProbeOutcome outcome) {
    int count = 0;
    for (const auto& [id, probe] : probes) count += probe.outcome == outcome;
    return count;
  }

  std::vector<std::string> ids_;
  std::vector<TestSession> sessions_;
};

TEST_F(ProberTest, AHostThatSaysItsIdHasAnswered) {
  JoinMany(1);
  const auto answer = Ask(prober_);
  ASSERT_THAT(AskedOf(sessions_[0]), SizeIs(1));
  EXPECT_EQ(AskedOf(sessions_[0])[0].kind(), v1::Control::KIND_PROBE);
  EXPECT_EQ(AskedOf(sessions_[0])[0].timeout().nanos(), 750'000'000);
  Advance(absl::Milliseconds(20));
  Say(sessions_[0], "x-0");
  const Prober::Probes probes = answer.Wait();
  EXPECT_EQ(probes.at("x-0").outcome, ProbeOutcome::kAnswered);
  EXPECT_EQ(probes.at("x-0").at, clock_.Now());
}

TEST_F(ProberTest, AHostThatSaysAnotherIdIsAMismatch) {
  JoinMany(2);
  const auto answer = Ask(prober_);
  Say(sessions_[0], "x-1");
  Say(sessions_[1], "");
  EXPECT_EQ(Count(answer.Wait(), ProbeOutcome::kIdentityMismatch), 2);
}

TEST_F(ProberTest, SilenceIsATimeoutAfter750Milliseconds) {
  JoinMany(1);
  const auto answer = Ask(prober_);
  Advance(absl::Milliseconds(749));
  EXPECT_EQ(answer.count(), 0);
  Advance(absl::Milliseconds(1));
  EXPECT_EQ(answer.Wait().at("x-0").outcome, ProbeOutcome::kTimeout);
  Say(sessions_[0], "x-0");
  EXPECT_EQ(answer.count(), 1);
}

TEST_F(ProberTest, WhoLeavesOrIsNotThereIsAway) {
  JoinMany(1);
  ids_.push_back("nobody");
  const auto answer = Ask(prober_);
  Detach(sessions_[0]);
  EXPECT_EQ(Count(answer.Wait(), ProbeOutcome::kAway), 2);
}

TEST_F(ProberTest, AHostThatCannotAnswerIsNotChecked) {
  JoinMany(1);
  const auto answer = Ask(prober_);
  Say(sessions_[0], "x-0", /*ok=*/false);
  EXPECT_EQ(Count(answer.Wait(), ProbeOutcome::kNotChecked), 1);
}

TEST_F(ProberTest, SixteenAreAskedAtOnce) {
  JoinMany(20);
  const auto answer = Ask(prober_);
  EXPECT_EQ(AskedInAll(), 16);
  Say(sessions_[3], "x-3");
  EXPECT_EQ(AskedInAll(), 17);
  Advance(absl::Milliseconds(750));
  EXPECT_EQ(AskedInAll(), 20);
  Advance(absl::Milliseconds(750));
  EXPECT_EQ(Count(answer.Wait(), ProbeOutcome::kTimeout), 19);
}

TEST_F(ProberTest, WhatIsNotReachedInFourSecondsIsNotChecked) {
  JoinMany(7);
  Prober one_by_one(*runner_, controls_, clock_, {.at_once = 1});
  const auto answer = Ask(one_by_one);
  for (int i = 0; i < 5; ++i) Advance(absl::Milliseconds(750));
  EXPECT_EQ(answer.count(), 0);
  Advance(absl::Milliseconds(250));
  const Prober::Probes probes = answer.Wait();
  EXPECT_EQ(Count(probes, ProbeOutcome::kTimeout), 5);
  EXPECT_EQ(Count(probes, ProbeOutcome::kNotChecked), 2);
  EXPECT_EQ(AskedInAll(), 6);
  Advance(absl::Seconds(5));
  EXPECT_EQ(answer.count(), 1);
}

TEST_F(ProberTest, NobodyToAskIsAnsweredAtOnce) {
  EXPECT_THAT(Ask(prober_).Wait(), SizeIs(0));
}

}  // namespace
}  // namespace intercom
