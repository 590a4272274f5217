// States of channels: how they are committed, and what there is of channels.
#include <map>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/work/channel_desk.h"
#include "broker/work/channel_frames.h"

namespace intercom {

absl::Status ChannelDesk::CheckCommit(const Attachment& attachment,
                                      const v1::ChannelRequest& request) {
  INTERCOM_RETURN_IF_ERROR(Admit(attachment, request));
  INTERCOM_ASSIGN_OR_RETURN(const Channel* channel,
                            Joined(attachment, request));
  INTERCOM_RETURN_IF_ERROR(CheckChannelBytes(request.commit().payload(),
                                             kMaxStateBytes, "the state"));
  return CheckOwner(*channel, attachment.session_id, request.commit().epoch());
}

absl::Status ChannelDesk::RunCommit(Commit& commit, Effects& effects) {
  const Attachment* attachment = Present(commit.key);
  if (attachment == nullptr) return absl::AbortedError("");
  const auto refuse = [&commit](absl::Status status) {
    commit.refusal = status;
    return status;
  };
  const v1::ChannelRequest& request = commit.request;
  if (absl::Status status = CheckCommit(*attachment, request); !status.ok()) {
    return refuse(std::move(status));
  }
  const ChannelKey key = ChannelKeyOf(*attachment, request);
  // The revision on disk: commits before this one in the same transaction
  // count.
  INTERCOM_ASSIGN_OR_RETURN(const int64_t current, store_.Revision(key));
  if (current != request.commit().expected_revision()) {
    return refuse(Error(
        absl::StatusCode::kAborted, "REVISION_CONFLICT",
        "revision " + std::to_string(current) + " is in force, not " +
            std::to_string(request.commit().expected_revision()) +
            "; nothing was stored, look at the state and commit over it"));
  }
  if (current == 0) {
    INTERCOM_ASSIGN_OR_RETURN(const int64_t count, store_.Count());
    if (count >= kMaxStates) {
      return refuse(Error(absl::StatusCode::kResourceExhausted, "CHANNELS_FULL",
                          "1,024 channels have a state already, which is the "
                          "limit; commit to one of those"));
    }
  }
  const int64_t revision = current + 1;
  INTERCOM_RETURN_IF_ERROR(
      store_.Save(key, {.revision = revision,
                        .payload = request.commit().payload(),
                        .committed_by = attachment->session_id,
                        .committed_at = clock_.Now()}));
  effects.AfterCommit(
      [this, key, revision, payload = request.commit().payload()] {
        const Channel* channel = Find(key);
        if (channel != nullptr) {
          Broadcast(*channel, StateEvent(key, revision, payload));
        }
      });
  effects.AfterSync([link = attachment->link, request, revision] {
    AnswerRequest(*link, request, absl::OkStatus(), revision);
  });
  return absl::OkStatus();
}

void ChannelDesk::FailCommit(const Commit& commit, const absl::Status& status) {
  const Attachment* attachment = Present(commit.key);
  if (attachment == nullptr) return;
  const auto revision =
      store_.Revision(ChannelKeyOf(*attachment, commit.request));
  AnswerRequest(
      *attachment->link, commit.request,
      commit.refusal.ok() ? ChannelStorageFailed(status) : commit.refusal,
      revision.ok() ? *revision : 0);
}

void ChannelDesk::ListChannels(CallerEvidence evidence, v1::ListChannelsRequest,
                               ListDone done) {
  runner_.PostTask(
      [this, evidence = std::move(evidence), done = std::move(done)]() mutable {
        const auto caller = callers_.ResolveFor(Operation::kInspect, evidence);
        if (!caller.ok()) return done(caller.status());
        const auto states = store_.List();
        if (!states.ok()) return done(states.status());
        const Attachment* host = roster_.Find(caller->host_session_id);
        std::map<ChannelKey, v1::ChannelSummary> found;
        for (const ChannelStateSize& state : *states) {
          v1::ChannelSummary& summary = found[state.key];
          summary.set_revision(state.revision);
          summary.set_state_bytes(state.bytes);
        }
        for (const auto& [key, channel] : channels_) {
          v1::ChannelSummary& summary = found[key];
          for (const Channel::Member& member : channel.members()) {
            summary.add_member_session_ids(member.session_id);
          }
          if (!channel.owner().session_id().empty()) {
            *summary.mutable_owner() = channel.owner();
          }
        }
        v1::ListChannelsResponse response;
        for (auto& [key, summary] : found) {
          if (host != nullptr && host->hello.scope() != key.scope) continue;
          summary.set_scope(key.scope);
          summary.set_namespace_(key.name_space);
          *response.add_channels() = std::move(summary);
        }
        done(std::move(response));
      });
}

}  // namespace intercom
