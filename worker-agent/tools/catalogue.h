#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_CATALOGUE_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_CATALOGUE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "worker-agent/tools/tool.h"

namespace intercom {

// What decides which tools a session has.
struct ToolUser {
  std::vector<std::string> operations;
  // Somebody delegated to it what it works on.
  bool has_supervisor = false;
  // It works for a supervisor that may have other workers.
  bool has_fellows = false;
  // It has runs of its own, or may have: a coordinator always.
  bool supervises = false;
  bool may_run_programs = false;
};

// Every tool in its fullest form, in the order in which a host shows them.
const std::vector<Tool>& AllTools();

// Nullptr if there is none.
const Tool* FindTool(std::string_view name);

// The tools that a session has, as the `session` notification carries them.
// Who supervises nothing sees nothing of what is for supervisors.
Json ToolsFor(const ToolUser& user);

// OK if `arguments` keep the tool's schema, else INVALID_ARGUMENT
// (ARGUMENT_INVALID) naming the argument and the limit. Lengths are counted in
// characters.
absl::Status CheckArguments(const Tool& tool, const Json& arguments);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_CATALOGUE_H_
