#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_REFERENCE_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_REFERENCE_H_

#include <string>

namespace intercom {

// The catalogue as the Markdown table of the documentation: tool, arguments
// (optional ones with a question mark), who may call it, what it does.
std::string ToolReference();

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_REFERENCE_H_
