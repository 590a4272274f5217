#include "broker/work/roster_view.h"

#include <string>

#include "broker/base/proto_time.h"
#include "broker/work/job_text.h"

namespace intercom {

v1::RosterEntry RosterView::DescribeLive(std::string_view session_id,
                                         const Workspace* workspace,
                                         const v1::AgentEntry* entry) const {
  v1::RosterEntry described;
  described.set_session_id(std::string(session_id));
  described.set_role(workspace == nullptr ? v1::ROLE_PEER
                                          : workspace->RoleOf(session_id));
  if (workspace != nullptr) described.set_workspace_root(workspace->root);
  const Roster::PresenceMark presence = roster_.PresenceOf(session_id);
  described.set_presence(presence.presence);
  if (presence.since.has_value()) {
    *described.mutable_presence_since() = ToProto(*presence.since);
  }
  if (entry != nullptr) {
    described.set_name(entry->name());
    described.set_description(entry->description());
    described.set_project_directory(entry->project_directory());
    described.set_port(entry->port());
  }
  if (const Attachment* attachment = roster_.Find(session_id);
      attachment != nullptr) {
    if (attachment->activity.has_at()) {
      *described.mutable_activity() = attachment->activity;
    }
    if (entry == nullptr) {
      described.set_name(attachment->session_name);
      described.set_project_directory(attachment->project_directory);
    } else {
      described.set_responsibility_loaded(!attachment->loaded_hash.empty());
      described.set_responsibility_outdated(!attachment->loaded_hash.empty() &&
                                            attachment->loaded_hash !=
                                                entry->entry_hash());
    }
    described.set_host_pid(attachment->host_pid);
    described.set_epoch(attachment->epoch);
    described.set_launch_job_id(attachment->launch_job_id);
  }
  if (workspace != nullptr) {
    if (const JobRow* job = fences_.JobOf(workspace->root, session_id)) {
      *described.mutable_job() = ToProto(*job);
    }
  }
  return described;
}

v1::RosterEntry RosterView::Describe(std::string_view session_id,
                                     const Workspace* workspace,
                                     const v1::AgentEntry* entry) const {
  v1::RosterEntry described = DescribeLive(session_id, workspace, entry);
  if (!described.has_presence_since()) {
    // Not seen since this broker started; the store remembers longer.
    if (const auto row = sessions_.Find(session_id);
        row.ok() && row->has_value()) {
      *described.mutable_presence_since() = ToProto((*row)->last_seen_at);
    }
  }
  if (workspace != nullptr && entry != nullptr) {
    const auto report = reports_.Find(workspace->root, session_id);
    if (report.ok() && report->has_value() &&
        (*report)->status() != v1::Report::STATUS_CLEAR) {
      *described.mutable_report() = **report;
    }
  }
  if (const auto mailbox = mailboxes_.Find(session_id); mailbox.ok()) {
    described.set_waiting(mailbox->envelopes);
  }
  return described;
}

bool RosterView::IsSeen(const Workspace& workspace, std::string_view session_id,
                        std::string_view scope) const {
  if (workspace.EntryOf(session_id) != nullptr) return true;
  const std::string& id = workspace.coordinator_session_id;
  if (const Attachment* coordinator = roster_.Find(id)) {
    return coordinator->hello.scope() == scope;
  }
  const auto row = sessions_.Find(id);
  // One that never attached may come with any.
  return !row.ok() || !row->has_value() || (*row)->scope == scope;
}

v1::GetWorkspaceResponse RosterView::Describe(
    const Workspace& workspace) const {
  v1::GetWorkspaceResponse response;
  response.set_root(workspace.root);
  response.set_stale(!workspace.config_error.empty());
  response.set_config_error(workspace.config_error);
  if (!workspace.claimed_coordinator_session_id.empty() &&
      workspace.config_error.empty()) {
    response.set_config_error(
        "the config names session " + workspace.claimed_coordinator_session_id +
        " as coordinator; " + workspace.coordinator_session_id +
        " stays coordinator until a person confirms the change with: intercom "
        "coordinator take");
  }
  response.set_coordinator_session_id(workspace.coordinator_session_id);
  response.set_claimed_coordinator_session_id(
      workspace.claimed_coordinator_session_id);
  response.set_generation(workspace.generation);
  response.set_multiplexer(workspace.multiplexer);
  for (const v1::AgentEntry& entry : workspace.agents) {
    *response.add_entries() = Describe(entry.session_id(), &workspace, &entry);
  }
  for (const Attachment* attachment : roster_.InWorkspace(workspace.root)) {
    if (workspace.EntryOf(attachment->session_id) == nullptr &&
        IsSeen(workspace, attachment->session_id, attachment->hello.scope())) {
      *response.add_entries() =
          Describe(attachment->session_id, &workspace, nullptr);
    }
  }
  return response;
}

}  // namespace intercom
