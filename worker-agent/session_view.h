#ifndef PI_INTERCOM_WORKER_AGENT_SESSION_VIEW_H_
#define PI_INTERCOM_WORKER_AGENT_SESSION_VIEW_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "intercom/v1/session.pb.h"
#include "worker-agent/host/json_fields.h"
#include "worker-agent/tools/catalogue.h"
#include "worker-agent/tools/peer_result.h"

namespace intercom {

// What the host is told about its session: connection, role, entry, tools and
// instructions. Changes by what the broker and the host say; ToJson() is the
// `session` notification. Not thread-safe.
class SessionView {
 public:
  // Not attached, but trying; `why` is OK at first.
  void Connecting(const absl::Status& why);
  void Welcomed(const v1::Welcome& welcome);
  void RoleChanged(const v1::RoleChanged& change);
  // `final` refusals take the tools away, and nothing follows them.
  void Refused(const absl::Status& status, bool final);
  void Superseded(const std::string& message);

  // The host shows the responsibility of the entry with this hash. False if
  // there is no such entry: then nothing changes.
  bool Loaded(const std::string& entry_hash);
  // The host took `entry` on, as a control asked.
  void Reloaded(const v1::AgentEntry& entry);

  // The hash to report to the broker; empty if nothing is loaded.
  std::string loaded_hash() const;
  // The name in force of a worker that has loaded its entry; empty for others.
  std::string loaded_worker_name() const;
  bool connected() const { return connection_ == "connected"; }
  int port() const { return welcome_.port(); }
  v1::Role role() const { return welcome_.role(); }
  // Empty without a workspace.
  const std::string& workspace_root() const {
    return welcome_.workspace_root();
  }
  // Why it is not attached; OK if that is not known.
  absl::Status error() const { return error_.value_or(absl::OkStatus()); }

  // Another program started the session as its child.
  void SetSupervised() { supervised_ = true; }
  // It works on a run, or is a headless worker of somebody.
  void SetDelegated(bool value) { delegated_ = value; }
  // It has, or had, runs or headless workers of its own.
  void SetSupervises() { supervises_ = true; }
  void SetMayRunPrograms(bool value) { may_run_programs_ = value; }

  // The instructions that hold once `entry` is loaded.
  std::string InstructionsWith(const v1::AgentEntry& entry) const;

  Json ToJson() const;

  // What the session that said `hello` can tell of itself, but for asks.
  OwnSession OwnPlace(const v1::Hello& hello) const;

 private:
  std::string Instructions() const;
  std::string StatusText() const;
  ToolUser User() const;

  std::string connection_ = "connecting";
  std::optional<absl::Status> error_;
  bool supervised_ = false;
  bool delegated_ = false;
  bool supervises_ = false;
  bool may_run_programs_ = false;
  bool superseded_ = false;
  // No other state follows.
  bool final_ = false;
  // The latest; its role, operations and entry follow RoleChanged.
  v1::Welcome welcome_;
  std::optional<v1::AgentEntry> loaded_;
  bool await_reload_ = false;
};

// An entry as `session` and `control` carry it.
Json EntryOf(const v1::AgentEntry& entry);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_SESSION_VIEW_H_
