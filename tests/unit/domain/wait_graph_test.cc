#include "broker/domain/wait_graph.h"

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WaitGraphTest : public ::testing::Test {
 protected:
  void Waits(const std::string& from, const std::string& to) {
    edges_[from].push_back({from + ">" + to, from, to});
  }
  // The ids of the edges on the way from `start` to `goal`.
  std::vector<std::string> Way(const std::string& start,
                               const std::string& goal) {
    looked_at_.clear();
    const auto way =
        FindWaitingWay(start, goal, [this](std::string_view session) {
          looked_at_.insert(std::string(session));
          return absl::StatusOr<std::vector<WaitEdge>>(
              edges_[std::string(session)]);
        });
    EXPECT_THAT(way, IsOk());
    std::vector<std::string> ids;
    for (const WaitEdge& edge : *way) ids.push_back(edge.id);
    return ids;
  }

  std::map<std::string, std::vector<WaitEdge>> edges_;
  std::multiset<std::string> looked_at_;
};

TEST_F(WaitGraphTest, NobodyWaitsSoNoEdgeClosesACycle) {
  EXPECT_THAT(Way("b", "a"), IsEmpty());
  Waits("a", "b");  // The same direction again is no cycle.
  EXPECT_THAT(Way("b", "a"), IsEmpty());
}

TEST_F(WaitGraphTest, ACycleOfTwoIsFound) {
  Waits("b", "a");
  EXPECT_THAT(Way("b", "a"), ElementsAre("b>a"));
}

TEST_F(WaitGraphTest, ACycleOfThreeIsFound) {
  Waits("b", "c");
  Waits("c", "a");
  EXPECT_THAT(Way("b", "a"), ElementsAre("b>c", "c>a"));
}

TEST_F(WaitGraphTest, ACycleOfFiveIsFoundAmongOtherWaits) {
  Waits("b", "x");
  Waits("b", "c");
  Waits("c", "d");
  Waits("x", "y");
  Waits("d", "e");
  Waits("e", "a");
  EXPECT_THAT(Way("b", "a"), ElementsAre("b>c", "c>d", "d>e", "e>a"));
}

TEST_F(WaitGraphTest, TheShortestWayIsNamed) {
  Waits("b", "c");
  Waits("c", "d");
  Waits("d", "a");
  Waits("b", "e");
  Waits("e", "a");
  EXPECT_THAT(Way("b", "a"), ElementsAre("b>e", "e>a"));
}

TEST_F(WaitGraphTest, ACycleElsewhereEndsTheSearchAllTheSame) {
  Waits("b", "c");
  Waits("c", "d");
  Waits("d", "b");
  EXPECT_THAT(Way("b", "a"), IsEmpty());
  EXPECT_THAT(looked_at_, ElementsAre("b", "c", "d"));
}

TEST_F(WaitGraphTest, AnErrorEndsTheSearch) {
  EXPECT_THAT(
      FindWaitingWay(
          "b", "a",
          [](std::string_view) -> absl::StatusOr<std::vector<WaitEdge>> {
            return absl::DataLossError("damaged");
          }),
      HasCode(absl::StatusCode::kDataLoss));
}

TEST_F(WaitGraphTest, InLargeRandomGraphsItFindsAWayExactlyWhereThereIsOne) {
  std::mt19937 random(4);  // NOLINT: the same graphs every time.
  constexpr int kSessions = 60;
  for (int round = 0; round < 40; ++round) {
    edges_.clear();
    // reachable[i][j]: by the closure, told in another way than by a search.
    std::vector<std::vector<bool>> reachable(kSessions,
                                             std::vector<bool>(kSessions));
    const int count = 20 + round * 3;
    for (int edge = 0; edge < count; ++edge) {
      const int from = static_cast<int>(random() % kSessions);
      const int to = static_cast<int>(random() % kSessions);
      if (from == to) continue;
      Waits(std::to_string(from), std::to_string(to));
      reachable[from][to] = true;
    }
    for (int via = 0; via < kSessions; ++via) {
      for (int from = 0; from < kSessions; ++from) {
        if (!reachable[from][via]) continue;
        for (int to = 0; to < kSessions; ++to) {
          if (reachable[via][to]) reachable[from][to] = true;
        }
      }
    }
    for (int pair = 0; pair < 100; ++pair) {
      const int start = static_cast<int>(random() % kSessions);
      const int goal = static_cast<int>(random() % kSessions);
      if (start == goal) continue;
      const auto way = Way(std::to_string(start), std::to_string(goal));
      ASSERT_EQ(!way.empty(), reachable[start][goal]) << start << " " << goal;
      // Each edge goes on where the one before ended.
      std::string at = std::to_string(start);
      for (const std::string& id : way) {
        ASSERT_EQ(id.substr(0, id.find('>')), at);
        at = id.substr(id.find('>') + 1);
      }
      if (!way.empty()) {
        ASSERT_EQ(at, std::to_string(goal));
      }
    }
  }
}

}  // namespace
}  // namespace intercom
