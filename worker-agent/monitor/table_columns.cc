#include "worker-agent/monitor/table_columns.h"

#include <algorithm>

namespace intercom {
namespace {

constexpr size_t kLeastName = 12;
constexpr size_t kMostName = 28;
constexpr size_t kMostRun = 36;

}  // namespace

std::vector<ColumnWidth> TableColumns(size_t width) {
  std::vector<ColumnWidth> columns;
  size_t used = 0;
  const auto add = [&](TableColumn column, size_t size, bool is_shown) {
    if (!is_shown) return;
    columns.push_back({column, size});
    used += size + kColumnGap;
  };
  const bool has_connection = width >= 60;
  const bool has_seen = width >= 78;
  const bool has_all = width >= 100;
  const size_t fixed = 16 + 8 + 2 * kColumnGap +
                       (has_connection ? 12 + kColumnGap : 0) +
                       (has_seen ? 16 + kColumnGap : 0);
  // With the columns above 100 there is no end to what a name could take.
  const size_t name =
      has_all
          ? std::min(14 + (std::max<size_t>(width, 112) - 112) / 4, kMostName)
          : std::max(width, fixed + kLeastName) - fixed;
  const bool has_mail = has_all || name >= kLeastName + 4 + kColumnGap;
  add(TableColumn::kWorker, has_mail && !has_all ? name - 4 - kColumnGap : name,
      true);
  add(TableColumn::kConnection, 12, has_connection);
  add(TableColumn::kMail, 4, has_mail);
  add(TableColumn::kReport, 16, true);
  add(TableColumn::kActivity, 8, true);
  add(TableColumn::kSeen, 16, has_seen);
  add(TableColumn::kRun,
      std::min(18 + (std::max<size_t>(width, 120) - 120) / 3, kMostRun),
      width >= 120);
  add(TableColumn::kContext, 7, width >= 150);
  add(TableColumn::kModel, 28, width >= 200);
  add(TableColumn::kLastActivity, width - std::min(width, used), has_all);
  return columns;
}

std::string_view ColumnHeading(TableColumn column) {
  switch (column) {
    case TableColumn::kWorker:
      return "Worker";
    case TableColumn::kConnection:
      return "Connection";
    case TableColumn::kMail:
      return "Mail";
    case TableColumn::kReport:
      return "Report";
    case TableColumn::kActivity:
      return "Activity";
    case TableColumn::kSeen:
      return "Seen";
    case TableColumn::kRun:
      return "Run";
    case TableColumn::kContext:
      return "Context";
    case TableColumn::kModel:
      return "Model";
    case TableColumn::kLastActivity:
      return "Last activity";
  }
  return "";
}

}  // namespace intercom
