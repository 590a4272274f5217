#include "broker/work/channel_frames.h"

#include <algorithm>

#include "broker/base/error.h"
#include "spdlog/spdlog.h"

namespace intercom {
namespace {

constexpr size_t kMaxNamespaceBytes = 64;

}  // namespace

std::string ChannelNameOf(const Attachment& attachment) {
  return attachment.entry.has_value() ? attachment.entry->name()
                                      : attachment.session_name;
}

ChannelKey ChannelKeyOf(const Attachment& attachment,
                        const v1::ChannelRequest& request) {
  return {attachment.hello.scope(), request.namespace_()};
}

absl::Status CheckNamespace(std::string_view name) {
  const bool valid = !name.empty() && name.size() <= kMaxNamespaceBytes &&
                     std::all_of(name.begin(), name.end(),
                                 [](char c) { return c > ' ' && c < '\x7f'; });
  if (valid) return absl::OkStatus();
  return Error(absl::StatusCode::kInvalidArgument, "NAMESPACE_INVALID",
               "a channel's namespace is 1 to 64 visible ASCII characters");
}

absl::Status CheckChannelBytes(const std::string& payload, size_t limit,
                               std::string_view what) {
  if (payload.size() <= limit) return absl::OkStatus();
  return Error(absl::StatusCode::kInvalidArgument, "PAYLOAD_TOO_LARGE",
               std::string(what) + " has " + std::to_string(payload.size()) +
                   " bytes of JSON, and the limit is " + std::to_string(limit));
}

absl::Status CheckOwner(const Channel& channel, const std::string& session_id,
                        const std::string& epoch) {
  if (!channel.IsOwner(session_id)) {
    return Error(absl::StatusCode::kFailedPrecondition, "NOT_OWNER",
                 channel.owner().session_id().empty()
                     ? "the channel has no owner now"
                     : "session " + channel.owner().session_id() +
                           " owns the channel now");
  }
  if (channel.owner().epoch() == epoch) return absl::OkStatus();
  return Error(absl::StatusCode::kAborted, "OLD_EPOCH",
               "the channel's owner changed since; look at the state again, "
               "then repeat it with the present epoch");
}

void SendEvent(SessionLink& link, const v1::ChannelEvent& event) {
  v1::AttachResponse frame;
  *frame.mutable_channel_event() = event;
  link.Send(std::move(frame));
}

void AnswerRequest(SessionLink& link, const v1::ChannelRequest& request,
                   const absl::Status& status, int64_t revision) {
  v1::AttachResponse frame;
  v1::ChannelResult& result = *frame.mutable_channel_result();
  result.set_request_id(request.request_id());
  result.set_namespace_(request.namespace_());
  result.set_ok(status.ok());
  if (!status.ok()) {
    result.set_reason(ReasonOf(status));
    result.set_message(MessageOf(status));
  }
  result.set_revision(revision);
  link.Send(std::move(frame));
}

v1::ChannelEvent EventOf(const ChannelKey& key) {
  v1::ChannelEvent event;
  event.set_namespace_(key.name_space);
  return event;
}

v1::ChannelEvent OwnerEvent(const ChannelKey& key, const Channel& channel) {
  v1::ChannelEvent event = EventOf(key);
  *event.mutable_owner() = channel.owner();
  return event;
}

v1::ChannelEvent StateEvent(const ChannelKey& key, int64_t revision,
                            const std::string& payload) {
  v1::ChannelEvent event = EventOf(key);
  event.mutable_state()->set_revision(revision);
  event.mutable_state()->set_payload(payload);
  return event;
}

v1::ChannelEvent MembershipEvent(const ChannelKey& key,
                                 const Attachment& attachment, bool joined) {
  v1::ChannelEvent event = EventOf(key);
  event.mutable_membership()->set_session_id(attachment.session_id);
  event.mutable_membership()->set_name(ChannelNameOf(attachment));
  event.mutable_membership()->set_joined(joined);
  return event;
}

absl::Status ChannelStorageFailed(const absl::Status& status) {
  spdlog::error("a channel's state: {} {}", ReasonOf(status),
                MessageOf(status));
  return Error(absl::StatusCode::kUnavailable, "STORAGE_FAILED",
               "the broker could not read or store the channel's state; it "
               "is as it was");
}

}  // namespace intercom
