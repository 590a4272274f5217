#include "worker-agent/launch/saved_session.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "broker/base/error.h"
#include "broker/base/home.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "nlohmann/json.hpp"
#include "worker-agent/launch/command_runner.h"
#include "worker-agent/launch/session_header.h"

namespace intercom {
namespace {

namespace fs = std::filesystem;

// Where sessions lie.
struct Place {
  fs::path directory;
  // Sessions of other projects lie there too: Pi takes only one that worked in
  // the directory it is started in.
  bool shared = false;
};

// A path as Pi reads one, from `directory`.
fs::path Expand(const std::string& path, const fs::path& directory,
                const Environment& environment) {
  std::string text = path;
  if (text.starts_with("file://")) text = text.substr(7);
  if (text == "~" || text.starts_with("~/")) {
    std::string home = ValueOf(environment, "HOME");
    if (home.empty()) home = AccountHome().value_or("/");
    text = home + text.substr(1);
  }
  return (directory / text).lexically_normal();
}

std::string WithoutSlash(const fs::path& path) {
  std::string text = path.lexically_normal().string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

// `sessions/--home-me-project--`.
fs::path DefaultPlace(const fs::path& directory, const fs::path& agent_dir) {
  std::string name = WithoutSlash(directory);
  if (name.starts_with('/')) name.erase(0, 1);
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return c == '/' || c == '\\' || c == ':'; }, '-');
  return agent_dir / "sessions" / ("--" + name + "--");
}

// The `sessionDir` of a settings file; nullopt if it has none. "" stands for
// Pi's default.
absl::StatusOr<std::optional<std::string>> SettingOf(const fs::path& path) {
  std::error_code failed;
  if (!fs::exists(path, failed) && !failed) return std::nullopt;
  const auto invalid = [&path](const std::string& why) {
    return Error(absl::StatusCode::kFailedPrecondition, "SETTINGS_INVALID",
                 "Pi's settings in " + path.string() + " " + why +
                     "; mend them, so that it is certain where its sessions "
                     "lie");
  };
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (failed || !file) return invalid("can't be read");
  if (text.empty()) return std::nullopt;
  const nlohmann::json settings = nlohmann::json::parse(text, nullptr, false);
  if (!settings.is_object()) return invalid("are no JSON object");
  const auto found = settings.find("sessionDir");
  if (found == settings.end()) return std::nullopt;
  if (found->is_null()) return std::string();
  if (!found->is_string()) return invalid("name a sessionDir that is no text");
  return found->get<std::string>();
}

absl::StatusOr<Place> FindPlace(const fs::path& directory,
                                const fs::path& agent_dir,
                                const Environment& environment) {
  const fs::path standard = DefaultPlace(directory, agent_dir);
  std::optional<std::string> set =
      ValueOf(environment, "PI_CODING_AGENT_SESSION_DIR");
  if (set->empty()) {
    INTERCOM_ASSIGN_OR_RETURN(set,
                              SettingOf(directory / ".pi" / "settings.json"));
    if (!set.has_value()) {
      INTERCOM_ASSIGN_OR_RETURN(set, SettingOf(agent_dir / "settings.json"));
    }
  }
  if (!set.has_value() || set->empty()) return Place{.directory = standard};
  const fs::path named = Expand(*set, directory, environment);
  return Place{.directory = named,
               .shared = WithoutSlash(named) != WithoutSlash(standard)};
}

}  // namespace

absl::StatusOr<std::string> FindSavedSession(const std::string& session_id,
                                             const std::string& directory,
                                             const std::string& agent_dir,
                                             const Environment& environment) {
  std::error_code failed;
  // Pi sees its working directory without symbolic links.
  fs::path working = fs::canonical(directory, failed);
  if (failed) working = fs::path(directory).lexically_normal();
  INTERCOM_ASSIGN_OR_RETURN(
      const Place place,
      FindPlace(working, Expand(agent_dir, working, environment), environment));
  std::vector<fs::path> files;
  for (fs::directory_iterator at(place.directory, failed), end;
       !failed && at != end; at.increment(failed)) {
    if (at->path().extension() == ".jsonl") files.push_back(at->path());
  }
  std::sort(files.begin(), files.end());
  bool elsewhere = false;
  for (const fs::path& file : files) {
    const auto header = ReadSessionHeader(file);
    if (!header.has_value() || header->id != session_id) continue;
    if (!place.shared || WithoutSlash(header->cwd) == WithoutSlash(working)) {
      return file.string();
    }
    elsewhere = true;
  }
  return Error(
      absl::StatusCode::kNotFound, "SESSION_FILE_MISSING",
      "the saved session " + SafeLabel(session_id) + " is not in " +
          place.directory.string() + ", where Pi looks when it is started in " +
          working.string() +
          (elsewhere ? "; a session of that id there belongs to another "
                       "directory"
                     : "") +
          ". Nothing takes its place: create a new worker, or bring the file "
          "back");
}

}  // namespace intercom
