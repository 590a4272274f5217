#include "broker/config/config_edit.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/config/config_splice.h"

namespace intercom {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr char kCoordinatorDescription[] =
    "Leads this workspace: plans, hands out work and reviews the results.";

ordered_json ToJson(const v1::AgentEntry& agent, bool coordinator) {
  return {{"sessionId", agent.session_id()},
          {"name", agent.name()},
          {"coordinator", coordinator},
          {"description", agent.description()},
          {"port", agent.port()},
          {"projectDirectory", agent.project_directory()}};
}

absl::StatusOr<std::string> ChangeEntry(std::string_view bytes,
                                        const EntryText& entry,
                                        const ordered_json& wanted) {
  std::vector<Splice> splices;
  for (const MemberSpan& member : MemberSpans(bytes, entry.span)) {
    const auto value = wanted.find(member.key);
    if (value == wanted.end() || json(*value) == entry.value[member.key]) {
      continue;
    }
    INTERCOM_ASSIGN_OR_RETURN(std::string text, Dump(*value, -1));
    splices.push_back({member.value, std::move(text)});
  }
  return Checked(ApplySplices(bytes, std::move(splices)));
}

// Appends an entry behind `last`, in the way in which `last` is written.
absl::StatusOr<std::string> AddEntry(std::string_view bytes, Span last,
                                     const ordered_json& wanted) {
  const std::string_view line_indent = LineIndent(bytes, last.begin);
  const bool own_line = line_indent.data() != nullptr;
  INTERCOM_ASSIGN_OR_RETURN(
      std::string text, DumpAs(bytes, line_indent,
                               own_line && HasManyLines(bytes, last), wanted));
  text = NextOf(bytes, line_indent) + text;
  return Checked(
      ApplySplices(bytes, {{{last.end, last.end}, std::move(text)}}));
}

absl::Status NoEntry(std::string_view session_id) {
  return Error(absl::StatusCode::kNotFound, "NO_ENTRY",
               "no agent with session id " + std::string(session_id));
}

}  // namespace

absl::StatusOr<std::string> UpsertWorker(std::string_view bytes,
                                         const v1::AgentEntry& agent) {
  INTERCOM_ASSIGN_OR_RETURN(const std::vector<EntryText> entries,
                            Entries(bytes));
  const ordered_json wanted = ToJson(agent, /*coordinator=*/false);
  for (const EntryText& entry : entries) {
    if (entry.value["sessionId"].get<std::string>() != agent.session_id()) {
      continue;
    }
    if (entry.value["coordinator"].get<bool>()) {
      return Error(absl::StatusCode::kFailedPrecondition,
                   "TARGET_IS_COORDINATOR",
                   "the coordinator cannot be configured as a worker");
    }
    return ChangeEntry(bytes, entry, wanted);
  }
  return AddEntry(bytes, entries.back().span, wanted);
}

absl::StatusOr<std::string> SetPort(std::string_view bytes,
                                    std::string_view session_id, int port) {
  INTERCOM_ASSIGN_OR_RETURN(const std::vector<EntryText> entries,
                            Entries(bytes));
  for (const EntryText& entry : entries) {
    if (entry.value["sessionId"].get<std::string>() == session_id) {
      return ChangeEntry(bytes, entry, {{"port", port}});
    }
  }
  return NoEntry(session_id);
}

absl::StatusOr<std::string> RemoveWorker(std::string_view bytes,
                                         std::string_view session_id) {
  INTERCOM_ASSIGN_OR_RETURN(const std::vector<EntryText> entries,
                            Entries(bytes));
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].value["sessionId"].get<std::string>() != session_id) {
      continue;
    }
    if (entries[i].value["coordinator"].get<bool>()) {
      return Error(absl::StatusCode::kFailedPrecondition,
                   "TARGET_IS_COORDINATOR", "the coordinator stays");
    }
    // There is always the coordinator's entry beside it.
    const Span span = i > 0
                          ? Span{entries[i - 1].span.end, entries[i].span.end}
                          : Span{entries[0].span.begin, entries[1].span.begin};
    return Checked(ApplySplices(bytes, {{span, ""}}));
  }
  return NoEntry(session_id);
}

absl::StatusOr<std::string> SetMultiplexer(std::string_view bytes,
                                           std::string_view multiplexer) {
  INTERCOM_RETURN_IF_ERROR(Entries(bytes).status());
  INTERCOM_ASSIGN_OR_RETURN(const std::string value,
                            Dump(std::string(multiplexer), -1));
  const std::vector<MemberSpan> members = MemberSpans(bytes, RootSpan(bytes));
  const auto named = [&](std::string_view key) {
    return std::find_if(
        members.begin(), members.end(),
        [key](const MemberSpan& member) { return member.key == key; });
  };
  if (const auto member = named("multiplexer"); member != members.end()) {
    const std::string_view old = bytes.substr(
        member->value.begin, member->value.end - member->value.begin);
    if (old == value) return std::string(bytes);
    return Checked(ApplySplices(bytes, {{member->value, value}}));
  }
  const auto version = named("version");
  const std::string_view indent = LineIndent(bytes, version->whole.begin);
  const std::string text = NextOf(bytes, indent) + "\"multiplexer\": " + value;
  return Checked(
      ApplySplices(bytes, {{{version->whole.end, version->whole.end}, text}}));
}

absl::StatusOr<std::string> DropDashboardPort(std::string_view bytes) {
  INTERCOM_ASSIGN_OR_RETURN(const std::vector<EntryText> entries,
                            Entries(bytes));
  for (const EntryText& entry : entries) {
    const std::vector<MemberSpan> members = MemberSpans(bytes, entry.span);
    for (size_t i = 0; i < members.size(); ++i) {
      if (members[i].key != "dashboardPort") continue;
      // With the comma and the line end that belong to it. Other members are
      // required, so it is never the only one.
      const Span span =
          i > 0 ? Span{members[i - 1].whole.end, members[i].whole.end}
                : Span{members[0].whole.begin, members[1].whole.begin};
      return Checked(ApplySplices(bytes, {{span, ""}}));
    }
  }
  return std::string(bytes);
}

absl::StatusOr<std::string> NewConfig(std::string_view session_id, int port) {
  v1::AgentEntry agent;
  agent.set_session_id(std::string(session_id));
  agent.set_name("Coordinator");
  agent.set_description(kCoordinatorDescription);
  agent.set_port(port);
  agent.set_project_directory(".");
  const ordered_json file = {
      {"version", 1},
      {"multiplexer", "herdr"},
      {"agents", ordered_json::array({ToJson(agent, /*coordinator=*/true)})}};
  INTERCOM_ASSIGN_OR_RETURN(std::string text, Dump(file, 2));
  return Checked(text + "\n");
}

}  // namespace intercom
