#include "worker-agent/link/pending_submits.h"

#include <string>
#include <vector>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "worker-agent/link/failure_policy.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;

v1::Submit SubmitOf(const std::string& id) {
  v1::Submit submit;
  submit.mutable_envelope()->set_envelope_id(id);
  return submit;
}

class PendingSubmitsTest : public ::testing::Test {
 protected:
  PendingSubmits::Answer Note() {
    return [this](absl::StatusOr<v1::DeliveryRecord> record) {
      answers_.push_back(std::move(record));
    };
  }
  PendingSubmits submits_;
  std::vector<absl::StatusOr<v1::DeliveryRecord>> answers_;
};

TEST_F(PendingSubmitsTest, AFailureKeepsItsReason) {
  submits_.Add(SubmitOf("e-1"), Note());
  v1::Submitted submitted;
  submitted.set_envelope_id("e-1");
  submitted.mutable_failure()->set_code(5);
  submitted.mutable_failure()->set_reason("UNKNOWN_RECIPIENT");
  EXPECT_TRUE(submits_.Resolve(submitted));
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_THAT(answers_[0],
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_RECIPIENT"));
}

TEST_F(PendingSubmitsTest, AnAnswerNobodyWaitsForIsRecognised) {
  v1::Submitted submitted;
  submitted.set_envelope_id("e-1");
  EXPECT_FALSE(submits_.Resolve(submitted));
}

TEST_F(PendingSubmitsTest, RefusesMoreThanItsLimit) {
  for (size_t i = 0; i < PendingSubmits::kMax; ++i) {
    ASSERT_TRUE(submits_.Add(SubmitOf(std::to_string(i)), Note()));
  }
  EXPECT_FALSE(submits_.Add(SubmitOf("more"), Note()));
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_THAT(answers_[0], FailsWith(absl::StatusCode::kResourceExhausted,
                                     "TOO_MANY_SUBMITS"));
}

TEST_F(PendingSubmitsTest, AnEndSaysWhichOutcomesAreUnknown) {
  submits_.Add(SubmitOf("e-1"), Note());
  submits_.MarkSent();
  submits_.Add(SubmitOf("e-2"), Note());
  submits_.FailAll(
      Error(absl::StatusCode::kAborted, "SUPERSEDED", "another host has it"));
  ASSERT_EQ(answers_.size(), 2u);
  EXPECT_THAT(answers_[0],
              FailsWith(absl::StatusCode::kUnavailable, "OUTCOME_UNKNOWN"));
  EXPECT_THAT(std::string(answers_[0].status().message()),
              HasSubstr("intercom status e-1"));
  EXPECT_THAT(answers_[1], FailsWith(absl::StatusCode::kAborted, "SUPERSEDED"));
}

TEST_F(PendingSubmitsTest, CancellingWhatNoBrokerSawSaysNotSent) {
  submits_.Add(SubmitOf("e-1"), Note());
  submits_.Cancel("e-1");
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_THAT(answers_[0], FailsWith(absl::StatusCode::kCancelled, "NOT_SENT"));
}

struct PolicyCase {
  absl::StatusCode code;
  const char* reason;
  AfterFailure expected;
};
void PrintTo(const PolicyCase& c, std::ostream* out) { *out << c.reason; }

class FailurePolicyTest : public ::testing::TestWithParam<PolicyCase> {};

TEST_P(FailurePolicyTest, DecidesByCodeAndReason) {
  EXPECT_EQ(PolicyFor(Error(GetParam().code, GetParam().reason, "text")),
            GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, FailurePolicyTest,
    ::testing::Values(
        PolicyCase{absl::StatusCode::kFailedPrecondition, "CONFIG_INVALID",
                   AfterFailure::kRetryLater},
        PolicyCase{absl::StatusCode::kFailedPrecondition,
                   "SESSION_ALREADY_ATTACHED", AfterFailure::kGiveUp},
        PolicyCase{absl::StatusCode::kFailedPrecondition,
                   "SESSION_BELONGS_ELSEWHERE", AfterFailure::kGiveUp},
        PolicyCase{absl::StatusCode::kInvalidArgument, "CWD_INVALID",
                   AfterFailure::kGiveUp},
        PolicyCase{absl::StatusCode::kUnauthenticated, "TOKEN_INVALID",
                   AfterFailure::kGiveUp},
        PolicyCase{absl::StatusCode::kNotFound, "BROKER_NOT_FOUND",
                   AfterFailure::kGiveUp},
        PolicyCase{absl::StatusCode::kUnavailable, "BROKER_HUNG",
                   AfterFailure::kRetryLater},
        PolicyCase{absl::StatusCode::kUnavailable, "BROKER_UNREACHABLE",
                   AfterFailure::kRetrySoon},
        PolicyCase{absl::StatusCode::kResourceExhausted, "TOO_MANY",
                   AfterFailure::kRetrySoon},
        PolicyCase{absl::StatusCode::kAborted, "SUPERSEDED",
                   AfterFailure::kSuperseded},
        PolicyCase{absl::StatusCode::kAborted, "CONFIG_CHANGED",
                   AfterFailure::kRetrySoon}));

}  // namespace
}  // namespace intercom
