#ifndef PI_INTERCOM_BROKER_STORAGE_REPORT_STORE_H_
#define PI_INTERCOM_BROKER_STORAGE_REPORT_STORE_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/storage/database.h"
#include "intercom/v1/work.pb.h"

namespace intercom {

// The latest report of each worker, by workspace and session. Methods run in
// the caller's transaction, on the thread of `db`, which must outlive this
// object; errors as described at Database. `overdue` is not stored.
class ReportStore {
 public:
  explicit ReportStore(Database& db) : db_(db) {}

  // Stores `report` over the earlier one.
  absl::Status Save(std::string_view root, std::string_view session_id,
                    const v1::Report& report);

  absl::StatusOr<std::optional<v1::Report>> Find(std::string_view root,
                                                 std::string_view session_id);

  // Every report that was not cleared, by root and session, without summaries.
  using All = std::map<std::pair<std::string, std::string>, v1::Report>;
  absl::StatusOr<All> ListAll();

  // Records when the report was first answered. Does nothing where there is
  // none, or where it was answered before.
  absl::Status SetAnswered(std::string_view root, std::string_view session_id,
                           absl::Time at);

  absl::Status Remove(std::string_view root, std::string_view session_id);

 private:
  Database& db_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_REPORT_STORE_H_
