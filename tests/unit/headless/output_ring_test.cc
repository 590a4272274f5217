#include "worker-agent/headless/output_ring.h"

#include "gtest/gtest.h"

namespace intercom {
namespace {

TEST(OutputRingTest, KeepsTheLastLines) {
  OutputRing ring(10);
  ring.Append("one\n");
  ring.Append("two\nthree\n");
  EXPECT_EQ(ring.From(ring.begin()), "two\nthree\n");
  EXPECT_EQ(ring.begin(), 4);
  EXPECT_EQ(ring.end(), 14);
  EXPECT_EQ(ring.From(8), "three\n");
  EXPECT_EQ(ring.From(ring.end()), "");
}

TEST(OutputRingTest, ALineLongerThanAllIsCutBetweenCharacters) {
  OutputRing ring(5);
  ring.Append("äöüß");
  EXPECT_EQ(ring.From(ring.begin()), "üß");
  EXPECT_EQ(ring.end(), 8);
}

}  // namespace
}  // namespace intercom
