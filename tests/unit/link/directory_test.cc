#include "worker-agent/directory.h"

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace intercom {
namespace {

class DirectoryTest : public ::testing::Test {
 protected:
  DirectoryTest() {
    std::filesystem::create_directories(root_ + "/api/src");
    std::filesystem::create_directory_symlink(root_ + "/api", root_ + "/link");
    std::ofstream(root_ + "/file") << "x";
  }

  TempDir dir_;
  const std::string root_ = std::filesystem::canonical(dir_.path());
};

TEST_F(DirectoryTest, IsRelativeToTheSessionAndWithoutLinks) {
  const std::string base = root_ + "/api";
  EXPECT_EQ(*CanonicalDirectory("src", base, ""), root_ + "/api/src");
  EXPECT_EQ(*CanonicalDirectory(".", base, ""), root_ + "/api");
  EXPECT_EQ(*CanonicalDirectory("../link/src", base, ""), root_ + "/api/src");
  EXPECT_EQ(*CanonicalDirectory(root_ + "/link", base, ""), root_ + "/api");
}

TEST_F(DirectoryTest, ATildeIsThePersonsHome) {
  EXPECT_EQ(*CanonicalDirectory("~/api", "/", root_), root_ + "/api");
  EXPECT_EQ(*CanonicalDirectory("~", "/", root_), root_);
}

TEST_F(DirectoryTest, OneThatIsNotThereIsRefusedInWords) {
  for (const std::string& path :
       {std::string("nowhere"), root_ + "/file", std::string("a\0b", 3)}) {
    const auto directory = CanonicalDirectory(path, root_, "");
    EXPECT_THAT(
        directory.status(),
        FailsWith(absl::StatusCode::kInvalidArgument, "DIRECTORY_INVALID"));
    EXPECT_THAT(std::string(directory.status().message()),
                ::testing::HasSubstr("existing directory"));
  }
}

}  // namespace
}  // namespace intercom
