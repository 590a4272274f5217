#ifndef PI_INTERCOM_WORKER_AGENT_CLI_COMPLETION_SCRIPTS_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_COMPLETION_SCRIPTS_H_

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace intercom {

// Scripts that complete what is typed after `intercom`, made from its parser:
// commands, options, values that are one of a few, directories, and the names
// of sessions, for which they run `intercom complete-sessions`. A name is never
// expanded by the shell: sessions choose their own. Pure.

std::string BashCompletion(const CLI::App& parser);
std::string ZshCompletion(const CLI::App& parser);
std::string FishCompletion(const CLI::App& parser);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_COMPLETION_SCRIPTS_H_
