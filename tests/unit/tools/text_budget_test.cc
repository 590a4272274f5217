#include "worker-agent/tools/text_budget.h"

#include "absl/strings/str_split.h"
#include "broker/domain/text_rules.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

std::string Numbered(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) text += "line " + std::to_string(i) + "\n";
  text.pop_back();
  return text;
}

TEST(FairSharesTest, WhatOneDoesNotNeedIsLeftToTheOthers) {
  EXPECT_THAT(FairShares({100, 5000, 5000}, 4100, 0),
              ElementsAre(100, 2000, 2000));
}

TEST(FairSharesTest, WhatHasRoomIsNotCut) {
  EXPECT_THAT(FairShares({10, 20, 30}, 60, 0), ElementsAre(10, 20, 30));
}

TEST(FairSharesTest, NobodyGetsLessThanTheLeastIfItNeedsIt) {
  EXPECT_THAT(FairShares({1000, 10, 1000}, 100, 256),
              ElementsAre(256, 10, 256));
}

TEST(FenceWithinTest, WhatFitsIsWhole) {
  EXPECT_EQ(FenceWithin("a\nb", 100, "x"), "> a\n> b\n");
  EXPECT_EQ(FencedLength("a\nb"), 8u);
}

TEST(FenceWithinTest, KeepsBeginningAndEndAndSaysWhatIsMissing) {
  const std::string text = FenceWithin(Numbered(1000), 1000, "ask for it");
  EXPECT_LE(CharacterCount(text), 1000u);
  EXPECT_THAT(text, AllOf(StartsWith("> line 1\n> line 2\n"),
                          EndsWith("> line 999\n> line 1000\n"),
                          HasSubstr("characters left out; ask for it]\n")));
  size_t before = 0;
  size_t after = 0;
  bool behind = false;
  for (const std::string& line : Lines(text)) {
    if (line.starts_with("[")) {
      behind = true;
    } else {
      (behind ? after : before) += line.size() + 1;
    }
  }
  const double head = static_cast<double>(before) / (before + after);
  EXPECT_NEAR(head, 0.65, 0.03);
}

TEST(FenceWithinTest, NoLineLacksItsPrefixOrIsCutInTheMiddle) {
  for (size_t budget = 150; budget < 400; ++budget) {
    int marks = 0;
    for (const std::string& line :
         Lines(FenceWithin(Numbered(200), budget, "there"))) {
      if (line.starts_with("[")) {
        ++marks;
        continue;
      }
      EXPECT_THAT(line, ::testing::MatchesRegex("> line [0-9]+"));
    }
    EXPECT_EQ(marks, 1);
  }
}

TEST(FenceWithinTest, OfALineThatIsTooLongItsBeginningIsShown) {
  const std::string text = FenceWithin(std::string(5000, 'x'), 500, "there");
  EXPECT_LE(CharacterCount(text), 500u);
  EXPECT_THAT(text, AllOf(StartsWith("> xxx"), HasSubstr("x…\n[1 line, ")));
}

TEST(FenceWithinTest, ALongLineWithWideCharactersIsCutBetweenThem) {
  std::string body;
  for (int i = 0; i < 1000; ++i) body += "ü";
  const std::string text = FenceWithin(body, 300, "there");
  EXPECT_THAT(text, Not(HasSubstr("\xef\xbf\xbd")));
  EXPECT_THAT(text, HasSubstr("ü…\n"));
}

TEST(FenceWithinTest, WithoutRoomOnlyTheMarkIsLeft) {
  EXPECT_THAT(Lines(FenceWithin(Numbered(100), 20, "there")),
              ElementsAre(StartsWith("[100 lines, ")));
}

TEST(WholeLinesWithinTest, CutsBetweenLinesOnlyAndSaysSo) {
  const std::string text = WholeLinesWithin(Numbered(1000), 500);
  EXPECT_LE(CharacterCount(text), 500u);
  std::vector<std::string> lines = Lines(text);
  EXPECT_THAT(lines.back(), HasSubstr("lines left out]"));
  lines.pop_back();
  EXPECT_THAT(lines, Each(StartsWith("line ")));
}

}  // namespace
}  // namespace intercom
