#include "broker/domain/short_id.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;

TEST(ShortIdsTest, EachIsTheShortestPrefixOfEightThatTellsItApart) {
  EXPECT_THAT(ShortIds({"abcdefgh-1", "abcdefgh-2", "bcdefghijk"}),
              ElementsAre("abcdefgh-1", "abcdefgh-2", "bcdefghi"));
  EXPECT_THAT(ShortIds({"abcdefgh-12-3", "abcdefgh-13-3"}),
              ElementsAre("abcdefgh-12", "abcdefgh-13"));
}

TEST(ShortIdsTest, AShortIdIsWholeAndOneThatBeginsAnotherToo) {
  EXPECT_THAT(ShortIds({"c-1", "c-10"}), ElementsAre("c-1", "c-10"));
  EXPECT_THAT(ShortIds({"abcdefghij", "abcdefghijk"}),
              ElementsAre("abcdefghij", "abcdefghijk"));
  EXPECT_THAT(ShortIds({}), ElementsAre());
}

TEST(ShortIdsTest, APrefixEndsBetweenCharacters) {
  EXPECT_THAT(ShortIds({"éééééééééé"}), ElementsAre("éééééééé"));
  EXPECT_THAT(ShortIds({"aaaaaaaaé-1", "aaaaaaaaè-1"}),
              ElementsAre("aaaaaaaaé", "aaaaaaaaè"));
}

}  // namespace
}  // namespace intercom
