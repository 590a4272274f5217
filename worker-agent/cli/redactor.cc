#include "worker-agent/cli/redactor.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <utility>
#include <vector>

#include "broker/domain/fence.h"
#include "google/protobuf/descriptor.h"

namespace intercom {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr std::string_view kRemoved = "[removed]";
constexpr std::string_view kSomewhere = "/…";
constexpr size_t kLeastSecret = 4;
// What every machine has.
constexpr std::array<std::string_view, 8> kSystem = {
    "/usr/", "/bin/", "/lib", "/proc/", "/dev/", "/sys/", "/etc/", "/sbin/"};
// Texts that say nothing of anybody, whatever their message.
constexpr std::array<std::string_view, 15> kKept = {
    "version",  "agent_version",  "kind",      "model", "reason",
    "launcher", "multiplexer",    "outcome",   "phase", "capabilities",
    "reply_to", "broker_version", "host_kind", "help",  "notices"};
constexpr std::array<std::string_view, 4> kPaths = {"cwd", "home",
                                                    "unix_socket", "file"};

template <size_t n>
bool IsOneOf(const std::array<std::string_view, n>& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// Whether a letter or the like: others than ASCII are taken for letters.
bool IsWordByte(char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return value >= 0x80 || std::isalnum(value) != 0 || byte == '_';
}

// Where a path without spaces that begins at `at` is over, at the latest.
size_t EndOfPath(std::string_view text, size_t at) {
  return std::min(text.find_first_of("\"'\n:;,) \t", at), text.size());
}

// The same for any path: a comma or a parenthesis is part of it if a slash
// follows that begins no other.
size_t EndOfAnyPath(std::string_view text, size_t at) {
  const size_t last = std::min(text.find_first_of("\"'\n:;", at), text.size());
  size_t from = at;
  for (size_t i = at + 1; i < last; ++i) {
    if (text[i] != '/') continue;
    if (std::string_view(" \t(").find(text[i - 1]) != std::string_view::npos) {
      break;
    }
    from = i;
  }
  return std::min(text.find_first_of(",)", from), last);
}

bool IsMetric(const Message& message) {
  const std::string& name = message.GetDescriptor()->name();
  return name == "Counter" || name == "LatencyHistogram";
}

}  // namespace

Redactor::Redactor(std::string home, std::string state)
    : state_(std::move(state)) {
  if (home.size() > 1) directories_.emplace(std::move(home), "~");
  if (state_.size() > 1) directories_.emplace(state_, "<state>");
}

std::string Redactor::Name(std::string_view name) {
  if (name.empty()) return "";
  const auto known = words_.find(std::string(name));
  if (known != words_.end()) return known->second;
  const std::string stand_in = "n" + std::to_string(++names_);
  words_.emplace(name, stand_in);
  // As the reports show it.
  words_.emplace(NameLabel(name), stand_in);
  return stand_in;
}

std::string Redactor::Root(std::string_view root) {
  if (root.size() < 2) return std::string(root);
  const auto [at, added] = directories_.try_emplace(std::string(root), "");
  if (added) at->second = "w" + std::to_string(++roots_);
  return at->second;
}

void Redactor::Word(std::string_view word, std::string stand_in) {
  if (!word.empty()) words_.emplace(word, std::move(stand_in));
}

void Redactor::Secret(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line[0]))) {
      line.remove_prefix(1);
    }
    while (!line.empty() &&
           std::isspace(static_cast<unsigned char>(line.back()))) {
      line.remove_suffix(1);
    }
    if (line.size() >= kLeastSecret) secrets_.emplace(line, kRemoved);
  }
}

std::string Redactor::WithoutSecrets(std::string_view text) const {
  std::string result(text);
  for (const auto& [secret, stand_in] : secrets_) {
    for (size_t at = 0; (at = result.find(secret, at)) != std::string::npos;
         at += stand_in.size()) {
      result.replace(at, secret.size(), stand_in);
    }
  }
  return result;
}

std::pair<std::string_view, std::string_view> Redactor::FindDirectory(
    std::string_view path) const {
  std::pair<std::string_view, std::string_view> found;
  for (const auto& [directory, name] : directories_) {
    const bool fits =
        path.starts_with(directory) && (path.size() == directory.size() ||
                                        !IsWordByte(path[directory.size()]));
    if (fits && directory.size() > found.first.size()) {
      found = {directory, name};
    }
  }
  return found;
}

