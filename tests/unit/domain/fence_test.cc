#include "broker/domain/fence.h"

#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

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

TEST(StripControlsTest, ManyUnterminatedIntroducersTakeABoundedScan) {
  // 10,000 introducers that each look ahead 4,096 bytes at most.
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "\x1b]";
  EXPECT_EQ(StripControls(text), "");
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

TEST(SafeLabelTest, NothingIsUnnamed) {
  EXPECT_EQ(SafeLabel(""), "unnamed");
  EXPECT_EQ(SafeLabel("\n\x1b[31m\u202e "), "unnamed");
}

}  // namespace
}  // namespace intercom
