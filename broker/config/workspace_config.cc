#include "broker/config/workspace_config.h"

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/config/json_syntax.h"
#include "broker/config/project_path.h"
#include "broker/domain/text_rules.h"

namespace intercom {
namespace {

using nlohmann::json;
using Pointer = json::json_pointer;

constexpr std::string_view kCoordinatorName = "Coordinator";

const std::set<std::string>& Multiplexers() {
  static const auto& names =
      *new std::set<std::string>{"herdr", "tmux", "none", "headless"};
  return names;
}

// Reads members of one object of the file; every problem names the file and
// the member's JSON pointer.
class Members {
 public:
  Members(const json& object, Pointer at, std::string_view path)
      : object_(object), at_(std::move(at)), path_(path) {}

  bool Has(const char* key) const { return object_.contains(key); }

  absl::Status Fail(const std::string& key, std::string_view what) const {
    return ConfigInvalid(
        path_, absl::StrCat((at_ / key).to_string(), " ",
                            absl::string_view(what.data(), what.size())));
  }

  absl::StatusOr<std::string> Text(const char* key, size_t min,
                                   size_t max) const {
    const auto found = object_.find(key);
    if (found == object_.end()) return Fail(key, "is missing");
    if (!found->is_string()) return Fail(key, "is not a string");
    std::string text = found->get<std::string>();
    const size_t count = CharacterCount(text);
    if (count < min) return Fail(key, "is empty");
    if (count > max) {
      return Fail(key, absl::StrCat("is longer than ", max, " characters"));
    }
    return text;
  }

  absl::StatusOr<int> Integer(const char* key, int min, int max) const {
    const auto found = object_.find(key);
    if (found == object_.end()) return Fail(key, "is missing");
    const double value = found->is_number() ? found->get<double>() : NAN;
    if (!(value >= min && value <= max) || value != std::floor(value)) {
      return Fail(key, min == max ? absl::StrCat("is not ", min)
                                  : absl::StrCat("is not a whole number from ",
                                                 min, " to ", max));
    }
    return static_cast<int>(value);
  }

  absl::StatusOr<bool> Boolean(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) return Fail(key, "is missing");
    if (!found->is_boolean()) return Fail(key, "is not true or false");
    return found->get<bool>();
  }

  // Letters, digits and `extra`, 1 to `max`.
  absl::StatusOr<std::string> Word(const char* key, size_t max,
                                   char extra) const {
    INTERCOM_ASSIGN_OR_RETURN(std::string text, Text(key, 1, max));
    for (const char c : text) {
      const bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
      if (!letter && !(c >= '0' && c <= '9') && c != extra) {
        return Fail(key, "has characters other than letters, digits and " +
                             std::string(1, extra));
      }
    }
    return text;
  }

  absl::StatusOr<absl::Time> Time(const char* key) const {
    INTERCOM_ASSIGN_OR_RETURN(const std::string text, Text(key, 1, 32));
    absl::Time time;
    // ParseTime also takes "infinite-future".
    const bool starts_with_digit = text[0] >= '0' && text[0] <= '9';
    if (!starts_with_digit ||
        !absl::ParseTime(absl::RFC3339_full, text, &time, nullptr)) {
      return Fail(key, "is not a time like 2026-01-31T12:00:00Z");
    }
    return time;
  }

  absl::StatusOr<std::string> OneOf(
      const char* key, const std::set<std::string>& allowed) const {
    INTERCOM_ASSIGN_OR_RETURN(std::string text, Text(key, 0, SIZE_MAX));
    if (allowed.count(text) > 0) return text;
    std::string list;
    for (const std::string& word : allowed) {
      absl::StrAppend(&list, list.empty() ? "" : ", ", word);
    }
    return Fail(key, "is none of " + list);
  }

  absl::StatusOr<Members> Object(const char* key,
                                 const std::set<std::string>& known) const {
    const json& object = object_.at(key);
    if (!object.is_object()) return Fail(key, "is not an object");
    Members members(object, at_ / std::string(key), path_);
    for (const auto& item : object.items()) {
      if (known.count(item.key()) == 0) {
        return members.Fail(item.key(), "is not a known key");
      }
    }
    return members;
  }

