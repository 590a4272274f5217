#include "worker-agent/run_work.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RunWorkTest : public ::testing::Test {
 protected:
  static v1::Run RunOf(const std::string& id, const std::string& supervisor) {
    v1::Run run;
    run.set_run_id(id);
    run.set_delivery_id(supervisor + "/m-" + id);
    run.set_supervisor_session_id(supervisor);
    run.set_supervisor_name("planner");
    run.set_label("parser");
    return run;
  }
  void Open(const std::vector<v1::Run>& runs,
            const std::string& launched_by = "") {
    v1::OpenRuns open;
    for (const v1::Run& run : runs) *open.add_runs() = run;
    open.set_supervisor_session_id(launched_by);
    work_.Handle(open);
  }

  std::vector<Json> told_;
  std::vector<v1::RunEvent> events_;
  RunWork work_{[this](const std::string& method, const Json& params) {
                  EXPECT_EQ(method, "runs");
                  told_.push_back(params);
                },
                [this](const v1::AttachRequest& frame) {
                  events_.push_back(frame.run_event());
                }};
};

TEST_F(RunWorkTest, TheHostHearsOfEveryFrame) {
  Open({RunOf("run-1", "s-1")});
  Open({RunOf("run-1", "s-1")});
  Open({});
  ASSERT_THAT(told_, SizeIs(3));
  EXPECT_EQ(
      told_[0]["open"][0],
      Json({{"runId", "run-1"},
            {"deliveryId", "s-1/m-run-1"},
            {"label", "parser"},
            {"supervisor", {{"sessionId", "s-1"}, {"name", "planner"}}}}));
  EXPECT_THAT(told_[2]["open"], IsEmpty());
}

TEST_F(RunWorkTest, TheHostsNewsOfARunGoToTheBroker) {
  work_.HandleRun({{"deliveryId", "s-1/m-1"},
                   {"event", "failed"},
                   {"turns", 3},
                   {"model", "acme/large"},
                   {"usage", {{"input", 5}, {"cost", 0.5}}},
                   {"text", "half"},
                   {"leftOut", 12},
                   {"error", "429"}});
  ASSERT_THAT(events_, SizeIs(1));
  const v1::RunEvent& event = events_[0];
  EXPECT_EQ(event.delivery_id(), "s-1/m-1");
  EXPECT_EQ(event.event(), v1::RunEvent::EVENT_FAILED);
  EXPECT_EQ(event.turns(), 3);
  EXPECT_EQ(event.model(), "acme/large");
  EXPECT_EQ(event.usage().input_tokens(), 5);
  EXPECT_EQ(event.usage().cost(), 0.5);
  EXPECT_EQ(event.result().text(), "half");
  EXPECT_EQ(event.result().left_out(), 12);
  EXPECT_EQ(event.result().error(), "429");
}

TEST_F(RunWorkTest, EveryEventHasItsWord) {
  for (const char* word :
       {"progress", "done", "failed", "stopped", "interrupted"}) {
    work_.HandleRun({{"deliveryId", "s-1/m-1"}, {"event", word}});
  }
  std::vector<int> events;
  for (const v1::RunEvent& event : events_) events.push_back(event.event());
  EXPECT_THAT(events, ::testing::ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(RunWorkTest, NewsThatCantBeReadAreNone) {
  work_.HandleRun({{"deliveryId", "s-1/m-1"}, {"event", "shouted"}});
  work_.HandleRun({{"event", "done"}});
  EXPECT_THAT(events_, IsEmpty());
}

TEST_F(RunWorkTest, TheRunOfTheTurnGoesBeforeOthers) {
  Open({RunOf("run-1", "s-1"), RunOf("run-2", "s-2")});
  const auto delegation = work_.DelegationOf("s-2/m-run-2");
  ASSERT_THAT(delegation, IsOk());
  EXPECT_EQ(delegation->run_id, "run-2");
  EXPECT_EQ(delegation->supervisor_session_id, "s-2");
}

TEST_F(RunWorkTest, WithoutATurnOfARunTheOnlySupervisorIsMeant) {
  Open({RunOf("run-1", "s-1"), RunOf("run-2", "s-1")});
  EXPECT_EQ(work_.DelegationOf("")->run_id, "run-1");
  EXPECT_EQ(work_.DelegationOf("s-9/other")->run_id, "run-1");
}

TEST_F(RunWorkTest, SeveralSupervisorsAreToldApartOrRefused) {
  Open({RunOf("run-1", "s-1"), RunOf("run-2", "s-2")});
  const auto delegation = work_.DelegationOf("");
  EXPECT_THAT(
      delegation.status(),
      FailsWith(absl::StatusCode::kFailedPrecondition, "AMBIGUOUS_RUN"));
  EXPECT_THAT(std::string(delegation.status().message()),
              HasSubstr("run-1 of planner, run-2 of planner"));
}

TEST_F(RunWorkTest, AHeadlessWorkerWithoutARunHasWhoLaunchedIt) {
  EXPECT_FALSE(work_.is_delegated());
  EXPECT_THAT(work_.DelegationOf("").status(),
              FailsWith(absl::StatusCode::kNotFound, "NO_SUPERVISOR"));
  Open({}, "s-1");
  EXPECT_TRUE(work_.is_delegated());
  EXPECT_EQ(work_.DelegationOf("")->supervisor_session_id, "s-1");
  EXPECT_EQ(work_.DelegationOf("")->run_id, "");
}

}  // namespace
}  // namespace intercom
