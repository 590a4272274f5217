#include "worker-agent/monitor/screen_text.h"

#include <algorithm>

#include "worker-agent/monitor/ages.h"
#include "worker-agent/monitor/panes.h"
#include "worker-agent/monitor/screen_edges.h"
#include "worker-agent/monitor/session_cells.h"

namespace intercom {
namespace {

// Below so many rows there is no room for what is only nice to see.
constexpr size_t kRowsForTraffic = 16;
constexpr size_t kRowsForNotices = 14;
// A heading and three rows.
constexpr size_t kLeastTimelineRows = 4;

// What stands between the edges.
class Body {
 public:
  Body(const MonitorModel& model, size_t width, size_t rows,
       const ScreenAbout& about, Ages& ages)
      : model_(model), width_(width), rows_(rows), about_(about), ages_(ages) {}

  std::vector<Line> Make() {
    if (model_.shows_help()) {
      AddMovable("Keys", HelpPane(width_, about_.notes), rows_);
    } else if (!model_.wanted_message().empty()) {
      AddMovable("Message", BodyPane(model_, width_), rows_);
    } else if (model_.view() == MonitorModel::View::kTimeline) {
      AddTimeline(rows_, /*has_selection=*/true);
      extent_.page = std::max<size_t>(rows_, 3) - 2;
    } else if (model_.view() == MonitorModel::View::kWaits) {
      AddMovable("Who waits for whom", WaitsPane(model_, width_, ages_), rows_);
    } else if (!model_.overview().has_value()) {
      AddEmpty();
    } else {
      AddTable();
    }
    lines_.resize(rows_, Line().FitTo(width_));
    return std::move(lines_);
  }

  const MonitorModel::Extent& extent() const { return extent_; }

 private:
  void Add(std::vector<Line> lines) {
    for (Line& line : lines) lines_.push_back(std::move(line));
  }

  // A heading and as much of the text as has room, from where it was moved to.
  void AddMovable(std::string_view title, const std::vector<Line>& text,
                  size_t rows) {
    const size_t room = rows - std::min<size_t>(rows, 1);
    const size_t most = text.size() - std::min(text.size(), room);
    const size_t from = std::min(model_.scroll(), most);
    const size_t below = text.size() - std::min(text.size(), from + room);
    std::string whole(title);
    if (most > 0) {
      whole +=
          below > 0 ? " · " + std::to_string(below) + " rows below" : " · end";
    }
    lines_.push_back(Heading(whole, width_));
    for (size_t i = from; i < std::min(from + room, text.size()); ++i) {
      lines_.push_back(text[i]);
    }
    extent_ = {.page = std::max<size_t>(room, 2) - 1, .most_scroll = most};
  }

  void AddTimeline(size_t rows, bool has_selection) {
    if (rows == 0) return;
    lines_.push_back(Heading("Timeline (UTC)", width_));
    Add(TimelinePane(model_, width_, rows - 1, has_selection));
  }

  void AddEmpty() {
    if (!model_.problem().empty() || rows_ == 0) return;
    Line line;
    line.Add("Asking the broker …", Style::kFaint);
    lines_.push_back(line.FitTo(width_));
  }

  void AddTable() {
    if (model_.rows().empty()) {
      Line line;
      line.Add("No sessions.", Style::kFaint);
      lines_.push_back(line.FitTo(width_));
      return;
    }
    const size_t wanted = TableRows(model_);
    const size_t details = DetailsRows(wanted);
    size_t table = std::min(wanted, rows_ - details);
    if (details == 0 && rows_ - table < kLeastTimelineRows + 1 &&
        rows_ >= 3 * kLeastTimelineRows) {
      // A long table leaves a quarter to what happens.
      table =
          std::min(table, rows_ - std::max(rows_ / 4, kLeastTimelineRows + 1));
    }
    extent_.page = std::max<size_t>(table, 3) - 2;
    Add(TablePane(model_, width_, table, ages_));
    size_t room = rows_ - table;
    if (details > 0) {
      const v1::SessionOverview& session =
          *model_.rows()[model_.selected_row()].session;
      const size_t page = extent_.page;
      AddMovable(SessionName(session.entry()),
                 DetailsPane(model_, width_, ages_), room);
      extent_.page = std::max(page, extent_.page);
      return;
    }
    if (room < kLeastTimelineRows + 1) return;
    // An empty row between table and timeline.
    lines_.push_back(Line().FitTo(width_));
    --room;
    room -= AddWaits(room);
    AddTimeline(room, /*has_selection=*/false);
  }

