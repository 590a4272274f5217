#include "worker-agent/cli/doctor_findings.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "broker/domain/fence.h"

namespace intercom {
namespace {

constexpr size_t kTextCharacters = 4096;
constexpr size_t kWordColumns = 8;

std::string_view Word(v1::Finding::Severity severity) {
  switch (severity) {
    case v1::Finding::SEVERITY_ERROR:
      return "error";
    case v1::Finding::SEVERITY_WARNING:
      return "warning";
    case v1::Finding::SEVERITY_NOTE:
      return "note";
    default:
      return "ok";
  }
}

std::string Marked(v1::Finding::Severity severity, const Terminal& terminal) {
  const std::string_view word = Word(severity);
  const std::string pad(kWordColumns - word.size(), ' ');
  switch (severity) {
    case v1::Finding::SEVERITY_ERROR:
      return terminal.Red(word) + pad;
    case v1::Finding::SEVERITY_WARNING:
      return terminal.Bold(word) + pad;
    default:
      return terminal.Dim(word) + pad;
  }
}

int CountOf(const v1::DoctorReport& report, v1::Finding::Severity severity) {
  return static_cast<int>(std::count_if(report.findings().begin(),
                                        report.findings().end(),
                                        [severity](const v1::Finding& one) {
                                          return one.severity() == severity;
                                        }));
}

std::string Counted(int count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

}  // namespace

void DoctorFindings::Add(v1::Finding::Severity severity, std::string_view check,
                         std::string what, std::string remedy) {
  v1::Finding& finding = *report_.add_findings();
  finding.set_check(std::string(check));
  finding.set_severity(severity);
  // A message of protobuf holds UTF-8 alone.
  finding.set_what(SafeLabel(what, kTextCharacters));
  if (!remedy.empty()) finding.set_remedy(SafeLabel(remedy, kTextCharacters));
}

void DoctorFindings::Ok(std::string_view check, std::string what) {
  Add(v1::Finding::SEVERITY_OK, check, std::move(what), "");
}

void DoctorFindings::Note(std::string_view check, std::string what,
                          std::string remedy) {
  Add(v1::Finding::SEVERITY_NOTE, check, std::move(what), std::move(remedy));
}

void DoctorFindings::Warning(std::string_view check, std::string what,
                             std::string remedy) {
  Add(v1::Finding::SEVERITY_WARNING, check, std::move(what), std::move(remedy));
}

void DoctorFindings::Error(std::string_view check, std::string what,
                           std::string remedy) {
  Add(v1::Finding::SEVERITY_ERROR, check, std::move(what), std::move(remedy));
}

v1::DoctorReport DoctorFindings::Report() const {
  v1::DoctorReport report = report_;
  std::stable_sort(report.mutable_findings()->begin(),
                   report.mutable_findings()->end(),
                   [](const v1::Finding& a, const v1::Finding& b) {
                     return a.severity() > b.severity();
                   });
  return report;
}

int ErrorsIn(const v1::DoctorReport& report) {
  return CountOf(report, v1::Finding::SEVERITY_ERROR);
}

std::string DoctorText(const v1::DoctorReport& report,
                       const Terminal& terminal) {
  std::string text;
  for (const v1::Finding& finding : report.findings()) {
    text += Marked(finding.severity(), terminal) +
            SafeLabel(finding.what(), kTextCharacters) + "\n";
    if (!finding.remedy().empty()) {
      text += std::string(kWordColumns + 2, ' ') +
              SafeLabel(finding.remedy(), kTextCharacters) + "\n";
    }
  }
  const int errors = ErrorsIn(report);
  const int warnings = CountOf(report, v1::Finding::SEVERITY_WARNING);
  return text +
         terminal.Bold(errors + warnings == 0
                           ? "Nothing is wrong."
                           : Counted(errors, "error") + ", " +
                                 Counted(warnings, "warning") + ".") +
         "\n";
}

}  // namespace intercom
