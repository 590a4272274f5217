#ifndef PI_INTERCOM_BROKER_WORK_RUN_TEXT_H_
#define PI_INTERCOM_BROKER_WORK_RUN_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/storage/run_store.h"
#include "intercom/v1/run.pb.h"

namespace intercom {

// A run that does not advance for so long has stalled.
inline constexpr absl::Duration kStalledAfter = absl::Seconds(90);
// Characters of a result where several are told at once, and of one that is
// told before its run ends.
inline constexpr size_t kExcerptCharacters = 4'000;
inline constexpr size_t kSalvageCharacters = 8'000;
// Bytes of a whole result.
inline constexpr size_t kMaxResultBytes = 256 << 10;

// "run-12".
std::string RunId(int64_t number);
// INVALID_ARGUMENT (RUN_ID_INVALID) for what is no such id.
absl::StatusOr<int64_t> ParseRunId(std::string_view run_id);

bool IsStalled(const RunRow& run, absl::Time now);

// The run as the wire shows it.
v1::Run ToProto(const RunRow& run, absl::Time now);

v1::RunTotals ToProto(const RunTotals& totals);

// `result` with at most so many characters of its text, and of its error: the
// beginning and the end, and how much is missing between.
v1::RunResult Excerpt(v1::RunResult result, size_t most_characters);
// The same with at most so many bytes.
v1::RunResult Bounded(v1::RunResult result, size_t most_bytes);

// NOT_FOUND: UNKNOWN_RUN.
absl::Status UnknownRun(int64_t number);
// NOT_FOUND: RUN_DROPPED.
absl::Status RunDropped(int64_t number);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_RUN_TEXT_H_
