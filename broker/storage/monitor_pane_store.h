#ifndef PI_INTERCOM_BROKER_STORAGE_MONITOR_PANE_STORE_H_
#define PI_INTERCOM_BROKER_STORAGE_MONITOR_PANE_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/storage/database.h"
#include "intercom/v1/monitor.pb.h"

namespace intercom {

// Whose a monitor's pane is, and how far its opening has come.
struct MonitorPaneRow {
  std::string root;
  std::string claim_id;
  std::string coordinator_session_id;
  // The process of the coordinator's host that claimed it.
  int64_t host_pid = 0;
  int64_t host_start_ticks = 0;
  v1::MonitorPane::Stage stage = v1::MonitorPane::STAGE_UNSPECIFIED;
  v1::Pane caller;
  // Empty until it is split.
  v1::Pane pane;
  // Why it is gone, for a person.
  std::string detail;
  absl::Time updated_at;
};

// The last claim of each workspace. Methods run in the caller's transaction, on
// the thread of `db`, which must outlive this object; errors as described at
// Database.
class MonitorPaneStore {
 public:
  explicit MonitorPaneStore(Database& db) : db_(db) {}

  absl::StatusOr<std::optional<MonitorPaneRow>> Find(std::string_view root);
  absl::StatusOr<std::optional<MonitorPaneRow>> FindByClaim(
      std::string_view claim_id);

  // Stores `row` over the earlier one of its root.
  absl::Status Save(const MonitorPaneRow& row);
  absl::Status Remove(std::string_view root);

 private:
  absl::StatusOr<std::optional<MonitorPaneRow>> FindWhere(const char* sql,
                                                          std::string_view key);

  Database& db_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_MONITOR_PANE_STORE_H_
