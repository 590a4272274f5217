#include "broker/domain/route.h"

#include <string>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/text_rules.h"

namespace intercom {
namespace {

// The entry that `to` is the session id or name of; else the only one whose
// name is shown so. Null for none.
const v1::AgentEntry* Find(std::string_view to,
                           const std::vector<v1::AgentEntry>& entries) {
  for (const v1::AgentEntry& entry : entries) {
    if (entry.session_id() == to || FoldName(entry.name()) == FoldName(to)) {
      return &entry;
    }
  }
  const v1::AgentEntry* shown = nullptr;
  for (const v1::AgentEntry& entry : entries) {
    if (!IsShownAs(entry.name(), to)) continue;
    if (shown != nullptr) return nullptr;
    shown = &entry;
  }
  return shown;
}

std::string NamesOf(const std::vector<v1::AgentEntry>& entries,
                    bool workers_only) {
  std::string names;
  for (const v1::AgentEntry& entry : entries) {
    if (workers_only && entry.coordinator()) continue;
    if (!names.empty()) names += ", ";
    names += NameLabel(entry.name());
  }
  return names.empty() ? "none" : names;
}

}  // namespace

absl::StatusOr<v1::AgentEntry> Route(
    std::string_view to, std::string_view sender_session_id,
    const std::vector<v1::AgentEntry>& entries) {
  if (to.empty()) {
    return Error(
        absl::StatusCode::kInvalidArgument, "TARGET_EMPTY",
        "no recipient is named; say one of: " + NamesOf(entries, false));
  }
  if (const v1::AgentEntry* entry = Find(to, entries); entry != nullptr) {
    if (entry->session_id() == sender_session_id) {
      return Error(
          absl::StatusCode::kInvalidArgument, "SELF_TARGET",
          QuotedLine(to) + " is this session itself; nothing was sent");
    }
    return *entry;
  }
  return Error(absl::StatusCode::kNotFound, "UNKNOWN_RECIPIENT",
               "nobody in this workspace is named " + QuotedLine(to) +
                   "; configured are: " + NamesOf(entries, false) +
                   ". Nothing was sent");
}

absl::StatusOr<v1::AgentEntry> RouteToWorker(
    std::string_view to, const std::vector<v1::AgentEntry>& entries) {
  if (to.empty()) {
    return Error(absl::StatusCode::kInvalidArgument, "TARGET_EMPTY",
                 "no worker is named; say one of: " + NamesOf(entries, true));
  }
  if (const v1::AgentEntry* entry = Find(to, entries); entry != nullptr) {
    if (entry->coordinator()) {
      return Error(absl::StatusCode::kFailedPrecondition,
                   "TARGET_IS_COORDINATOR",
                   "this is an operation on a worker, and " + QuotedLine(to) +
                       " is the coordinator");
    }
    return *entry;
  }
  return Error(absl::StatusCode::kNotFound, "UNKNOWN_WORKER",
               "no worker is named " + QuotedLine(to) +
                   "; configured are: " + NamesOf(entries, true));
}

}  // namespace intercom
