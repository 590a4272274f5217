#include "broker/work/admission.h"

#include <future>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/roster_rig.h"

namespace intercom {
namespace {

class AdmissionTest : public RosterRig {
 protected:
  Admission admission_{*runner_};
};

TEST_F(AdmissionTest, RefusesWhileTooMuchWaitsAndAdmitsAfterwards) {
  EXPECT_THAT(admission_.Check(), IsOk());
  std::promise<void> started, release;
  runner_->PostTask([&] {
    started.set_value();
    release.get_future().wait();
  });
  started.get_future().wait();
  for (int64_t i = 0; i < Admission::kMaxWaiting; ++i) {
    EXPECT_THAT(admission_.Check(), IsOk());
    runner_->PostTask([] {});
  }
  EXPECT_THAT(admission_.Check(),
              FailsWith(absl::StatusCode::kResourceExhausted, "BROKER_BUSY"));
  release.set_value();
  Sync();
  EXPECT_THAT(admission_.Check(), IsOk());
}

}  // namespace
}  // namespace intercom
