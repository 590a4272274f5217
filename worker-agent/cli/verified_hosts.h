#ifndef PI_INTERCOM_WORKER_AGENT_CLI_VERIFIED_HOSTS_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_VERIFIED_HOSTS_H_

#include <string>
#include <string_view>
#include <vector>

namespace intercom {

// The versions of Pi that are known to stop and close sessions safely, by the
// extension's own file, as it was when this program was built.
std::vector<std::string> VerifiedPiVersions();

// The versions in a text such as that file. None in one that is something else.
std::vector<std::string> VerifiedVersionsIn(std::string_view json);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_VERIFIED_HOSTS_H_
