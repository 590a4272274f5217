#ifndef PI_INTERCOM_BROKER_STORAGE_NOTE_STORE_H_
#define PI_INTERCOM_BROKER_STORAGE_NOTE_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/storage/database.h"

namespace intercom {

// A worker's word to its supervisor.
struct NoteRow {
  std::string supervisor_session_id;
  std::string worker_session_id;
  std::string note_id;
  std::string worker_name;
  // Number of the run that it is about; 0 for none.
  int64_t run = 0;
  std::string text;
  absl::Time at;
  // The drain that took it. Empty while it waits.
  std::string drain_id = {};
};

// Notes of workers in the inboxes of their supervisors. Methods run in the
// caller's transaction, on the thread of `db`, which must outlive this object;
// errors as described at Database. Lists are the oldest first.
class NoteStore {
 public:
  // Notes that wait for a supervisor, and drained ones that are kept.
  static constexpr int kMostWaiting = 200;
  static constexpr int kDrainedKept = 200;
  // What a drain takes, in bytes of text, but for its first note.
  static constexpr int64_t kDrainBytes = 512 << 10;

  explicit NoteStore(Database& db) : db_(db) {}

  // Stores a note that is not there yet. The oldest that waits gives way where
  // there are too many, and is counted as lost.
  absl::Status Add(const NoteRow& note);
  absl::StatusOr<std::optional<NoteRow>> Find(std::string_view worker,
                                              std::string_view note_id);
  absl::StatusOr<int> CountWaiting(std::string_view supervisor);

  // Takes what waits, as much as fits into one drain. A repeat of a drain gives
  // what the first gave, as far as that is kept.
  struct Drained {
    std::vector<NoteRow> notes;
    // That gave way since the drain before.
    int64_t lost = 0;
  };
  absl::StatusOr<Drained> Drain(std::string_view supervisor,
                                std::string_view drain_id);
  // Drains of which notes are kept, but for `drain_id`.
  absl::StatusOr<std::vector<std::string>> OtherDrains(
      std::string_view supervisor, std::string_view drain_id);
  // Drained notes whose id begins with `prefix`, the latest first.
  absl::StatusOr<std::vector<NoteRow>> FindDrained(std::string_view supervisor,
                                                   std::string_view prefix,
                                                   int limit);
  // Removes at most `limit` notes from before `before`; those that wait are
  // counted as lost. Returns how many.
  absl::StatusOr<int> Prune(absl::Time before, int limit);
  // Every note, for copying.
  absl::StatusOr<std::vector<NoteRow>> All();

 private:
  absl::Status CountLost(std::string_view supervisor, int64_t lost);

  Database& db_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_NOTE_STORE_H_
