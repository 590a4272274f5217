#include "broker/domain/resolve_peer.h"

#include <string>
#include <vector>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kAttached = v1::PRESENCE_ATTACHED;
constexpr auto kAway = v1::PRESENCE_AWAY;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

class ResolvePeerTest : public ::testing::Test {
 protected:
  // The id of whom `to` names, or the reason why nobody.
  std::string Resolve(const std::string& to, const std::string& cwd = "") {
    const auto place = ResolvePeer({to, cwd, "self-0001"}, all_);
    return place.ok() ? std::string(all_[*place].session_id)
                      : ReasonOf(place.status());
  }
  std::string WhyNot(const std::string& to, const std::string& cwd = "") {
    return MessageOf(ResolvePeer({to, cwd, "self-0001"}, all_).status());
  }

  // Who asks, and three others.
  std::vector<PeerCandidate> all_ = {
      {.session_id = "self-0001",
       .name = "planner",
       .workspace_root = "/w/api",
       .cwd = "/w/api",
       .presence = kAttached},
      {.session_id = "aaaa-0001-0001",
       .name = "worker",
       .stable_id = "review-desk",
       .workspace_root = "/w/api",
       .cwd = "/w/api/src",
       .presence = kAttached},
      {.session_id = "aaaa-0001-0002",
       .cwd = "/home/me/notes",
       .presence = kAttached},
      {.session_id = "bbbb-0001-0003",
       .name = "old",
       .cwd = "/w/billing",
       .presence = kAway,
       .last_seen = kNow},
  };
};

TEST_F(ResolvePeerTest, AFullIdIsThatSessionThereOrAway) {
  EXPECT_EQ(Resolve("aaaa-0001-0001"), "aaaa-0001-0001");
  EXPECT_EQ(Resolve("bbbb-0001-0003"), "bbbb-0001-0003");
  EXPECT_EQ(Resolve("AAAA-0001-0001"), "UNKNOWN_RECIPIENT");
}

TEST_F(ResolvePeerTest, ANameIsFoundByWhatItIsShownAsUnlessItIsAnothers) {
  all_.push_back({.session_id = "cccc-1",
                  .name = "Ada \U0001f6e0",
                  .presence = kAttached});
  EXPECT_EQ(Resolve("ada"), "cccc-1");
  all_.push_back(
      {.session_id = "cccc-2", .name = "Ada", .presence = kAttached});
  EXPECT_EQ(Resolve("ada"), "cccc-2");
}

TEST_F(ResolvePeerTest, WhiteSpaceAroundItDoesNotCount) {
  EXPECT_EQ(Resolve("  worker\n"), "aaaa-0001-0001");
  EXPECT_EQ(Resolve("\u00a0aaaa-0001-0001 "), "aaaa-0001-0001");
}

TEST_F(ResolvePeerTest, AnEmptyTargetMatchesNobody) {
  EXPECT_EQ(Resolve(""), "TARGET_EMPTY");
  EXPECT_EQ(Resolve(" \t"), "TARGET_EMPTY");
  EXPECT_THAT(WhyNot(""), HasSubstr("worker (aaaa-0001-0001) in /w/api/src"));
}

TEST_F(ResolvePeerTest, AStableIdIsWhoHoldsItElseWhoHadItLast) {
  all_.push_back({.session_id = "cccc-1",
                  .stable_id = "review-desk",
                  .last_seen = kNow + absl::Hours(1)});
  EXPECT_EQ(Resolve("review-desk"), "aaaa-0001-0001");
  all_[1].presence = kAway;
  all_[1].last_seen = kNow;
  EXPECT_EQ(Resolve("review-desk"), "cccc-1");
  EXPECT_EQ(Resolve("Review-Desk"), "UNKNOWN_RECIPIENT");
}

TEST_F(ResolvePeerTest, AnIdOrStableIdCountsMoreThanANameThatLooksLikeIt) {
  all_.push_back({.session_id = "dddd-1",
                  .name = "bbbb-0001-0003",
                  .presence = kAttached});
  all_.push_back(
      {.session_id = "dddd-2", .name = "review-desk", .presence = kAttached});
  EXPECT_EQ(Resolve("bbbb-0001-0003"), "bbbb-0001-0003");
  EXPECT_EQ(Resolve("review-desk"), "aaaa-0001-0001");
}

