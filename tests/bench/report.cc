#include "tests/bench/report.h"

#include <cmath>
#include <cstdio>

namespace intercom::bench {
namespace {

std::string Quantiles(const Samples& samples) {
  return Thousands(samples.p50()) + " / " + Thousands(samples.p99()) + " µs";
}

}  // namespace

std::string Decimal(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

std::string Thousands(double value) {
  std::string text = std::to_string(std::llround(value));
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

void Report::AddLatency(const std::string& what, const Samples& ours,
                        const Samples& floor) {
  AddText(what, Quantiles(ours), Quantiles(floor),
          Decimal(ours.p50() / floor.p50(), 1) + " / " +
              Decimal(ours.p99() / floor.p99(), 1));
}

void Report::AddRate(const std::string& what, double ours, double floor) {
  AddText(what, Thousands(ours) + " /s", Thousands(floor) + " /s",
          Decimal(floor / ours, 1));
}

void Report::AddMilliseconds(const std::string& what, const Samples& ours,
                             const Samples* floor) {
  const auto text = [](const Samples& samples) {
    return Decimal(samples.p50() / 1000, 1) + " ms";
  };
  if (floor == nullptr) return AddText(what, text(ours));
  AddText(what, text(ours), text(*floor),
          Decimal(ours.p50() / floor->p50(), 1));
}

void Report::AddText(const std::string& what, const std::string& ours,
                     const std::string& floor, const std::string& ratio) {
  rows_.push_back(
      {what, ours, floor.empty() ? "–" : floor, ratio.empty() ? "–" : ratio});
}

void Report::Print() const {
  std::printf("| what | broker | floor | ratio |\n|---|---|---|---|\n");
  for (const auto& row : rows_) {
    for (const std::string& cell : row) std::printf("| %s ", cell.c_str());
    std::printf("|\n");
  }
}

}  // namespace intercom::bench
