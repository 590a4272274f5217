#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_CATALOGUE_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_CATALOGUE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "worker-agent/host/json_fields.h"

namespace intercom {

// A tool for a host's model. Defined once, here: what a host registers and what
// the documentation lists comes from it.
struct Tool {
  std::string name;
  std::string label;
  std::string description;
  // One line for a system prompt's list of tools.
  std::string prompt_snippet;
  std::vector<std::string> prompt_guidelines;
  // JSON Schema of the arguments: an object of strings and integers.
  Json parameters;
  // The name in the permission table that a session needs.
  std::string operation;
  // What a call changes: "nothing", "config", "worker" or "mail".
  std::string effect;
};

// Every tool, in the order in which a host shows them.
const std::vector<Tool>& AllTools();

// Nullptr if there is none.
const Tool* FindTool(std::string_view name);

// The tools that a session with these operations has, as the `session`
// notification carries them.
Json ToolsFor(const std::vector<std::string>& operations);

// OK if `arguments` keep the tool's schema, else INVALID_ARGUMENT
// (ARGUMENT_INVALID) naming the argument and the limit. Lengths are counted in
// characters.
absl::Status CheckArguments(const Tool& tool, const Json& arguments);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_CATALOGUE_H_
