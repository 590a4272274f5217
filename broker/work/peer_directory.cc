#include "broker/work/peer_directory.h"

#include "broker/base/error.h"

namespace intercom {

absl::StatusOr<PeerTarget> PeerDirectory::Resolve(const DecidedCall&,
                                                  std::string_view,
                                                  std::string_view) const {
  return absl::UnimplementedError("");
}

absl::StatusOr<PeerTarget> PeerDirectory::Find(const DecidedCall&,
                                               std::string_view) const {
  return absl::UnimplementedError("");
}

void PeerDirectory::ListSessions(CallerEvidence, v1::ListSessionsRequest,
                                 ListDone done) {
  done(absl::UnimplementedError(""));
}

}  // namespace intercom
