#include "broker/roster/callers.h"

#include <unistd.h>

#include "broker/base/error.h"

namespace intercom {
namespace {

Caller SessionCaller(const Attachment& attachment) {
  return {v1::ORIGIN_SESSION, attachment.session_id, attachment.session_id,
          attachment.epoch};
}

}  // namespace

absl::StatusOr<Caller> Callers::Resolve(const CallerEvidence& evidence) const {
  if (evidence.stream.has_value()) {
    const Attachment* attachment = roster_.Find(evidence.stream->session_id);
    if (attachment == nullptr || attachment->epoch != evidence.stream->epoch) {
      return Error(absl::StatusCode::kAborted, "OLD_EPOCH",
                   "another attachment took this session over");
    }
    return SessionCaller(*attachment);
  }
  if (!evidence.session_token.empty()) {
    const Attachment* attachment = roster_.FindByToken(evidence.session_token);
    if (attachment == nullptr) {
      return Error(absl::StatusCode::kUnauthenticated, "SESSION_UNKNOWN",
                   "the session token is not that of an attached session; "
                   "attach again");
    }
    return SessionCaller(*attachment);
  }
  if (const Attachment* host = roster_.FindByHost(evidence.ancestry);
      host != nullptr) {
    return Caller{v1::ORIGIN_SHELL, host->session_id, host->session_id, 0};
  }
  if (!evidence.claimed_session.empty()) {
    return Caller{v1::ORIGIN_SHELL, evidence.claimed_session,
                  evidence.claimed_session, 0};
  }
  const std::string uid = std::to_string(getuid());
  if (evidence.over_tcp) {
    return Caller{v1::ORIGIN_CLIENT, "client:" + uid, "", 0};
  }
  return Caller{v1::ORIGIN_PERSON, "person:" + uid, "", 0};
}

}  // namespace intercom
