#include "broker/base/home.h"

#include <cstdlib>
#include <string>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace intercom {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Puts the environment back at the end.
class HomeTest : public ::testing::Test {
 protected:
  HomeTest() {
    if (const char* set = std::getenv("PI_INTERCOM_HOME")) before_ = set;
    unsetenv("PI_INTERCOM_HOME");
  }
  ~HomeTest() override {
    if (before_.empty()) {
      unsetenv("PI_INTERCOM_HOME");
    } else {
      setenv("PI_INTERCOM_HOME", before_.c_str(), 1);
    }
  }

 private:
  std::string before_;
};

TEST_F(HomeTest, IsBelowTheAccountsHomeWhateverHomeSays) {
  setenv("HOME", "/elsewhere", 1);
  const auto home = IntercomHome();
  ASSERT_THAT(home, IsOk());
  EXPECT_THAT(*home, StartsWith(AccountHome().value()));
  EXPECT_THAT(*home, EndsWith("/.local/state/pi-intercom"));
}

TEST_F(HomeTest, TheVariableWinsWithoutItsTrailingSlashes) {
  setenv("PI_INTERCOM_HOME", "/state/of mine//", 1);
  EXPECT_EQ(IntercomHome().value(), "/state/of mine");
}

TEST_F(HomeTest, ARelativeVariableIsRefused) {
  setenv("PI_INTERCOM_HOME", "state", 1);
  EXPECT_THAT(IntercomHome(),
              FailsWith(absl::StatusCode::kFailedPrecondition, "HOME_INVALID"));
}

TEST_F(HomeTest, AnEmptyVariableCountsAsUnset) {
  setenv("PI_INTERCOM_HOME", "", 1);
  EXPECT_THAT(IntercomHome(), IsOk());
}

TEST(SocketPathTest, FitsTheKernelsLimitExactly) {
  EXPECT_THAT(CheckSocketPath(std::string(107, 'x')), IsOk());
}

TEST(SocketPathTest, OneByteMoreIsRefusedWithWhatToDo) {
  const absl::Status status = CheckSocketPath(std::string(108, 'x'));
  EXPECT_THAT(status, FailsWith(absl::StatusCode::kFailedPrecondition,
                                "SOCKET_PATH_TOO_LONG"));
  EXPECT_THAT(MessageOf(status), HasSubstr("PI_INTERCOM_HOME"));
}

}  // namespace
}  // namespace intercom
