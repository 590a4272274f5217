#ifndef PI_INTERCOM_BROKER_WORK_CHANNEL_DESK_H_
#define PI_INTERCOM_BROKER_WORK_CHANNEL_DESK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/base/clock.h"
#include "broker/base/random.h"
#include "broker/roster/callers.h"
#include "broker/roster/registrar.h"
#include "broker/storage/channel_store.h"
#include "broker/storage/state_runner.h"
#include "broker/work/allowance.h"
#include "broker/work/channel.h"
#include "intercom/v1/channel.pb.h"

namespace intercom {

// Channels between extensions of sessions. Members and owners are memory: a
// session joins anew with each attachment. States are rows.
//
// OnRequest and ListChannels are thread-safe; the rest is called on the state's
// thread.
class ChannelDesk : public AttachmentObserver {
 public:
  static constexpr size_t kMaxPayloadBytes = 16 << 10;
  static constexpr size_t kMaxStateBytes = 64 << 10;
  static constexpr size_t kMaxJoined = 32;
  // States that are kept in all. None is ever dropped for another.
  static constexpr int64_t kMaxStates = 1024;
  // Of each session's requests, whatever mail it sends.
  static constexpr double kRequestsPerSecond = 120;
  static constexpr double kRequestBurst = 240;

  // All must outlive this object. `random` is used on the state's thread.
  ChannelDesk(StateRunner& runner, ChannelStore& store, Roster& roster,
              const Clock& clock, Random& random)
      : runner_(runner),
        store_(store),
        callers_(roster),
        roster_(roster),
        clock_(clock),
        random_(random) {}

  // A request of the session `key`; answered by a frame on its link. One for
  // whom another attachment has taken over is not answered. A commit is
  // answered when it is on disk, and its event does not wait for that; members
  // and owner are those of the moment at which its transaction began.
  void OnRequest(SessionKey key, v1::ChannelRequest request);

  using ListDone =
      absl::AnyInvocable<void(absl::StatusOr<v1::ListChannelsResponse>)>;
  // Those of its own scope for a session, all for others.
  void ListChannels(CallerEvidence evidence, v1::ListChannelsRequest request,
                    ListDone done);

  void OnAttached(Attachment& attachment) override;
  void OnDetached(const Attachment& attachment, bool restarting) override;

 private:
  // One commit on its way.
  struct Commit {
    SessionKey key;
    v1::ChannelRequest request;
    // Why it was refused, where that is not the storage's fault.
    absl::Status refusal;
  };

  void Serve(const SessionKey& key, const v1::ChannelRequest& request);
  absl::Status Join(const Attachment& attachment,
                    const v1::ChannelRequest& request);
  void Leave(const Attachment& attachment, const ChannelKey& channel);
  absl::Status Publish(const Attachment& attachment,
                       const v1::ChannelRequest& request);
  absl::Status RunCommit(Commit& commit, Effects& effects);
  void FailCommit(const Commit& commit, const absl::Status& status);
  // Whether the commit may be tried, apart from its revision.
  absl::Status CheckCommit(const Attachment& attachment,
                           const v1::ChannelRequest& request);
  // Whether the request is one that this session may make now.
  absl::Status Admit(const Attachment& attachment,
                     const v1::ChannelRequest& request);
  // NOT_JOINED unless the session is a member.
  absl::StatusOr<Channel*> Joined(const Attachment& attachment,
                                  const v1::ChannelRequest& request);

  // nullptr for an older attachment.
  Attachment* Present(const SessionKey& key);
  Channel* Find(const ChannelKey& key);
  // To all members, but for one where `except` names it.
  void Broadcast(const Channel& channel, const v1::ChannelEvent& event,
                 std::string_view except = {});

  StateRunner& runner_;
  ChannelStore& store_;
  Callers callers_;
  Roster& roster_;
  const Clock& clock_;
  Random& random_;
  // Those with members.
  std::map<ChannelKey, Channel> channels_;
  // By session, while it is attached and has made a request.
  struct Guest {
    std::set<ChannelKey> joined;
    Allowance allowance{kRequestBurst, kRequestsPerSecond};
  };
  absl::flat_hash_map<std::string, Guest> guests_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_CHANNEL_DESK_H_
