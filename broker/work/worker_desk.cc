#include "broker/work/worker_desk.h"

#include <optional>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/config/config_edit.h"
#include "broker/domain/fence.h"
#include "broker/domain/route.h"
#include "broker/work/coordinator_check.h"

namespace intercom {
// One call of Configure on its way through the lane.
struct WorkerDesk::Configuration {
  CallerEvidence evidence;
  v1::AgentEntry entry;
  std::shared_ptr<const Workspace> workspace;
  ConfigLanes::Guard guard;
  bool known = false;
  Done<v1::ConfigureWorkerResponse> done;
};

void WorkerDesk::GetWorkspace(CallerEvidence evidence,
                              v1::GetWorkspaceRequest request,
                              Done<v1::GetWorkspaceResponse> done) {
  auto shared_done =
      std::make_shared<Done<v1::GetWorkspaceResponse>>(std::move(done));
  workspaces_.Decide(
      std::move(evidence), request.directory(), Operation::kRosterList,
      /*last_good=*/true,
      [this, shared_done](const DecidedCall& call, Effects& effects) {
        effects.AfterCommit([this, shared_done, workspace = call.workspace] {
          (*shared_done)(view_.Describe(*workspace));
        });
        return absl::OkStatus();
      },
      [shared_done](const absl::Status& status) { (*shared_done)(status); });
}

void WorkerDesk::Configure(CallerEvidence evidence,
                           v1::ConfigureWorkerRequest request,
                           Done<v1::ConfigureWorkerResponse> done) {
  auto configuration = std::make_shared<Configuration>();
  configuration->evidence = evidence;
  configuration->done = std::move(done);
  v1::AgentEntry& entry = configuration->entry;
  entry.set_session_id(request.session_id());
  entry.set_name(request.name());
  entry.set_description(request.description());
  entry.set_project_directory(request.project_directory());
  entry.set_port(request.port());
  workspaces_.Decide(
      std::move(evidence), "", Operation::kWorkerConfigure,
      /*last_good=*/false,
      [this, configuration](const DecidedCall& call,
                            Effects& effects) -> absl::Status {
        configuration->workspace = call.workspace;
        FillIn(*call.workspace, configuration->entry);
        configuration->guard =
            WhileAttached(roster_, call.caller.host_session_id);
        INTERCOM_ASSIGN_OR_RETURN(
            configuration->known,
            CheckSession(configuration->entry.session_id(),
                         call.workspace->root));
        INTERCOM_RETURN_IF_ERROR(fences_.Check(
            call.workspace->root, configuration->entry.session_id()));
        effects.AfterCommit(
            [this, configuration] { CheckDirectory(configuration); });
        return absl::OkStatus();
      },
      [configuration](const absl::Status& status) {
        configuration->done(status);
      });
}

absl::StatusOr<bool> WorkerDesk::CheckSession(const std::string& session_id,
                                              const std::string& root) {
  INTERCOM_RETURN_IF_ERROR(CheckSessionId(session_id));
  std::string home_root;
  if (const Attachment* attachment = roster_.Find(session_id)) {
    home_root = attachment->root;
  } else {
    INTERCOM_ASSIGN_OR_RETURN(const auto row, sessions_.Find(session_id));
    if (!row.has_value()) return false;
    home_root = row->workspace_root;
  }
  if (home_root == root) return true;
  return Error(absl::StatusCode::kFailedPrecondition,
               "SESSION_BELONGS_ELSEWHERE",
               "session " + session_id + " belongs to " +
                   (home_root.empty() ? std::string("no workspace")
                                      : "the workspace " + home_root) +
                   ", not to " + root + "; nothing was written");
}

void WorkerDesk::FillIn(const Workspace& workspace,
                        v1::AgentEntry& entry) const {
  const v1::AgentEntry* present = workspace.EntryOf(entry.session_id());
  if (entry.port() == 0) {
    entry.set_port(present == nullptr ? port_ : present->port());
  }
  if (!entry.project_directory().empty()) return;
  const Attachment* attachment = roster_.Find(entry.session_id());
  if (present != nullptr) {
    entry.set_project_directory(present->project_directory());
  } else if (attachment != nullptr && attachment->root == workspace.root) {
    entry.set_project_directory(attachment->project_directory);
  } else {
    entry.set_project_directory(".");
  }
}

void WorkerDesk::CheckDirectory(std::shared_ptr<Configuration> configuration) {
  lanes_.CheckDirectory(
      configuration->workspace->root, configuration->entry.project_directory(),
      [this, configuration](absl::StatusOr<std::string> directory) {
        if (!directory.ok()) return configuration->done(directory.status());
        configuration->entry.set_project_directory(*directory);
        // It waited for the disk.
        if (const absl::Status fenced =
                fences_.Check(configuration->workspace->root,
                              configuration->entry.session_id());
            !fenced.ok()) {
          return configuration->done(fenced);
        }
        Publish(configuration);
      });
}

void WorkerDesk::Publish(std::shared_ptr<Configuration> configuration) {
  // Decided again on what is read for the edit: the coordinator of then writes.
  const auto edit = [entry = configuration->entry,
                     decided = configuration->workspace](
                        const ReadConfig& read) -> absl::StatusOr<std::string> {
    INTERCOM_RETURN_IF_ERROR(CheckCoordinator(read, *decided));
    if (const v1::AgentEntry* other = read.config.FindByName(entry.name());
        other != nullptr && other->session_id() != entry.session_id()) {
      return Error(absl::StatusCode::kAlreadyExists, "NAME_TAKEN",
                   "the name " + NameLabel(entry.name()) +
                       " belongs to session " + other->session_id() +
                       "; choose another one");
    }
    return UpsertWorker(read.bytes, entry);
  };
  lanes_.Update(configuration->workspace->root, edit, configuration->guard,
                [this, configuration](auto snapshot) {
                  if (!snapshot.ok()) {
                    return configuration->done(snapshot.status());
                  }
                  Published(configuration, *std::move(snapshot));
                });
}

void WorkerDesk::Published(std::shared_ptr<Configuration> configuration,
                           ConfigSnapshotPtr snapshot) {
  runner_.PostCommand(
      {[this, configuration, snapshot](Effects& effects) -> absl::Status {
         INTERCOM_ASSIGN_OR_RETURN(
             const auto workspace,
             mirror_.Apply(*snapshot, /*repin=*/false, effects));
         effects.AfterCommit([this, configuration, workspace] {
           v1::ConfigureWorkerResponse response;
           const std::string& id = configuration->entry.session_id();
           if (const v1::AgentEntry* entry = workspace->EntryOf(id)) {
             *response.mutable_entry() = *entry;
           }
           response.set_attached(roster_.Find(id) != nullptr);
           response.set_known(configuration->known || response.attached());
           response.set_changed(workspace->config_hash !=
                                configuration->workspace->config_hash);
           configuration->done(std::move(response));
         });
         return absl::OkStatus();
       },
       [configuration](const absl::Status& status) {
         configuration->done(status);
       }});
}

void WorkerDesk::Reload(CallerEvidence evidence,
                        v1::ReloadWorkerRequest request,
                        Done<v1::ReloadWorkerResponse> done) {
  auto shared_done =
      std::make_shared<Done<v1::ReloadWorkerResponse>>(std::move(done));
  workspaces_.Decide(
      std::move(evidence), "", Operation::kWorkerReload, /*last_good=*/false,
      [this, to = request.to(), shared_done](const DecidedCall& call,
                                             Effects& effects) -> absl::Status {
        INTERCOM_ASSIGN_OR_RETURN(const v1::AgentEntry entry,
                                  RouteToWorker(to, call.workspace->agents));
        INTERCOM_RETURN_IF_ERROR(
            fences_.Check(call.workspace->root, entry.session_id()));
        effects.AfterCommit([this, entry, shared_done] {
          v1::Control control;
          control.set_kind(v1::Control::KIND_RELOAD_RESPONSIBILITY);
          *control.mutable_agent_entry() = entry;
          controls_.Send(
              entry.session_id(), std::move(control), kControlTimeout,
              [this, entry, shared_done](auto result) {
                if (!result.ok()) {
                  if (ReasonOf(result.status()) == "SESSION_AWAY") {
                    return (*shared_done)(Error(
                        absl::StatusCode::kFailedPrecondition, "WORKER_AWAY",
                        NameLabel(entry.name()) +
                            " is not attached; it loads its responsibility "
                            "by itself when its session returns"));
                  }
                  return (*shared_done)(result.status());
                }
                if (!result->ok()) {
                  return (*shared_done)(Error(
                      absl::StatusCode::kFailedPrecondition, "RELOAD_FAILED",
                      NameLabel(entry.name()) + " could not load it: " +
                          SafeLabel(result->error(), 512)));
                }
                if (Attachment* attachment = roster_.Find(entry.session_id())) {
                  attachment->loaded_hash = entry.entry_hash();
                  attachment->awaits_reload = false;
                }
                v1::ReloadWorkerResponse response;
                *response.mutable_entry() = entry;
                if (!result->error().empty()) {
                  response.set_warning(SafeLabel(result->error(), 512));
                }
                (*shared_done)(std::move(response));
              });
        });
        return absl::OkStatus();
      },
      [shared_done](const absl::Status& status) { (*shared_done)(status); });
}

}  // namespace intercom
