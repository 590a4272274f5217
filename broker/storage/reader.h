#ifndef PI_INTERCOM_BROKER_STORAGE_READER_H_
#define PI_INTERCOM_BROKER_STORAGE_READER_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <thread>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "broker/base/mutex.h"
#include "broker/storage/database.h"

namespace intercom {

// A thread with a read-only connection, for history and inspection beside the
// writer. Thread-safe.
class Reader {
 public:
  // Reads what is committed, in one consistent view. Short: while it runs the
  // log can't start over.
  using Query = absl::AnyInvocable<void(Database&)>;

  // At most this many queries wait.
  static constexpr size_t kMaxWaiting = 256;

  // The database at `path` exists, with its tables.
  static absl::StatusOr<std::unique_ptr<Reader>> Open(const std::string& path);

  // Ends after the present query; waiting ones are destroyed without running.
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Runs `query` on the reader's thread, in the order of posting.
  // RESOURCE_EXHAUSTED TOO_MANY_QUERIES: kMaxWaiting of them wait; `query` is
  // destroyed without running.
  absl::Status Post(Query query) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  explicit Reader(std::unique_ptr<Database> db);
  void Loop();

  const std::unique_ptr<Database> db_;
  Mutex mu_;
  CondVar wake_;
  std::deque<Query> queue_ ABSL_GUARDED_BY(mu_);
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_READER_H_
