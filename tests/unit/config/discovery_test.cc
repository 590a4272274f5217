#include "broker/config/discovery.h"

#include <cerrno>
#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/config/sample_config.h"
#include "tests/unit/config/scripted_files.h"

namespace intercom {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class DiscoveryTest : public ::testing::Test {
 protected:
  DiscoveryTest() { fs::create_directories(root_ / "a/b"); }

  // A request from a directory below the root.
  DiscoveryRequest From(const std::string& relative) const {
    return {.cwd = root_ / relative, .home = "/nowhere/home"};
  }
  void PutConfig(const std::string& relative) {
    WriteFile(root_.path() / relative / ".pi-intercom/config.json", kSample);
  }

  TempDir root_;
  ScriptedFiles files_;
};

TEST_F(DiscoveryTest, FindsTheNearestConfigUpward) {
  PutConfig(".");
  PutConfig("a");

  const auto found = Discover(files_, From("a/b"));

  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->kind, Discovery::Kind::kFound);
  EXPECT_EQ(found->root, root_ / "a");
  EXPECT_EQ(found->cwd_canonical, root_ / "a/b");
  EXPECT_EQ(found->project_directory, "b");
}

TEST_F(DiscoveryTest, AtTheRootTheProjectDirectoryIsADot) {
  PutConfig("a");
  EXPECT_EQ(Discover(files_, From("a"))->project_directory, ".");
}

TEST_F(DiscoveryTest, WalksByRealPath) {
  PutConfig("a");
  fs::create_directory_symlink(root_ / "a/b", root_ / "link");

  const auto found = Discover(files_, From("link"));

  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->root, root_ / "a");
  EXPECT_EQ(found->project_directory, "b");
}

TEST_F(DiscoveryTest, AnEmptyConfigDirectoryIsNoConfig) {
  PutConfig(".");
  fs::create_directory(root_ / "a/.pi-intercom");
  EXPECT_EQ(Discover(files_, From("a/b"))->root, root_.path().string());
}

TEST_F(DiscoveryTest, AnInvalidConfigStopsTheWalkAndStaysAsItIs) {
  PutConfig(".");
  WriteFile(root_ / "a/.pi-intercom/config.json", "{ broken\r\n");

  const auto found = Discover(files_, From("a/b"));

  EXPECT_THAT(found, FailsWith(absl::StatusCode::kFailedPrecondition,
                               "CONFIG_INVALID"));
  EXPECT_THAT(MessageOf(found.status()),
              HasSubstr((root_ / "a/.pi-intercom/config.json") + ": line 1"));
  EXPECT_EQ(ReadFile(root_ / "a/.pi-intercom/config.json"), "{ broken\r\n");
}

TEST_F(DiscoveryTest, AnUnreadableConfigStopsTheWalk) {
  PutConfig(".");
  PutConfig("a");
  files_.script = [](std::string_view call, const std::string& path) {
    return call == "open" && path == "config.json" ? -EACCES : 0;
  };
  EXPECT_THAT(
      Discover(files_, From("a/b")),
      FailsWith(absl::StatusCode::kFailedPrecondition, "CONFIG_UNREADABLE"));
}

TEST_F(DiscoveryTest, ASomethingElseInItsPlaceStopsTheWalk) {
  PutConfig(".");
  fs::create_directories(root_ / "a/.pi-intercom/config.json");
  EXPECT_THAT(
      Discover(files_, From("a/b")),
      FailsWith(absl::StatusCode::kFailedPrecondition, "CONFIG_UNREADABLE"));
}

TEST_F(DiscoveryTest, AConfigDirectoryThatLeavesTheRootStopsTheWalk) {
  PutConfig(".");
  fs::create_directory_symlink(root_ / ".pi-intercom",
                               root_ / "a/.pi-intercom");
  EXPECT_THAT(
      Discover(files_, From("a/b")),
      FailsWith(absl::StatusCode::kFailedPrecondition, "CONFIG_OUTSIDE"));
}

TEST_F(DiscoveryTest, WithoutAConfigOneIsCreatableHere) {
  const auto found = Discover(files_, From("a/b"));

  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->kind, Discovery::Kind::kCreatable);
  EXPECT_EQ(found->root, root_ / "a/b");
  EXPECT_EQ(found->project_directory, ".");
}

TEST_F(DiscoveryTest, InModeExistingNothingIsCreatable) {
  DiscoveryRequest request = From("a");
  request.mode = v1::WORKSPACE_MODE_EXISTING;
  EXPECT_EQ(Discover(files_, request)->kind, Discovery::Kind::kNone);
  PutConfig("a");
  EXPECT_EQ(Discover(files_, request)->kind, Discovery::Kind::kFound);
}

TEST_F(DiscoveryTest, InModeNeverNothingIsFound) {
  PutConfig("a");
  DiscoveryRequest request = From("a");
  request.mode = v1::WORKSPACE_MODE_NEVER;

  const auto found = Discover(files_, request);

  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->kind, Discovery::Kind::kNone);
  EXPECT_EQ(found->root, std::nullopt);
  EXPECT_EQ(found->cwd_canonical, root_ / "a");
}

