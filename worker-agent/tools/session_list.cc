#include "worker-agent/tools/session_list.h"

#include <cmath>
#include <map>

#include "broker/domain/fence.h"
#include "broker/domain/permissions.h"
#include "broker/domain/text_rules.h"
#include "worker-agent/tools/bounded_text.h"
#include "worker-agent/tools/labels.h"

namespace intercom {
namespace {

constexpr size_t kMaxPathCharacters = 160;
constexpr size_t kMaxModelCharacters = 80;
constexpr size_t kMaxIdCharacters = 256;
constexpr int kMaxWaits = 8;
constexpr size_t kMostRows = 64;
// Room for the lines around the sessions.
constexpr size_t kReservedBytes = 1024;

// What a session is called; its short id where it has no name at all.
std::string Name(const v1::RosterEntry& entry) {
  return NameOr(entry.name().empty() ? entry.runtime_name() : entry.name(),
                entry.short_id());
}

std::map<std::string, std::string> NamesOf(
    const v1::ListSessionsResponse& response) {
  std::map<std::string, std::string> names;
  for (const v1::RosterEntry& entry : response.sessions()) {
    names[entry.session_id()] = Name(entry);
  }
  if (response.has_self()) {
    names[response.self().session_id()] = "this session";
  }
  return names;
}

// " waits for Ann and Bob".
std::string Waits(const v1::RosterEntry& entry,
                  const std::map<std::string, std::string>& names) {
  std::string text;
  for (int i = 0; i < entry.waits_for_size() && i < kMaxWaits; ++i) {
    const auto found = names.find(entry.waits_for(i));
    text += i == 0 ? " waits for " : ", ";
    text +=
        found == names.end() ? IdLabel(entry.waits_for(i), 80) : found->second;
  }
  return text;
}

// "• worker (3f2c9a10) — ~/api · coordinator · claude · context 41% [idle]".
std::string Line(const v1::RosterEntry& entry, bool is_self,
                 const std::map<std::string, std::string>& names,
                 const std::string& home) {
  std::string text = "• " + Name(entry) + " (" +
                     IdLabel(entry.short_id(), kMaxIdCharacters) + ") — " +
                     DirectoryLabel(entry.cwd(), home);
  if (entry.role() != v1::ROLE_PEER && entry.role() != v1::ROLE_UNSPECIFIED) {
    text += " · " + std::string(RoleName(entry.role()));
  }
  const v1::Activity& activity = entry.activity();
  if (!activity.model().empty()) {
    text += " · " + MarkedLine(activity.model(), kMaxModelCharacters);
  }
  if (activity.has_context_percent()) {
    text += " · context " +
            std::to_string(std::lround(activity.context_percent())) + "%";
  }
  if (!entry.stable_id().empty()) {
    text += " · stable id " + IdLabel(entry.stable_id(), 64);
  }
  text += " [" + SessionStatus(entry) + "]";
  if (is_self) {
    text += " [self]";
  } else if (entry.same_directory()) {
    text += " [same cwd]";
  }
  return text + Waits(entry, names) + "\n";
}

Json SessionJson(const v1::RosterEntry& entry) {
  const v1::Activity& activity = entry.activity();
  Json waits = Json::array();
  for (const std::string& id : entry.waits_for()) waits.push_back(id);
  Json json = {{"sessionId", entry.session_id()},
               {"shortId", entry.short_id()},
               {"name", entry.name()},
               {"role", RoleName(entry.role())},
               {"presence", PresenceLabel(entry.presence())},
               {"cwd", entry.cwd()},
               {"sameDirectory", entry.same_directory()},
               {"status", SessionStatus(entry)},
               {"waitsFor", std::move(waits)}};
  if (!entry.runtime_name().empty()) json["runtimeName"] = entry.runtime_name();
  if (!entry.stable_id().empty()) json["stableId"] = entry.stable_id();
  if (!entry.workspace_root().empty()) {
    json["workspaceRoot"] = entry.workspace_root();
  }
  if (!activity.model().empty()) json["model"] = activity.model();
  if (activity.has_context_percent()) {
    json["contextPercent"] = activity.context_percent();
  }
  if (activity.has_tokens()) json["tokens"] = activity.tokens();
  return json;
}

}  // namespace

Json SessionsJson(const v1::ListSessionsResponse& response, size_t max_bytes) {
  Json json = {{"sessions", Json::array()}};
  size_t bytes = 0;
  if (response.has_self()) {
    json["self"] = SessionJson(response.self());
    bytes = ToLine(json["self"]).size();
  }
  int shown = 0;
  for (const v1::RosterEntry& entry : response.sessions()) {
    Json session = SessionJson(entry);
    bytes += ToLine(session).size() + 1;
    if (bytes > max_bytes) break;
    json["sessions"].push_back(std::move(session));
    ++shown;
  }
  if (shown < response.sessions_size()) {
    json["leftOut"] = response.sessions_size() - shown;
  }
  return json;
}

ToolResult RenderSessions(const v1::ListSessionsResponse& response,
                          const std::string& home) {
  const auto names = NamesOf(response);
  ToolResult result;
  if (response.has_self()) {
    result.text = Line(response.self(), /*is_self=*/true, names, home);
  }
  size_t lines = 0;
  for (const v1::RosterEntry& entry : response.sessions()) {
    const std::string line = Line(entry, /*is_self=*/false, names, home);
    if (result.text.size() + line.size() > kMaxResultBytes - kReservedBytes ||
        lines == kMostRows) {
      break;
    }
    result.text += line;
    ++lines;
  }
  const int others = response.sessions_size();
  if (others == 0) result.text += "No other sessions.\n";
  if (const int left_out = others - static_cast<int>(lines); left_out > 0) {
    result.text += "… and " + std::to_string(left_out) +
                   " more, left out here: list-cwd with cwd shows those of "
                   "one directory, and any can be addressed by its name.\n";
  }
  result.summary = std::to_string(others) +
                   (others == 1 ? " other session" : " other sessions");
  result.details = SessionsJson(response, kMaxListDetailBytes);
  return result;
}

std::string DirectoryLabel(const std::string& path, const std::string& home) {
  if (path.empty()) return "an unknown directory";
  std::string text = path;
  if (!home.empty() && home != "/" && path.starts_with(home) &&
      (path.size() == home.size() || path[home.size()] == '/')) {
    text = "~" + path.substr(home.size());
  }
  text = SafeLabel(text, text.size());
  const size_t characters = CharacterCount(text);
  if (characters <= kMaxPathCharacters) return MarkedLine(text, characters);
  // The end tells directories apart.
  size_t at = 0;
  for (size_t dropped = 0; dropped + kMaxPathCharacters <= characters;) {
    ++at;
    if ((static_cast<unsigned char>(text[at]) & 0xc0) != 0x80) ++dropped;
  }
  return "…" + MarkedLine(text.substr(at), kMaxPathCharacters);
}

}  // namespace intercom
