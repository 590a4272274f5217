#include "worker-agent/session_view.h"

#include "broker/base/error.h"
#include "broker/domain/fence.h"
#include "broker/domain/permissions.h"
#include "worker-agent/host/rpc_error.h"
#include "worker-agent/tools/instructions.h"

namespace intercom {
namespace {

// The last part of a path.
std::string DirectoryName(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return SafeLabel(name.empty() ? path : name, 40);
}

}  // namespace

Json EntryOf(const v1::AgentEntry& entry) {
  return {{"name", entry.name()},
          {"description", entry.description()},
          {"projectDirectory", entry.project_directory()},
          {"coordinator", entry.coordinator()},
          {"hash", entry.entry_hash()}};
}

void SessionView::Connecting(const absl::Status& why) {
  connection_ = "connecting";
  error_.reset();
  if (!why.ok()) error_ = why;
}

void SessionView::Welcomed(const v1::Welcome& welcome) {
  const bool created =
      welcome.workspace_created() || welcome_.workspace_created();
  connection_ = "connected";
  error_.reset();
  welcome_ = welcome;
  welcome_.set_workspace_created(created);
  // At an attachment the host loads its entry by itself.
  await_reload_ = false;
  if (!welcome.has_agent_entry()) loaded_.reset();
}

void SessionView::RoleChanged(const v1::RoleChanged& change) {
  const bool became_worker =
      welcome_.role() != v1::ROLE_WORKER && change.role() == v1::ROLE_WORKER;
  welcome_.set_role(change.role());
  *welcome_.mutable_operations() = change.operations();
  welcome_.clear_agent_entry();
  if (change.has_agent_entry()) {
    *welcome_.mutable_agent_entry() = change.agent_entry();
  } else {
    loaded_.reset();
  }
  // An old responsibility is none in a new role.
  if (became_worker) loaded_.reset();
  await_reload_ = change.role() == v1::ROLE_WORKER &&
                  change.has_agent_entry() && !loaded_.has_value();
}

void SessionView::Refused(const absl::Status& status, bool final) {
  connection_ = "refused";
  error_ = status;
  final_ = final;
  if (final) welcome_.clear_operations();
}

void SessionView::Superseded(const std::string& message) {
  connection_ = "ended";
  superseded_ = true;
  final_ = true;
  error_ = Error(absl::StatusCode::kAborted, "SUPERSEDED", message);
  welcome_.clear_operations();
}

bool SessionView::Loaded(const std::string& entry_hash) {
  if (!welcome_.has_agent_entry() ||
      welcome_.agent_entry().entry_hash() != entry_hash) {
    return false;
  }
  Reloaded(welcome_.agent_entry());
  return true;
}

void SessionView::Reloaded(const v1::AgentEntry& entry) {
  loaded_ = entry;
  *welcome_.mutable_agent_entry() = entry;
  await_reload_ = false;
}

std::string SessionView::loaded_hash() const {
  return loaded_.has_value() ? loaded_->entry_hash() : "";
}

std::string SessionView::loaded_worker_name() const {
  return welcome_.role() == v1::ROLE_WORKER && loaded_.has_value()
             ? loaded_->name()
             : "";
}

std::string SessionView::InstructionsWith(const v1::AgentEntry& entry) const {
  return InstructionsFor({.role = welcome_.role(),
                          .loaded = entry,
                          .workspace_root = welcome_.workspace_root()});
}

std::string SessionView::Instructions() const {
  return InstructionsFor({.role = welcome_.role(),
                          .loaded = loaded_,
                          .workspace_root = welcome_.workspace_root()});
}

std::string SessionView::StatusText() const {
  if (superseded_) return "intercom: taken over by another process";
  if (connection_ == "connecting") return "intercom: connecting…";
  if (connection_ == "refused") {
    return "intercom: refused: " + SafeLabel(MessageOf(*error_), 80);
  }
  std::string text = "intercom: ";
  if (welcome_.role() == v1::ROLE_WORKER && welcome_.has_agent_entry()) {
    text += NameLabel(welcome_.agent_entry().name(), 40) + " ";
    text += loaded_.has_value() ? "(worker)" : "(worker, not loaded)";
  } else {
    text += RoleName(welcome_.role());
  }
  if (!welcome_.workspace_root().empty()) {
    text += " · " + DirectoryName(welcome_.workspace_root());
  }
  return text;
}

ToolUser SessionView::User() const {
  return {.operations = {welcome_.operations().begin(),
                         welcome_.operations().end()},
          .has_supervisor = supervised_ || delegated_,
          .has_fellows = delegated_,
          .supervises = supervises_ || welcome_.role() == v1::ROLE_COORDINATOR,
          .may_run_programs = may_run_programs_};
}

Json SessionView::ToJson() const {
  Json json = {{"connection", connection_},
               {"tools", ToolsFor(User())},
               {"instructions", Instructions()},
               {"statusText", StatusText()}};
  if (welcome_.role() != v1::ROLE_UNSPECIFIED) {
    json["role"] = RoleName(welcome_.role());
    json["endpoint"] = {{"port", welcome_.port()},
                        {"brokerPid", welcome_.broker_pid()},
                        {"brokerVersion", welcome_.broker_version()}};
  }
  if (!welcome_.workspace_root().empty()) {
    json["workspaceRoot"] = welcome_.workspace_root();
    json["workspaceCreated"] = welcome_.workspace_created();
  }
  if (welcome_.has_agent_entry()) {
    // What is loaded stays in force until it is reloaded.
    json["entry"] = EntryOf(loaded_.value_or(welcome_.agent_entry()));
    json["loaded"] = loaded_.has_value();
    if (await_reload_) json["awaitReload"] = true;
  }
  if (error_.has_value()) {
    json["error"] = {{"code", CodeName(error_->code())},
                     {"reason", ReasonOf(*error_)},
                     {"message", StripControls(MessageOf(*error_))}};
  }
  json["features"] = Json::array();
  for (const std::string& feature : welcome_.features()) {
    json["features"].push_back(feature);
  }
  if (!welcome_.stable_id().empty()) json["stableId"] = welcome_.stable_id();
  if (superseded_) json["superseded"] = true;
  if (final_) json["final"] = true;
  return json;
}

OwnSession SessionView::OwnPlace(const v1::Hello& hello) const {
  OwnSession own;
  own.connected = connected();
  if (error_.has_value()) own.trouble = MessageOf(*error_);
  own.session_id = hello.session_id();
  own.name = welcome_.has_agent_entry() ? welcome_.agent_entry().name()
                                        : hello.session_name();
  own.stable_id = welcome_.stable_id();
  own.scope = hello.scope();
  if (role() != v1::ROLE_UNSPECIFIED) own.role = RoleName(role());
  own.workspace_root = workspace_root();
  own.broker_version = welcome_.broker_version();
  own.port = port();
  return own;
}

}  // namespace intercom