  // Rows of the details pane: half of the screen or what the table leaves, all
  // of a low one, none of one that is too low.
  size_t DetailsRows(size_t wanted_by_table) const {
    if (!model_.shows_details() || rows_ < kLeastDetailsRows) return 0;
    // Below a table of fewer rows nobody sees who is selected.
    constexpr size_t kLeastTable = 4;
    if (rows_ < kLeastDetailsRows + kLeastTable) return rows_;
    const size_t left = rows_ - std::min(rows_, wanted_by_table);
    return std::min(std::max({left, rows_ / 2, kLeastDetailsRows}),
                    rows_ - kLeastTable);
  }

  // Who waits for whom, above the timeline where both have room. Returns the
  // rows that it took.
  size_t AddWaits(size_t room) {
    const int edges = model_.overview()->waits_size();
    if (edges == 0 || room < kLeastTimelineRows + 4) return 0;
    std::vector<Line> waits = WaitsPane(model_, width_, ages_);
    const size_t most = std::min<size_t>(
        {waits.size(), room - kLeastTimelineRows - 2, room / 3});
    lines_.push_back(
        Heading(most < waits.size()
                    ? "Waiting · " + std::to_string(waits.size()) + " in all"
                    : "Waiting",
                width_));
    waits.resize(most);
    Add(std::move(waits));
    lines_.push_back(Line().FitTo(width_));
    return most + 2;
  }

  const MonitorModel& model_;
  const size_t width_;
  const size_t rows_;
  const ScreenAbout& about_;
  Ages& ages_;
  std::vector<Line> lines_;
  MonitorModel::Extent extent_;
};

}  // namespace

ScreenText ComposeScreen(const MonitorModel& model, absl::Time now,
                         ScreenSize size, const ScreenAbout& about) {
  ScreenText screen;
  if (size.rows == 0 || size.columns == 0) return screen;
  const size_t width = size.columns;
  Ages ages(now);
  std::vector<Line>& lines = screen.lines;
  if (size.rows > 1) lines.push_back(HeaderLine(model, width, about, ages));
  if (size.rows > 4) {
    const size_t most = size.rows >= kRowsForNotices ? 3 : 1;
    for (Line& line : NoticeLines(model, width, most, about, ages)) {
      lines.push_back(std::move(line));
    }
  }
  const bool has_traffic =
      size.rows >= kRowsForTraffic && model.overview().has_value();
  // An empty row above and below the table, where they have room.
  const bool is_airy = size.rows >= kRowsForTraffic;
  if (is_airy) lines.push_back(Line().FitTo(width));
  const size_t bottom = 1 + (has_traffic ? 2 : 0);
  const size_t body_rows =
      size.rows - std::min(size.rows, lines.size() + bottom);
  const size_t body_begins = lines.size();
  Body body(model, width, body_rows, about, ages);
  for (Line& line : body.Make()) lines.push_back(std::move(line));
  screen.extent = body.extent();
  if (has_traffic) {
    lines.push_back(Line().FitTo(width));
    lines.push_back(TrafficLine(*model.overview(), width, ages));
  }
  if (!model.problem().empty() && !model.shows_help()) {
    for (size_t i = body_begins; i < lines.size(); ++i) lines[i].faded = true;
  }
  lines.push_back(FooterLine(model, width, about));
  screen.until_change = ages.until_change();
  return screen;
}

}  // namespace intercom
