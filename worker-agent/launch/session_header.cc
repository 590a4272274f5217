#include "worker-agent/launch/session_header.h"

#include <sys/stat.h>

#include <fstream>

#include "nlohmann/json.hpp"

namespace intercom {
namespace {

constexpr size_t kMaxScanBytes = size_t{1} << 20;

std::string TextAt(const nlohmann::json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>()
                                                   : "";
}

}  // namespace

std::optional<SessionHeader> ReadSessionHeader(const std::string& path) {
  struct stat facts;
  // Reading a pipe would wait for its writer.
  if (stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return std::nullopt;
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxScanBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  const bool whole = text.size() < kMaxScanBytes;
  for (size_t at = 0; at < text.size();) {
    const size_t newline = text.find('\n', at);
    // A line that is cut off says nothing.
    if (newline == std::string::npos && !whole) break;
    const size_t end = std::min(newline, text.size());
    const nlohmann::json entry = nlohmann::json::parse(
        text.begin() + static_cast<std::ptrdiff_t>(at),
        text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    at = end + 1;
    if (entry.is_discarded() || entry.is_null()) continue;
    if (!entry.is_object() || TextAt(entry, "type") != "session") break;
    SessionHeader header = {.id = TextAt(entry, "id"),
                            .cwd = TextAt(entry, "cwd")};
    if (header.id.empty()) break;
    return header;
  }
  return std::nullopt;
}

}  // namespace intercom
