// The promises of fence.h for many random texts. A failure names its seed and
// shows the text; the same seed gives the same texts everywhere.

#include <cstdint>
#include <random>
#include <string>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"
#include "tests/support/fence_invariants.h"
#include "tests/support/hostile_text.h"

namespace intercom {
namespace {

// Texts of what goes wrong where it is put together: pieces of sequences,
// characters of every kind, broken bytes and line breaks.
class HostileGrammar {
 public:
  explicit HostileGrammar(uint32_t seed) : random_(seed) {}

  std::string Text() {
    std::string text;
    const size_t pieces = Below(24);
    for (size_t i = 0; i < pieces; ++i) text += Piece();
    return text;
  }

 private:
  size_t Below(size_t limit) { return random_() % limit; }

  std::string Piece() {
    static const std::vector<std::string> kPieces = {
        "\x1b",
        "\x1b[",
        "\x1b]",
        "\x1b]0;",
        "\x1bP",
        "\x1b_",
        "\x1b^",
        "\x1bX",
        "\x1b(",
        "\x1b\\",
        "\a",
        "\xc2\x9b",
        "\xc2\x9c",
        "\xc2\x9d",
        "31;1m",
        "2J",
        "?25l",
        "\n",
        "\r",
        "\r\n",
        "\u2028",
        "\u2029",
        "\u0085",
        "\t",
        " ",
        "\u00a0",
        "> ",
        ">",
        "\"",
        "[intercom] ",
        "(coordinator)",
        " \u00b7 id ",
        "\u202e",
        "\u2066",
        "\u200f",
        "\u061c",
        "\u200b",
        "\u200d",
        "\ufeff",
        "\u0301",
        "\u0344",
        "\u0488",
        "\u3164",
        "\u1160",
        "\u1100",
        "\u1161",
        "\u11a8",
        "\uac00",
        "\ufdfa",
        "\ufb01",
        "\u2474",
        "\u0915\u094d",
        "\u5f20",
        "\u00e9",
        "e",
        "A",
        "9",
        "_",
        ".",
        "@",
        "+",
        "#",
        "-",
        ":",
        "/",
        "\u02d0",
        "\u1433",
        "\U0001f6f0",
        "\u0338",
        "=",
    };
    switch (Below(10)) {
      case 0:
        return std::string(1, static_cast<char>(Below(256)));
      case 1:
        return std::string(1 + Below(3), static_cast<char>(Below(32)));
      case 2:
        return CodePoint(static_cast<uint32_t>(Below(4) == 0 ? Below(0x110000)
                                                             : Below(0x3000)));
      case 3: {
        std::string many;
        const std::string one = kPieces[Below(kPieces.size())];
        for (size_t i = Below(12); i > 0; --i) many += one;
        return many;
      }
      default:
        return kPieces[Below(kPieces.size())];
    }
  }

  // Surrogates among them, which are no UTF-8.
  static std::string CodePoint(uint32_t c) {
    std::string text;
    if (c < 0x80) return std::string(1, static_cast<char>(c));
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    constexpr unsigned kLeads[] = {0, 0xc0, 0xe0, 0xf0};
    text += static_cast<char>(kLeads[more] | (c >> (6 * more)));
    while (more-- > 0) text += static_cast<char>(0x80 | (c >> (6 * more) & 63));
    return text;
  }

  std::mt19937 random_;
};

TEST(FenceFuzzTest, EveryPromiseHoldsForEveryText) {
  constexpr uint32_t kSeeds = 100;
  constexpr int kTextsPerSeed = 1000;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    HostileGrammar grammar(seed);
    for (int i = 0; i < kTextsPerSeed; ++i) {
      const std::string text = grammar.Text();
      ASSERT_EQ(BrokenPromise(text), "")
          << "seed " << seed << ", text " << i << ": " << absl::CEscape(text);
    }
  }
}

TEST(FenceFuzzTest, EveryPromiseHoldsForTheCorpus) {
  for (const std::string& text : HostileTexts()) {
    EXPECT_EQ(BrokenPromise(text), "") << absl::CEscape(text);
  }
  for (const std::string& name : HonestNames()) {
    EXPECT_EQ(BrokenPromise(name), "") << name;
  }
}

TEST(FenceFuzzTest, EveryBytePairKeepsEveryPromise) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {'a', static_cast<char>(first),
                                static_cast<char>(second), 'b'};
      ASSERT_EQ(BrokenPromise(text), "") << absl::CEscape(text);
    }
  }
}

}  // namespace
}  // namespace intercom
