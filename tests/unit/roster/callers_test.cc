#include "broker/roster/callers.h"

#include <unistd.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"

namespace intercom {
namespace {

// One attached session: s-1, epoch 3, token "secret", host process 42.
class CallersTest : public ::testing::Test {
 protected:
  CallersTest() {
    Attachment attachment;
    attachment.session_id = "s-1";
    attachment.epoch = 3;
    attachment.token = "secret";
    attachment.host_pid = 42;
    roster_.Insert(std::move(attachment));
  }

  const std::string uid_ = std::to_string(getuid());
  FakeClock clock_;
  Roster roster_{clock_};
  Callers callers_{roster_};
  CallerEvidence evidence_;
};

TEST_F(CallersTest, AStreamIsItsSession) {
  evidence_.stream = SessionKey{"s-1", 3};
  const auto caller = callers_.Resolve(evidence_);
  ASSERT_THAT(caller, IsOk());
  EXPECT_EQ(caller->origin, v1::ORIGIN_SESSION);
  EXPECT_EQ(caller->session_id, "s-1");
  EXPECT_EQ(caller->epoch, 3);
}

TEST_F(CallersTest, AnOlderEpochIsFenced) {
  evidence_.stream = SessionKey{"s-1", 2};
  EXPECT_THAT(callers_.Resolve(evidence_),
              FailsWith(absl::StatusCode::kAborted, "OLD_EPOCH"));
  evidence_.stream = SessionKey{"gone", 1};
  EXPECT_THAT(callers_.Resolve(evidence_),
              FailsWith(absl::StatusCode::kAborted, "OLD_EPOCH"));
}

TEST_F(CallersTest, ATokenIsItsSession) {
  evidence_.session_token = "secret";
  EXPECT_EQ(callers_.Resolve(evidence_)->origin, v1::ORIGIN_SESSION);
  EXPECT_EQ(callers_.Resolve(evidence_)->epoch, 3);
}

TEST_F(CallersTest, AWrongTokenIsRefusedWhateverElseIsKnown) {
  evidence_.session_token = "guess";
  evidence_.ancestry = {42};
  EXPECT_THAT(callers_.Resolve(evidence_),
              FailsWith(absl::StatusCode::kUnauthenticated, "SESSION_UNKNOWN"));
}

TEST_F(CallersTest, AProgramBelowAHostIsItsShellOverBothListeners) {
  evidence_.ancestry = {100, 99, 42};
  for (const bool over_tcp : {false, true}) {
    evidence_.over_tcp = over_tcp;
    const auto caller = callers_.Resolve(evidence_);
    ASSERT_THAT(caller, IsOk());
    EXPECT_EQ(caller->origin, v1::ORIGIN_SHELL);
    EXPECT_EQ(caller->host_session_id, "s-1");
  }
}

TEST_F(CallersTest, AClaimedSessionMakesAShellEvenIfItIsNotAttached) {
  evidence_.ancestry = {100};
  evidence_.claimed_session = "s-9";
  const auto caller = callers_.Resolve(evidence_);
  ASSERT_THAT(caller, IsOk());
  EXPECT_EQ(caller->origin, v1::ORIGIN_SHELL);
  EXPECT_EQ(caller->session_id, "s-9");
  EXPECT_EQ(caller->epoch, 0);
}

TEST_F(CallersTest, TheKernelsWordCountsMoreThanTheEnvironment) {
  evidence_.ancestry = {100, 42};
  evidence_.claimed_session = "s-9";
  EXPECT_EQ(callers_.Resolve(evidence_)->session_id, "s-1");
}

TEST_F(CallersTest, OthersArePersonsOnTheSocketAndClientsOverTcp) {
  evidence_.ancestry = {100, 99};
  EXPECT_EQ(callers_.Resolve(evidence_)->origin, v1::ORIGIN_PERSON);
  EXPECT_EQ(callers_.Resolve(evidence_)->session_id, "person:" + uid_);
  evidence_.over_tcp = true;
  EXPECT_EQ(callers_.Resolve(evidence_)->origin, v1::ORIGIN_CLIENT);
  EXPECT_EQ(callers_.Resolve(evidence_)->session_id, "client:" + uid_);
}

TEST_F(CallersTest, ACallAboutNoWorkspaceIsDecidedByTheRoleOfNow) {
  const auto denied =
      FailsWith(absl::StatusCode::kPermissionDenied, "NOT_PERMITTED");
  const auto call = [&](Operation operation) {
    return callers_.ResolveFor(operation, evidence_);
  };
  EXPECT_THAT(call(Operation::kInspect), IsOk());
  EXPECT_THAT(call(Operation::kStatusReport), denied);  // a person
  evidence_.stream = SessionKey{"s-1", 3};
  roster_.Find("s-1")->role = v1::ROLE_COORDINATOR;
  EXPECT_THAT(call(Operation::kStatusReport), denied);
  roster_.Find("s-1")->role = v1::ROLE_WORKER;
  EXPECT_THAT(call(Operation::kStatusReport), IsOk());
  evidence_.stream = SessionKey{"s-1", 2};
  EXPECT_THAT(call(Operation::kInspect),
              FailsWith(absl::StatusCode::kAborted, "OLD_EPOCH"));
}

TEST_F(CallersTest, AShellOfAnAbsentSessionCountsAsAnonymous) {
  evidence_.claimed_session = "s-2";
  EXPECT_THAT(callers_.ResolveFor(Operation::kMessageRead, evidence_), IsOk());
  EXPECT_THAT(
      callers_.ResolveFor(Operation::kMessageSend, evidence_),
      FailsWith(absl::StatusCode::kPermissionDenied, "ANONYMOUS_SENDER"));
}

}  // namespace
}  // namespace intercom
