#include "broker/base/error.h"

#include <cerrno>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;

TEST(ErrorTest, CarriesCodeReasonAndMessage) {
  const absl::Status status =
      Error(absl::StatusCode::kAborted, "OLD_EPOCH", "taken over");
  EXPECT_THAT(status, FailsWith(absl::StatusCode::kAborted, "OLD_EPOCH"));
  EXPECT_EQ(MessageOf(status), "taken over");
}

TEST(ErrorTest, OtherStatusesHaveNoReason) {
  EXPECT_EQ(ReasonOf(absl::InternalError("x")), "");
  EXPECT_EQ(ReasonOf(absl::OkStatus()), "");
}

struct ErrnoCase {
  int error;
  absl::StatusCode code;
  const char* reason;
};
void PrintTo(const ErrnoCase& c, std::ostream* out) { *out << c.error; }

class ErrnoErrorTest : public ::testing::TestWithParam<ErrnoCase> {};

TEST_P(ErrnoErrorTest, PicksTheCodeByErrnoAndSaysWhatFailed) {
  const absl::Status status = ErrnoError(GetParam().error, "can't write a");
  EXPECT_THAT(status, FailsWith(GetParam().code, GetParam().reason));
  EXPECT_THAT(MessageOf(status), HasSubstr("can't write a: "));
}

INSTANTIATE_TEST_SUITE_P(
    Codes, ErrnoErrorTest,
    ::testing::Values(
        ErrnoCase{ENOSPC, absl::StatusCode::kResourceExhausted, "STORAGE_FULL"},
        ErrnoCase{EDQUOT, absl::StatusCode::kResourceExhausted, "STORAGE_FULL"},
        ErrnoCase{ENOENT, absl::StatusCode::kNotFound, "NOT_FOUND"},
        ErrnoCase{ENOTDIR, absl::StatusCode::kNotFound, "NOT_FOUND"},
        ErrnoCase{EACCES, absl::StatusCode::kPermissionDenied,
                  "NOT_ACCESSIBLE"},
        ErrnoCase{EROFS, absl::StatusCode::kPermissionDenied, "NOT_ACCESSIBLE"},
        ErrnoCase{EIO, absl::StatusCode::kUnavailable, "SYSTEM_ERROR"}));

}  // namespace
}  // namespace intercom
