#ifndef PI_INTERCOM_BROKER_ROSTER_REGISTRAR_H_
#define PI_INTERCOM_BROKER_ROSTER_REGISTRAR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/base/random.h"
#include "broker/config/config_lanes.h"
#include "broker/roster/roster.h"
#include "broker/roster/workspace_mirror.h"
#include "broker/storage/session_store.h"
#include "broker/storage/state_runner.h"

namespace intercom {

// One attachment, for calls that come with it.
struct SessionKey {
  std::string session_id;
  int64_t epoch = 0;
};

// Is told of comings and goings, on the state's thread, after they are stored,
// and of activity, which is not.
class AttachmentObserver {
 public:
  virtual ~AttachmentObserver() = default;
  // Welcome was sent.
  virtual void OnAttached(Attachment& attachment) = 0;
  // `attachment` is out of the roster already. `restarting`: it said that it
  // comes back.
  virtual void OnDetached(const Attachment& attachment, bool restarting) = 0;
  // Its activity was replaced; `before` is what it was.
  virtual void OnActivity(const Attachment& /*attachment*/,
                          const v1::Activity& /*before*/) {}
  // Its own name, or whether it has loaded its entry, changed.
  virtual void OnChanged(const Attachment& /*attachment*/) {}
};

// Admits sessions: finds their workspace and role, guards their seat (one live
// attachment a session id), and keeps the roster true until they leave.
//
// Methods are thread-safe: they post to the state's thread, where everything
// else happens.
class Registrar {
 public:
  // For how long a newcomer waits for a session of the same id that may be
  // dead.
  static constexpr absl::Duration kSeatWait = absl::Seconds(15);
  static constexpr size_t kMaxAttachments = 1024;
  static constexpr size_t kMaxNameBytes = 512;

  // What the kernel says of the process that attaches. Over TCP it may not be
  // found; the client is believed then.
  struct PeerProcess {
    // Itself and its ancestors, nearest first.
    std::vector<int64_t> ancestry;
  };

  struct Facts {
    std::string store_id;
    std::string version;
    std::string home;          // state directory
    std::string account_home;  // where nothing is ever created
    int64_t pid = 0;
    int port = 0;
    std::vector<std::string> notices;
  };

  // All references must outlive this object.
  Registrar(StateRunner& runner, ConfigLanes& lanes, WorkspaceMirror& mirror,
            Roster& roster, SessionStore& sessions, const Clock& clock,
            Random& random, Facts facts);

  // In the order of registration; before the first Attach.
  void AddObserver(AttachmentObserver& observer) {
    observers_.push_back(&observer);
  }

  // Called inside the command that admits a session to the workspace `root`,
  // empty for peers: the id of the launch job that opened its host, or "". An
  // error refuses the session.
  using OnAdmit = absl::AnyInvocable<absl::StatusOr<std::string>(
      const v1::Hello& hello, const std::string& root, Effects& effects)>;
  // Before the first Attach.
  void SetOnAdmit(OnAdmit on_admit) { on_admit_ = std::move(on_admit); }

  // Called inside the command that stores that the session `row` came, or took
  // another name. An error fails it.
  struct Arrival {
    SessionRow row;
    // Why its host started. Unspecified for another name.
    v1::StartReason reason = v1::START_REASON_UNSPECIFIED;
    bool renamed = false;
  };
  using OnArrival =
      absl::AnyInvocable<absl::Status(const Arrival&, Effects& effects)>;
  // Before the first Attach.
  void SetOnArrival(OnArrival on_arrival) {
    on_arrival_ = std::move(on_arrival);
  }

  using Done = absl::AnyInvocable<void(absl::StatusOr<SessionKey>)>;
  // Registers a session. On success `done` is called, then Welcome is the first
  // frame on `link`. Refusals as described at
  // SessionService.Attach.
  void Attach(v1::Hello hello, PeerProcess peer,
              std::shared_ptr<SessionLink> link, Done done);

  // The stream of `key` ended: after Goodbye with its reason, else with
  // REASON_UNSPECIFIED. Does nothing for an older epoch.
  void Detach(SessionKey key, v1::Goodbye::Reason reason);

  void SetActivity(SessionKey key, v1::Activity activity);
  void Rename(SessionKey key, std::string name);
  void SetLoaded(SessionKey key, std::string entry_hash);

  // From now on every Attach is refused with UNAVAILABLE (DRAINING), and every
  // session is told.
  void Drain();
  // Ends every link, after Drain.
  void CloseAll();

 private:
  struct Pending {
    v1::Hello hello;
    PeerProcess peer;
    std::shared_ptr<SessionLink> link;
    Done done;
    // Set once the directory was looked at.
    Discovery discovery;
    std::shared_ptr<const ConfigSnapshot> snapshot;
    bool created = false;
  };
  using PendingPtr = std::shared_ptr<Pending>;

  static absl::Status Draining();

  // Everything below runs on the state's thread.
  void FindWorkspace(PendingPtr pending);
  void CheckHomeRoot(PendingPtr pending);
  // The same, where `home_root` exists.
  void CheckNamed(PendingPtr pending, const std::string& home_root);
  // Takes the seat with the config as it is now: it may have changed during a
  // check, and an older snapshot must never be mirrored over a newer one.
  void RefreshAndTakeSeat(PendingPtr pending);
  void TakeSeat(PendingPtr pending);
  void Admit(PendingPtr pending, int64_t superseded_epoch);
  absl::Status Store(const PendingPtr& pending, int64_t superseded_epoch,
                     Effects& effects);
  void Seat(PendingPtr pending, const SessionRow& row, int64_t superseded_epoch,
            std::shared_ptr<const Workspace> workspace);
  // Whether the session may have the stable id of its Hello: nobody else is
  // known by it.
  absl::StatusOr<bool> IsStableIdFree(const v1::Hello& hello,
                                      const Workspace* workspace) const;
  void Leave(const Attachment& attachment, bool restarting);
  void TellChanged(const Attachment& attachment);
  void RefreshRoles(const Workspace& workspace);
  v1::Welcome WelcomeFor(const Attachment& attachment,
                         const Workspace* workspace, bool created) const;
  Attachment* Present(const SessionKey& key);

  StateRunner& runner_;
  ConfigLanes& lanes_;
  WorkspaceMirror& mirror_;
  Roster& roster_;
  SessionStore& sessions_;
  const Clock& clock_;
  Random& random_;
  const Facts facts_;
  std::vector<AttachmentObserver*> observers_;
  OnAdmit on_admit_;
  OnArrival on_arrival_;
  // Newcomers that wait for a seat, by session.
  absl::flat_hash_map<std::string, PendingPtr> waiting_;
  bool draining_ = false;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_ROSTER_REGISTRAR_H_
