#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/link/agent_rig.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Stage = v1::MonitorPane;

// The agent of a coordinator in a tmux pane.
class AgentMonitorTest : public AgentRig {
 protected:
  AgentMonitorTest() {
    v1::Welcome welcome = WorkerWelcome();
    welcome.set_role(v1::ROLE_COORDINATOR);
    broker_.SetWelcome(welcome);
    answers_.own_pane->set_launcher("tmux");
    answers_.own_pane->set_pane("%1");
    answers_.monitor_step->stage = Stage::STAGE_SUBMITTED;
    answers_.monitor_step->pane.set_pane("%2");
  }

  void Start() {
    room_.Set(answers_);
    Initialize({{"monitor", true}});
  }
  // The next claim is answered so.
  void AnswerClaim(bool open, std::optional<Stage::Stage> pane_stage) {
    v1::ClaimMonitorPaneResponse response;
    response.set_open(open);
    if (pane_stage.has_value()) {
      response.mutable_pane()->set_claim_id("k-1");
      response.mutable_pane()->set_stage(*pane_stage);
      response.mutable_pane()->mutable_pane()->set_pane("%9");
    }
    broker_.AddAnswer("ClaimMonitorPane", response);
  }
  static std::vector<std::string> CallsOf(const FakeBroker::Seen& seen,
                                          std::string_view name) {
    std::vector<std::string> calls;
    for (const std::string& call : seen.calls) {
      if (call.starts_with(name)) calls.push_back(call);
    }
    return calls;
  }
  std::vector<std::string> Claims(size_t count) {
    return Await("ClaimMonitorPane", count);
  }
  std::vector<std::string> Advances(size_t count) {
    return Await("AdvanceMonitorPane", count);
  }
  std::vector<std::string> Await(std::string_view name, size_t count) {
    EXPECT_TRUE(broker_.Await([&](const FakeBroker::Seen& seen) {
      return CallsOf(seen, name).size() >= count;
    }));
    return CallsOf(broker_.seen(), name);
  }
  // What the broker sends when the first worker is configured.
  void Hint() {
    v1::AttachResponse frame;
    frame.mutable_roster_changed();
    ASSERT_TRUE(broker_.Send(std::move(frame)));
  }
  // A hint changes nothing: what comes after it has been handled.
  void ExpectDone(size_t claims) {
    Hint();
    CallSend("after");
    EXPECT_EQ(Result("after")["isError"], false);
    panes_.Do([] {});
    EXPECT_EQ(CallsOf(broker_.seen(), "ClaimMonitorPane").size(), claims);
  }

  FakeLaunchRoom::Answers answers_;
};

TEST_F(AgentMonitorTest, ItIsOpenedStepByStepAndEachIsOnRecord) {
  AnswerClaim(true, Stage::STAGE_SPLIT_PENDING);
  Start();
  EXPECT_THAT(Claims(1)[0], HasSubstr("pane: \"%1\""));
  EXPECT_THAT(Advances(1)[0],
              testing::AllOf(HasSubstr("claim_id: \"k-1\""),
                             HasSubstr("stage: STAGE_SUBMITTED"),
                             HasSubstr("pane: \"%2\"")));
  EXPECT_THAT(room_.calls(), ElementsAre("own pane", "monitor step of k-1"));
  ExpectDone(1);
}

TEST_F(AgentMonitorTest, AStepThatIsNotOnRecordIsNotFollowedByAnother) {
  AnswerClaim(true, Stage::STAGE_SPLIT_PENDING);
  answers_.monitor_step->stage = Stage::STAGE_RENAME_PENDING;
  broker_.AddError("AdvanceMonitorPane",
                   Error(absl::StatusCode::kNotFound, "UNKNOWN_CLAIM", "no"));
  Start();
  Advances(1);
  ExpectDone(1);
  EXPECT_THAT(room_.calls(), ElementsAre("own pane", "monitor step of k-1"));
}

