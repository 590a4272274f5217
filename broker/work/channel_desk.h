#ifndef PI_INTERCOM_BROKER_WORK_CHANNEL_DESK_H_
#define PI_INTERCOM_BROKER_WORK_CHANNEL_DESK_H_

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/roster/callers.h"
#include "broker/roster/registrar.h"
#include "broker/storage/state_runner.h"
#include "intercom/v1/channel.pb.h"

namespace intercom {

// Channels between extensions of sessions: members, owners, state.
//
// OnRequest and ListChannels are thread-safe; the rest is called on the state's
// thread.
class ChannelDesk : public AttachmentObserver {
 public:
  // `runner` and `roster` must outlive this object.
  ChannelDesk(StateRunner& runner, Roster& roster)
      : runner_(runner), callers_(roster), roster_(roster) {}

  // A request of the session `key`; answered by a frame on its link.
  void OnRequest(SessionKey key, v1::ChannelRequest request);

  using ListDone =
      absl::AnyInvocable<void(absl::StatusOr<v1::ListChannelsResponse>)>;
  void ListChannels(CallerEvidence evidence, v1::ListChannelsRequest request,
                    ListDone done);

  void OnAttached(Attachment& attachment) override;
  void OnDetached(const Attachment& attachment, bool restarting) override;

 private:
  StateRunner& runner_;
  Callers callers_;
  Roster& roster_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_CHANNEL_DESK_H_