TEST_F(ResolvePeerTest, ATeamMemberIsMeantBeforeOthersOfItsName) {
  all_.push_back({.session_id = "w-1", .name = "Worker", .is_of_team = true});
  EXPECT_EQ(Resolve("WORKER"), "w-1");
  all_[1].name = "Coordinator";
  all_.push_back(
      {.session_id = "c-1", .name = "Coordinator", .is_of_team = true});
  EXPECT_EQ(Resolve("coordinator"), "c-1");
}

TEST_F(ResolvePeerTest, ANameCountsRegardlessOfCase) {
  EXPECT_EQ(Resolve("Worker"), "aaaa-0001-0001");
  all_[1].name = " Ärger ";
  EXPECT_EQ(Resolve("ärger"), "aaaa-0001-0001");
}

TEST_F(ResolvePeerTest, ADuplicateNameIsRefusedAndNeverTheFirstMatch) {
  all_[2].name = "Worker";
  EXPECT_EQ(Resolve("worker"), "AMBIGUOUS_RECIPIENT");
  EXPECT_THAT(
      WhyNot("worker"),
      AllOf(HasSubstr("worker (aaaa-0001-0001) in /w/api/src, attached"),
            HasSubstr("Worker (aaaa-0001-0002) in /home/me/notes"),
            HasSubstr("Name@directory")));
}

TEST_F(ResolvePeerTest, CandidatesAreShownByTheEndThatTellsThemApart) {
  all_ = {{.session_id = "0198a7c2-7f00-7111-8000-00000000000a",
           .name = "x",
           .cwd = "/a",
           .presence = kAttached},
          {.session_id = "0198a7c2-7f00-7222-8000-00000000000b",
           .name = "x",
           .cwd = "/a",
           .presence = kAttached}};
  EXPECT_THAT(WhyNot("x"), AllOf(HasSubstr("(0198a7c2-7f00-71)"),
                                 HasSubstr("(0198a7c2-7f00-72)")));
  EXPECT_EQ(Resolve("0198a7c2-7f00-72"), all_[1].session_id);
  EXPECT_EQ(Resolve("0198a7c2"), "AMBIGUOUS_RECIPIENT");
}

TEST_F(ResolvePeerTest, OneselfIsNoTarget) {
  EXPECT_EQ(Resolve("self-0001"), "SELF_TARGET");
  EXPECT_EQ(Resolve("planner"), "SELF_TARGET");
  EXPECT_EQ(Resolve("self-000"), "SELF_TARGET");
  EXPECT_EQ(Resolve("planner@api"), "SELF_TARGET");
  all_[0].stable_id = "me";
  EXPECT_EQ(Resolve("me"), "SELF_TARGET");
}

TEST_F(ResolvePeerTest, WhereTwoHaveOnesOwnNameTheOtherIsMeant) {
  all_[2].name = "planner";
  EXPECT_EQ(Resolve("planner"), "aaaa-0001-0002");
}

TEST_F(ResolvePeerTest, ARuntimeNameIsFoundWhileItsSessionIsThereAndUnnamed) {
  EXPECT_EQ(Resolve("session-aaaa-0001-0002"), "aaaa-0001-0002");
  EXPECT_EQ(Resolve("session-aaaa-000"), "aaaa-0001-0002");
  // Too short, named, or away.
  EXPECT_EQ(Resolve("session-aaaa-00"), "UNKNOWN_RECIPIENT");
  EXPECT_EQ(Resolve("session-aaaa-0001-0001"), "UNKNOWN_RECIPIENT");
  all_[2].presence = kAway;
  EXPECT_EQ(Resolve("session-aaaa-0001-0002"), "UNKNOWN_RECIPIENT");
}

TEST_F(ResolvePeerTest, ARuntimeNameThatBecameAmbiguousIsRefused) {
  all_.push_back({.session_id = "aaaa-0001-0003", .presence = kAttached});
  EXPECT_EQ(Resolve("session-aaaa-000"), "AMBIGUOUS_RECIPIENT");
}