 private:
  const json& object_;
  const Pointer at_;
  const std::string_view path_;
};

absl::StatusOr<v1::Handoff> ReadHandoff(const Members& agent) {
  INTERCOM_ASSIGN_OR_RETURN(
      const Members handoff,
      agent.Object("handoff", {"version", "jobId", "summary", "updatedAt"}));
  INTERCOM_RETURN_IF_ERROR(handoff.Integer("version", 1, 1).status());
  v1::Handoff read;
  INTERCOM_ASSIGN_OR_RETURN(*read.mutable_job_id(),
                            handoff.Word("jobId", 128, '-'));
  INTERCOM_ASSIGN_OR_RETURN(*read.mutable_summary(),
                            handoff.Text("summary", 0, 4000));
  INTERCOM_ASSIGN_OR_RETURN(const absl::Time updated,
                            handoff.Time("updatedAt"));
  *read.mutable_updated_at() = ToProto(updated);
  return read;
}

absl::StatusOr<v1::Job> ReadCloseJob(const Members& agent) {
  static const auto& states = *new std::map<std::string, v1::Job::State>{
      {"requested", v1::Job::STATE_REQUESTED},
      {"awaiting_handoff", v1::Job::STATE_AWAITING_HANDOFF},
      {"awaiting_settlement", v1::Job::STATE_AWAITING_SETTLEMENT},
      {"ready", v1::Job::STATE_READY},
      {"closing", v1::Job::STATE_CLOSING},
      {"closed", v1::Job::STATE_SUCCEEDED},
      {"failed", v1::Job::STATE_FAILED},
      {"timed_out", v1::Job::STATE_TIMED_OUT},
      {"interrupted", v1::Job::STATE_INTERRUPTED},
      {"uncertain", v1::Job::STATE_UNCERTAIN}};
  INTERCOM_ASSIGN_OR_RETURN(
      const Members job,
      agent.Object("closeJob", {"jobId", "state", "createdAt", "updatedAt",
                                "deadlineAt", "reason"}));
  v1::Job read;
  read.set_kind(v1::Job::KIND_CLOSE);
  INTERCOM_ASSIGN_OR_RETURN(*read.mutable_job_id(),
                            job.Word("jobId", 128, '-'));
  std::set<std::string> words;
  for (const auto& [word, state] : states) words.insert(word);
  INTERCOM_ASSIGN_OR_RETURN(const std::string state, job.OneOf("state", words));
  read.set_state(states.at(state));
  INTERCOM_ASSIGN_OR_RETURN(const absl::Time created, job.Time("createdAt"));
  INTERCOM_ASSIGN_OR_RETURN(const absl::Time updated, job.Time("updatedAt"));
  INTERCOM_ASSIGN_OR_RETURN(const absl::Time deadline, job.Time("deadlineAt"));
  *read.mutable_created_at() = ToProto(created);
  *read.mutable_updated_at() = ToProto(updated);
  *read.mutable_deadline_at() = ToProto(deadline);
  if (job.Has("reason")) {
    INTERCOM_ASSIGN_OR_RETURN(*read.mutable_reason(),
                              job.Word("reason", 64, '_'));
  }
  return read;
}

absl::Status CheckRole(const Members& agent, const v1::AgentEntry& entry) {
  if (entry.coordinator()) {
    if (entry.name() != kCoordinatorName) {
      return agent.Fail("name", "is not Coordinator, the coordinator's name");
    }
    if (entry.project_directory() != ".") {
      return agent.Fail("projectDirectory", "of the coordinator is not .");
    }
    for (const char* key : {"handoff", "closeJob"}) {
      if (agent.Has(key)) return agent.Fail(key, "is for workers only");
    }
    return agent.Has("dashboardPort")
               ? agent.Integer("dashboardPort", 1, 65535).status()
               : absl::OkStatus();
  }
  if (FoldName(entry.name()) == FoldName(kCoordinatorName)) {
    return agent.Fail("name", "is the coordinator's; choose another");
  }
  if (agent.Has("dashboardPort")) {
    return agent.Fail("dashboardPort", "is for the coordinator only");
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::AgentEntry> ReadAgent(const Members& agent) {
  INTERCOM_ASSIGN_OR_RETURN(std::string id, agent.Text("sessionId", 1, 256));
  if (IsBlank(id)) return agent.Fail("sessionId", "is blank");
  if (id.find('\0') != std::string::npos) {
    return agent.Fail("sessionId", "contains NUL");
  }
  INTERCOM_ASSIGN_OR_RETURN(std::string name, agent.Text("name", 1, 128));
  if (HasControlCharacter(name)) {
    return agent.Fail("name", "contains a control character");
  }
  if (!IsTrimmed(name)) {
    return agent.Fail("name", "starts or ends with white space");
  }
  INTERCOM_ASSIGN_OR_RETURN(const bool coordinator,
                            agent.Boolean("coordinator"));
  INTERCOM_ASSIGN_OR_RETURN(std::string description,
                            agent.Text("description", 1, 4096));
  INTERCOM_ASSIGN_OR_RETURN(const int port, agent.Integer("port", 1, 65535));
  INTERCOM_ASSIGN_OR_RETURN(std::string directory,
                            agent.Text("projectDirectory", 0, SIZE_MAX));
  if (const std::string why = WhyNotProjectDirectory(directory); !why.empty()) {
    return agent.Fail("projectDirectory", why);
  }
  v1::AgentEntry entry;
  // Lengths keep the fields apart; the low half of the hash is enough here.
  entry.set_entry_hash(
      ContentHash(absl::StrCat(coordinator ? "c" : "w", name.size(), ":", name,
                               description))
          .substr(16));
  entry.set_session_id(std::move(id));
  entry.set_name(std::move(name));
  entry.set_coordinator(coordinator);
  entry.set_description(std::move(description));
  entry.set_port(port);
  entry.set_project_directory(std::move(directory));
  INTERCOM_RETURN_IF_ERROR(CheckRole(agent, entry));
  if (agent.Has("handoff")) {
    INTERCOM_ASSIGN_OR_RETURN(*entry.mutable_recorded_handoff(),
                              ReadHandoff(agent));
  }
  if (agent.Has("closeJob")) {
    INTERCOM_ASSIGN_OR_RETURN(*entry.mutable_recorded_close_job(),
                              ReadCloseJob(agent));
  }
  return entry;
}

}  // namespace

absl::StatusOr<WorkspaceConfig> WorkspaceConfig::Parse(std::string_view bytes,
                                                       std::string_view path) {
  INTERCOM_ASSIGN_OR_RETURN(const json file, ParseConfigJson(bytes, path));
  if (!file.is_object()) return ConfigInvalid(path, "is not a JSON object");
  const Members top(file, Pointer(), path);
  INTERCOM_RETURN_IF_ERROR(top.Integer("version", 1, 1).status());
  WorkspaceConfig config;
  config.multiplexer_ = "herdr";
  if (top.Has("multiplexer")) {
    INTERCOM_ASSIGN_OR_RETURN(config.multiplexer_,
                              top.OneOf("multiplexer", Multiplexers()));
  }
  if (!top.Has("agents")) return top.Fail("agents", "is missing");
  const json& agents = file["agents"];
  if (!agents.is_array()) return top.Fail("agents", "is not an array");

  std::set<std::string> names;
  std::set<std::string> ids;
  size_t coordinators = 0;
  for (size_t i = 0; i < agents.size(); ++i) {
    if (!agents[i].is_object()) {
      return top.Fail("agents",
                      absl::StrCat("has an entry that is no object: ", i));
    }
    const Members agent(agents[i], Pointer("/agents") / i, path);
    INTERCOM_ASSIGN_OR_RETURN(v1::AgentEntry entry, ReadAgent(agent));
    if (!ids.insert(entry.session_id()).second) {
      return agent.Fail("sessionId", "is used by another entry");
    }
    if (entry.coordinator()) {
      if (++coordinators > 1) {
        return agent.Fail("coordinator", "marks a second coordinator");
      }
      config.coordinator_ = i;
    }
    if (!names.insert(FoldName(entry.name())).second) {
      return agent.Fail("name", "is used by another entry");
    }
    config.agents_.push_back(std::move(entry));
  }
  if (coordinators == 0) return top.Fail("agents", "has no coordinator");
  config.hash_ = ContentHash(bytes);
  return config;
}

const v1::AgentEntry* WorkspaceConfig::FindByName(std::string_view name) const {
  const std::string folded = FoldName(name);
  for (const v1::AgentEntry& entry : agents_) {
    if (FoldName(entry.name()) == folded) return &entry;
  }
  return nullptr;
}

const v1::AgentEntry* WorkspaceConfig::FindBySession(
    std::string_view session_id) const {
  for (const v1::AgentEntry& entry : agents_) {
    if (entry.session_id() == session_id) return &entry;
  }
  return nullptr;
}

bool WorkspaceConfig::IsMultiplexer(std::string_view name) {
  return Multiplexers().count(std::string(name)) > 0;
}

}  // namespace intercom
