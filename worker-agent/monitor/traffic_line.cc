#include <algorithm>
#include <optional>

#include "broker/base/proto_time.h"
#include "worker-agent/monitor/panes.h"

namespace intercom {
namespace {

constexpr size_t kMinutes = 60;

// One sign for each value, the highest of them the full height; a space where
// there is none.
std::string Sparks(const std::vector<std::optional<double>>& values) {
  static constexpr std::string_view kLevels[] = {"▁", "▂", "▃", "▄",
                                                 "▅", "▆", "▇", "█"};
  double highest = 0;
  for (const auto& value : values)
    highest = std::max(highest, value.value_or(0));
  std::string text;
  for (const auto& value : values) {
    if (!value.has_value()) {
      text += ' ';
      continue;
    }
    const double share = highest > 0 ? *value / highest : 0;
    text += kLevels[static_cast<size_t>(share * 7 + (share > 0 ? 0.5 : 0))];
  }
  return text;
}

// The last `count` of them, with gaps before where there are fewer.
std::string LastSparks(std::vector<std::optional<double>> values,
                       size_t count) {
  if (values.size() > count) {
    values.erase(values.begin(), values.end() - static_cast<ptrdiff_t>(count));
  }
  values.insert(values.begin(), count - values.size(), std::nullopt);
  return Sparks(values);
}

bool HasTraffic(const v1::TrafficMinute& minute) {
  return minute.messages() > 0 || minute.has_median_latency();
}

}  // namespace

Line TrafficLine(const v1::WatchOverviewResponse& overview, size_t width,
                 Ages& ages) {
  std::vector<std::optional<double>> messages;
  std::vector<std::optional<double>> latencies;
  int32_t peak = 0;
  std::optional<absl::Duration> median;
  std::vector<v1::TrafficMinute> minutes(overview.minutes().begin(),
                                         overview.minutes().end());
  if (std::any_of(minutes.begin(), minutes.end(), HasTraffic)) {
    const auto passed = std::min<size_t>(
        static_cast<size_t>(ages.MinutesSince(overview.at())), kMinutes);
    minutes.erase(minutes.begin(),
                  minutes.begin() +
                      static_cast<ptrdiff_t>(std::min(passed, minutes.size())));
    minutes.resize(minutes.size() + passed);
  }
  for (const v1::TrafficMinute& minute : minutes) {
    messages.emplace_back(minute.messages());
    peak = std::max(peak, minute.messages());
    if (!minute.has_median_latency()) {
      latencies.emplace_back();
      continue;
    }
    median = FromProtoDuration(minute.median_latency());
    latencies.emplace_back(absl::ToDoubleSeconds(*median));
  }
  const int32_t present = minutes.empty() ? 0 : minutes.back().messages();
  const std::string rate =
      std::to_string(present) + "/min, peak " + std::to_string(peak);
  const std::string wait = median.has_value() ? LatencyText(*median) : "-";
  const bool has_both = width >= 70;
  // "Messages " and " 12/min, peak 14" with room for three digits each.
  const size_t around = has_both ? 9 + 19 + 3 + 8 + 7 : 9 + 17;
  const size_t sparks = std::min(
      (width - std::min(width, around)) / (has_both ? 2 : 1), kMinutes);
  Line line;
  line.Add("Messages ", Style::kFaint)
      .Add(LastSparks(std::move(messages), sparks), Style::kGood)
      .Pad(1)
      .AddCell(rate, has_both ? 18 : 16);
  if (has_both) {
    line.Pad(3)
        .Add("Latency ", Style::kFaint)
        .Add(LastSparks(std::move(latencies), sparks))
        .Pad(1)
        .Add(wait);
  }
  return line.FitTo(width);
}

}  // namespace intercom
