#ifndef PI_INTERCOM_BROKER_WORK_CHANNEL_FRAMES_H_
#define PI_INTERCOM_BROKER_WORK_CHANNEL_FRAMES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "broker/roster/roster.h"
#include "broker/roster/session_link.h"
#include "broker/storage/channel_store.h"
#include "broker/work/channel.h"
#include "intercom/v1/channel.pb.h"

namespace intercom {

// What a channel's members are sent, and what is wrong with what they send.

std::string ChannelNameOf(const Attachment& attachment);
ChannelKey ChannelKeyOf(const Attachment& attachment,
                        const v1::ChannelRequest& request);

v1::ChannelEvent EventOf(const ChannelKey& key);
v1::ChannelEvent OwnerEvent(const ChannelKey& key, const Channel& channel);
v1::ChannelEvent StateEvent(const ChannelKey& key, int64_t revision,
                            const std::string& payload);
v1::ChannelEvent MembershipEvent(const ChannelKey& key,
                                 const Attachment& attachment, bool joined);

void SendEvent(SessionLink& link, const v1::ChannelEvent& event);
// Answers `request`; `revision` is the one in force where it is a commit.
void AnswerRequest(SessionLink& link, const v1::ChannelRequest& request,
                   const absl::Status& status, int64_t revision = 0);

// NAMESPACE_INVALID.
absl::Status CheckNamespace(std::string_view name);
// PAYLOAD_TOO_LARGE.
absl::Status CheckChannelBytes(const std::string& payload, size_t limit,
                               std::string_view what);
// NOT_OWNER, OLD_EPOCH.
absl::Status CheckOwner(const Channel& channel, const std::string& session_id,
                        const std::string& epoch);
// STORAGE_FAILED; `status` goes to the log.
absl::Status ChannelStorageFailed(const absl::Status& status);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_CHANNEL_FRAMES_H_
