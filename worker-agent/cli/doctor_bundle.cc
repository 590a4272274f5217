#include "worker-agent/cli/doctor_bundle.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>
#include <utility>

#include "google/protobuf/util/json_util.h"
#include "worker-agent/cli/doctor_findings.h"
#include "worker-agent/cli/redactor.h"

namespace intercom {
namespace {

constexpr size_t kLineBytes = 500;

constexpr char kAbout[] =
    "What intercom doctor --bundle gathered: its report, what the broker "
    "says of itself and of who\nis there, and the ends of the logs. Texts of "
    "messages, tokens, names and private paths are taken\nout: n1, n2 … stand "
    "for names, w1, w2 … for workspaces, ~ for the home directory, <state> "
    "for\nthe state directory. Ids are real. Look through it before you give "
    "it away.\n";

std::string JsonOf(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  std::string json;
  return google::protobuf::util::MessageToJsonString(message, &json, options)
                 .ok()
             ? json
             : "{}\n";
}

// "2026-11-30T12:03:04.567 I …": what else is there, is no line of the log.
bool IsLogLine(std::string_view line) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00.000 X ";
  if (line.size() < kShape.size()) return false;
  for (size_t i = 0; i < kShape.size(); ++i) {
    const auto byte = static_cast<unsigned char>(line[i]);
    if (kShape[i] == '0'   ? std::isdigit(byte) == 0
        : kShape[i] == 'X' ? std::isupper(byte) == 0
                           : line[i] != kShape[i]) {
      return false;
    }
  }
  return true;
}

std::string CleanLog(std::string_view log, const Redactor& redactor) {
  std::string result;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    result += IsLogLine(line)
                  ? redactor.Clean(line).substr(0, kLineBytes) + "\n"
                  : "[a line that is no log's]\n";
  }
  return result;
}

}  // namespace

std::vector<ArchiveFile> MakeBundle(BundleParts parts) {
  Redactor redactor(parts.home, parts.state);
  redactor.Word(parts.account, "user");
  redactor.Word(parts.machine, "machine");
  for (const std::string& secret : parts.secrets) redactor.Secret(secret);
  std::vector<ArchiveFile> files;
  files.push_back({"README.txt", kAbout});
  // Twice: what the last answer names may stand in a text of the first.
  for (const BundleParts::Answer& answer : parts.answers) {
    const std::unique_ptr<google::protobuf::Message> copy(
        answer.message->New());
    copy->CopyFrom(*answer.message);
    redactor.Clean(*copy);
  }
  for (BundleParts::Answer& answer : parts.answers) {
    redactor.Clean(*answer.message);
    files.push_back({answer.file, JsonOf(*answer.message)});
  }
  files.push_back(
      {"report.txt",
       redactor.Clean(DoctorText(parts.report, Terminal(/*colour=*/false)))});
  for (const ArchiveFile& log : parts.logs) {
    files.push_back({"logs/" + log.name, CleanLog(log.text, redactor)});
  }
  return files;
}

}  // namespace intercom
