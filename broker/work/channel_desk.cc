#include "broker/work/channel_desk.h"

namespace intercom {

void ChannelDesk::OnRequest(SessionKey, v1::ChannelRequest) {}

void ChannelDesk::ListChannels(CallerEvidence, v1::ListChannelsRequest,
                               ListDone done) {
  done(absl::UnimplementedError(""));
}

void ChannelDesk::OnAttached(Attachment&) {}

void ChannelDesk::OnDetached(const Attachment&, bool) {}

}  // namespace intercom
