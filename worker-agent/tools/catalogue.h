#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_CATALOGUE_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_CATALOGUE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "worker-agent/tools/tool.h"

namespace intercom {

// Every tool, in the order in which a host shows them.
const std::vector<Tool>& AllTools();

// Nullptr if there is none.
const Tool* FindTool(std::string_view name);

// The tools that a session with these operations has, as the `session`
// notification carries them. `has_supervisor`: another program started the
// session as its child. `may_run_programs`: the host says so.
Json ToolsFor(const std::vector<std::string>& operations,
              bool has_supervisor = false, bool may_run_programs = false);

// OK if `arguments` keep the tool's schema, else INVALID_ARGUMENT
// (ARGUMENT_INVALID) naming the argument and the limit. Lengths are counted in
// characters.
absl::Status CheckArguments(const Tool& tool, const Json& arguments);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_CATALOGUE_H_
