#include "broker/storage/reader.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/storage/transaction.h"

namespace intercom {

absl::StatusOr<std::unique_ptr<Reader>> Reader::Open(const std::string& path) {
  INTERCOM_ASSIGN_OR_RETURN(std::unique_ptr<Database> db,
                            Database::OpenReadOnly(path));
  return std::unique_ptr<Reader>(new Reader(std::move(db)));
}

Reader::Reader(std::unique_ptr<Database> db) : db_(std::move(db)) {
  thread_ = std::thread([this] { Loop(); });
}

Reader::~Reader() {
  {
    MutexLock lock(mu_);
    ending_ = true;
    wake_.NotifyAll();
  }
  thread_.join();
}

absl::Status Reader::Post(Query query) {
  MutexLock lock(mu_);
  if (queue_.size() >= kMaxWaiting) {
    return Error(absl::StatusCode::kResourceExhausted, "TOO_MANY_QUERIES",
                 absl::StrCat(kMaxWaiting,
                              " history queries wait already; try again in a "
                              "moment"));
  }
  queue_.push_back(std::move(query));
  wake_.NotifyOne();
  return absl::OkStatus();
}

void Reader::Loop() {
  while (true) {
    Query query;
    {
      MutexLock lock(mu_);
      while (queue_.empty() && !ending_) wake_.Wait(mu_);
      if (ending_) return;
      query = std::move(queue_.front());
      queue_.pop_front();
    }
    // Without a transaction the query's own statements say what is wrong.
    const absl::StatusOr<Transaction> view = Transaction::BeginRead(*db_);
    query(*db_);
  }
}

}  // namespace intercom
