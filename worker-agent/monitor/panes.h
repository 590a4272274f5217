#ifndef PI_INTERCOM_WORKER_AGENT_MONITOR_PANES_H_
#define PI_INTERCOM_WORKER_AGENT_MONITOR_PANES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "worker-agent/monitor/ages.h"
#include "worker-agent/monitor/line.h"
#include "worker-agent/monitor/model.h"

namespace intercom {

// The parts of the screen, each made of the model for a width. Pure: no row is
// wider, and what is other people's text is safe.

// Columns of a time of day, or an age, that begins a row of that width.
size_t ClockColumns(size_t width);
// Columns for "Ann → Bob" in a row of that width, the same in all panes. Names
// far apart are hard to read together.
size_t NamesColumns(size_t width);
// Both names in so many columns, or the first alone.
Line NamesLine(const std::string& from, const std::string& to, size_t columns,
               Style arrow);

// "Timeline ───────".
Line Heading(std::string_view title, size_t width);

// The table: its heading, then `rows` rows or fewer, of which the last says how
// many there are if they have no room. With `shows_roots`, a row with its root
// stands above the first session of each workspace.
std::vector<Line> TablePane(const MonitorModel& model, size_t width,
                            size_t rows, Ages& ages);
// How many rows TablePane() has use for.
size_t TableRows(const MonitorModel& model);

// What happened, the newest first, in `rows` rows. `has_selection`: whether one
// is marked as selected.
std::vector<Line> TimelinePane(const MonitorModel& model, size_t width,
                               size_t rows, bool has_selection);
Line TimelineRow(const TimelineItem& item, size_t width);

// Who waits for whom, those that wait longest first.
std::vector<Line> WaitsPane(const MonitorModel& model, size_t width,
                            Ages& ages);

// All that is told of the selected session.
std::vector<Line> DetailsPane(const MonitorModel& model, size_t width,
                              Ages& ages);

// The message that was asked for.
std::vector<Line> BodyPane(const MonitorModel& model, size_t width);

// Messages a minute and how long they took, the last hour. It goes on while no
// overview comes.
Line TrafficLine(const v1::WatchOverviewResponse& overview, size_t width,
                 Ages& ages);

// The keys, and `notes` below them.
std::vector<Line> HelpPane(size_t width, const std::vector<std::string>& notes);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_MONITOR_PANES_H_
