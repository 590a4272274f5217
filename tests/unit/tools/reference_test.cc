#include "worker-agent/tools/reference.h"

#include <fstream>
#include <iterator>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace intercom {
namespace {

TEST(ReferenceTest, TheReadmeListsTheToolsAsTheCatalogueDefinesThem) {
  std::ifstream file(INTERCOM_README);
  const std::string readme{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(readme, ::testing::HasSubstr(ToolReference()))
      << "put the output of intercom-agent --print-tools into the README";
}

}  // namespace
}  // namespace intercom
