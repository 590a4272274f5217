#ifndef PI_INTERCOM_WORKER_AGENT_MONITOR_SCREEN_EDGES_H_
#define PI_INTERCOM_WORKER_AGENT_MONITOR_SCREEN_EDGES_H_

#include <cstddef>
#include <vector>

#include "worker-agent/monitor/ages.h"
#include "worker-agent/monitor/line.h"
#include "worker-agent/monitor/model.h"
#include "worker-agent/monitor/screen_text.h"

namespace intercom {

// The rows at the top and the bottom of the screen. Pure.

// Whose sessions these are, and how many need something.
Line HeaderLine(const MonitorModel& model, size_t width,
                const ScreenAbout& about, Ages& ages);

// What a person should know before the table, the worst first: that the broker
// is away and how old the picture is, that a config is invalid, what the broker
// says of itself. At most `most`.
std::vector<Line> NoticeLines(const MonitorModel& model, size_t width,
                              size_t most, const ScreenAbout& about,
                              Ages& ages);

// The keys, how to quit first, and the version at the right end. What has no
// room goes: the version last but for how to quit.
Line FooterLine(const MonitorModel& model, size_t width,
                const ScreenAbout& about);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_MONITOR_SCREEN_EDGES_H_
