#ifndef PI_INTERCOM_BROKER_STORAGE_STORE_CHECKER_H_
#define PI_INTERCOM_BROKER_STORAGE_STORE_CHECKER_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "broker/storage/database.h"

namespace intercom {

// What is known of the files of a store.
struct StoreCheck {
  // What SQLite found wrong.
  std::vector<std::string> findings;
  // Whether all of it was checked.
  bool complete = false;
  int64_t file_bytes = 0;
  // Of the log beside it.
  int64_t log_bytes = 0;
  int64_t free_disk_bytes = 0;
  int schema_version = 0;
};

// The file that says, beside a store, that a check found damage in it: the next
// OpenStore() looks at all of it and repairs it.
std::string SuspectPath(const std::string& path);

// Has SQLite check the store beside the broker's work: on a thread and a
// connection of its own, which there are only for as long as it takes. While it
// runs the log can't start over.
//
// Start is called on one thread only.
class StoreChecker {
 public:
  static constexpr int kMostFindings = 20;

  // The database at `path` exists. `clock` must outlive this object.
  StoreChecker(std::string path, const Clock& clock)
      : path_(std::move(path)), clock_(clock) {}
  // Ends a check that runs, which is answered as incomplete.
  ~StoreChecker();

  // Calls `done` on the thread of the check. RESOURCE_EXHAUSTED
  // (CHECK_RUNNING), and no call, while another one runs.
  using Done = absl::AnyInvocable<void(absl::StatusOr<StoreCheck>)>;
  absl::Status Start(absl::Duration within, Done done);

  // Ends a check that runs, soon, and later ones. Thread-safe.
  void Stop() { stopping_ = true; }

 private:
  absl::StatusOr<StoreCheck> Check(absl::Duration within) const;

  const std::string path_;
  const Clock& clock_;
  std::atomic<bool> running_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_STORE_CHECKER_H_
