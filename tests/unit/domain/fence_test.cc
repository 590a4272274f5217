#include "broker/domain/fence.h"

#include <sstream>
#include <string>

#include "broker/domain/control_scan.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/hostile_text.h"

namespace intercom {
namespace {

using ::testing::Eq;
using ::testing::StartsWith;

TEST(CountCharactersTest, CountsCodePointsAndRefusesInvalidUtf8) {
  EXPECT_THAT(CountCharacters(""), Eq(0));
  EXPECT_THAT(CountCharacters("aä€🛰"), Eq(4));
  EXPECT_THAT(CountCharacters("\xc3"), Eq(std::nullopt));
}

struct StripCase {
  const char* what;
  std::string text;
  std::string clean;
};
void PrintTo(const StripCase& c, std::ostream* out) { *out << c.what; }

class StripControlsTest : public ::testing::TestWithParam<StripCase> {};

TEST_P(StripControlsTest, LeavesOnlyWhatIsHarmless) {
  EXPECT_EQ(StripControls(GetParam().text), GetParam().clean);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, StripControlsTest,
    ::testing::Values(
        StripCase{"plain text and emoji stay", "Grüße 👩‍💻 🛰\ttab",
                  "Grüße 👩‍💻 🛰\ttab"},
        StripCase{"C0 controls", std::string("a\0b\a\b\v\f\x1f", 8) + "c",
                  "abc"},
        StripCase{"delete", "a\x7f", "a"},
        StripCase{"C1 controls",
                  "a\xc2\x9b"
                  "31m",
                  "a31m"},
        StripCase{"colours", "\x1b[31;1mred\x1b[0m", "red"},
        StripCase{"clear screen", "a\x1b[2J\x1b[Hb", "ab"},
        StripCase{"a short sequence",
                  "a\x1b"
                  "cb",
                  "ab"},
        StripCase{"a title ended by BEL", "a\x1b]0;title\ab", "ab"},
        StripCase{"a link ended by ST", "\x1b]8;;http://x\x1b\\here", "here"},
        StripCase{"device control", "a\x1bPq#0\x1b\\b", "ab"},
        StripCase{"a title ended by a C1 terminator",
                  "a\x1b]0;title\xc2\x9c"
                  "b",
                  "ab"},
        StripCase{"a character set", "\x1b(0a\x1b(Bb", "ab"},
        StripCase{"a title that another sequence breaks off",
                  "\x1b]0;kept\x1b[31m\ared", "0;keptred"},
        StripCase{"a title does not go on in the next line",
                  "\x1b]0;kept\nkept too\a", "0;kept\nkept too"},
        StripCase{"words that only a machine reads",
                  "a\U000e0045\U000e0059\u2063\u206ab", "ab"},
        StripCase{"an unterminated title loses its introducer only",
                  "a\x1b]0;title and all that follows",
                  "a0;title and all that follows"},
        StripCase{"an unterminated CSI at the end", "a\x1b[31", "a31"},
        StripCase{"an escape at the end", "a\x1b", "a"},
        StripCase{"an escape before an escape", "a\x1b\x1b[31mb", "ab"},
        StripCase{"a CSI broken by a newline", "a\x1b[3\nb", "a3\nb"},
        StripCase{"bidirectional controls",
                  "a\u202eb\u2066c\u2069d\u200ee\u061cf", "abcdef"},
        StripCase{"a byte order mark", "\ufeffa", "a"},
        StripCase{"CRLF", "a\r\nb", "a\nb"}, StripCase{"CR", "a\rb", "a\nb"},
        StripCase{"CR at the end", "a\r", "a\n"},
        StripCase{"CR CR LF", "a\r\r\nb", "a\n\nb"},
        StripCase{"line separators", "a\u2028b\u2029c\u0085d", "a\nb\nc\nd"},
        StripCase{"invalid UTF-8", "a\xff\xc3(b", "a\ufffd\ufffd(b"},
        StripCase{"a cut character", "a\xf0\x9f\x9b", "a\ufffd\ufffd\ufffd"},
        StripCase{"an overlong slash", "\xc0\xaf", "\ufffd\ufffd"}));

TEST(StripControlsTest, ATitleLongerThanAnyTerminalsIsShown) {
  const std::string text = "\x1b]0;" + std::string(5000, 'x') + "\a";
  EXPECT_EQ(StripControls(text), "0;" + std::string(5000, 'x'));
}

// How often bytes of `text` are looked at.
size_t LooksAt(const std::string& text) {
  ControlScan scan(text);
  scan.Strip();
  return scan.looks();
}

// Counted rather than timed: 20,000 of the worst that stand one after another,
// each of which could look for its end in all the others.
TEST(StripControlsTest, EachByteIsLookedAtAFewTimesWhateverStandsThere) {
  for (const std::string worst :
       {"\x1b]", "\x1b]0;x", "\x1bP", "\x1b[", "\x1b[1;2", "\x1b", "\x1b(",
        "\x1b]\x1b", "\x1b]\n", "\xf0\x9f\x9b", "\xf0", "\r"}) {
    std::string text;
    for (int i = 0; i < 20'000; ++i) text += worst;
    EXPECT_LE(LooksAt(text), ControlScan::kMostLooks * text.size()) << worst;
    EXPECT_LE(LooksAt(text + text), 2 * LooksAt(text) + 8) << worst;
  }
}

TEST(FenceTextTest, EachLineIsQuoted) {
  EXPECT_EQ(FenceText("one\ntwo\r\nthree\rfour\u2028five"),
            "> one\n> two\n> three\n> four\n> five");
  EXPECT_EQ(FenceText(""), "> ");
  EXPECT_EQ(FenceText("one\n"), "> one\n> ");
}

TEST(FenceTextTest, NoLineEscapesWhateverTheBytes) {
  std::string every;
  for (int first = 0; first < 256; ++first) {
    for (const char* rest : {"", "x", "\n", "\r", "\x1b[", "\x80\xa8"}) {
      every += static_cast<char>(first);
      every += rest;
    }
  }
  std::istringstream lines(FenceText(every));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_THAT(line, StartsWith("> "));
    EXPECT_EQ(line.find_first_of("\r\x1b\x7f"), std::string::npos);
  }
}

TEST(SafeLabelTest, IsOnePlainLine) {
  EXPECT_EQ(SafeLabel("  two\n\twords\u3000here\u00a0 "), "two words here");
  EXPECT_EQ(SafeLabel("\x1b[31mred\x1b[0m"), "red");
}

TEST(SafeLabelTest, IsBoundedInCharacters) {
  EXPECT_EQ(SafeLabel("🛰🛰🛰🛰", 3), "🛰🛰🛰");
  EXPECT_EQ(SafeLabel("ab cd", 3), "ab");
  EXPECT_EQ(SafeLabel("ab cd", 4), "ab c");
  EXPECT_EQ(SafeLabel(std::string(500, 'x')).size(), 80u);
}

TEST(QuotedLineTest, ItsEndIsBeyondDoubt) {
  EXPECT_EQ(QuotedLine("say \"hi\"\nnow"), "\"say 'hi' now\"");
}

TEST(MarkedLineTest, IsBareOnlyWhereItNeedsNoMarks) {
  EXPECT_EQ(MarkedLine("~/api/src_1"), "~/api/src_1");
  EXPECT_EQ(MarkedLine("/"), "/");
  EXPECT_EQ(MarkedLine("/tmp/x \u00b7 id 3f"), "\"/tmp/x \u00b7 id 3f\"");
  EXPECT_EQ(MarkedLine("idle] [self]"), "\"idle] [self]\"");
}

TEST(NameLabelTest, NamesThatPeopleHaveStayAsTheyAre) {
  for (const std::string& name : HonestNames()) {
    EXPECT_EQ(NameLabel(name), name);
    EXPECT_TRUE(IsNameLabel(name)) << name;
  }
}

TEST(NameLabelTest, WhatIsNoLetterDigitOrSignIsASpaceBetweenWords) {
  EXPECT_EQ(NameLabel("Ann (coordinator) \u00b7 id 3f"),
            "Ann coordinator id 3f");
  EXPECT_EQ(NameLabel("> a\n[b]: \"c\""), "a b c");
  EXPECT_EQ(NameLabel("\x1b[31mred\x1b[0m"), "red");
  EXPECT_EQ(NameLabel("Builder \U0001f6f0"), "Builder");
  EXPECT_FALSE(IsNameLabel("Builder \U0001f6f0"));
  EXPECT_FALSE(IsNameLabel(" Builder"));
}

TEST(NameLabelTest, LettersThatAreDrawnLikeOthersAreTheOthers) {
  EXPECT_EQ(NameLabel("\uff22\uff55\uff49\uff4c\uff44"), "Build");
  EXPECT_EQ(NameLabel("e\u0301"), "\u00e9");
  EXPECT_EQ(NameLabel("\ufb01x \u2460"), "fix 1");
  EXPECT_EQ(NameLabel("A\u00adn\u200bn"), "Ann");
  EXPECT_EQ(NameLabel("a\u02d0b\u1427c\u1433d"), "a b c d");
}

TEST(NameLabelTest, ALetterHasNoMoreMarksThanInAnyLanguage) {
  std::string tower = "a";
  for (int i = 0; i < 500; ++i) tower += "\u0316";
  EXPECT_EQ(CountCharacters(NameLabel(tower)), 7u);
}

TEST(NameLabelTest, IsBoundedAndNeverEmpty) {
  EXPECT_EQ(NameLabel(std::string(500, 'x')).size(), 80u);
  EXPECT_EQ(NameLabel("ab cd", 3), "ab");
  EXPECT_EQ(NameLabel("\u3164\u115f"), "unnamed");
  EXPECT_EQ(NameLabel("#- ."), "unnamed");
  EXPECT_EQ(NameOr("\U0001f6f0", "s-1"), "s-1");
  EXPECT_EQ(NameOr("", ""), "unnamed");
}

TEST(IdLabelTest, IsOneWord) {
  EXPECT_EQ(IdLabel("person:1000"), "person:1000");
  EXPECT_EQ(IdLabel("s-1/m-1"), "s-1/m-1");
  EXPECT_EQ(IdLabel("x \u00b7 (from) y"), "x_from_y");
}

TEST(SafeLabelTest, NothingIsUnnamed) {
  EXPECT_EQ(SafeLabel(""), "unnamed");
  EXPECT_EQ(SafeLabel("\n\x1b[31m\u202e "), "unnamed");
}

}  // namespace
}  // namespace intercom