TEST_F(DiscoveryTest, NothingIsCreatableInHomeRootOrTemporaryDirectories) {
  for (const std::string cwd : {"/", "/tmp", "/var/tmp"}) {
    DiscoveryRequest request = From("a");
    request.cwd = cwd;
    EXPECT_EQ(Discover(files_, request)->kind, Discovery::Kind::kNone) << cwd;
  }
  fs::create_directory_symlink(root_ / "a", root_ / "home");
  DiscoveryRequest request = From("a");
  request.home = root_ / "home";
  EXPECT_EQ(Discover(files_, request)->kind, Discovery::Kind::kNone);
  request = From("a");
  request.temporary_directory = root_ / "a";
  EXPECT_EQ(Discover(files_, request)->kind, Discovery::Kind::kNone);
}

TEST_F(DiscoveryTest, BelowHomeAndTemporaryDirectoriesItIs) {
  DiscoveryRequest request = From("a/b");
  request.home = root_ / "a";
  request.temporary_directory = root_ / "a";
  EXPECT_EQ(Discover(files_, request)->kind, Discovery::Kind::kCreatable);
}

TEST_F(DiscoveryTest, AConfigInTheHomeDirectoryIsFound) {
  PutConfig("a");
  DiscoveryRequest request = From("a/b");
  request.home = root_ / "a";
  EXPECT_EQ(Discover(files_, request)->root, root_ / "a");
}

TEST_F(DiscoveryTest, AnOverrideReplacesTheWalk) {
  PutConfig(".");
  PutConfig("a/b");
  DiscoveryRequest request = From("a/b");
  request.workspace_root = root_.path().string();

  const auto found = Discover(files_, request);

  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->root, root_.path().string());
  EXPECT_EQ(found->project_directory, "a/b");
  // It is not walked up from.
  request.workspace_root = root_ / "a";
  EXPECT_EQ(Discover(files_, request)->kind, Discovery::Kind::kCreatable);
}

TEST_F(DiscoveryTest, AnOverrideElsewhereIsRefusedNamingBoth) {
  fs::create_directory(root_ / "a2");
  DiscoveryRequest request = From("a2");
  request.workspace_root = root_ / "a";

  const auto found = Discover(files_, request);

  EXPECT_THAT(found, FailsWith(absl::StatusCode::kFailedPrecondition,
                               "WORKSPACE_MISMATCH"));
  EXPECT_THAT(MessageOf(found.status()), HasSubstr((root_ / "a2") + " is not"));
  EXPECT_THAT(MessageOf(found.status()),
              HasSubstr("workspace " + (root_ / "a") + " that"));
}

TEST_F(DiscoveryTest, DirectoriesMustBeAbsoluteAndExist) {
  DiscoveryRequest request = From("none");
  EXPECT_THAT(Discover(files_, request),
              FailsWith(absl::StatusCode::kNotFound, "NO_DIRECTORY"));
  request.cwd = "a";
  EXPECT_THAT(Discover(files_, request),
              FailsWith(absl::StatusCode::kInvalidArgument, "BAD_DIRECTORY"));
  request = From("a");
  request.workspace_root = "a";
  EXPECT_THAT(Discover(files_, request),
              FailsWith(absl::StatusCode::kInvalidArgument, "BAD_DIRECTORY"));
  request.workspace_root = root_ / "none";
  EXPECT_THAT(Discover(files_, request),
              FailsWith(absl::StatusCode::kNotFound, "NO_DIRECTORY"));
}

class ProjectDirectoryTest : public DiscoveryTest {
 protected:
  absl::StatusOr<std::string> Check(const std::string& relative) {
    return CheckProjectDirectory(files_, root_.path().string(), relative);
  }
};

TEST_F(ProjectDirectoryTest, ComesBackInCanonicalForm) {
  fs::create_directory_symlink(root_ / "a/b", root_ / "link");
  EXPECT_EQ(*Check("."), ".");
  EXPECT_EQ(*Check("./a//b/"), "a/b");
  EXPECT_EQ(*Check("link"), "a/b");
}

TEST_F(ProjectDirectoryTest, OutsideIsRefusedInEveryForm) {
  fs::create_directory_symlink("/usr", root_ / "out");
  fs::create_directory_symlink("..", root_ / "up");
  const auto outside =
      FailsWith(absl::StatusCode::kInvalidArgument, "DIRECTORY_OUTSIDE");
  for (const std::string relative :
       {"", "/usr", "\\usr", "C:\\x", "c:x", "\\\\host\\share", "..", "a/../b",
        "a\\..\\b", "out", "out/bin", "up"}) {
    EXPECT_THAT(Check(relative), outside) << relative;
  }
  EXPECT_THAT(Check(std::string("a\0b", 3)), outside);
}

TEST_F(ProjectDirectoryTest, MustBeADirectoryThatExists) {
  WriteFile(root_ / "file", "");
  EXPECT_THAT(Check("none"),
              FailsWith(absl::StatusCode::kNotFound, "NO_DIRECTORY"));
  EXPECT_THAT(Check("file"),
              FailsWith(absl::StatusCode::kInvalidArgument, "BAD_DIRECTORY"));
}

}  // namespace
}  // namespace intercom
