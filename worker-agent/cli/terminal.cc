#include "worker-agent/cli/terminal.h"

#include <unistd.h>

#include <cstdlib>

namespace intercom {

Terminal Terminal::OfProcess() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool wanted = no_color == nullptr || *no_color == '\0';
  const bool able = term != nullptr && std::string_view(term) != "dumb";
  const bool shows_errors = isatty(STDERR_FILENO) == 1;
  return Terminal(wanted && able && isatty(STDOUT_FILENO) == 1,
                  isatty(STDIN_FILENO) == 1 && shows_errors,
                  !shows_errors ? Progress::kNone
                  : able        ? Progress::kRewriting
                                : Progress::kLines);
}

}  // namespace intercom
