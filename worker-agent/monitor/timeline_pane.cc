#include <algorithm>

#include "worker-agent/monitor/panes.h"

namespace intercom {
namespace {

constexpr size_t kClock = 8;
constexpr size_t kKind = 7;
constexpr size_t kLatency = 6;

std::string ClockText(absl::Time at) {
  return absl::FormatTime("%H:%M:%S", at, absl::UTCTimeZone());
}

}  // namespace

Line TimelineRow(const TimelineItem& item, size_t width) {
  const bool has_kind = width >= 60;
  const bool has_latency = width >= 60;
  const size_t state = width >= 78 ? 17 : 10;
  const size_t fixed = kClock + 2 + state + 2 + (has_kind ? kKind + 2 : 0) +
                       (has_latency ? kLatency + 2 : 0);
  // Two names and an arrow; far apart they are hard to read.
  const size_t names = std::min<size_t>(
      std::max<size_t>(width, fixed + 11) - fixed, 3 + 2 * 28);
  const size_t left = (names - 3) / 2;
  Line line;
  line.AddCell(ClockText(item.at), kClock, Style::kFaint).Pad(2);
  if (item.to.empty()) {
    line.AddCell(item.from, names).Pad(2);
  } else {
    line.AddCell(item.from, left)
        .Add(" → ", Style::kFaint)
        .AddCell(item.to, names - 3 - left)
        .Pad(2);
  }
  if (has_kind) line.AddCell(item.kind, kKind, Style::kFaint).Pad(2);
  line.AddCell(item.state, state, item.style);
  if (has_latency) {
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
