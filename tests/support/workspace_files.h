#ifndef PI_INTERCOM_TESTS_SUPPORT_WORKSPACE_FILES_H_
#define PI_INTERCOM_TESTS_SUPPORT_WORKSPACE_FILES_H_

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "broker/config/config_directory.h"

namespace intercom {

// The port that configs of tests record.
inline constexpr int kTestPort = 4711;

// One entry for ConfigText.
struct TestAgent {
  std::string session_id;
  std::string name;
  std::string description = "Does things.";
};

// A config.json whose first agent coordinates, with a key nobody knows.
inline std::string ConfigText(const std::vector<TestAgent>& agents,
                              const std::string& coordinator = "") {
  std::string text =
      "{\n  \"version\": 1,\n  \"future\": [1.10],\n  \"multiplexer\": "
      "\"none\",\n  \"agents\": [";
  for (size_t i = 0; i < agents.size(); ++i) {
    const TestAgent& agent = agents[i];
    const bool leads =
        coordinator.empty() ? i == 0 : agent.session_id == coordinator;
    text += i == 0 ? "\n" : ",\n";
    text += "    {\n      \"sessionId\": \"" + agent.session_id +
            "\",\n      \"name\": \"" + agent.name +
            "\",\n      \"coordinator\": " + (leads ? "true" : "false") +
            ",\n      \"description\": \"" + agent.description +
            "\",\n      \"port\": " + std::to_string(kTestPort) +
            ",\n      \"projectDirectory\": \".\"\n    }";
  }
  return text + "\n  ]\n}\n";
}

inline std::string ReadText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Puts a new file into the place of the config, as an editor does: no two
// versions of it look the same to stat.
inline void WriteConfig(const std::string& root, const std::string& text) {
  const std::string path = ConfigPath(root);
  std::filesystem::create_directories(
      std::filesystem::path(path).parent_path());
  std::ofstream(path + ".edit", std::ios::binary) << text;
  std::filesystem::rename(path + ".edit", path);
}

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_SUPPORT_WORKSPACE_FILES_H_
