#include <unistd.h>

#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "broker/base/error.h"
#include "nlohmann/json.hpp"
#include "worker-agent/cli/doctor_install.h"
#include "worker-agent/cli/verified_hosts.h"
#include "worker-agent/launch/command_runner.h"

namespace intercom {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr char kPackage[] = "pi-intercom";
constexpr char kPiPackage[] = "@earendil-works/pi-coding-agent";
// How far above a file its package may be.
constexpr int kMostParents = 5;
// What the extension reads of a settings file.
constexpr uintmax_t kMaxSettingsBytes = 64 * 1024;

// What is in a file that is JSON; null in any other case.
Json JsonIn(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return nullptr;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? Json(nullptr) : json;
}

std::string TextAt(const Json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

// A package's package.json, and where it is.
struct Package {
  fs::path directory;
  Json facts;
};

// The package `name` in which `path` is.
std::optional<Package> PackageAround(fs::path path, const char* name) {
  std::error_code error;
  path = fs::canonical(path, error);
  for (int i = 0; !error && i < kMostParents && path.has_relative_path(); ++i) {
    Json facts = JsonIn(path / "package.json");
    if (TextAt(facts, "name") == name) return Package{path, std::move(facts)};
    path = path.parent_path();
  }
  return std::nullopt;
}

void AskVersion(const CommandRunner& runner, ProgramFacts& program) {
  if (program.path.empty()) return;
  const auto output = runner.Run({program.path, "--version"});
  if (!output.ok()) {
    program.problem = MessageOf(output.status());
    return;
  }
  std::string text = output->out;
  while (!text.empty() && isspace(static_cast<unsigned char>(text.back()))) {
    text.pop_back();
  }
  if (output->exit_code != 0 || text.empty()) {
    program.problem = "--version ends with " +
                      std::to_string(output->exit_code) + " and says nothing";
    return;
  }
  program.version = text.substr(text.find_last_of(" \n") + 1);
}

// One of this project's own: where its variable says, else beside.
ProgramFacts Part(const InstallPlaces& places, const std::string& name,
                  const char* variable) {
  ProgramFacts part{.name = name};
  const std::string named = ValueOf(places.environment, variable);
  const std::string path =
      named.empty() ? places.program_directory + "/" + name : named;
  if (access(path.c_str(), X_OK) == 0) part.path = path;
  return part;
}

ProgramFacts OnPath(const InstallPlaces& places, const std::string& name) {
  return {.name = name,
          .path = FindProgram(name, places.environment).value_or("")};
}

fs::path Expanded(const std::string& path, const fs::path& base,
                  const fs::path& home) {
  if (path.starts_with("~/")) return home / path.substr(2);
  return base / path;
}

// Looks for the extension in what a settings file of Pi lists.
void FindIn(const Json& settings, const fs::path& base, const fs::path& home,
            InstallFacts& facts) {
  if (!settings.is_object()) return;
  for (const char* key : {"packages", "extensions"}) {
    const auto list = settings.find(key);
    if (list == settings.end() || !list->is_array()) continue;
    for (const Json& one : *list) {
      const std::string source =
          one.is_string() ? one.get<std::string>() : TextAt(one, "source");
      if (source.empty() || !facts.extension.empty()) continue;
      if (const auto package =
              PackageAround(Expanded(source, base, home), kPackage)) {
        facts.extension = package->directory.string();
        facts.extension_version = TextAt(package->facts, "version");
      } else if (source.find(':') != std::string::npos &&
                 source.find(kPackage) != std::string::npos) {
        facts.extension = source;
      }
    }
  }
}

void FindExtension(const InstallPlaces& places, const fs::path& home,
                   const fs::path& agent, InstallFacts& facts) {
  FindIn(JsonIn(agent / "settings.json"), agent, home, facts);
  const fs::path project = fs::path(places.directory) / ".pi";
  FindIn(JsonIn(project / "settings.json"), project, home, facts);
  std::error_code error;
  for (fs::directory_iterator at(agent / "extensions", error), end;
       facts.extension.empty() && !error && at != end; at.increment(error)) {
    if (const auto package = PackageAround(at->path(), kPackage)) {
      facts.extension = package->directory.string();
      facts.extension_version = TextAt(package->facts, "version");
    }
  }
  std::error_code ignored;
  fs::path above = places.program_directory;
  for (int i = 0; i < kMostParents && above.has_relative_path(); ++i) {
    for (const fs::path& one : {above, above / "extension"}) {
      if (TextAt(JsonIn(one / "package.json"), "name") == kPackage) {
        facts.extension_beside = one.string();
        return;
      }
    }
    above = above.parent_path();
  }
}

void ReadSettings(const fs::path& agent, InstallFacts& facts) {
  const fs::path path = agent / "intercom" / "config.json";
  facts.settings = path.string();
  std::error_code error;
  facts.has_settings = fs::exists(path, error);
  if (!facts.has_settings) return;
  const auto bytes = fs::file_size(path, error);
  if (error || bytes > kMaxSettingsBytes) {
    facts.settings_problem = "is no file of at most 64 KiB";
  } else if (access(path.c_str(), R_OK) != 0) {
    facts.settings_problem = "can't be read";
  } else if (!JsonIn(path).is_object()) {
    facts.settings_problem = "does not hold one JSON object";
  }
}

}  // namespace

InstallFacts ReadInstall(const InstallPlaces& places, const Clock& clock) {
  const Environment& environment = places.environment;
  const CommandRunner runner(clock, environment, {.time = absl::Seconds(8)});
  InstallFacts facts;
  facts.version = INTERCOM_VERSION;
  facts.agent = Part(places, "intercom-agent", "PI_INTERCOM_AGENT");
  facts.broker = Part(places, "intercom-broker", "PI_INTERCOM_BROKER");
  facts.node = OnPath(places, "node");
  for (ProgramFacts* part : {&facts.agent, &facts.broker, &facts.node}) {
    AskVersion(runner, *part);
  }
  facts.pi = OnPath(places, "pi");
  if (!facts.pi.path.empty()) {
    // Not by running it: that may take a second, and write.
    if (const auto package = PackageAround(facts.pi.path, kPiPackage)) {
      facts.pi.version = TextAt(package->facts, "version");
      if (package->facts.contains("engines")) {
        facts.node_range = TextAt(package->facts["engines"], "node");
      }
    }
  }
  facts.verified = VerifiedPiVersions();
  facts.has_tmux = !OnPath(places, "tmux").path.empty();
  facts.has_herdr = !OnPath(places, "herdr").path.empty();
  const std::string home_variable = ValueOf(environment, "HOME");
  const fs::path home =
      home_variable.empty() ? places.account_home : home_variable;
  const std::string named = ValueOf(environment, "PI_CODING_AGENT_DIR");
  const fs::path agent =
      named.empty() ? home / ".pi" / "agent" : Expanded(named, "/", home);
  FindExtension(places, home, agent, facts);
  ReadSettings(agent, facts);
  return facts;
}

}  // namespace intercom
