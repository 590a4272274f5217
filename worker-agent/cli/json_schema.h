#ifndef PI_INTERCOM_WORKER_AGENT_CLI_JSON_SCHEMA_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_JSON_SCHEMA_H_

#include <string>

#include "worker-agent/cli/command_table.h"

namespace intercom {

// The JSON Schema (draft 2020-12) of what `command` prints with --json,
// indented and ended with LF. Made from the messages' descriptors by the rules
// of proto3's JSON: nothing is required, as what has its default is left out; a
// field that is unknown is a fault; 64-bit numbers are strings, enums the names
// of their values. `command.output` is not null. Pure.
std::string JsonSchemaOf(const CommandSpec& command);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_JSON_SCHEMA_H_
