#ifndef PI_INTERCOM_TESTS_UNIT_CONFIG_SAMPLE_CONFIG_H_
#define PI_INTERCOM_TESTS_UNIT_CONFIG_SAMPLE_CONFIG_H_

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace intercom {

// A coordinator and one worker, with every optional part and some unknown keys.
inline constexpr char kSample[] = R"({
  "version": 1,
  "futureSetting": {"ratio": 1.10, "list": [1, 2]},
  "multiplexer": "tmux",
  "agents": [
    {
      "sessionId": "c-1",
      "name": "Coordinator",
      "coordinator": true,
      "description": "Leads.",
      "port": 4711,
      "projectDirectory": ".",
      "dashboardPort": 8080
    },
    {
      "color": "\u0062lue",
      "sessionId": "w-1",
      "name": "Ärger",
      "coordinator": false,
      "description": "Builds.",
      "port": 4712,
      "projectDirectory": "apps/build",
      "handoff": {
        "version": 1,
        "jobId": "job-1",
        "summary": "done",
        "updatedAt": "2026-01-31T12:00:00.123Z"
      },
      "closeJob": {
        "jobId": "job-1",
        "state": "closed",
        "createdAt": "2026-01-31T12:00:00Z",
        "updatedAt": "2026-01-31T12:01:00+01:00",
        "deadlineAt": "2026-01-31T12:02:00Z",
        "reason": "close_failed"
      }
    }
  ]
}
)";

// As the reference systems write it: keys in another order in entries that were
// configured again, the retired dashboard port, a close that came to its end.
inline constexpr char kReferenceConfig[] = R"({
  "version": 1,
  "multiplexer": "herdr",
  "agents": [
    {
      "sessionId": "0199a1c2-7d31-7000-8000-3f2c9a10aa01",
      "name": "Coordinator",
      "coordinator": true,
      "description": "Hands out the work.",
      "port": 49152,
      "projectDirectory": ".",
      "dashboardPort": 49200
    },
    {
      "sessionId": "0199a1c2-7d31-7000-8000-3f2c9a10aa02",
      "name": "Frontend",
      "description": "Builds the pages.",
      "port": 49153,
      "projectDirectory": "apps/web",
      "coordinator": false
    },
    {
      "sessionId": "0199a1c2-7d31-7000-8000-3f2c9a10aa03",
      "name": "Tester",
      "description": "Tests them.",
      "port": 49154,
      "projectDirectory": ".",
      "coordinator": false,
      "handoff": {
        "version": 1,
        "jobId": "0199a1c2-7d31-7000-8000-3f2c9a10bb01",
        "summary": "Half of the pages are tested.",
        "updatedAt": "2026-11-02T09:30:11.402Z"
      },
      "closeJob": {
        "jobId": "0199a1c2-7d31-7000-8000-3f2c9a10bb01",
        "state": "uncertain",
        "createdAt": "2026-11-02T09:29:40.118Z",
        "updatedAt": "2026-11-02T09:30:14.007Z",
        "deadlineAt": "2026-11-02T09:31:40.118Z",
        "reason": "close_unverified"
      }
    }
  ]
}
)";

// `text` with the first `from` replaced; fails loudly if it is not there.
inline std::string With(std::string text, std::string_view from,
                        std::string_view to) {
  const size_t at = text.find(from);
  if (at == std::string::npos) return "MISSING " + std::string(from);
  return text.replace(at, from.size(), to);
}

inline std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void WriteFile(const std::filesystem::path& path,
                      std::string_view bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::vector<std::string> NamesIn(const std::filesystem::path& path) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_UNIT_CONFIG_SAMPLE_CONFIG_H_
