#ifndef PI_INTERCOM_WORKER_AGENT_MONITOR_SCREEN_TEXT_H_
#define PI_INTERCOM_WORKER_AGENT_MONITOR_SCREEN_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "worker-agent/monitor/line.h"
#include "worker-agent/monitor/model.h"

namespace intercom {

struct ScreenSize {
  size_t rows = 0;
  size_t columns = 0;
  friend bool operator==(const ScreenSize&, const ScreenSize&) = default;
};

// What the screen says of the program.
struct ScreenAbout {
  std::string version;
  // Shown as "~"; may be empty.
  std::string person_home;
  // Below the keys, in the help.
  std::vector<std::string> notes;
};

struct ScreenText {
  // As many as the screen has rows, each as wide as it.
  std::vector<Line> lines;
  MonitorModel::Extent extent;
  // When an age reads differently. Infinite without an age.
  absl::Duration until_change = absl::InfiniteDuration();
};

// A details pane has so many rows, or is not shown.
inline constexpr size_t kLeastDetailsRows = 8;

// The whole screen: what it is about, what is wrong, the table with what there
// is room for below it, or what stands over it; traffic; keys. Pure.
ScreenText ComposeScreen(const MonitorModel& model, absl::Time now,
                         ScreenSize size, const ScreenAbout& about);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_MONITOR_SCREEN_TEXT_H_
