#include "worker-agent/monitor/screen_edges.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "broker/domain/fence.h"

namespace intercom {
namespace {

constexpr size_t kMaxPathCharacters = 4096;
constexpr size_t kMaxNoticeCharacters = 1000;

struct Part {
  std::string text;
  Style style = Style::kPlain;
};

std::string Count(int64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

// What needs somebody comes first: the rest goes where there is no room.
std::vector<Part> Totals(const MonitorModel& model) {
  int64_t overdue = 0;
  int64_t waiting = 0;
  int64_t working = 0;
  int64_t asked = 0;
  for (const MonitorModel::Row& row : model.rows()) {
    const v1::RosterEntry& entry = row.session->entry();
    overdue += entry.report().overdue();
    waiting += entry.waiting();
    asked += row.session->asked();
    working += entry.presence() == v1::PRESENCE_ATTACHED &&
               row.session->last_activity().phase() > v1::ACTIVITY_PHASE_IDLE;
  }
  std::vector<Part> parts;
  if (overdue > 0) {
    parts.push_back({Count(overdue, "overdue", "overdue"), Style::kBad});
  }
  if (model.overview().has_value() && model.overview()->unread() > 0) {
    parts.push_back({std::to_string(model.overview()->unread()) + " for you",
                     Style::kWaiting});
  }
  if (asked > 0) {
    parts.push_back({Count(asked, "ask open", "asks open"), Style::kWaiting});
  }
  if (waiting > 0) {
    parts.push_back(
        {Count(waiting, "mail waiting", "mail waiting"), Style::kWaiting});
  }
  if (working > 0) {
    parts.push_back({Count(working, "working", "working"), Style::kGood});
  }
  parts.push_back(
      {Count(static_cast<int64_t>(model.rows().size()), "session", "sessions"),
       Style::kFaint});
  return parts;
}

// The end of a path says most.
std::string ShortPath(std::string path, const std::string& home, size_t width) {
  if (!home.empty() && (path == home || path.starts_with(home + "/"))) {
    path = "~" + path.substr(home.size());
  }
  path = SafeLabel(path, kMaxPathCharacters);
  const std::vector<Cluster> all = Clusters(path);
  size_t from = all.size();
  size_t columns = 1;
  while (from > 0 && columns + all[from - 1].width <= width) {
    columns += all[--from].width;
  }
  if (from == 0 || ColumnsOf(path) <= width) return path;
  std::string text = "…";
  for (; from < all.size(); ++from) text += all[from].text;
  return text;
}

std::string ScopeText(const MonitorModel& model, const std::string& home,
                      size_t width) {
  if (model.scope().all) return "all workspaces";
  std::string root = model.scope().directory;
  if (model.overview().has_value() &&
      model.overview()->workspaces_size() == 1 &&
      !model.overview()->workspaces(0).root().empty()) {
    root = model.overview()->workspaces(0).root();
  }
  return ShortPath(std::move(root), home, width);
}

}  // namespace

Line HeaderLine(const MonitorModel& model, size_t width,
                const ScreenAbout& about, Ages& ages) {
  std::vector<Part> parts;
  if (!model.problem().empty()) {
    parts.push_back({"away " + ages.Of(model.lost_at()), Style::kBad});
  } else if (model.overview().has_value()) {
    parts = Totals(model);
  } else {
    parts.push_back({"connecting …", Style::kFaint});
  }
  constexpr std::string_view kTitle = "Intercom";
  // The scope gets at least a third.
  const size_t most = width - std::min(width, kTitle.size() + width / 3);
  Line right;
  for (const Part& part : parts) {
    Line next;
    if (right.columns() > 0) next.Add(" · ", Style::kFaint);
    next.Add(part.text, part.style);
    if (right.columns() + next.columns() > most && right.columns() > 0) break;
    right.Append(next);
  }
  Line line;
  line.Add(kTitle, Style::kStrong).Pad(2);
  const size_t room =
      width - std::min(width, line.columns() + right.columns() + 2);
  line.AddCell(ScopeText(model, about.person_home, room), room).Pad(2);
  return line.Append(right).FitTo(width);
}

std::vector<Line> NoticeLines(const MonitorModel& model, size_t width,
                              size_t most, const ScreenAbout& about,
                              Ages& ages) {
  std::vector<Part> parts;
  if (!model.problem().empty()) {
    std::string text = SafeLabel(model.problem(), kMaxNoticeCharacters);
    text += model.overview().has_value()
                ? "; this is how things were " +
                      ages.Of(model.overview()->at()) + " ago"
                : "";
    parts.push_back({text, Style::kBad});
  }
  if (const auto& overview = model.overview(); overview.has_value()) {
    for (const v1::WorkspaceOverview& workspace : overview->workspaces()) {
      if (workspace.config_error().empty()) continue;
      parts.push_back(
          {(workspace.stale() ? "The config is invalid, older facts are shown: "
                              : "") +
               SafeLabel(workspace.config_error(), kMaxNoticeCharacters),
           workspace.stale() ? Style::kBad : Style::kWaiting});
    }
    for (const std::string& notice : overview->notices()) {
      parts.push_back(
          {SafeLabel(notice, kMaxNoticeCharacters), Style::kWaiting});
    }
    if (!overview->broker_version().empty() &&
        overview->broker_version() != about.version) {
      parts.push_back({"The broker is version " +
                           SafeLabel(overview->broker_version(), 40) +
                           ", this monitor " + about.version,
                       Style::kWaiting});
    }
    if (overview->left_out() > 0) {
      parts.push_back({Count(overview->left_out(), "more session has no room",
                             "more sessions have no room"),
                       Style::kFaint});
    }
  }
  std::vector<Line> lines;
  for (const Part& part : parts) {
    if (lines.size() >= most) break;
    // What is wrong may take a second row where there is one.
    const size_t rows = std::min<size_t>(most - lines.size(), 2);
    for (const std::string& row : WrapText(part.text, width, rows)) {
      Line line;
      line.Add(row, part.style);
      lines.push_back(line.FitTo(width));
    }
  }
  return lines;
}

Line FooterLine(const MonitorModel& model, size_t width,
                const ScreenAbout& about) {
  std::vector<std::string_view> hints = {"? help"};
  if (model.shows_help()) {
    hints = {"? close"};
  } else if (!model.wanted_message().empty()) {
    hints = {"Esc close", "↑↓ move", "? help"};
  } else if (model.view() == MonitorModel::View::kTimeline) {
    hints = {"b text", "↑↓ select", "Esc back", "? help"};
  } else if (model.view() == MonitorModel::View::kWaits) {
    hints = {"Esc back", "? help"};
  } else if (model.shows_details()) {
    hints = {"Esc close", "? help", "↑↓ others", "PgDn more"};
  } else {
    hints = {"? help",     "↑↓ select", "Enter details",
             "t timeline", "w waits",   "a all"};
  }
  if (model.scope().all && hints.back() == "a all") hints.back() = "a this one";
  const std::string quit = "q quit";
  std::string version = "intercom " + about.version;
  if (width < 60) version = "v" + about.version;
  if (quit.size() + 2 + ColumnsOf(version) > width) version.clear();
  const size_t room = width - std::min(width, ColumnsOf(version) + 2);
  Line line;
  line.Add(quit, Style::kStrong);
  for (const std::string_view hint : hints) {
    if (line.columns() + 2 + ColumnsOf(hint) > room) break;
    line.Pad(2).Add(hint, Style::kFaint);
  }
  line.Pad(width - std::min(width, line.columns() + ColumnsOf(version)));
  return line.Add(version, Style::kFaint).FitTo(width);
}

}  // namespace intercom