TEST_F(ResolvePeerTest, APrefixOfSixCharactersIsTheOneThatItFits) {
  EXPECT_EQ(Resolve("bbbb-0"), "bbbb-0001-0003");
  EXPECT_EQ(Resolve("bbbb-"), "UNKNOWN_RECIPIENT");
  EXPECT_EQ(Resolve("aaaa-0001-"), "AMBIGUOUS_RECIPIENT");
  EXPECT_EQ(Resolve("aaaa-0001-0002"), "aaaa-0001-0002");
}

TEST_F(ResolvePeerTest, CharactersOfAPrefixAreCountedNotBytes) {
  all_[2].session_id = "ééééé-1";
  EXPECT_EQ(Resolve("ééé"), "UNKNOWN_RECIPIENT");
  EXPECT_EQ(Resolve("ééééé-"), "ééééé-1");
}

TEST_F(ResolvePeerTest, APrefixOfASessionThatIsThereCountsMore) {
  all_[3].session_id = "aaaa-0002-0003";
  all_[2].presence = kAway;
  EXPECT_EQ(Resolve("aaaa-000"), "aaaa-0001-0001");
}

TEST_F(ResolvePeerTest, ANameAtADirectoryIsTheOneThere) {
  all_[2].name = "worker";
  EXPECT_EQ(Resolve("worker@/w/api/src"), "aaaa-0001-0001");
  EXPECT_EQ(Resolve("WORKER@/w/api/"), "aaaa-0001-0001");  // its workspace
  EXPECT_EQ(Resolve("worker@src"), "aaaa-0001-0001");
  EXPECT_EQ(Resolve("worker@notes"), "aaaa-0001-0002");
  EXPECT_EQ(Resolve("worker@SRC"), "UNKNOWN_RECIPIENT");
  EXPECT_EQ(Resolve("worker@"), "UNKNOWN_RECIPIENT");
  EXPECT_EQ(Resolve("worker@w/api"), "UNKNOWN_RECIPIENT");
}

TEST_F(ResolvePeerTest, TheCoordinatorOfADirectoryIsOne) {
  all_[1].name = "Coordinator";
  all_[2].name = "Coordinator";
  EXPECT_EQ(Resolve("Coordinator"), "AMBIGUOUS_RECIPIENT");
  EXPECT_EQ(Resolve("coordinator@api"), "aaaa-0001-0001");
  EXPECT_EQ(Resolve("Coordinator@/home/me/notes"), "aaaa-0001-0002");
}

TEST_F(ResolvePeerTest, TwoDirectoriesOfOneLastPartAreAmbiguous) {
  all_[1].name = all_[2].name = "worker";
  all_[2].cwd = "/other/src";
  EXPECT_EQ(Resolve("worker@src"), "AMBIGUOUS_RECIPIENT");
  EXPECT_EQ(Resolve("worker@/other/src"), "aaaa-0001-0002");
}

TEST_F(ResolvePeerTest, NamesAndDirectoriesMayHoldAnAt) {
  all_[1].name = "me@home";
  all_[1].cwd = "/srv/@scope";
  EXPECT_EQ(Resolve("me@home"), "aaaa-0001-0001");
  EXPECT_EQ(Resolve("me@home@/srv/@scope"), "aaaa-0001-0001");
  EXPECT_EQ(Resolve("me@home@@scope"), "aaaa-0001-0001");
}

TEST_F(ResolvePeerTest, TheNameOfASessionThatIsAwayIsTriedLast) {
  EXPECT_EQ(Resolve("old"), "bbbb-0001-0003");
  EXPECT_EQ(Resolve("old@billing"), "bbbb-0001-0003");
  all_[2].name = "Old";
  EXPECT_EQ(Resolve("old"), "aaaa-0001-0002");
  EXPECT_EQ(Resolve("old@billing"), "bbbb-0001-0003");
}