TEST_F(AgentMonitorTest, WithoutAWorkerItWaitsForTheHint) {
  AnswerClaim(false, std::nullopt);
  AnswerClaim(true, Stage::STAGE_SPLIT_PENDING);
  Start();
  Claims(1);
  Hint();
  Claims(2);
  Advances(1);
  ExpectDone(2);
}

// The broker may have answered before that worker was configured.
TEST_F(AgentMonitorTest, AHintWhileAClaimIsOnItsWayIsNotLost) {
  AnswerClaim(false, std::nullopt);
  AnswerClaim(true, Stage::STAGE_SPLIT_PENDING);
  broker_.Hold("ClaimMonitorPane");
  Start();
  Claims(1);
  Hint();
  CallSend("after");
  EXPECT_EQ(Result("after")["isError"], false);
  broker_.Release("ClaimMonitorPane");
  Claims(2);
  Advances(1);
  ExpectDone(2);
}

TEST_F(AgentMonitorTest, OneThatIsThereIsKept) {
  AnswerClaim(false, Stage::STAGE_OBSERVED);
  Start();
  ASSERT_TRUE(room_.AwaitCalls(2));
  EXPECT_THAT(room_.calls(), ElementsAre("own pane", "look for monitor %9"));
  ExpectDone(1);
}

TEST_F(AgentMonitorTest, OneThatDoesNotAnswerIsTakenForThere) {
  AnswerClaim(false, Stage::STAGE_OBSERVED);
  answers_.monitor_there =
      Error(absl::StatusCode::kUnavailable, "LAUNCH_FAILED", "no server");
  Start();
  ASSERT_TRUE(room_.AwaitCalls(2));
  ExpectDone(1);
}

TEST_F(AgentMonitorTest, OneThatIsGoneIsNamedInTheNextClaim) {
  AnswerClaim(false, Stage::STAGE_SUBMITTED);
  AnswerClaim(true, Stage::STAGE_SPLIT_PENDING);
  answers_.monitor_there = false;
  Start();
  EXPECT_THAT(Claims(2)[1], HasSubstr("gone_claim_id: \"k-1\""));
  Advances(1);
  ExpectDone(2);
}

TEST_F(AgentMonitorTest, AnothersOpeningIsLeftToIt) {
  AnswerClaim(false, Stage::STAGE_SPLIT_PENDING);
  Start();
  Claims(1);
  ExpectDone(1);
  EXPECT_THAT(room_.calls(), ElementsAre("own pane"));
}

TEST_F(AgentMonitorTest, AFailureIsToldOnceAndOnRecord) {
  AnswerClaim(true, Stage::STAGE_SPLIT_PENDING);
  answers_.monitor_step =
      Error(absl::StatusCode::kUnavailable, "LAUNCH_FAILED", "no space");
  Start();
  EXPECT_EQ(Next("notice")["params"],
            Json({{"level", "warning"},
                  {"text",
                   "The monitor's pane could not be opened: no space. To see "
                   "it: intercom monitor"}}));
  EXPECT_THAT(Advances(1)[0],
              testing::AllOf(HasSubstr("STAGE_GONE"), HasSubstr("no space")));
  ExpectDone(1);
}

TEST_F(AgentMonitorTest, WithoutAPaneThereIsNothingToBeAboveOf) {
  answers_.own_pane = v1::Pane();
  Start();
  ASSERT_TRUE(room_.AwaitCalls(1));
  ExpectDone(0);
}

TEST_F(AgentMonitorTest, APersonWhoWantsNoneIsNotAsked) {
  room_.Set(answers_);
  Initialize({{"monitor", false}});
  ExpectDone(0);
  EXPECT_THAT(room_.calls(), IsEmpty());
}

TEST_F(AgentMonitorTest, AWorkerHasNone) {
  broker_.SetWelcome(WorkerWelcome());
  Start();
  ExpectDone(0);
  EXPECT_THAT(room_.calls(), IsEmpty());
}

}  // namespace
}  // namespace intercom
