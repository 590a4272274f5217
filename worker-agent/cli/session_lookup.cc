#include "worker-agent/cli/session_lookup.h"

#include <unistd.h>

#include <map>
#include <ostream>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "broker/domain/short_id.h"
#include "broker/domain/text_rules.h"

namespace intercom {
namespace {

// By id.
using Found = std::map<std::string, v1::RosterEntry>;
using Entries = google::protobuf::RepeatedPtrField<v1::RosterEntry>;

void Add(const Entries& entries, Found& to) {
  for (const v1::RosterEntry& entry : entries) {
    to.try_emplace(entry.session_id(), entry);
  }
}

// Those that are called so.
Found Named(const Found& all, const std::string& name) {
  if (const auto exact = all.find(name); exact != all.end()) return {*exact};
  Found named;
  for (const auto& [id, entry] : all) {
    if (NameKey(entry.name()) == NameKey(name) ||
        IsShownAs(entry.name(), name) || entry.runtime_name() == name) {
      named.emplace(id, entry);
    }
  }
  return named;
}

Found Beginning(const Found& all, const std::string& name) {
  Found begun;
  if (CharacterCount(name) < kMinIdPrefix) return begun;
  for (const auto& [id, entry] : all) {
    if (id.starts_with(name)) begun.emplace(id, entry);
  }
  return begun;
}

}  // namespace

absl::StatusOr<std::optional<v1::RosterEntry>> FindSession(
    const CommandContext& context, const std::string& name) {
  Found all;
  v1::GetWorkspaceRequest here;
  here.set_directory(context.Directory());
  // A directory without a workspace is no reason to refuse.
  if (const auto workspace = context.client.GetWorkspace(here);
      workspace.ok()) {
    Add(workspace->entries(), all);
  }
  Found found = Named(all, name);
  if (found.empty()) {
    // Those of every scope, where the caller may see them.
    if (const auto attached = context.client.ListAttachments(); attached.ok()) {
      Add(attached->entries(), all);
    }
    v1::ListSessionsRequest everywhere;
    everywhere.set_with_away(true);
    INTERCOM_ASSIGN_OR_RETURN(const v1::ListSessionsResponse account,
                              context.client.ListSessions(everywhere));
    Add(account.sessions(), all);
    found = Named(all, name);
  }
  if (found.empty()) found = Beginning(all, name);
  if (found.empty()) return std::nullopt;
  if (found.size() > 1) {
    return Error(absl::StatusCode::kFailedPrecondition, "NAME_AMBIGUOUS",
                 std::to_string(found.size()) + " sessions are meant by " +
                     QuotedLine(name) + "; name one by its session id");
  }
  return std::move(found.begin()->second);
}

absl::StatusOr<std::string> FindSessionId(const CommandContext& context,
                                          const std::string& name) {
  INTERCOM_ASSIGN_OR_RETURN(const auto session, FindSession(context, name));
  if (session.has_value()) return session->session_id();
  if (name == kPersonName) return PersonSessionId(getuid());
  context.err << "Nobody is called " << QuotedLine(name)
              << " now; it is taken for a session id.\n";
  return name;
}

}  // namespace intercom
