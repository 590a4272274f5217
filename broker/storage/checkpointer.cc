#include "broker/storage/checkpointer.h"

#include "broker/base/error.h"
#include "broker/base/log.h"

namespace intercom {

bool Checkpointer::Claim(int64_t frames, int64_t limit) {
  // The log started over.
  if (frames < copied_) copied_ = 0;
  return frames - copied_ >= limit && !under_way_.exchange(true);
}

int64_t Checkpointer::Run() {
  Database::CheckpointResult result;
  absl::Status status;
  if (db_ == nullptr) {
    absl::StatusOr<std::unique_ptr<Database>> db = Database::Open(path_);
    status = db.status();
    if (db.ok()) db_ = *std::move(db);
  }
  if (db_ != nullptr) {
    const auto copied = db_->CheckpointPassive();
    status = copied.status();
    if (copied.ok()) result = *copied;
  }
  if (!status.ok()) SPDLOG_WARN("checkpoint failed: {}", MessageOf(status));
  copied_ = result.copied_frames;
  under_way_ = false;
  return result.log_frames;
}

}  // namespace intercom
