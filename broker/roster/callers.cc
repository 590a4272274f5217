#include "broker/roster/callers.h"

#include <unistd.h>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"

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
  if (evidence.over_tcp) {
    return Caller{v1::ORIGIN_CLIENT, "client:" + std::to_string(getuid()), "",
                  0};
  }
  return Caller{v1::ORIGIN_PERSON, OfPerson(), "", 0};
}

std::string Callers::OfPerson() { return PersonSessionId(getuid()); }

absl::StatusOr<Caller> Callers::ResolveFor(
    Operation operation, const CallerEvidence& evidence) const {
  INTERCOM_ASSIGN_OR_RETURN(Caller caller, Resolve(evidence));
  v1::Role role = v1::ROLE_UNSPECIFIED;
  if (!caller.host_session_id.empty()) {
    const Attachment* host = roster_.Find(caller.host_session_id);
    role = host == nullptr ? v1::ROLE_ANONYMOUS : host->role;
  }
  INTERCOM_RETURN_IF_ERROR(CheckPermitted(operation, caller.origin, role));
  return caller;
}

}  // namespace intercom