std::string Redactor::CleanPath(std::string_view path) const {
  const auto [directory, name] = FindDirectory(path);
  const std::string_view rest = path.substr(directory.size());
  // One that only begins like it is another.
  if (directory.empty() || (!rest.empty() && rest.front() != '/')) {
    return std::string(kSomewhere);
  }
  if (rest.empty()) return std::string(name);
  return std::string(name) +
         (directory == state_ ? std::string(rest) : std::string(kSomewhere));
}

std::string Redactor::WithoutPaths(std::string_view text) const {
  std::string result;
  size_t at = 0;
  while (at < text.size()) {
    const bool begins =
        text[at] == '/' && at + 1 < text.size() && IsWordByte(text[at + 1]);
    const bool is_hidden = text[at] == '/' && text.substr(at).starts_with("/.");
    const bool is_inside =
        at > 0 && (IsWordByte(text[at - 1]) || text[at - 1] == '/');
    if ((!begins && !is_hidden) || is_inside) {
      result += text[at++];
      continue;
    }
    const std::string_view rest = text.substr(at);
    const auto [found, name] = FindDirectory(rest);
    const std::string_view stand_in = found.empty() ? kSomewhere : name;
    const bool is_system = std::any_of(
        kSystem.begin(), kSystem.end(),
        [rest](std::string_view one) { return rest.starts_with(one); });
    if (found.empty() && is_system) {
      const size_t end = EndOfPath(text, at);
      result += text.substr(at, end - at);
      at = end;
      continue;
    }
    result += stand_in;
    at += found.size();
    if (stand_in == "<state>") {
      const size_t end = EndOfPath(text, at);
      result += text.substr(at, end - at);
      at = end;
    } else if (found.empty() || (at < text.size() && text[at] == '/')) {
      at = EndOfAnyPath(text, at);
      if (!found.empty()) result += kSomewhere;
    }
  }
  return result;
}

std::string Redactor::WithoutWords(std::string_view text) const {
  std::string result;
  size_t at = 0;
  while (at < text.size()) {
    const bool is_inside = at > 0 && IsWordByte(text[at - 1]);
    const std::pair<const std::string, std::string>* found = nullptr;
    if (!is_inside) {
      for (const auto& entry : words_) {
        const size_t end = at + entry.first.size();
        if (text.substr(at).starts_with(entry.first) &&
            (end == text.size() || !IsWordByte(text[end])) &&
            (found == nullptr || entry.first.size() > found->first.size())) {
          found = &entry;
        }
      }
    }
    if (found == nullptr) {
      result += text[at++];
    } else {
      result += found->second;
      at += found->first.size();
    }
  }
  return result;
}

std::string Redactor::Clean(std::string_view text) const {
  std::string open = WithoutPaths(WithoutSecrets(text));
  std::string result;
  size_t at = 0;
  while (at < open.size()) {
    const size_t line = std::min(open.find('\n', at), open.size());
    const size_t close =
        open[at] == '"' ? open.find('"', at + 1) : std::string::npos;
    if (close != std::string::npos && close < line) {
      result += "\"…\"";
      at = close + 1;
    } else {
      result += open[at++];
    }
  }
  return WithoutWords(result);
}

std::string Redactor::CleanField(const FieldDescriptor& field,
                                 const std::string& value) {
  const std::string& name = field.name();
  if (value.empty()) return value;
  if (name == "workspace_root" || name == "root") return Root(value);
  if (name.ends_with("name") || name == "stable_id") return Name(value);
  if (name.ends_with("_id") || name.ends_with("_ids")) return value;
  if (IsOneOf(kPaths, name) && value.front() == '/') return CleanPath(value);
  if (IsOneOf(kKept, name) || IsOneOf(kPaths, name)) return Clean(value);
  return std::string(kRemoved);
}

void Redactor::Clean(Message& message) {
  if (IsMetric(message)) return;
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool is_text = field->type() == FieldDescriptor::TYPE_STRING;
    const int count =
        field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    if (field->type() == FieldDescriptor::TYPE_BYTES) {
      reflection.ClearField(&message, field);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      for (int i = 0; i < count; ++i) {
        Clean(field->is_repeated()
                  ? *reflection.MutableRepeatedMessage(&message, field, i)
                  : *reflection.MutableMessage(&message, field));
      }
    } else if (is_text && field->is_repeated()) {
      for (int i = 0; i < count; ++i) {
        reflection.SetRepeatedString(
            &message, field, i,
            CleanField(*field,
                       reflection.GetRepeatedString(message, field, i)));
      }
    } else if (is_text) {
      reflection.SetString(
          &message, field,
          CleanField(*field, reflection.GetString(message, field)));
    }
  }
}

}  // namespace intercom
