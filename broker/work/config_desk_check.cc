// What is wrong with a config, and what is worth knowing.
#include <string>
#include <utility>

#include "broker/base/error.h"
#include "broker/config/config_check.h"
#include "broker/config/config_directory.h"
#include "broker/work/config_desk.h"

namespace intercom {

// One call of Check on its way.
struct ConfigDesk::Checking {
  v1::CheckConfigResponse response;
  ConfigSnapshotPtr snapshot;
  Done<v1::CheckConfigResponse> done;
};

void ConfigDesk::Check(CallerEvidence evidence, v1::CheckConfigRequest request,
                       Done<v1::CheckConfigResponse> done) {
  auto checking = std::make_shared<Checking>();
  checking->done = std::move(done);
  runner_.PostTask([this, evidence = std::move(evidence),
                    directory = request.directory(), checking] {
    const auto caller =
        workspaces_.callers().ResolveFor(Operation::kInspect, evidence);
    if (!caller.ok()) return checking->done(caller.status());
    const Attachment* attachment = caller->host_session_id.empty()
                                       ? nullptr
                                       : roster_.Find(caller->host_session_id);
    if (directory.empty() && attachment != nullptr &&
        !attachment->root.empty()) {
      return ReadToCheck(attachment->root, checking);
    }
    if (directory.empty()) return CheckedNowhere("", *checking);
    workspaces_.FindRoot(directory, [this, directory, checking](auto root) {
      if (!root.ok()) return checking->done(root.status());
      if (root->empty()) return CheckedNowhere(directory, *checking);
      ReadToCheck(*root, checking);
    });
  });
}

void ConfigDesk::CheckedNowhere(const std::string& directory,
                                Checking& checking) {
  checking.done(Error(
      absl::StatusCode::kFailedPrecondition, "NO_WORKSPACE",
      directory.empty()
          ? "this call names no directory, and is of no session in a workspace"
          : "there is no workspace at " + directory +
                "; a workspace is a directory with .pi-intercom/config.json in "
                "it or above it"));
}

void ConfigDesk::ReadToCheck(const std::string& root,
                             std::shared_ptr<Checking> checking) {
  checking->response.set_root(root);
  checking->response.set_file(ConfigPath(root));
  lanes_.Snapshot(root, [this, root, checking](auto snapshot) {
    v1::CheckConfigResponse& response = checking->response;
    if (!snapshot.ok()) {
      if (!IsConfigProblem(snapshot.status())) {
        return checking->done(snapshot.status());
      }
      *response.add_findings() = ErrorFinding(snapshot.status());
      return checking->done(std::move(response));
    }
    checking->snapshot = *std::move(snapshot);
    const WorkspaceConfig& config = checking->snapshot->config;
    response.set_agents(static_cast<int32_t>(config.agents().size()));
    response.set_multiplexer(config.multiplexer());
    // Whom it names decides nothing before the first session attached here.
    const auto known = mirror_.Find(root);
    const std::string& named = config.coordinator().session_id();
    if (known != nullptr && known->coordinator_session_id != named) {
      *response.add_findings() = CoordinatorFinding(
          response.file(), known->coordinator_session_id, named);
    }
    for (v1::ConfigFinding& finding : FindingsOf(*checking->snapshot)) {
      *response.add_findings() = std::move(finding);
    }
    CheckDirectories(0, checking);
  });
}

void ConfigDesk::CheckDirectories(size_t position,
                                  std::shared_ptr<Checking> checking) {
  const auto& agents = checking->snapshot->config.agents();
  if (position == agents.size()) {
    return checking->done(std::move(checking->response));
  }
  lanes_.CheckDirectory(
      checking->snapshot->root, agents[position].project_directory(),
      [this, position, checking](auto checked) {
        if (!checked.ok()) {
          *checking->response.add_findings() =
              DirectoryFinding(checking->response.file(),
                               static_cast<int>(position), checked.status());
        }
        // A file system that hangs is asked no more.
        if (ReasonOf(checked.status()) == "CONFIG_TIMEOUT") {
          return checking->done(std::move(checking->response));
        }
        CheckDirectories(position + 1, checking);
      });
}

}  // namespace intercom
