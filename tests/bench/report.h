#ifndef PI_INTERCOM_TESTS_BENCH_REPORT_H_
#define PI_INTERCOM_TESTS_BENCH_REPORT_H_

#include <string>
#include <vector>

#include "tests/bench/samples.h"

namespace intercom::bench {

// The table that the benchmark prints: each figure of the broker beside what
// the machine allows, and their ratio.
class Report {
 public:
  // Medians and 99th percentiles in microseconds, and the ratios of both.
  void AddLatency(const std::string& what, const Samples& ours,
                  const Samples& floor);
  // Messages a second; the ratio says how much faster the floor is.
  void AddRate(const std::string& what, double ours, double floor);
  void AddMilliseconds(const std::string& what, const Samples& ours,
                       const Samples* floor);
  void AddText(const std::string& what, const std::string& ours,
               const std::string& floor = "", const std::string& ratio = "");

  void Print() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string Decimal(double value, int digits);
// 12345 as 12,345.
std::string Thousands(double value);

}  // namespace intercom::bench

#endif  // PI_INTERCOM_TESTS_BENCH_REPORT_H_
