#include "broker/roster/registrar.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "broker/domain/permissions.h"
#include "broker/domain/validated_envelope.h"
#include "spdlog/spdlog.h"

namespace intercom {
namespace {

constexpr int kProtocolVersion = 1;
constexpr size_t kMaxFieldBytes = 4096;

absl::Status CheckHello(const v1::Hello& hello) {
  const auto invalid = [](const std::string& what) {
    return Error(absl::StatusCode::kInvalidArgument, "HELLO_INVALID", what);
  };
  if (hello.protocol_version() != kProtocolVersion) {
    return Error(absl::StatusCode::kInvalidArgument, "PROTOCOL_VERSION",
                 "the agent speaks protocol version " +
                     std::to_string(hello.protocol_version()) +
                     ", this broker speaks " +
                     std::to_string(kProtocolVersion) +
                     "; install the same pi-intercom for both, then run "
                     "intercom broker restart");
  }
  INTERCOM_RETURN_IF_ERROR(CheckSessionId(hello.session_id()));
  if (hello.cwd().empty() || hello.cwd().front() != '/') {
    return invalid("cwd is not an absolute path");
  }
  if (hello.host_kind().empty()) return invalid("host_kind is empty");
  if (hello.host_pid() < 1) return invalid("host_pid is not a process id");
  if (hello.session_name().size() > Registrar::kMaxNameBytes) {
    return invalid("session_name has more than 512 bytes");
  }
  if (hello.scope().size() > 64) return invalid("scope has more than 64 bytes");
  if (!hello.stable_id().empty()) {
    INTERCOM_RETURN_IF_ERROR(CheckStableId(hello.stable_id()));
  }
  if (hello.cwd().size() > kMaxFieldBytes ||
      hello.workspace_root().size() > kMaxFieldBytes) {
    return invalid("a directory has more than 4,096 bytes");
  }
  return absl::OkStatus();
}

}  // namespace

Registrar::Registrar(StateRunner& runner, ConfigLanes& lanes,
                     WorkspaceMirror& mirror, Roster& roster,
                     SessionStore& sessions, const Clock& clock, Random& random,
                     Facts facts)
    : runner_(runner),
      lanes_(lanes),
      mirror_(mirror),
      roster_(roster),
      sessions_(sessions),
      clock_(clock),
      random_(random),
      facts_(std::move(facts)) {
  mirror_.AddOnChanged(
      [this](const Workspace& workspace) { RefreshRoles(workspace); });
}

void Registrar::Attach(v1::Hello hello, PeerProcess peer,
                       std::shared_ptr<SessionLink> link, Done done) {
  auto pending = std::make_shared<Pending>();
  pending->hello = std::move(hello);
  pending->peer = std::move(peer);
  pending->link = std::move(link);
  pending->done = std::move(done);
  runner_.PostTask([this, pending = std::move(pending)]() mutable {
    if (draining_) return pending->done(Draining());
    if (absl::Status status = CheckHello(pending->hello); !status.ok()) {
      return pending->done(status);
    }
    if (roster_.size() >= kMaxAttachments) {
      return pending->done(
          Error(absl::StatusCode::kResourceExhausted, "ATTACHMENTS_FULL",
                "the broker holds its limit of 1,024 sessions; close some"));
    }
    FindWorkspace(std::move(pending));
  });
}

void Registrar::FindWorkspace(PendingPtr pending) {
  DiscoveryRequest request;
  request.cwd = pending->hello.cwd();
  request.home = facts_.account_home;
  request.mode = pending->hello.workspace_mode();
  if (!pending->hello.workspace_root().empty()) {
    request.workspace_root = pending->hello.workspace_root();
  }
  const std::string session_id = pending->hello.session_id();
  lanes_.Open(std::move(request), session_id, facts_.port,
              [this, pending = std::move(pending)](auto opening) mutable {
                if (!opening.ok()) return pending->done(opening.status());
                pending->discovery = std::move(opening->discovery);
                pending->snapshot = std::move(opening->snapshot);
                pending->created = pending->created || opening->created;
                CheckHomeRoot(std::move(pending));
              });
}

// A session belongs to the root of its live, else last, attachment, as long as
// that root still names it: a copied config must not split a session in two.
void Registrar::CheckHomeRoot(PendingPtr pending) {
  const std::string& id = pending->hello.session_id();
  const std::string root =
      pending->snapshot == nullptr ? "" : pending->snapshot->root;
  std::string home_root;
  if (const Attachment* live = roster_.Find(id); live != nullptr) {
    home_root = live->root;
  } else if (const auto row = sessions_.Find(id);
             row.ok() && row->has_value()) {
    home_root = (*row)->workspace_root;
  }
  if (home_root.empty() || root.empty() || home_root == root) {
    return TakeSeat(std::move(pending));
  }
  DiscoveryRequest request;
  request.cwd = home_root;
  request.mode = v1::WORKSPACE_MODE_EXISTING;
  lanes_.FindRoot(std::move(request), [this, pending = std::move(pending),
                                       home_root](auto found) mutable {
    // A root that was moved or deleted claims nothing.
    if (ReasonOf(found.status()) == "NO_DIRECTORY" &&
        roster_.Find(pending->hello.session_id()) == nullptr) {
      return RefreshAndTakeSeat(std::move(pending));
    }
    CheckNamed(std::move(pending), home_root);
  });
}

void Registrar::CheckNamed(PendingPtr pending, const std::string& home_root) {
  const std::string root = pending->snapshot->root;
  lanes_.Snapshot(home_root, [this, pending = std::move(pending), root,
                              home_root](auto snapshot) mutable {
    const std::string& id = pending->hello.session_id();
    const bool named =
        snapshot.ok() && (*snapshot)->config.FindBySession(id) != nullptr;
    const bool gone = ReasonOf(snapshot.status()) == "NO_CONFIG";
    if (!named && (snapshot.ok() || gone) && roster_.Find(id) == nullptr) {
      return RefreshAndTakeSeat(std::move(pending));
    }
    pending->done(Error(
        absl::StatusCode::kFailedPrecondition, "SESSION_BELONGS_ELSEWHERE",
        "session " + id + " belongs to the workspace " + home_root + ", and " +
            root +
            " claims it too, as a copy, clone or worktree does; start a new "
            "session here, or remove its entry from the config.json of one "
            "of the two"));
  });
}

void Registrar::RefreshAndTakeSeat(PendingPtr pending) {
  const std::string root = pending->snapshot->root;
  lanes_.Snapshot(root,
                  [this, pending = std::move(pending)](auto snapshot) mutable {
                    if (!snapshot.ok()) return pending->done(snapshot.status());
                    pending->snapshot = *std::move(snapshot);
                    TakeSeat(std::move(pending));
                  });
}

void Registrar::TakeSeat(PendingPtr pending) {
  if (draining_) return pending->done(Draining());
  const std::string id = pending->hello.session_id();
  const Attachment* live = roster_.Find(id);
  if (live == nullptr) return Admit(std::move(pending), 0);
  if (!pending->hello.previous_session_token().empty() &&
      pending->hello.previous_session_token() == live->token) {
    return Admit(std::move(pending), live->epoch);
  }
  const auto refuse = [id, live_pid = live->host_pid](Pending& refused) {
    refused.done(
        Error(absl::StatusCode::kFailedPrecondition, "SESSION_ALREADY_ATTACHED",
              "session " + id + " is open already in process " +
                  std::to_string(live_pid) +
                  "; use it there, close it there first, or start a new "
                  "session"));
  };
  // A newcomer that died meanwhile must not keep others from the seat.
  if (PendingPtr& first = waiting_[id];
      first == nullptr || first->link->IsGone()) {
    if (first != nullptr) refuse(*first);
    first = pending;
  } else {
    return refuse(*pending);
  }
  runner_.PostDelayedTask(
      [this, id, pending, refuse] {
        const auto found = waiting_.find(id);
        if (found == waiting_.end() || found->second != pending) return;
        waiting_.erase(found);
        refuse(*pending);
      },
      kSeatWait);
}

void Registrar::Admit(PendingPtr pending, int64_t superseded_epoch) {
  const std::string id = pending->hello.session_id();
  roster_.BeginArrival(id);
  runner_.PostCommand({[this, pending, superseded_epoch](Effects& effects) {
                         return Store(pending, superseded_epoch, effects);
                       },
                       [this, pending, id](const absl::Status& status) {
                         roster_.EndArrival(id);
                         pending->done(status);
                       }});
}

absl::Status Registrar::Store(const PendingPtr& pending,
                              int64_t superseded_epoch, Effects& effects) {
  const v1::Hello& hello = pending->hello;
  std::shared_ptr<const Workspace> workspace;
  if (pending->snapshot != nullptr) {
    INTERCOM_ASSIGN_OR_RETURN(
        workspace,
        mirror_.Apply(*pending->snapshot, pending->created, effects));
  }
  SessionRow row;
  row.session_id = hello.session_id();
  row.workspace_root = workspace == nullptr ? "" : workspace->root;
  row.cwd = pending->discovery.cwd_canonical;
  row.scope = hello.scope();
  row.name = hello.session_name();
  row.host_kind = hello.host_kind();
  row.host_version = hello.host_version();
  row.role =
      workspace == nullptr ? v1::ROLE_PEER : workspace->RoleOf(row.session_id);
  row.attached_at = row.last_seen_at = clock_.Now();
  row.host_pid = hello.host_pid();
  row.host_start_ticks = hello.host_start_ticks();
  INTERCOM_ASSIGN_OR_RETURN(const bool is_free,
                            IsStableIdFree(hello, workspace.get()));
  if (is_free) row.stable_id = hello.stable_id();
  if (on_admit_) {
    INTERCOM_ASSIGN_OR_RETURN(row.launch_job_id,
                              on_admit_(hello, row.workspace_root, effects));
  }
  INTERCOM_ASSIGN_OR_RETURN(row.epoch, sessions_.Attach(row));
  if (on_arrival_) {
    INTERCOM_RETURN_IF_ERROR(
        on_arrival_({row, hello.start_reason(), false}, effects));
  }
  effects.AfterCommit([this, pending, row = std::move(row), superseded_epoch,
                       workspace = std::move(workspace)] {
    roster_.EndArrival(row.session_id);
    Seat(pending, row, superseded_epoch, workspace);
  });
  return absl::OkStatus();
}

v1::Welcome Registrar::WelcomeFor(const Attachment& attachment,
                                  const Workspace* workspace,
                                  bool created) const {
  v1::Welcome welcome;
  welcome.set_session_token(attachment.token);
  welcome.set_store_id(facts_.store_id);
  welcome.set_epoch(attachment.epoch);
  welcome.set_role(attachment.role);
  for (std::string& name : PermittedOperations(attachment.role)) {
    welcome.add_operations(std::move(name));
  }
  if (attachment.entry.has_value()) {
    *welcome.mutable_agent_entry() = *attachment.entry;
  }
  welcome.set_workspace_root(attachment.root);
  welcome.set_broker_version(facts_.version);
  welcome.set_protocol_version(kProtocolVersion);
  welcome.set_port(facts_.port);
  welcome.mutable_limits()->set_text_characters(kMaxTextCharacters);
  welcome.mutable_limits()->set_window_envelopes(32);
  welcome.mutable_limits()->set_window_bytes(1 << 20);
  welcome.set_broker_pid(facts_.pid);
  welcome.set_workspace_created(created);
  welcome.add_features("channels");
  for (const std::string& notice : facts_.notices) welcome.add_notices(notice);
  welcome.set_stable_id(attachment.stable_id);
  if (const std::string& wanted = attachment.hello.stable_id();
      wanted != attachment.stable_id) {
    const Attachment* holder =
        roster_.FindByStableId(attachment.hello.scope(), wanted);
    welcome.add_notices(
        "the stable id " + wanted + " is that of session " +
        (holder == nullptr
             ? wanted
             : holder->session_id + " in " + MarkedLine(holder->cwd, 1024)) +
        ", so this session is known by its own id only; give each session a "
        "stable id of its own, or end that one and start this one again");
  }
  if (workspace != nullptr &&
      !workspace->claimed_coordinator_session_id.empty()) {
    welcome.add_notices(
        "config.json of " + workspace->root + " names session " +
        workspace->claimed_coordinator_session_id + " as coordinator, but " +
        workspace->coordinator_session_id +
        " coordinates this workspace and goes on doing so; put its id back "
        "into the file, or have a person confirm the change with: intercom "
        "coordinator take");
  }
  // Not after a break, when its coordinator may come back in a moment.
  if (workspace != nullptr && attachment.role == v1::ROLE_ANONYMOUS &&
      attachment.hello.previous_session_token().empty() &&
      roster_.PresenceOf(workspace->coordinator_session_id).presence ==
          v1::PRESENCE_AWAY) {
    welcome.add_notices(
        "the coordinator of " + workspace->root +
        " is away, and this session is another one: anonymous, until it is "
        "given a role. To go on with the coordinator: pi --session " +
        workspace->coordinator_session_id +
        ". To have another one, name it in config.json and run: intercom "
        "coordinator take");
  }
  return welcome;
}

}  // namespace intercom
