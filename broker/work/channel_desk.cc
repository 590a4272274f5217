#include "broker/work/channel_desk.h"

namespace intercom {

void ChannelDesk::OnRequest(SessionKey, v1::ChannelRequest) {}

void ChannelDesk::ListChannels(CallerEvidence evidence, v1::ListChannelsRequest,
                               ListDone done) {
  runner_.PostTask(
      [this, evidence = std::move(evidence), done = std::move(done)]() mutable {
        const auto caller = callers_.ResolveFor(Operation::kInspect, evidence);
        if (!caller.ok()) return done(caller.status());
        done(v1::ListChannelsResponse());
      });
}

void ChannelDesk::OnAttached(Attachment&) {}

void ChannelDesk::OnDetached(const Attachment&, bool) {}

}  // namespace intercom
