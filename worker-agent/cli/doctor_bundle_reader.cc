#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "broker/base/home.h"
#include "worker-agent/cli/doctor_bundle.h"

namespace intercom {
namespace {

namespace fs = std::filesystem;

constexpr std::streamoff kLogBytes = 64 * 1024;
constexpr size_t kMostLogs = 8;

template <typename Response>
void Add(BundleParts& parts, const std::string& file,
         absl::StatusOr<Response> answer) {
  if (!answer.ok()) return;
  parts.answers.push_back(
      {file, std::make_unique<Response>(*std::move(answer))});
}

void AddAnswers(BrokerClient& client, const std::string& directory,
                BundleParts& parts) {
  Add(parts, "broker.json", client.GetBroker());
  Add(parts, "metrics.json", client.GetMetrics());
  v1::ListSessionsRequest sessions;
  sessions.set_with_away(true);
  Add(parts, "sessions.json", client.ListSessions(sessions));
  Add(parts, "attachments.json", client.ListAttachments());
  Add(parts, "workspaces.json", client.ListWorkspaces());
  v1::GetWorkspaceRequest workspace;
  workspace.set_directory(directory);
  Add(parts, "workspace.json", client.GetWorkspace(workspace));
  Add(parts, "mailboxes.json", client.ListMailboxes());
  v1::ListJobsRequest jobs;
  jobs.set_limit(200);
  Add(parts, "jobs.json", client.ListJobs(jobs));
  v1::ListAllRunsRequest runs;
  runs.set_limit(500);
  Add(parts, "runs.json", client.ListAllRuns(runs));
  Add(parts, "asks.json", client.ListOpenAsks(v1::ListOpenAsksRequest()));
  // Only to know what must not be in the logs.
  v1::ListMessagesRequest messages;
  messages.set_page_size(200);
  if (const auto latest = client.ListMessages(messages); latest.ok()) {
    for (const v1::DeliveryRecord& record : latest->records()) {
      parts.secrets.push_back(record.envelope().text());
    }
  }
}

// The last lines, from the first whole one on.
std::string EndOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "";
  const std::streamoff bytes = file.tellg();
  file.seekg(std::max<std::streamoff>(0, bytes - kLogBytes));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (bytes > kLogBytes) text.erase(0, text.find('\n') + 1);
  return text;
}

void AddLogs(const std::string& state, BundleParts& parts) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(LogDirectory(state), error), end;
       !error && at != end; at.increment(error)) {
    // Others are not the broker's, and may be called by anything.
    const std::string name = at->path().filename().string();
    if (name.starts_with("broker.") && name.ends_with(".log")) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  if (names.size() > kMostLogs) names.resize(kMostLogs);
  for (const std::string& name : names) {
    parts.logs.push_back({name, EndOf(fs::path(LogDirectory(state)) / name)});
  }
}

std::string Account() {
  const passwd* account = getpwuid(getuid());
  return account == nullptr ? "" : account->pw_name;
}

std::string Machine() {
  char name[256] = "";
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

}  // namespace

BundleParts GatherBundle(BrokerClient& client, const std::string& state,
                         const std::string& directory, bool is_running,
                         v1::DoctorReport report) {
  BundleParts parts;
  parts.report = std::move(report);
  parts.home = AccountHome().value_or("");
  parts.state = state;
  parts.account = Account();
  parts.machine = Machine();
  std::ifstream token(TokenPath(state));
  std::string line;
  if (std::getline(token, line)) parts.secrets.push_back(line);
  if (is_running) AddAnswers(client, directory, parts);
  AddLogs(state, parts);
  return parts;
}

}  // namespace intercom
