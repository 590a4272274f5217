#include "broker/roster/roster.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;

class RosterTest : public ::testing::Test {
 protected:
  Attachment& Insert(const std::string& id, int64_t epoch = 1,
                     const std::string& root = "/project", int64_t pid = 10) {
    Attachment attachment;
    attachment.session_id = id;
    attachment.epoch = epoch;
    attachment.token = "token of " + id;
    attachment.root = root;
    attachment.host_pid = pid;
    attachment.since = clock_.Now();
    return roster_.Insert(std::move(attachment));
  }
  static std::vector<std::string> Ids(const std::vector<Attachment*>& all) {
    std::vector<std::string> ids;
    for (const Attachment* attachment : all) {
      ids.push_back(attachment->session_id);
    }
    return ids;
  }

  FakeClock clock_;
  Roster roster_{clock_};
};

TEST_F(RosterTest, FindsAnAttachmentBySessionTokenAndHost) {
  const Attachment* added = &Insert("s-1", 1, "/project", 42);
  EXPECT_EQ(roster_.Find("s-1"), added);
  EXPECT_EQ(roster_.FindByToken("token of s-1"), added);
  EXPECT_EQ(roster_.FindByHost({7, 42, 1}), added);
  EXPECT_EQ(roster_.Find("s-2"), nullptr);
  EXPECT_EQ(roster_.FindByToken(""), nullptr);
  EXPECT_EQ(roster_.FindByHost({}), nullptr);
}

TEST_F(RosterTest, TheNearestAncestorIsTheHost) {
  Insert("outer", 1, "/project", 10);
  Insert("inner", 1, "/project", 20);
  EXPECT_EQ(roster_.FindByHost({20, 10})->session_id, "inner");
}

TEST_F(RosterTest, ListsInTheOrderOfAttachment) {
  Insert("b");
  Insert("a", 1, "/other");
  Insert("c");
  EXPECT_THAT(Ids(roster_.All()), ElementsAre("b", "a", "c"));
  EXPECT_THAT(Ids(roster_.InWorkspace("/project")), ElementsAre("b", "c"));
}

TEST_F(RosterTest, AnOlderEpochRemovesNothing) {
  Insert("s-1", 2);
  EXPECT_FALSE(roster_.Remove("s-1", 1, false));
  EXPECT_NE(roster_.Find("s-1"), nullptr);
  EXPECT_TRUE(roster_.Remove("s-1", 2, false));
  EXPECT_EQ(roster_.Find("s-1"), nullptr);
  EXPECT_EQ(roster_.FindByToken("token of s-1"), nullptr);
  EXPECT_EQ(roster_.size(), 0u);
}

TEST_F(RosterTest, ASessionThatAnnouncedItsReturnIsRestartingFor5Seconds) {
  Insert("s-1");
  roster_.Remove("s-1", 1, /*restarting=*/true);
  EXPECT_EQ(roster_.PresenceOf("s-1").presence, v1::PRESENCE_RESTARTING);
  clock_.Advance(absl::Seconds(5) - absl::Milliseconds(1));
  EXPECT_EQ(roster_.PresenceOf("s-1").presence, v1::PRESENCE_RESTARTING);
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_EQ(roster_.PresenceOf("s-1").presence, v1::PRESENCE_AWAY);
}

TEST_F(RosterTest, AJumpOfTheWallClockDoesNotEndTheRestart) {
  Insert("s-1");
  roster_.Remove("s-1", 1, /*restarting=*/true);
  clock_.Jump(absl::Hours(1));
  EXPECT_EQ(roster_.PresenceOf("s-1").presence, v1::PRESENCE_RESTARTING);
}

TEST_F(RosterTest, PresenceSaysSinceWhen) {
  const absl::Time came = clock_.Now();
  Insert("s-1");
  clock_.Advance(absl::Seconds(9));
  EXPECT_THAT(roster_.PresenceOf("s-1").since, Eq(came));
  roster_.Remove("s-1", 1, false);
  const absl::Time left = clock_.Now();
  clock_.Advance(absl::Seconds(9));
  EXPECT_EQ(roster_.PresenceOf("s-1").presence, v1::PRESENCE_AWAY);
  EXPECT_THAT(roster_.PresenceOf("s-1").since, Eq(left));
  EXPECT_THAT(roster_.PresenceOf("never seen").since, Eq(std::nullopt));
}

TEST_F(RosterTest, OfDeparturesTheLatest1024AreKnown) {
  for (int i = 0; i < 1100; ++i) {
    Insert("s-" + std::to_string(i));
    clock_.Advance(absl::Milliseconds(1));
    roster_.Remove("s-" + std::to_string(i), 1, false);
  }
  EXPECT_FALSE(roster_.PresenceOf("s-0").since.has_value());
  EXPECT_TRUE(roster_.PresenceOf("s-1099").since.has_value());
}

}  // namespace
}  // namespace intercom
