#ifndef PI_INTERCOM_WORKER_AGENT_CLI_WORDS_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_WORDS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "intercom/v1/envelope.pb.h"

namespace intercom {

// What a person types for values. Pure.

// "accepted" … "replied", and "cancelled" … "dead-lettered": states of
// deliveries, and how they end.
std::vector<std::string> StateWords();
std::optional<v1::DeliveryState> StateOfWord(std::string_view word);
std::optional<v1::DeliveryEnd> EndOfWord(std::string_view word);

// "message" … "notice".
std::vector<std::string> KindWords();
std::optional<v1::EnvelopeKind> KindOfWord(std::string_view word);

// "a, b, c".
std::string JoinWords(const std::vector<std::string>& words);

// "90s", "10m", "2h", "3d"; more than nothing. nullopt for others.
std::optional<absl::Duration> SpanOfWord(std::string_view word);

// A moment: a span before `now`; a day "2026-11-30"; "2026-11-30 12:03" or
// "2026-11-30T12:03:04", with "Z" or "+01:00" behind it, else in `zone`.
// nullopt for others.
std::optional<absl::Time> MomentOfWord(std::string_view word, absl::Time now,
                                       absl::TimeZone zone);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_WORDS_H_
