#include "broker/rpc/status_conversion.h"

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(StatusConversionTest, OkIsOk) { EXPECT_TRUE(ToGrpc({}).ok()); }

TEST(StatusConversionTest, CodeReasonAndMessageGoOntoTheWire) {
  const absl::Status status =
      Error(absl::StatusCode::kFailedPrecondition, "TOO_LATE", "it is there");
  EXPECT_EQ(ToGrpc(status).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(ToGrpc(status).error_message(), "it is there");
  EXPECT_EQ(WireReason(status), "TOO_LATE");
  const v1::Failure failure = ToFailure(status);
  EXPECT_EQ(failure.code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(failure.reason(), "TOO_LATE");
  EXPECT_EQ(failure.message(), "it is there");
}

TEST(StatusConversionTest, TheTextOfOurOwnStateStaysInTheLog) {
  for (const absl::Status& status :
       {absl::InternalError("near \"SELECT\": syntax error"),
        Error(absl::StatusCode::kDataLoss, "STORAGE_CORRUPT",
              "page 7 of SELECT")}) {
    EXPECT_THAT(ToGrpc(status).error_message(), Not(HasSubstr("SELECT")));
    EXPECT_THAT(ToFailure(status).message(), Not(HasSubstr("SELECT")));
  }
  EXPECT_EQ(WireReason(absl::InternalError("x")), "INTERNAL");
}

}  // namespace
}  // namespace intercom
