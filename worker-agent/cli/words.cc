#include "worker-agent/cli/words.h"

#include <charconv>
#include <cstdint>

#include "worker-agent/tools/labels.h"

namespace intercom {
namespace {

// The value from `first` to `last` that `label` calls `word`.
template <typename Value>
std::optional<Value> ValueOf(std::string_view word, Value first, Value last,
                             std::string_view (*label)(Value)) {
  for (int value = first; value <= last; ++value) {
    if (label(static_cast<Value>(value)) == word) {
      return static_cast<Value>(value);
    }
  }
  return std::nullopt;
}

template <typename Value>
void AddLabels(Value first, Value last, std::string_view (*label)(Value),
               std::vector<std::string>& words) {
  for (int value = first; value <= last; ++value) {
    words.emplace_back(label(static_cast<Value>(value)));
  }
}

}  // namespace

std::vector<std::string> StateWords() {
  std::vector<std::string> words;
  AddLabels(v1::DELIVERY_STATE_ACCEPTED, v1::DELIVERY_STATE_REPLIED, StateLabel,
            words);
  AddLabels(v1::DELIVERY_END_CANCELLED, v1::DELIVERY_END_DEAD_LETTERED,
            EndLabel, words);
  return words;
}

std::optional<v1::DeliveryState> StateOfWord(std::string_view word) {
  return ValueOf(word, v1::DELIVERY_STATE_ACCEPTED, v1::DELIVERY_STATE_REPLIED,
                 StateLabel);
}

std::optional<v1::DeliveryEnd> EndOfWord(std::string_view word) {
  return ValueOf(word, v1::DELIVERY_END_CANCELLED,
                 v1::DELIVERY_END_DEAD_LETTERED, EndLabel);
}

std::vector<std::string> KindWords() {
  std::vector<std::string> words;
  AddLabels(v1::ENVELOPE_KIND_MESSAGE, v1::ENVELOPE_KIND_NOTICE, KindLabel,
            words);
  return words;
}

std::optional<v1::EnvelopeKind> KindOfWord(std::string_view word) {
  return ValueOf(word, v1::ENVELOPE_KIND_MESSAGE, v1::ENVELOPE_KIND_NOTICE,
                 KindLabel);
}

std::string JoinWords(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

std::optional<absl::Duration> SpanOfWord(std::string_view word) {
  int64_t count = 0;
  const char* end = word.data() + word.size();
  const auto [unit, error] = std::from_chars(word.data(), end, count);
  // No more than a century.
  if (error != std::errc() || unit + 1 != end || count < 1 ||
      count > 3'000'000'000) {
    return std::nullopt;
  }
  switch (*unit) {
    case 's':
      return absl::Seconds(count);
    case 'm':
      return absl::Minutes(count);
    case 'h':
      return absl::Hours(count);
    case 'd':
      return absl::Hours(24) * count;
    default:
      return std::nullopt;
  }
}

std::optional<absl::Time> MomentOfWord(std::string_view word, absl::Time now,
                                       absl::TimeZone zone) {
  if (const auto span = SpanOfWord(word); span.has_value()) return now - *span;
  const absl::string_view text(word.data(), word.size());
  for (const char* format :
       {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S",
        "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M%Ez", "%Y-%m-%dT%H:%M%Ez",
        "%Y-%m-%d %H:%M:%E*S%Ez", "%Y-%m-%dT%H:%M:%E*S%Ez"}) {
    absl::Time time;
    if (!text.empty() && text[0] >= '0' && text[0] <= '9' &&
        absl::ParseTime(format, text, zone, &time, nullptr)) {
      return time;
    }
  }
  return std::nullopt;
}

}  // namespace intercom
