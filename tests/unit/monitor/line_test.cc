#include "worker-agent/monitor/line.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/hostile_text.h"

namespace intercom {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

std::string Drawn(std::string_view text) {
  std::string drawn;
  for (const Cluster& cluster : Clusters(text)) drawn += cluster.text;
  return drawn;
}

TEST(ClustersTest, WideCharactersTakeTwoColumns) {
  EXPECT_EQ(ColumnsOf("翻訳"), 4u);
  EXPECT_EQ(ColumnsOf("🛰"), 1u) << "as utf8proc has it: text by default";
  EXPECT_EQ(ColumnsOf("🚀"), 2u);
  EXPECT_EQ(ColumnsOf("José"), 4u);
}

TEST(ClustersTest, MarksStandOnTheirLetter) {
  EXPECT_THAT(Clusters("e\u0301x"), SizeIs(2));
  EXPECT_EQ(ColumnsOf("e\u0301x"), 2u);
  EXPECT_EQ(Drawn("\u0301x"), "x") << "a mark without a letter";
}

TEST(ClustersTest, AJoinedEmojiIsItsFirst) {
  EXPECT_EQ(Drawn("👩\u200d👩\u200d👧\u200d👦!"), "👩!");
  EXPECT_EQ(ColumnsOf("👩\u200d👩\u200d👧\u200d👦!"), 3u);
  EXPECT_EQ(Drawn("❤\ufe0f"), "❤");
  EXPECT_EQ(Drawn("👍🏽"), "👍");
}

TEST(ClustersTest, AFlagIsItsLetters) { EXPECT_EQ(Drawn("🇩🇪x"), "DEx"); }

TEST(ClustersTest, WhatHasNoWidthIsLeftOut) {
  EXPECT_EQ(Drawn("a\u200bb\u00adc"), "abc");
  EXPECT_EQ(Drawn("a\x1b[31mb\u202ec\a"), "abc");
  EXPECT_EQ(Drawn("a\tb\nc"), "a b c");
}

TEST(ClustersTest, HostileTextIsDrawnInPlace) {
  for (const std::string& text : HostileTexts()) {
    EXPECT_TRUE(IsHarmless(Drawn(text))) << text;
    EXPECT_THAT(Drawn(text), ::testing::Not(::testing::HasSubstr("\n")));
    for (const Cluster& cluster : Clusters(text)) {
      EXPECT_TRUE(cluster.width == 1 || cluster.width == 2) << text;
    }
  }
}

TEST(LineTest, ACellIsCutOrPaddedToItsColumns) {
  EXPECT_EQ(Line().AddCell("ab", 4).Add("|").Text(), "ab  |");
  EXPECT_EQ(Line().AddCell("abcdef", 4).Add("|").Text(), "abc…|");
  EXPECT_EQ(Line().AddCell("翻訳者", 4).Add("|").Text(), "翻… |");
  EXPECT_EQ(Line().AddCell("7", 3, Style::kPlain, Line::Align::kRight).Text(),
            "  7");
}

TEST(LineTest, EveryCellOfHostileTextHasItsColumns) {
  for (const std::string& text : HostileTexts()) {
    for (size_t columns = 1; columns < 12; ++columns) {
      const Line line = Line().AddCell(text, columns);
      EXPECT_EQ(line.columns(), columns) << text;
      size_t drawn = 0;
      for (const auto& span : line.spans()) drawn += ColumnsOf(span.text);
      EXPECT_EQ(drawn, columns) << text;
    }
  }
}

TEST(LineTest, FitsToAWidthAndSaysWhatIsCutOff) {
  Line line;
  line.Add("abc", Style::kStrong).Add("def");
  EXPECT_EQ(Line(line).FitTo(4).Text(), "abc…");
  EXPECT_EQ(Line(line).FitTo(3).Text(), "ab…");
  EXPECT_EQ(Line(line).FitTo(6).Text(), "abcdef");
  EXPECT_EQ(Line(line).FitTo(9).columns(), 9u);
}

TEST(WrapTextTest, BreaksBetweenWords) {
  EXPECT_THAT(WrapText("one two three", 8, 9), ElementsAre("one two", "three"));
  EXPECT_THAT(WrapText("abcdefghij", 4, 9), ElementsAre("abcd", "efgh", "ij"));
  EXPECT_THAT(WrapText("a\n\nb", 4, 9), ElementsAre("a", "", "b"));
  EXPECT_THAT(WrapText("", 4, 9), ElementsAre(""));
}

TEST(WrapTextTest, SaysThatMoreIsLeft) {
  EXPECT_THAT(WrapText("one two three four", 5, 2), ElementsAre("one", "two…"));
  EXPECT_THAT(WrapText("aaaa bbbb cccc", 4, 2), ElementsAre("aaaa", "bbb…"));
}

TEST(WrapTextTest, NoLineIsWider) {
  for (const std::string& text : HostileTexts()) {
    for (const std::string& line : WrapText(text, 7, 100)) {
      EXPECT_LE(ColumnsOf(line), 7u) << text;
    }
  }
}

TEST(ToAsciiTest, KeepsTheColumns) {
  EXPECT_EQ(ToAscii("a → b … 翻 ▁█ ─│"), "a > b ~ ?? .# -|");
}

}  // namespace
}  // namespace intercom
