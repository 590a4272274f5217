#include "worker-agent/host/line_splitter.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LineSplitterTest : public ::testing::Test {
 protected:
  std::vector<std::string> lines_;
  std::vector<size_t> too_long_;
  LineSplitter splitter_{
      [this](std::string_view line) { lines_.emplace_back(line); },
      [this](size_t bytes) { too_long_.push_back(bytes); }};
};

TEST_F(LineSplitterTest, JoinsALineThatComesInPieces) {
  for (const char c : std::string("{\"a\":1}\nx")) {
    splitter_.Feed(std::string(1, c));
  }
  EXPECT_THAT(lines_, ElementsAre("{\"a\":1}"));
  EXPECT_EQ(splitter_.pending_bytes(), 1u);
}

TEST_F(LineSplitterTest, SeparatesLinesThatComeTogether) {
  splitter_.Feed("a\n\nb\n");
  EXPECT_THAT(lines_, ElementsAre("a", "", "b"));
  EXPECT_EQ(splitter_.pending_bytes(), 0u);
}

TEST_F(LineSplitterTest, ALineOfOneMebibyteWithItsEndPasses) {
  splitter_.Feed(std::string(LineSplitter::kMaxLineBytes - 1, 'x') + "\n");
  EXPECT_EQ(lines_.size(), 1u);
  EXPECT_THAT(too_long_, IsEmpty());
}

TEST_F(LineSplitterTest, ALongerLineIsDroppedAndTheNextOnePasses) {
  splitter_.Feed(std::string(LineSplitter::kMaxLineBytes, 'x'));
  splitter_.Feed("more\nnext\n");
  EXPECT_THAT(too_long_, ElementsAre(LineSplitter::kMaxLineBytes + 5));
  EXPECT_THAT(lines_, ElementsAre("next"));
}

}  // namespace
}  // namespace intercom
