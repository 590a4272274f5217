#include <algorithm>

#include "broker/domain/fence.h"
#include "worker-agent/monitor/panes.h"
#include "worker-agent/monitor/session_cells.h"
#include "worker-agent/monitor/table_columns.h"

namespace intercom {
namespace {

constexpr size_t kMaxPathCharacters = 4096;

bool ShowsRoots(const MonitorModel& model) {
  return model.overview().has_value() &&
         model.overview()->workspaces_size() > 1;
}

// Numbers stand on the right of their column.
Line::Align AlignOf(TableColumn column) {
  return column == TableColumn::kMail || column == TableColumn::kContext
             ? Line::Align::kRight
             : Line::Align::kLeft;
}

StyledText NameText(const MonitorModel::Row& row) {
  const v1::RosterEntry& entry = row.session->entry();
  const bool coordinates =
      entry.session_id() == row.workspace->coordinator_session_id();
  return {SessionName(entry),
          coordinates ? Style::kStrong
          : entry.presence() == v1::PRESENCE_AWAY ||
                  entry.presence() == v1::PRESENCE_UNSPECIFIED
              ? Style::kFaint
              : Style::kPlain};
}

StyledText CellText(TableColumn column, const MonitorModel::Row& row,
                    bool says_away, Ages& ages) {
  const v1::SessionOverview& session = *row.session;
  switch (column) {
    case TableColumn::kWorker:
      return NameText(row);
    case TableColumn::kConnection:
      return ConnectionText(session.entry(), ages);
    case TableColumn::kMail:
      return MailText(session.entry());
    case TableColumn::kReport:
      return ReportText(session.entry().report());
    case TableColumn::kActivity:
      return ActivityText(session, says_away, ages);
    case TableColumn::kSeen:
      return SeenText(session, ages);
    case TableColumn::kRun:
      return RunText(session, ages);
    case TableColumn::kContext:
      return ContextText(session.last_activity());
    case TableColumn::kModel:
      if (session.last_activity().model().empty()) return {};
      return {SafeLabel(session.last_activity().model()), Style::kFaint};
    case TableColumn::kLastActivity:
      return LastActivityText(session, ages);
  }
  return {};
}

Line SessionLine(const MonitorModel::Row& row,
                 const std::vector<ColumnWidth>& columns, Ages& ages) {
  const bool says_away =
      std::none_of(columns.begin(), columns.end(), [](const ColumnWidth& at) {
        return at.column == TableColumn::kConnection;
      });
  Line line;
  for (const ColumnWidth& at : columns) {
    if (line.columns() > 0) line.Pad(kColumnGap);
    const StyledText cell = CellText(at.column, row, says_away, ages);
    line.AddCell(cell.text, at.columns, cell.style, AlignOf(at.column));
  }
  return line;
}

Line HeadingLine(const std::vector<ColumnWidth>& columns) {
  Line line;
  for (const ColumnWidth& at : columns) {
    if (line.columns() > 0) line.Pad(kColumnGap);
    line.AddCell(ColumnHeading(at.column), at.columns, Style::kFaint,
                 AlignOf(at.column));
  }
  return line;
}

Line RootLine(const v1::WorkspaceOverview& workspace, size_t width) {
  const std::string root =
      workspace.root().empty()
          ? "without a workspace"
          : SafeLabel(workspace.root(), kMaxPathCharacters);
  return Heading(root, width);
}

}  // namespace

size_t TableRows(const MonitorModel& model) {
  size_t rows = 1 + model.rows().size();
  if (!ShowsRoots(model)) return rows;
  for (const MonitorModel::Row& row : model.rows()) rows += row.is_first;
  return rows;
}

std::vector<Line> TablePane(const MonitorModel& model, size_t width,
                            size_t rows, Ages& ages) {
  const std::vector<ColumnWidth> columns = TableColumns(width);
  std::vector<Line> pane;
  if (rows == 0) return pane;
  pane.push_back(HeadingLine(columns).FitTo(width));
  // Places of the rows, and of the roots above them.
  std::vector<std::pair<size_t, bool>> all;
  size_t selected = 0;
  for (size_t at = 0; at < model.rows().size(); ++at) {
    if (ShowsRoots(model) && model.rows()[at].is_first) {
      all.emplace_back(at, true);
    }
    if (at == model.selected_row()) selected = all.size();
    all.emplace_back(at, false);
  }
  size_t room = rows - 1;
  const bool overflows = all.size() > room;
  if (overflows && room > 1) --room;
  // The selected one stays in the middle where it can.
  const size_t start = std::min(selected - std::min(selected, room / 2),
                                all.size() - std::min(all.size(), room));
  size_t first = 0;
  size_t last = 0;
  for (size_t i = start; i < std::min(start + room, all.size()); ++i) {
    const auto& [at, is_root] = all[i];
    const MonitorModel::Row& row = model.rows()[at];
    if (is_root) {
      pane.push_back(RootLine(*row.workspace, width));
      continue;
    }
    if (first == 0) first = at + 1;
    last = at + 1;
    Line line = SessionLine(row, columns, ages).FitTo(width);
    line.selected = at == model.selected_row();
    pane.push_back(std::move(line));
  }
  if (overflows && rows > 2) {
    const size_t count = model.rows().size();
    Line line;
    line.Add(std::to_string(count - (last - first + 1)) + " more · " +
                 std::to_string(first) + "–" + std::to_string(last) + " of " +
                 std::to_string(count),
             Style::kFaint);
    pane.push_back(line.FitTo(width));
  }
  return pane;
}

}  // namespace intercom
