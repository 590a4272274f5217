#include "broker/work/retention.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/work_rig.h"

namespace intercom {
namespace {

// A broker's start, long after others were there.
class RetentionTest : public WorkRig {
 protected:
  const absl::Duration long_ = Retention::kUnknownSessionsKept + absl::Hours(1);

  ~RetentionTest() override { runner_->Stop(); }

  TestSession JoinPeer(const std::string& id) {
    const auto session = TryAttach(PeerHello(id));
    EXPECT_THAT(session, IsOk());
    return *session;
  }
  Retention Start() {
    return Retention({history_, ask_store_, job_store_, run_store_, note_store_,
                      session_store_},
                     observations_, roster_, clock_);
  }
  // Steps until there is no more.
  void Run(Retention& retention) {
    OnState([&] {
      while (true) {
        const auto more = retention.Step();
        EXPECT_THAT(more, IsOk());
        if (!more.ok() || !*more) return true;
      }
    });
  }
  bool IsKnown(const std::string& id) {
    return OnState([&] { return session_store_.Find(id).value().has_value(); });
  }

  DeliveryHistory history_{runner_->database()};
};

TEST_F(RetentionTest, UnknownSessionsAreForgottenAnHourAfterTheStart) {
  Detach(JoinPeer("p-1"));
  clock_.Advance(long_);
  Retention retention = Start();
  Run(retention);
  EXPECT_TRUE(IsKnown("p-1"));
  clock_.Advance(Retention::kForgetEvery);
  Run(retention);
  EXPECT_FALSE(IsKnown("p-1"));
}

TEST_F(RetentionTest, TheyAreLookedForOnceAnHour) {
  clock_.Advance(long_);
  Retention retention = Start();
  clock_.Advance(Retention::kForgetEvery);
  Run(retention);
  Detach(JoinPeer("p-1"));
  // Only the wall clock: it was set.
  clock_.Jump(long_);
  Run(retention);
  EXPECT_TRUE(IsKnown("p-1"));
  clock_.Advance(Retention::kForgetEvery);
  Run(retention);
  EXPECT_FALSE(IsKnown("p-1"));
}

TEST_F(RetentionTest, WhoIsAttachedStaysHoweverLong) {
  JoinPeer("p-1");
  Retention retention = Start();
  clock_.Advance(long_);
  Run(retention);
  EXPECT_TRUE(IsKnown("p-1"));
}

}  // namespace
}  // namespace intercom
