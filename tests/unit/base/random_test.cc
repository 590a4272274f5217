#include "broker/base/random.h"

#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace intercom {
namespace {

using ::testing::MatchesRegex;

// Gives the same bits each time.
class FixedRandom : public Random {
 public:
  explicit FixedRandom(uint64_t bits) : bits_(bits) {}
  uint64_t Next() override { return bits_; }

 private:
  const uint64_t bits_;
};

TEST(RandomTest, AUuidHasVersionAndVariantWhateverTheBits) {
  FixedRandom ones(~uint64_t{0});
  FixedRandom zeros(0);
  EXPECT_EQ(NewUuid(ones), "ffffffff-ffff-4fff-bfff-ffffffffffff");
  EXPECT_EQ(NewUuid(zeros), "00000000-0000-4000-8000-000000000000");
}

TEST(RandomTest, UuidsDiffer) {
  SystemRandom random;
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string uuid = NewUuid(random);
    EXPECT_THAT(
        uuid,
        MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
                     "[0-9a-f]{12}"));
    EXPECT_TRUE(seen.insert(uuid).second);
  }
}

TEST(RandomTest, ASecretHas256BitsInHexadecimal) {
  SystemRandom random;
  const std::string secret = NewSecret(random);
  EXPECT_THAT(secret, MatchesRegex("[0-9a-f]{64}"));
  EXPECT_NE(secret, NewSecret(random));
  FixedRandom one(1);
  EXPECT_EQ(NewSecret(one),
            "0000000000000001000000000000000100000000000000010000000000000001");
}

}  // namespace
}  // namespace intercom
