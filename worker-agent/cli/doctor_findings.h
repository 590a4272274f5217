#ifndef PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_FINDINGS_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_FINDINGS_H_

#include <string>
#include <string_view>

#include "intercom/v1/doctor.pb.h"
#include "worker-agent/cli/terminal.h"

namespace intercom {

// Collects what was found, in the order of the checks. Texts may hold anything:
// they are made safe when they are shown.
class DoctorFindings {
 public:
  void Ok(std::string_view check, std::string what);
  void Note(std::string_view check, std::string what, std::string remedy = "");
  void Warning(std::string_view check, std::string what, std::string remedy);
  void Error(std::string_view check, std::string what, std::string remedy);

  // The worst first.
  v1::DoctorReport Report() const;

 private:
  void Add(v1::Finding::Severity severity, std::string_view check,
           std::string what, std::string remedy);

  v1::DoctorReport report_;
};

// How many of the findings are errors.
int ErrorsIn(const v1::DoctorReport& report);

// A line for each finding, remedies indented below, and the sum.
std::string DoctorText(const v1::DoctorReport& report,
                       const Terminal& terminal);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_FINDINGS_H_
