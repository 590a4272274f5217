#include "broker/roster/workspace_mirror.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"

namespace intercom {
namespace {

absl::string_view Key(std::string_view text) {
  return {text.data(), text.size()};
}

// Puts the pinned coordinator into the place that the file gives to another,
// and that one into the place that the file gives to the pinned.
void Pin(Workspace& workspace) {
  const auto leads = std::find_if(
      workspace.agents.begin(), workspace.agents.end(),
      [](const v1::AgentEntry& entry) { return entry.coordinator(); });
  if (leads == workspace.agents.end()) return;
  const std::string claimed = leads->session_id();
  const std::string& pinned = workspace.coordinator_session_id;
  if (pinned.empty()) workspace.coordinator_session_id = claimed;
  if (claimed == pinned) return;
  workspace.claimed_coordinator_session_id = claimed;
  for (v1::AgentEntry& entry : workspace.agents) {
    if (entry.session_id() == pinned) entry.set_session_id(claimed);
  }
  leads->set_session_id(pinned);
}

}  // namespace

const v1::AgentEntry* Workspace::EntryOf(std::string_view session_id) const {
  for (const v1::AgentEntry& entry : agents) {
    if (entry.session_id() == session_id) return &entry;
  }
  return nullptr;
}

v1::Role Workspace::RoleOf(std::string_view session_id) const {
  const v1::AgentEntry* entry = EntryOf(session_id);
  if (entry == nullptr) return v1::ROLE_ANONYMOUS;
  return entry->coordinator() ? v1::ROLE_COORDINATOR : v1::ROLE_WORKER;
}

absl::Status WorkspaceMirror::Load() {
  INTERCOM_ASSIGN_OR_RETURN(const std::vector<WorkspaceRow> rows, store_.All());
  by_root_.clear();
  for (const WorkspaceRow& row : rows) {
    auto workspace = std::make_shared<Workspace>();
    workspace->root = row.root;
    workspace->coordinator_session_id = row.coordinator_session_id;
    workspace->agents = row.agents;
    workspace->config_hash = row.config_hash;
    workspace->generation = row.generation;
    workspace->mirrored_at = row.mirrored_at;
    workspace->config_error = row.config_error;
    if (auto config = WorkspaceConfig::Parse(row.config_json, row.root);
        config.ok()) {
      workspace->multiplexer = config->multiplexer();
      workspace->agents = config->agents();
    }
    Pin(*workspace);
    by_root_[row.root] = std::move(workspace);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const Workspace>> WorkspaceMirror::Apply(
    const ConfigSnapshot& snapshot, bool repin, Effects& effects) {
  const std::shared_ptr<const Workspace> known = Find(snapshot.root);
  if (!repin && known != nullptr && known->config_hash == snapshot.hash &&
      known->config_error.empty()) {
    return known;
  }
  auto workspace = std::make_shared<Workspace>();
  workspace->root = snapshot.root;
  workspace->agents = snapshot.config.agents();
  workspace->multiplexer = snapshot.config.multiplexer();
  workspace->config_hash = snapshot.hash;
  workspace->mirrored_at = clock_.Now();
  INTERCOM_ASSIGN_OR_RETURN(
      workspace->generation,
      store_.Mirror(snapshot.root, snapshot.hash, snapshot.bytes,
                    workspace->agents, workspace->mirrored_at));
  INTERCOM_ASSIGN_OR_RETURN(const std::optional<WorkspaceRow> row,
                            store_.Find(snapshot.root));
  if (!repin && row.has_value()) {
    workspace->coordinator_session_id = row->coordinator_session_id;
  }
  Pin(*workspace);
  if (!row.has_value() ||
      row->coordinator_session_id != workspace->coordinator_session_id) {
    INTERCOM_RETURN_IF_ERROR(store_.PinCoordinator(
        snapshot.root, workspace->coordinator_session_id));
  }
  if (known != nullptr) {
    INTERCOM_RETURN_IF_ERROR(TellEntries(*known, *workspace));
  }
  Install(workspace, effects);
  return workspace;
}

absl::Status WorkspaceMirror::TellEntries(const Workspace& before,
                                          const Workspace& after) {
  if (on_entries_ == nullptr) return absl::OkStatus();
  // A copy of a workspace has the same agents.
  const auto elsewhere = [&](const std::string& id) {
    return std::any_of(by_root_.begin(), by_root_.end(),
                       [&](const auto& other) {
                         return other.first != before.root &&
                                other.second->EntryOf(id) != nullptr;
                       });
  };
  const auto only_in = [](const Workspace& one, const Workspace& other) {
    std::vector<std::string> ids;
    for (const v1::AgentEntry& entry : one.agents) {
      if (other.EntryOf(entry.session_id()) == nullptr) {
        ids.push_back(entry.session_id());
      }
    }
    return ids;
  };
  std::vector<std::string> gone = only_in(before, after);
  gone.erase(std::remove_if(gone.begin(), gone.end(), elsewhere), gone.end());
  const std::vector<std::string> added = only_in(after, before);
  if (gone.empty() && added.empty()) return absl::OkStatus();
  return on_entries_(gone, added);
}

absl::Status WorkspaceMirror::MarkStale(std::string_view root,
                                        const absl::Status& error,
                                        Effects& effects) {
  const std::shared_ptr<const Workspace> known = Find(root);
  const std::string text = MessageOf(error);
  if (known == nullptr || known->config_error == text) return absl::OkStatus();
  INTERCOM_RETURN_IF_ERROR(store_.SetError(root, text));
  auto workspace = std::make_shared<Workspace>(*known);
  workspace->config_error = text;
  Install(std::move(workspace), effects);
  return absl::OkStatus();
}

absl::Status WorkspaceMirror::Forget(std::string_view root, Effects& effects) {
  const std::shared_ptr<const Workspace> known = Find(root);
  if (known == nullptr) return absl::OkStatus();
  auto nothing = std::make_shared<Workspace>();
  nothing->root = known->root;
  INTERCOM_RETURN_IF_ERROR(TellEntries(*known, *nothing));
  INTERCOM_RETURN_IF_ERROR(store_.Remove(root));
  Install(nothing, effects);
  effects.AfterCommit([this, root = known->root] { by_root_.erase(root); });
  return absl::OkStatus();
}

void WorkspaceMirror::Install(std::shared_ptr<const Workspace> workspace,
                              Effects& effects) {
  effects.AfterCommit([this, workspace = std::move(workspace)] {
    by_root_[workspace->root] = workspace;
    for (OnChanged& on_changed : on_changed_) on_changed(*workspace);
  });
}

std::shared_ptr<const Workspace> WorkspaceMirror::Find(
    std::string_view root) const {
  const auto found = by_root_.find(Key(root));
  return found == by_root_.end() ? nullptr : found->second;
}

std::shared_ptr<const Workspace> WorkspaceMirror::FindByAgent(
    std::string_view session_id) const {
  for (const auto& [root, workspace] : by_root_) {
    if (workspace->EntryOf(session_id) != nullptr) return workspace;
  }
  return nullptr;
}

std::vector<std::shared_ptr<const Workspace>> WorkspaceMirror::All() const {
  std::vector<std::shared_ptr<const Workspace>> all;
  for (const auto& [root, workspace] : by_root_) all.push_back(workspace);
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a->root < b->root; });
  return all;
}

}  // namespace intercom
