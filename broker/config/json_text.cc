#include "broker/config/json_text.h"

#include "broker/config/json_syntax.h"

namespace intercom {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n";

size_t SkipSpace(std::string_view text, size_t at) {
  const size_t next = text.find_first_not_of(kWhiteSpace, at);
  return next == std::string_view::npos ? text.size() : next;
}

// Behind the string that starts at `at`.
size_t SkipString(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at + 1;
}

// Behind the value that starts at `at`.
size_t SkipValue(std::string_view text, size_t at) {
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = SkipString(text, at);
    } else if (c == '{' || c == '[') {
      ++depth;
      ++at;
      continue;
    } else if (c == '}' || c == ']') {
      --depth;
      ++at;
    } else if (depth == 0) {
      const size_t end = text.find_first_of(" \t\r\n,]}", at);
      return end == std::string_view::npos ? text.size() : end;
    } else {
      ++at;
      continue;
    }
    if (depth == 0) return at;
  }
  return at;
}

}  // namespace

Span RootSpan(std::string_view text) {
  const size_t bom = text.size() - WithoutBom(text).size();
  const size_t begin = SkipSpace(text, bom);
  return {begin, SkipValue(text, begin)};
}

std::vector<MemberSpan> MemberSpans(std::string_view text, Span object) {
  std::vector<MemberSpan> members;
  size_t at = SkipSpace(text, object.begin + 1);
  while (at < object.end && text[at] == '"') {
    MemberSpan member;
    member.whole.begin = at;
    at = SkipString(text, at);
    member.key = nlohmann::json::parse(
                     text.substr(member.whole.begin, at - member.whole.begin),
                     nullptr, /*allow_exceptions=*/false)
                     .get<std::string>();
    at = SkipSpace(text, SkipSpace(text, at) + 1);  // the colon
    member.value = {at, SkipValue(text, at)};
    member.whole.end = member.value.end;
    at = SkipSpace(text, member.value.end);
    members.push_back(std::move(member));
    if (at < object.end && text[at] == ',') at = SkipSpace(text, at + 1);
  }
  return members;
}

std::vector<Span> ElementSpans(std::string_view text, Span array) {
  std::vector<Span> elements;
  size_t at = SkipSpace(text, array.begin + 1);
  while (at < array.end && text[at] != ']') {
    elements.push_back({at, SkipValue(text, at)});
    at = SkipSpace(text, elements.back().end);
    if (at < array.end && text[at] == ',') at = SkipSpace(text, at + 1);
  }
  return elements;
}

Span ValueOf(std::string_view text, Span object, std::string_view key) {
  for (const MemberSpan& member : MemberSpans(text, object)) {
    if (member.key == key) return member.value;
  }
  return {object.end, object.end};
}

std::string NewlineOf(std::string_view text) {
  const size_t newline = text.find('\n');
  if (newline == std::string_view::npos) return "";
  return newline > 0 && text[newline - 1] == '\r' ? "\r\n" : "\n";
}

std::string IndentOf(std::string_view text) {
  for (size_t at = text.find('\n'); at != std::string_view::npos;
       at = text.find('\n', at + 1)) {
    const size_t end = text.find_first_not_of(" \t", at + 1);
    if (end == std::string_view::npos) break;
    if (end > at + 1 && text[end] == '"') {
      return std::string(text.substr(at + 1, end - at - 1));
    }
  }
  return "  ";
}

std::string_view LineIndent(std::string_view text, size_t at) {
  const size_t newline = text.rfind('\n', at);
  if (newline == std::string_view::npos) return {};
  const std::string_view indent = text.substr(newline + 1, at - newline - 1);
  return indent.find_first_not_of(" \t") == std::string_view::npos
             ? indent
             : std::string_view();
}

}  // namespace intercom
