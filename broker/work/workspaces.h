#ifndef PI_INTERCOM_BROKER_WORK_WORKSPACES_H_
#define PI_INTERCOM_BROKER_WORK_WORKSPACES_H_

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "broker/config/config_lanes.h"
#include "broker/domain/identity.h"
#include "broker/domain/permissions.h"
#include "broker/roster/callers.h"
#include "broker/roster/workspace_gate.h"

namespace intercom {

// A call that was decided: who calls, and on which config.
struct DecidedCall {
  Caller caller;
  // The caller's role; ROLE_UNSPECIFIED for persons and clients.
  v1::Role role = v1::ROLE_UNSPECIFIED;
  // nullptr for a call from anywhere by one without a workspace, or whose
  // config can't be read and never was.
  std::shared_ptr<const Workspace> workspace;
  // Which sessions the caller can see, beside those of its workspace.
  std::string scope;

  // Empty without a workspace.
  const std::string& root() const;
};

// There is none at the `directory` that a list was to be narrowed to. NOT_FOUND
// (NO_WORKSPACE).
absl::Status NoWorkspaceAt(const std::string& directory);

// Finds the workspace of a call, reads its present config and checks the
// permission table: the one way into every operation on a workspace.
//
// Thread-safe: posts to the state's thread, where all callbacks run.
class Workspaces {
 public:
  // All must outlive this object.
  Workspaces(StateRunner& runner, ConfigLanes& lanes, WorkspaceGate& gate,
             Roster& roster, std::string account_home)
      : runner_(runner),
        lanes_(lanes),
        gate_(gate),
        roster_(roster),
        callers_(roster),
        account_home_(std::move(account_home)) {}

  using Use = absl::AnyInvocable<absl::Status(const DecidedCall&, Effects&)>;
  using Failed = absl::AnyInvocable<void(const absl::Status&)>;

  // Runs `use` inside a command if the caller may do `operation`. Exactly one
  // of a committed `use` or `failed` happens. `directory` tells the workspace
  // of callers that are no attached session. `last_good`: an invalid config
  // serves the last good mirror.
  //
  // Fails with the errors of Callers::Resolve, CheckPermitted and the config,
  // or FAILED_PRECONDITION (NO_WORKSPACE).
  void Decide(CallerEvidence evidence, std::string directory,
              Operation operation, bool last_good, Use use, Failed failed);

  // The same for what needs no workspace: a session of one is decided on its
  // last good config, anybody else without. `scope` is that of persons and
  // clients; a session has its own.
  void DecideAnywhere(CallerEvidence evidence, std::string scope,
                      Operation operation, Use use, Failed failed);

  // Finds the root of `directory`; empty if there is no workspace.
  void FindRoot(const std::string& directory,
                absl::AnyInvocable<void(absl::StatusOr<std::string>)> found);

  const Callers& callers() const { return callers_; }

 private:
  void DecideIn(const std::string& root, Caller caller, Operation operation,
                bool last_good, Use use, Failed failed);
  // Inside a command. `workspace` may be null.
  absl::Status UseIn(const std::shared_ptr<const Workspace>& workspace,
                     const Caller& caller, std::string scope,
                     Operation operation, Use& use, Effects& effects);

  StateRunner& runner_;
  ConfigLanes& lanes_;
  WorkspaceGate& gate_;
  Roster& roster_;
  Callers callers_;
  const std::string account_home_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_WORKSPACES_H_
