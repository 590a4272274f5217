#include "broker/work/channel_desk.h"

#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/permissions.h"
#include "broker/work/channel_frames.h"

namespace intercom {

void ChannelDesk::OnRequest(SessionKey key, v1::ChannelRequest request) {
  if (!request.has_commit()) {
    runner_.PostTask([this, key = std::move(key),
                      request = std::move(request)] { Serve(key, request); });
    return;
  }
  auto commit =
      std::make_shared<Commit>(Commit{std::move(key), std::move(request), {}});
  runner_.PostCommand(
      {[this, commit](Effects& effects) { return RunCommit(*commit, effects); },
       [this, commit](const absl::Status& status) {
         FailCommit(*commit, status);
       }});
}

void ChannelDesk::Serve(const SessionKey& key,
                        const v1::ChannelRequest& request) {
  const Attachment* attachment = Present(key);
  if (attachment == nullptr) return;
  if (request.has_leave()) {
    Leave(*attachment, ChannelKeyOf(*attachment, request));
    return AnswerRequest(*attachment->link, request, absl::OkStatus());
  }
  if (absl::Status status = Admit(*attachment, request); !status.ok()) {
    return AnswerRequest(*attachment->link, request, status);
  }
  // Both answer where they succeed: what follows must come after it.
  absl::Status refused = Error(
      absl::StatusCode::kUnimplemented, "UNKNOWN_ACTION",
      "this broker does not know the action; run intercom broker restart");
  if (request.has_join()) refused = Join(*attachment, request);
  if (request.has_publish()) refused = Publish(*attachment, request);
  if (!refused.ok()) AnswerRequest(*attachment->link, request, refused);
}

absl::Status ChannelDesk::Admit(const Attachment& attachment,
                                const v1::ChannelRequest& request) {
  INTERCOM_RETURN_IF_ERROR(CheckPermitted(Operation::kChannelUse,
                                          v1::ORIGIN_SESSION, attachment.role));
  INTERCOM_RETURN_IF_ERROR(CheckNamespace(request.namespace_()));
  if (guests_[attachment.session_id].allowance.Spend(clock_.Steady())) {
    return absl::OkStatus();
  }
  return Error(absl::StatusCode::kResourceExhausted, "CHANNEL_RATE",
               "this session makes more than 120 channel requests a second "
               "beyond its burst of 240; nothing was done, try again in a "
               "second");
}

absl::Status ChannelDesk::Join(const Attachment& attachment,
                               const v1::ChannelRequest& request) {
  const ChannelKey key = ChannelKeyOf(attachment, request);
  Guest& guest = guests_[attachment.session_id];
  const bool is_new = !guest.joined.contains(key);
  if (is_new && guest.joined.size() >= kMaxJoined) {
    return Error(absl::StatusCode::kResourceExhausted, "CHANNELS_FULL",
                 "this session is in 32 channels already, which is the limit");
  }
  const auto state = store_.Find(key);
  if (!state.ok()) return ChannelStorageFailed(state.status());

  Channel& channel = channels_.try_emplace(key, random_).first->second;
  guest.joined.insert(key);
  const bool owner_changed =
      channel.Join({.session_id = attachment.session_id,
                    .link = attachment.link,
                    .owner_eligible = request.join().owner_eligible()});
  AnswerRequest(*attachment.link, request, absl::OkStatus());
  SendEvent(*attachment.link, OwnerEvent(key, channel));
  if (state->has_value()) {
    SendEvent(*attachment.link,
              StateEvent(key, (*state)->revision, (*state)->payload));
  }
  if (is_new) {
    Broadcast(channel, MembershipEvent(key, attachment, /*joined=*/true),
              attachment.session_id);
  }
  if (owner_changed) {
    Broadcast(channel, OwnerEvent(key, channel), attachment.session_id);
  }
  return absl::OkStatus();
}

void ChannelDesk::Leave(const Attachment& attachment, const ChannelKey& key) {
  Channel* channel = Find(key);
  if (channel == nullptr || channel->Find(attachment.session_id) == nullptr) {
    return;
  }
  const bool owner_changed = channel->Leave(attachment.session_id);
  guests_[attachment.session_id].joined.erase(key);
  if (channel->members().empty()) {
    channels_.erase(key);
    return;
  }
  Broadcast(*channel, MembershipEvent(key, attachment, /*joined=*/false));
  if (owner_changed) Broadcast(*channel, OwnerEvent(key, *channel));
}

absl::StatusOr<Channel*> ChannelDesk::Joined(
    const Attachment& attachment, const v1::ChannelRequest& request) {
  Channel* channel = Find(ChannelKeyOf(attachment, request));
  if (channel != nullptr && channel->Find(attachment.session_id) != nullptr) {
    return channel;
  }
  return Error(absl::StatusCode::kFailedPrecondition, "NOT_JOINED",
               "this session is not in the channel; join it first");
}

absl::Status ChannelDesk::Publish(const Attachment& attachment,
                                  const v1::ChannelRequest& request) {
  const v1::ChannelRequest::Publish& publish = request.publish();
  INTERCOM_ASSIGN_OR_RETURN(const Channel* channel,
                            Joined(attachment, request));
  INTERCOM_RETURN_IF_ERROR(
      CheckChannelBytes(publish.payload(), kMaxPayloadBytes, "the payload"));
  if (publish.owner_only()) {
    INTERCOM_RETURN_IF_ERROR(
        CheckOwner(*channel, attachment.session_id, publish.epoch()));
  }
  v1::ChannelEvent event = EventOf(ChannelKeyOf(attachment, request));
  v1::ChannelEvent::Message& message = *event.mutable_message();
  message.set_from_session_id(attachment.session_id);
  message.set_payload(publish.payload());
  if (!channel->owner().session_id().empty()) {
    *message.mutable_owner() = channel->owner();
  }
  if (publish.audience() == v1::ChannelRequest::Publish::AUDIENCE_OWNER) {
    const Channel::Member* owner = channel->Find(channel->owner().session_id());
    if (owner == nullptr) {
      return Error(absl::StatusCode::kFailedPrecondition, "NO_OWNER",
                   "the channel has no owner now; nothing was sent");
    }
    AnswerRequest(*attachment.link, request, absl::OkStatus());
    SendEvent(*owner->link, event);
    return absl::OkStatus();
  }
  AnswerRequest(*attachment.link, request, absl::OkStatus());
  Broadcast(*channel, event);
  return absl::OkStatus();
}

void ChannelDesk::OnAttached(Attachment&) {}

void ChannelDesk::OnDetached(const Attachment& attachment, bool) {
  const auto guest = guests_.find(attachment.session_id);
  if (guest == guests_.end()) return;
  for (const ChannelKey& key : std::set(guest->second.joined)) {
    Leave(attachment, key);
  }
  guests_.erase(attachment.session_id);
}

Attachment* ChannelDesk::Present(const SessionKey& key) {
  Attachment* attachment = roster_.Find(key.session_id);
  return attachment != nullptr && attachment->epoch == key.epoch ? attachment
                                                                 : nullptr;
}

Channel* ChannelDesk::Find(const ChannelKey& key) {
  const auto found = channels_.find(key);
  return found == channels_.end() ? nullptr : &found->second;
}

void ChannelDesk::Broadcast(const Channel& channel,
                            const v1::ChannelEvent& event,
                            std::string_view except) {
  for (const Channel::Member& member : channel.members()) {
    if (member.session_id != except) SendEvent(*member.link, event);
  }
}

}  // namespace intercom
