#include <algorithm>

#include "worker-agent/monitor/panes.h"

namespace intercom {
namespace {

constexpr size_t kKind = 7;
constexpr size_t kLatency = 6;
// Below it there is neither kind nor latency.
constexpr size_t kWidthForKind = 60;

std::string ClockText(absl::Time at, size_t width) {
  return absl::FormatTime(width < kWidthForKind ? "%H:%M" : "%H:%M:%S", at,
                          absl::UTCTimeZone());
}

size_t StateColumns(size_t width) { return width >= 78 ? 17 : 10; }

}  // namespace

size_t ClockColumns(size_t width) { return width < kWidthForKind ? 5 : 8; }

size_t NamesColumns(size_t width) {
  const size_t fixed = ClockColumns(width) + 2 + 2 + StateColumns(width) +
                       (width >= kWidthForKind ? 2 + kKind + 2 + kLatency : 0);
  return std::min<size_t>(std::max<size_t>(width, fixed + 11) - fixed, 51);
}

Line NamesLine(const std::string& from, const std::string& to, size_t columns,
               Style arrow) {
  Line line;
  if (to.empty()) return line.AddCell(from, columns);
  const size_t left = (columns - 3) / 2;
  return line.AddCell(from, left)
      .Add(" → ", arrow)
      .AddCell(to, columns - 3 - left);
}

Line TimelineRow(const TimelineItem& item, size_t width) {
  const bool is_wide = width >= kWidthForKind;
  Line line;
  line.AddCell(ClockText(item.at, width), ClockColumns(width), Style::kFaint)
      .Pad(2);
  line.Append(NamesLine(item.from, item.to, NamesColumns(width), Style::kFaint))
      .Pad(2);
  if (is_wide) line.AddCell(item.kind, kKind, Style::kFaint).Pad(2);
  line.AddCell(item.state, StateColumns(width), item.style);
  if (is_wide) {
    line.Pad(2).AddCell(
        item.latency.has_value() ? LatencyText(*item.latency) : "", kLatency,
        Style::kPlain, Line::Align::kRight);
  }
  return line.FitTo(width);
}

std::vector<Line> TimelinePane(const MonitorModel& model, size_t width,
                               size_t rows, bool has_selection) {
  std::vector<Line> pane;
  const auto& items = model.timeline().items();
  if (items.empty()) {
    if (rows > 0) {
      Line line;
      line.Add("Nothing was sent yet.", Style::kFaint);
      pane.push_back(line.FitTo(width));
    }
    return pane;
  }
  const size_t selected = has_selection ? model.selected_item() : 0;
  const size_t start = std::min(selected - std::min(selected, rows / 2),
                                items.size() - std::min(items.size(), rows));
  for (size_t i = start; i < std::min(start + rows, items.size()); ++i) {
    pane.push_back(TimelineRow(items[i], width));
    pane.back().selected = has_selection && i == selected;
  }
  return pane;
}

}  // namespace intercom
