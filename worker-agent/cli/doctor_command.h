#ifndef PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_COMMAND_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_COMMAND_H_

#include <vector>

#include "worker-agent/cli/command_table.h"

namespace intercom {

// `doctor`: what is right and wrong on this machine, with what to do about it.
// Starts no broker and changes nothing.
std::vector<CommandSpec> DoctorCommands();

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_COMMAND_H_
