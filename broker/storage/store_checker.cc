#include "broker/storage/store_checker.h"

#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/storage/migrator.h"

namespace intercom {
namespace {

// 0 where there is no such file.
int64_t BytesOf(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(bytes);
}

}  // namespace

std::string SuspectPath(const std::string& path) { return path + ".suspect"; }

StoreChecker::~StoreChecker() {
  Stop();
  if (thread_.joinable()) thread_.join();
}

absl::Status StoreChecker::Start(absl::Duration within, Done done) {
  if (running_.exchange(true)) {
    return Error(absl::StatusCode::kResourceExhausted, "CHECK_RUNNING",
                 "the store is being checked already; try again when that is "
                 "over, a minute at most");
  }
  if (thread_.joinable()) thread_.join();
  thread_ = std::thread([this, within, done = std::move(done)]() mutable {
    absl::StatusOr<StoreCheck> check = Check(within);
    running_ = false;
    done(std::move(check));
  });
  return absl::OkStatus();
}

absl::StatusOr<StoreCheck> StoreChecker::Check(absl::Duration within) const {
  const absl::Duration end = clock_.Steady() + within;
  StoreCheck check;
  check.file_bytes = BytesOf(path_);
  check.log_bytes = BytesOf(path_ + "-wal");
  std::error_code error;
  const auto space = std::filesystem::space(path_, error);
  if (!error) check.free_disk_bytes = static_cast<int64_t>(space.available);
  INTERCOM_ASSIGN_OR_RETURN(const auto db, Database::OpenReadOnly(path_));
  INTERCOM_ASSIGN_OR_RETURN(check.schema_version, SchemaVersion(*db));
  auto findings = db->CheckIntegrity(kMostFindings, [this, end] {
    return stopping_ || clock_.Steady() >= end;
  });
  if (findings.ok()) {
    check.findings = std::move(findings->lines);
    check.complete = findings->complete;
  } else if (absl::IsDataLoss(findings.status())) {
    // Too damaged to be looked through.
    check.findings.push_back(MessageOf(findings.status()));
  } else {
    return findings.status();
  }
  if (!check.findings.empty()) std::ofstream(SuspectPath(path_)).flush();
  return check;
}

}  // namespace intercom
