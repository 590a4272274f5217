#include "broker/storage/workspace_store.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/storage/storage_fixtures.h"

namespace intercom {
namespace {

using ::testing::SizeIs;

class WorkspaceStoreTest : public ::testing::Test {
 protected:
  static v1::AgentEntry Agent(const std::string& id, bool coordinator) {
    v1::AgentEntry agent;
    agent.set_session_id(id);
    agent.set_name("name of " + id);
    agent.set_coordinator(coordinator);
    agent.set_description("does things");
    agent.set_port(4711);
    agent.set_project_directory("src");
    agent.set_entry_hash("hash of " + id);
    return agent;
  }
  WorkspaceRow Find(const std::string& root) {
    return store_.Find(root).value().value();
  }

  std::unique_ptr<Database> db_ = MigratedInMemory();
  WorkspaceStore store_{*db_};
};

TEST_F(WorkspaceStoreTest, AMirrorComesBackInTheOrderOfTheFile) {
  const std::vector<v1::AgentEntry> agents = {Agent("z", true),
                                              Agent("a", false)};
  EXPECT_EQ(store_.Mirror("/p", "h1", "{}", agents, kNow).value(), 1);

  const WorkspaceRow row = Find("/p");

  EXPECT_EQ(row.config_json, "{}");
  EXPECT_EQ(row.mirrored_at, kNow);
  ASSERT_THAT(row.agents, SizeIs(2));
  EXPECT_EQ(row.agents[0].SerializeAsString(), agents[0].SerializeAsString());
  EXPECT_EQ(row.agents[1].SerializeAsString(), agents[1].SerializeAsString());
}

TEST_F(WorkspaceStoreTest, OtherContentIsTheNextGeneration) {
  ASSERT_THAT(store_.Mirror("/p", "h1", "1", {Agent("a", true)}, kNow), IsOk());
  EXPECT_EQ(store_.Mirror("/p", "h2", "2", {Agent("b", true)}, kNow).value(),
            2);
  EXPECT_EQ(Find("/p").config_json, "2");
  ASSERT_THAT(Find("/p").agents, SizeIs(1));
  EXPECT_EQ(Find("/p").agents[0].session_id(), "b");
}

TEST_F(WorkspaceStoreTest, AnUnchangedHashKeepsTheGenerationAndEndsTheError) {
  ASSERT_THAT(store_.Mirror("/p", "h1", "1", {Agent("a", true)}, kNow), IsOk());
  ASSERT_THAT(store_.SetError("/p", "line 3"), IsOk());
  EXPECT_EQ(Find("/p").config_error, "line 3");
  EXPECT_THAT(Find("/p").agents, SizeIs(1));

  EXPECT_EQ(store_.Mirror("/p", "h1", "1", {}, kNow + absl::Hours(1)).value(),
            1);

  EXPECT_EQ(Find("/p").config_error, "");
  EXPECT_EQ(Find("/p").mirrored_at, kNow + absl::Hours(1));
  EXPECT_THAT(Find("/p").agents, SizeIs(1));
}

TEST_F(WorkspaceStoreTest, AFileThatNeverWasGoodHasGenerationZero) {
  ASSERT_THAT(store_.SetError("/p", "line 1"), IsOk());
  EXPECT_EQ(Find("/p").generation, 0);
  EXPECT_EQ(store_.Mirror("/p", "", "", {}, kNow).value(), 1);
}

TEST_F(WorkspaceStoreTest, ThePinOutlivesEveryMirror) {
  ASSERT_THAT(store_.PinCoordinator("/p", "a"), IsOk());
  ASSERT_THAT(store_.Mirror("/p", "h1", "1", {Agent("b", true)}, kNow), IsOk());
  EXPECT_EQ(Find("/p").coordinator_session_id, "a");
}

TEST_F(WorkspaceStoreTest, AllWorkspacesComeByRootWithTheirAgents) {
  ASSERT_THAT(store_.Mirror("/q", "h", "", {Agent("a", true)}, kNow), IsOk());
  ASSERT_THAT(store_.Mirror("/p", "h", "", {}, kNow), IsOk());
  const auto rows = store_.All().value();
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].root, "/p");
  EXPECT_THAT(rows[1].agents, SizeIs(1));
  EXPECT_EQ(store_.Find("/r").value().has_value(), false);
}

}  // namespace
}  // namespace intercom
