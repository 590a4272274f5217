#include "worker-agent/launch/saved_session.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "worker-agent/launch/session_header.h"

namespace intercom {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr char kId[] = "0197a1b2-aaaa-7bbb-8ccc-1234567890ab";

class SavedSessionTest : public ::testing::Test {
 protected:
  SavedSessionTest() {
    fs::create_directories(project_);
    fs::create_directories(agent_dir_);
  }

  // Pi's own place for sessions of the project.
  std::string Standard() const {
    std::string name = project_.substr(1);
    for (char& c : name) {
      if (c == '/' || c == ':') c = '-';
    }
    return agent_dir_ + "/sessions/--" + name + "--";
  }

  std::string Save(const std::string& folder, const std::string& id,
                   const std::string& cwd) {
    fs::create_directories(folder);
    const std::string path = folder + "/2026-01-01T00-00-00-000Z_" + id +
                             std::to_string(saved_++) + ".jsonl";
    std::ofstream(path) << nlohmann::json(
                               {{"type", "session"}, {"id", id}, {"cwd", cwd}})
                        << "\n{\"type\":\"message\"}\n";
    return path;
  }

  void Settings(const std::string& folder, const std::string& text) {
    fs::create_directories(folder);
    std::ofstream(folder + "/settings.json") << text;
  }

  absl::StatusOr<std::string> Find() {
    return FindSavedSession(kId, project_, agent_dir_, environment_);
  }

  TempDir temp_;
  std::string project_ = temp_ / "my: project";
  std::string agent_dir_ = temp_ / "agent";
  Environment environment_ = {{"HOME", temp_ / "home"}};
  int saved_ = 0;
};

TEST_F(SavedSessionTest, FindsASessionInPisOwnPlaceByItsHeader) {
  Save(Standard(), "another", project_);
  const std::string path = Save(Standard(), kId, "/elsewhere");
  const auto found = Find();
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(*found, path);
}

TEST_F(SavedSessionTest, TheFilesNameDecidesNothing) {
  fs::create_directories(Standard());
  std::ofstream(Standard() + "/x_" + kId + ".jsonl")
      << R"({"type":"session","id":"another"})"
      << "\n";
  EXPECT_THAT(Find(),
              FailsWith(absl::StatusCode::kNotFound, "SESSION_FILE_MISSING"));
}

TEST_F(SavedSessionTest, TheEnvironmentComesBeforeEverySetting) {
  environment_["PI_CODING_AGENT_SESSION_DIR"] = "~/by env";
  Settings(project_ + "/.pi", R"({"sessionDir": "by-project"})");
  Settings(agent_dir_, R"({"sessionDir": "by-person"})");
  Save(project_ + "/by-project", kId, project_);
  Save(Standard(), kId, project_);
  const std::string path = Save(temp_ / "home/by env", kId, project_);
  EXPECT_EQ(*Find(), path);
}

TEST_F(SavedSessionTest, TheProjectsSettingComesBeforeThePersons) {
  Settings(project_ + "/.pi", R"({"sessionDir": "by-project"})");
  Settings(agent_dir_, R"({"sessionDir": "by-person"})");
  Save(project_ + "/by-person", kId, project_);
  const std::string path = Save(project_ + "/by-project", kId, project_);
  EXPECT_EQ(*Find(), path);
}

TEST_F(SavedSessionTest, ThePersonsSettingCountsFromTheWorkersDirectory) {
  Settings(project_ + "/.pi", R"({"theme": "dark"})");
  Settings(agent_dir_, "\xef\xbb\xbf{\"sessionDir\": \"../shared\"}");
  const std::string path = Save(temp_ / "shared", kId, project_);
  EXPECT_EQ(*Find(), path);
}

TEST_F(SavedSessionTest, AnEmptySettingStandsForPisOwnPlace) {
  Settings(project_ + "/.pi", R"({"sessionDir": ""})");
  Settings(agent_dir_, R"({"sessionDir": "by-person"})");
  const std::string path = Save(Standard(), kId, project_);
  EXPECT_EQ(*Find(), path);
}

TEST_F(SavedSessionTest, InASharedPlaceAnotherProjectsSessionDoesNotCount) {
  environment_["PI_CODING_AGENT_SESSION_DIR"] = temp_ / "all";
  Save(temp_ / "all", kId, temp_ / "another project");
  const auto found = Find();
  EXPECT_THAT(found, HasCode(absl::StatusCode::kNotFound));
  EXPECT_THAT(std::string(found.status().message()),
              HasSubstr("another directory"));
}

TEST_F(SavedSessionTest, AMissingSessionTellsWherePiWouldLook) {
  const auto found = Find();
  EXPECT_THAT(found,
              FailsWith(absl::StatusCode::kNotFound, "SESSION_FILE_MISSING"));
  EXPECT_THAT(std::string(found.status().message()), HasSubstr(Standard()));
}

TEST_F(SavedSessionTest, SettingsThatCannotBeReadAreAnErrorAndNoGuess) {
  Save(Standard(), kId, project_);
  for (const char* text : {"{", "[]", R"({"sessionDir": 7})"}) {
    Settings(project_ + "/.pi", text);
    EXPECT_THAT(Find(), FailsWith(absl::StatusCode::kFailedPrecondition,
                                  "SETTINGS_INVALID"))
        << text;
  }
  Settings(project_ + "/.pi", "");
  EXPECT_THAT(Find(), IsOk());
}

TEST_F(SavedSessionTest, ALinkedDirectoryIsTheOneThatPiSees) {
  const std::string path = Save(Standard(), kId, project_);
  fs::create_directory_symlink(project_, temp_ / "link");
  const auto found =
      FindSavedSession(kId, temp_ / "link", agent_dir_, environment_);
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(*found, path);
}

TEST_F(SavedSessionTest, AHeaderIsTheFirstLineThatIsJson) {
  const std::string path = temp_ / "s.jsonl";
  std::ofstream(path) << "\n<<<<<<< torn\nnull\n"
                      << R"({"type":"session","id":"a","cwd":"/p"})";
  ASSERT_TRUE(ReadSessionHeader(path).has_value());
  EXPECT_EQ(ReadSessionHeader(path)->id, "a");
  EXPECT_EQ(ReadSessionHeader(path)->cwd, "/p");
  std::ofstream(path) << R"({"type":"message"})"
                      << "\n"
                      << R"({"type":"session","id":"a"})";
  EXPECT_FALSE(ReadSessionHeader(path).has_value());
  std::ofstream(path) << R"({"type":"session","id":7})";
  EXPECT_FALSE(ReadSessionHeader(path).has_value());
  std::ofstream(path) << std::string(size_t{2} << 20, ' ') << "\n"
                      << R"({"type":"session","id":"a"})";
  EXPECT_FALSE(ReadSessionHeader(path).has_value());
  EXPECT_FALSE(ReadSessionHeader(temp_ / "none").has_value());
}

TEST_F(SavedSessionTest, APipeInTheFoldersPlaceIsNotWaitedFor) {
  fs::create_directories(Standard());
  ASSERT_EQ(mkfifo((Standard() + "/a.jsonl").c_str(), 0600), 0);
  const std::string path = Save(Standard(), kId, project_);
  EXPECT_EQ(*Find(), path);
}

}  // namespace
}  // namespace intercom
