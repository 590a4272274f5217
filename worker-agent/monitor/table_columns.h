#ifndef PI_INTERCOM_WORKER_AGENT_MONITOR_TABLE_COLUMNS_H_
#define PI_INTERCOM_WORKER_AGENT_MONITOR_TABLE_COLUMNS_H_

#include <cstddef>
#include <string_view>
#include <vector>

namespace intercom {

enum class TableColumn {
  kWorker,
  kConnection,
  kMail,
  kReport,
  kActivity,
  kSeen,
  kRun,
  kContext,
  kModel,
  kLastActivity,
};

struct ColumnWidth {
  TableColumn column;
  size_t columns;
};

inline constexpr size_t kColumnGap = 2;

// The columns that have room in `width`, and how much each of them gets. Below
// 120 columns Run goes, below 100 Last activity, below 78 Seen, below 60
// Connection (Activity then says who is away). Mail goes where it would leave a
// name less than 12.
std::vector<ColumnWidth> TableColumns(size_t width);

std::string_view ColumnHeading(TableColumn column);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_MONITOR_TABLE_COLUMNS_H_
