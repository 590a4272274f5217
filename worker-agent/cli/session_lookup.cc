#include "worker-agent/cli/session_lookup.h"

#include <unistd.h>

#include <set>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "broker/domain/short_id.h"
#include "broker/domain/text_rules.h"

namespace intercom {
namespace {

using Entries = google::protobuf::RepeatedPtrField<v1::RosterEntry>;

// Ids of those that are called so.
std::set<std::string> Named(const Entries& entries, const std::string& name) {
  std::set<std::string> ids;
  for (const v1::RosterEntry& entry : entries) {
    if (entry.session_id() == name) return {name};
    if (NameKey(entry.name()) == NameKey(name) ||
        IsShownAs(entry.name(), name) || entry.runtime_name() == name) {
      ids.insert(entry.session_id());
    }
  }
  return ids;
}

std::set<std::string> Beginning(const Entries& entries,
                                const std::string& name) {
  std::set<std::string> ids;
  if (CharacterCount(name) < kMinIdPrefix) return ids;
  for (const v1::RosterEntry& entry : entries) {
    if (entry.session_id().starts_with(name)) ids.insert(entry.session_id());
  }
  return ids;
}

}  // namespace

absl::StatusOr<std::string> FindSessionId(const CommandContext& context,
                                          const std::string& name) {
  v1::GetWorkspaceRequest here;
  here.set_directory(context.Directory());
  // A directory without a workspace is no reason to refuse.
  const auto workspace = context.client.GetWorkspace(here);
  v1::ListSessionsRequest everywhere;
  everywhere.set_with_away(true);
  INTERCOM_ASSIGN_OR_RETURN(const v1::ListSessionsResponse account,
                            context.client.ListSessions(everywhere));
  std::set<std::string> found;
  if (workspace.ok()) found = Named(workspace->entries(), name);
  if (found.empty()) found = Named(account.sessions(), name);
  if (found.empty() && name == kPersonName) return PersonSessionId(getuid());
  if (found.empty()) {
    found = Beginning(account.sessions(), name);
    if (workspace.ok()) found.merge(Beginning(workspace->entries(), name));
  }
  if (found.size() > 1) {
    return Error(absl::StatusCode::kFailedPrecondition, "NAME_AMBIGUOUS",
                 std::to_string(found.size()) + " sessions are meant by " +
                     QuotedLine(name) + "; name one by its session id");
  }
  return found.empty() ? name : *found.begin();
}

}  // namespace intercom
