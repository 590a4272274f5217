#ifndef PI_INTERCOM_BROKER_ROSTER_ROSTER_H_
#define PI_INTERCOM_BROKER_ROSTER_ROSTER_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "broker/roster/session_link.h"
#include "intercom/v1/roster.pb.h"
#include "intercom/v1/session.pb.h"

namespace intercom {

// One session with a live agent.
struct Attachment {
  std::string session_id;
  // Increases with each attachment of the session; calls of an older one are
  // fenced off.
  int64_t epoch = 0;
  // Secret that proves the session.
  std::string token;
  std::shared_ptr<SessionLink> link;
  // The host's process.
  int64_t host_pid = 0;
  v1::Hello hello;
  // The launch that opened the host. Empty when a person did.
  std::string launch_job_id;
  // Canonical workspace root; empty for peers.
  std::string root;
  // Relative to the root; the absolute directory for peers.
  std::string project_directory;
  v1::Role role = v1::ROLE_UNSPECIFIED;
  // The session's entry in the config, as the broker last told it.
  std::optional<v1::AgentEntry> entry;
  // Hash of the entry that its host loaded; empty before.
  std::string loaded_hash;
  // The entry came while it was attached: its host loads it at a reload only.
  bool awaits_reload = false;
  // Whether it works under its entry. One without an entry was configured so
  // lately, if at all, that the roster does not know yet.
  bool has_loaded() const { return !awaits_reload && entry.has_value(); }
  // Canonical directory of its host.
  std::string cwd;
  // The address that its person pinned. Empty where there is none, or another
  // session has it.
  std::string stable_id;
  // Latest activity; `at` unset before the first.
  v1::Activity activity;
  // The session's own name.
  std::string session_name;
  absl::Time since;
  // What it is called: the configured name, else its own. May be empty.
  const std::string& name() const {
    return entry.has_value() ? entry->name() : session_name;
  }
  // True until it leaves. The one thing of it that other threads may hold and
  // read.
  std::shared_ptr<const std::atomic<bool>> live;
};

// Who is attached, and who just left. Only memory: a restarted broker starts
// empty, and the agents attach again.
//
// Not thread-safe: every call is made on the state's thread.
class Roster {
 public:
  // For how long a session that announced its return counts as restarting.
  static constexpr absl::Duration kRestartGrace = absl::Seconds(5);

  // `clock` must outlive this object.
  explicit Roster(const Clock& clock) : clock_(clock) {}

  // Adds an attachment. The session must not be attached.
  Attachment& Insert(Attachment attachment);

  // Removes the session's attachment if it has that epoch; true if so.
  bool Remove(std::string_view session_id, int64_t epoch, bool restarting);

  // nullptr if there is none.
  Attachment* Find(std::string_view session_id);
  const Attachment* Find(std::string_view session_id) const;
  const Attachment* FindByToken(std::string_view token) const;
  // The attached session whose host is one of `pids`, nearest first.
  const Attachment* FindByHost(const std::vector<int64_t>& pids) const;

  // Which attached session of the scope has that stable id.
  const Attachment* FindByStableId(std::string_view scope,
                                   std::string_view stable_id) const;

  // Whether the session is being admitted: it is as good as there, and what
  // commands store for it is not seen here yet. Counted.
  void BeginArrival(const std::string& session_id) { ++arriving_[session_id]; }
  void EndArrival(const std::string& session_id);
  bool IsArriving(std::string_view session_id) const;

  // Attachments of one workspace, or all, in the order of attachment.
  std::vector<Attachment*> InWorkspace(std::string_view root);
  std::vector<Attachment*> All();
  std::vector<const Attachment*> All() const;
  size_t size() const { return by_session_.size(); }

  struct PresenceMark {
    v1::Presence presence = v1::PRESENCE_AWAY;
    // nullopt if this broker never saw the session.
    std::optional<absl::Time> since;
  };
  PresenceMark PresenceOf(std::string_view session_id) const;

 private:
  struct Departure {
    absl::Time at;
    absl::Duration steady_at;
    bool restarting = false;
  };
  static constexpr size_t kMaxDepartures = 1024;

  const Clock& clock_;
  absl::flat_hash_map<std::string, std::unique_ptr<Attachment>> by_session_;
  // What Attachment::live is, by session.
  absl::flat_hash_map<std::string, std::shared_ptr<std::atomic<bool>>> live_;
  absl::flat_hash_map<std::string, std::string> session_by_token_;
  // By order of attachment, for listings.
  std::map<int64_t, Attachment*> by_order_;
  absl::flat_hash_map<std::string, int64_t> order_of_;
  int64_t next_order_ = 1;
  absl::flat_hash_map<std::string, Departure> departures_;
  absl::flat_hash_map<std::string, int> arriving_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_ROSTER_ROSTER_H_
