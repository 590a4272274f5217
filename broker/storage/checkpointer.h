#ifndef PI_INTERCOM_BROKER_STORAGE_CHECKPOINTER_H_
#define PI_INTERCOM_BROKER_STORAGE_CHECKPOINTER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "broker/storage/database.h"

namespace intercom {

// Copies the log into the database from a connection of its own, so that
// commits need not wait for it.
class Checkpointer {
 public:
  // `path` is a database that its writer has open.
  explicit Checkpointer(std::string path) : path_(std::move(path)) {}

  // On the writer's thread: whether a log of `frames` has at least `limit` left
  // to copy and no run is under way. True claims a run, which must follow.
  bool Claim(int64_t frames, int64_t limit);

  // On one other thread; blocks for the disk. Returns the frames in the log.
  // Failures are written to the process's log: the next run tries again.
  int64_t Run();

 private:
  const std::string path_;
  // Opened by the first run.
  std::unique_ptr<Database> db_;
  std::atomic<bool> under_way_ = false;
  // How many frames of the present log are copied.
  std::atomic<int64_t> copied_ = 0;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_CHECKPOINTER_H_
