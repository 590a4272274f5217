#include "broker/domain/route.h"

#include <string>
#include <vector>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

v1::AgentEntry Entry(const std::string& id, const std::string& name,
                     bool coordinator = false) {
  v1::AgentEntry entry;
  entry.set_session_id(id);
  entry.set_name(name);
  entry.set_coordinator(coordinator);
  return entry;
}

class RouteTest : public ::testing::Test {
 protected:
  const std::vector<v1::AgentEntry> entries_ = {
      Entry("c-1", "Coordinator", true), Entry("w-1", "Reviewer"),
      Entry("w-2", "Ops\x1b[31m")};
};

TEST_F(RouteTest, FindsANameInAnyCaseOrAFullSessionId) {
  EXPECT_EQ(Route("reVIEWER", "c-1", entries_)->session_id(), "w-1");
  EXPECT_EQ(Route("w-1", "c-1", entries_)->session_id(), "w-1");
  EXPECT_EQ(Route("coordinator", "w-1", entries_)->session_id(), "c-1");
}

TEST_F(RouteTest, FindsANameByWhatItIsShownAsWhereThatIsOneAlone) {
  std::vector<v1::AgentEntry> entries = entries_;
  entries.push_back(Entry("w-3", "M\u00fcller \U0001f6e0"));
  EXPECT_EQ(Route("m\u00fcller", "c-1", entries)->session_id(), "w-3");
  entries.push_back(Entry("w-4", "M\u00fcller!"));
  EXPECT_THAT(Route("M\u00fcller", "c-1", entries),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_RECIPIENT"));
  entries.push_back(Entry("w-5", "M\u00fcller"));
  EXPECT_EQ(Route("M\u00fcller", "c-1", entries)->session_id(), "w-5");
}

TEST_F(RouteTest, ASessionIdCountsInItsOwnCaseAndWhole) {
  EXPECT_THAT(Route("W-1", "c-1", entries_),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_RECIPIENT"));
  EXPECT_THAT(Route("w", "c-1", entries_),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_RECIPIENT"));
}

TEST_F(RouteTest, TheSenderIsNoRecipient) {
  EXPECT_THAT(Route("Reviewer", "w-1", entries_),
              FailsWith(absl::StatusCode::kInvalidArgument, "SELF_TARGET"));
}

TEST_F(RouteTest, NobodyIsNamed) {
  EXPECT_THAT(Route("", "w-1", entries_),
              FailsWith(absl::StatusCode::kInvalidArgument, "TARGET_EMPTY"));
  EXPECT_THAT(RouteToWorker("", entries_),
              FailsWith(absl::StatusCode::kInvalidArgument, "TARGET_EMPTY"));
}

TEST_F(RouteTest, AnUnknownNameListsThoseThatExistWithoutControls) {
  const auto routed = Route("nobody\x1b[2J", "w-1", entries_);
  EXPECT_THAT(routed,
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_RECIPIENT"));
  EXPECT_THAT(MessageOf(routed.status()),
              HasSubstr("Coordinator, Reviewer, Ops"));
  EXPECT_THAT(MessageOf(routed.status()), Not(HasSubstr("\x1b")));
}

TEST_F(RouteTest, AnOperationOnAWorkerRefusesTheCoordinator) {
  EXPECT_THAT(RouteToWorker("Coordinator", entries_),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        "TARGET_IS_COORDINATOR"));
  EXPECT_THAT(RouteToWorker("c-1", entries_),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        "TARGET_IS_COORDINATOR"));
}

TEST_F(RouteTest, AnUnknownWorkerListsWorkersOnly) {
  const auto routed = RouteToWorker("nobody", entries_);
  EXPECT_THAT(routed, FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_WORKER"));
  EXPECT_THAT(MessageOf(routed.status()), Not(HasSubstr("Coordinator")));
  EXPECT_THAT(MessageOf(RouteToWorker("x", {}).status()), HasSubstr("none"));
}

}  // namespace
}  // namespace intercom
