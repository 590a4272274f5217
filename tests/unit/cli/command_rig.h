#ifndef PI_INTERCOM_TESTS_UNIT_CLI_COMMAND_RIG_H_
#define PI_INTERCOM_TESTS_UNIT_CLI_COMMAND_RIG_H_

#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/temp_dir.h"
#include "worker-agent/cli/arguments.h"
#include "worker-agent/cli/commands.h"

namespace intercom {

// Commands as they are typed, with a state directory of their own and no
// terminal.
class CommandRig : public ::testing::Test {
 protected:
  // The exit code. What was printed before is gone.
  int Run(std::vector<std::string> words) {
    words.insert(words.begin(), {"--home", home_.path().string()});
    const ParsedArguments parsed = ParseArguments(words);
    if (!parsed.arguments.has_value()) return parsed.exit_code;
    std::istringstream in;
    out_.str("");
    err_.str("");
    return RunCommand(*parsed.arguments, in, out_, err_, Terminal(false));
  }

  TempDir home_;
  std::ostringstream out_;
  std::ostringstream err_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_UNIT_CLI_COMMAND_RIG_H_
