#ifndef PI_INTERCOM_BROKER_ROSTER_CALLERS_H_
#define PI_INTERCOM_BROKER_ROSTER_CALLERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "broker/domain/identity.h"
#include "broker/domain/permissions.h"
#include "broker/roster/registrar.h"
#include "broker/roster/roster.h"

namespace intercom {

// What is known of the origin of a call before the roster is asked.
struct CallerEvidence {
  // The attachment whose stream carried it.
  std::optional<SessionKey> stream;
  // The token that the call carried; empty without one.
  std::string session_token;
  // The calling process and its ancestors, nearest first; empty if unknown.
  std::vector<int64_t> ancestry;
  // PI_INTERCOM_SESSION in the calling process's environment.
  std::string claimed_session;
  // It came over the TCP listener, with the account's token.
  bool over_tcp = false;
};

// Tells who calls. Everything is called on the state's thread.
class Callers {
 public:
  // `roster` must outlive this object.
  explicit Callers(const Roster& roster) : roster_(roster) {}

  // A session by its stream or token, a shell by its ancestry or environment, a
  // person otherwise; over TCP a client where nothing says that it is a shell.
  //
  // ABORTED (OLD_EPOCH): another attachment took the session over.
  // UNAUTHENTICATED (SESSION_UNKNOWN): the token is not that of an attachment.
  absl::StatusOr<Caller> Resolve(const CallerEvidence& evidence) const;

  // The same for a call that is about no workspace: PERMISSION_DENIED if the
  // caller may not do `operation`, in the role that its session has now, or as
  // an anonymous one while that is not attached.
  absl::StatusOr<Caller> ResolveFor(Operation operation,
                                    const CallerEvidence& evidence) const;

  // The id of the account's person.
  static std::string OfPerson();

 private:
  const Roster& roster_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_ROSTER_CALLERS_H_