TEST_F(ResolvePeerTest, OfSeveralAwayInOneDirectoryTheOneSeenLastIsMeant) {
  all_.push_back({.session_id = "eeee-1",
                  .name = "OLD",
                  .cwd = "/w/billing",
                  .last_seen = kNow + absl::Hours(1)});
  all_.push_back({.session_id = "eeee-2",
                  .name = "old",
                  .cwd = "/w/billing",
                  .last_seen = kNow - absl::Hours(1)});
  EXPECT_EQ(Resolve("old"), "eeee-1");
  EXPECT_EQ(Resolve("old@billing"), "eeee-1");
}

TEST_F(ResolvePeerTest, OneNameAwayInTwoDirectoriesIsAmbiguous) {
  all_.push_back({.session_id = "eeee-1",
                  .name = "old",
                  .cwd = "/w/shop",
                  .presence = v1::PRESENCE_RESTARTING,
                  .last_seen = kNow + absl::Hours(1)});
  EXPECT_EQ(Resolve("old"), "AMBIGUOUS_RECIPIENT");
  EXPECT_THAT(WhyNot("old"), AllOf(HasSubstr("in /w/billing, away"),
                                   HasSubstr("in /w/shop, restarting")));
  EXPECT_EQ(Resolve("old@shop"), "eeee-1");
}

TEST_F(ResolvePeerTest, ADirectoryAloneIsTheSoleOtherSessionThere) {
  EXPECT_EQ(Resolve("", "/w/api/src"), "aaaa-0001-0001");
  EXPECT_EQ(Resolve("", "/w/api/src/"), "aaaa-0001-0001");
  EXPECT_EQ(Resolve("", "/w/api"), "NOBODY_THERE");      // but for oneself
  EXPECT_EQ(Resolve("", "/w/billing"), "NOBODY_THERE");  // away
  EXPECT_EQ(Resolve("", "src"), "DIRECTORY_INVALID");
  all_[2].cwd = "/w/api/src";
  EXPECT_EQ(Resolve("", "/w/api/src"), "AMBIGUOUS_RECIPIENT");
}

TEST_F(ResolvePeerTest, ADirectoryBesideATargetIsAGuard) {
  EXPECT_EQ(Resolve("worker", "/w/api/src"), "aaaa-0001-0001");
  EXPECT_EQ(Resolve("worker", "/w/api"), "NOT_IN_DIRECTORY");
  EXPECT_EQ(Resolve("aaaa-0001-0001", "/w/api"), "NOT_IN_DIRECTORY");
  EXPECT_EQ(Resolve("old", "/w/billing"), "bbbb-0001-0003");
  EXPECT_EQ(Resolve("old", "/w/api"), "NOT_IN_DIRECTORY");
  EXPECT_THAT(WhyNot("worker", "/w/api"), HasSubstr("not in /w/api."));
}

TEST_F(ResolvePeerTest, ADirectoryTellsDuplicateNamesApart) {
  all_[2].name = "worker";
  EXPECT_EQ(Resolve("worker", "/home/me/notes"), "aaaa-0001-0002");
  EXPECT_EQ(Resolve("worker", "/w/api/src"), "aaaa-0001-0001");
  EXPECT_EQ(Resolve("worker", "/w"), "AMBIGUOUS_RECIPIENT");
}

TEST_F(ResolvePeerTest, APhantomIsRefusedNamingTwentyOfThoseThatAreThere) {
  std::vector<std::string> ids;
  for (int i = 100; i < 130; ++i) ids.push_back("peer-" + std::to_string(i));
  for (const std::string& id : ids) {
    all_.push_back({.session_id = id, .name = id, .presence = kAttached});
  }
  EXPECT_EQ(Resolve("wroker"), "UNKNOWN_RECIPIENT");
  EXPECT_THAT(WhyNot("wroker"),
              AllOf(HasSubstr("peer-117"), Not(HasSubstr("peer-118")),
                    HasSubstr("and 12 more"), Not(HasSubstr("old")),
                    Not(HasSubstr("planner"))));
}

TEST_F(ResolvePeerTest, TextOfOthersIsShownWithoutControls) {
  all_[1].name = "wor\x1b[31mker";
  EXPECT_THAT(WhyNot("x\x1b[2J"),
              AllOf(HasSubstr("worker"), Not(HasSubstr("\x1b"))));
}

}  // namespace
}  // namespace intercom
