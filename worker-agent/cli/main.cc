#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "broker/base/log.h"
#include "worker-agent/cli/arguments.h"
#include "worker-agent/cli/commands.h"
#include "worker-agent/cli/terminal.h"

int main(int argc, char** argv) {
  intercom::LogToStderr();
  // What a person is told is said by the commands.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  spdlog::set_level(spdlog::level::warn);
  const std::vector<std::string> words(argv + 1, argv + argc);
  const intercom::ParsedArguments parsed = intercom::ParseArguments(words);
  std::cout << parsed.output << std::flush;
  std::cerr << parsed.error;
  if (!std::cout) return intercom::kExitFailed;
  if (!parsed.arguments.has_value()) return parsed.exit_code;
  return intercom::RunCommand(*parsed.arguments, std::cin, std::cout, std::cerr,
                              intercom::Terminal::OfProcess());
}
