#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_RUN_DIGEST_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_RUN_DIGEST_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "intercom/v1/session.pb.h"

namespace intercom {

// What a bulletin says of runs that ended or stalled.
struct RunDigest {
  std::string content;
  std::string summary;
  // Runs whose end it tells, and those of which it tells that they stalled.
  std::vector<std::string> settled;
  std::vector<std::string> stalled;
};
// The first line has the counts, failures come first. `news` tells something.
RunDigest DigestOf(const v1::RunNews& news, absl::Time now);

// What a bulletin says now and then while runs are open.
RunDigest CheckInOf(const v1::ListRunsResponse& runs, absl::Time now);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_RUN_DIGEST_H_
