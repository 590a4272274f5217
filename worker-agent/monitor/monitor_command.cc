#include "worker-agent/monitor/monitor_command.h"

#include <cstdlib>
#include <memory>

#include "broker/base/clock.h"
#include "broker/base/home.h"
#include "broker/base/random.h"
#include "broker/base/status_macros.h"
#include "worker-agent/monitor/monitor.h"
#include "worker-agent/monitor/poll_loop.h"
#include "worker-agent/monitor/terminal_screen.h"

namespace intercom {
namespace {

// Says for whom the monitor's pane was opened.
constexpr char kClaimVariable[] = "PI_INTERCOM_MONITOR_CLAIM";

std::string ValueOf(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

}  // namespace

absl::Status RunMonitor(const MonitorArguments& arguments) {
  INTERCOM_RETURN_IF_ERROR(CheckTerminal());
  const SystemClock clock;
  SystemRandom random;
  INTERCOM_ASSIGN_OR_RETURN(const std::unique_ptr<PollLoop> loop,
                            PollLoop::Create(clock));
  INTERCOM_ASSIGN_OR_RETURN(const std::unique_ptr<TerminalScreen> terminal,
                            TerminalScreen::Open());
  Monitor monitor(
      {.home = arguments.home,
       .scope = {.directory = arguments.directory, .all = arguments.all},
       .claim_id = ValueOf(kClaimVariable),
       .about = {.version = INTERCOM_VERSION,
                 .person_home = AccountHome().value_or(""),
                 .notes = {terminal->charset_note()}}},
      *loop, clock, random,
      {.draw = [&](const ScreenText& text) { terminal->Draw(text); },
       .over = [&] { loop->Quit(); }});
  const auto read = [&] {
    while (const auto input = terminal->Read()) {
      switch (input->kind) {
        case TerminalScreen::Input::Kind::kKey:
          monitor.Press(input->key);
          break;
        case TerminalScreen::Input::Kind::kResized:
          monitor.Resize(terminal->size());
          break;
        case TerminalScreen::Input::Kind::kEnd:
          loop->Quit();
          return;
      }
    }
  };
  loop->Watch(terminal->key_fd(), read);
  if (terminal->signal_fd() >= 0) loop->Watch(terminal->signal_fd(), read);
  monitor.Resize(terminal->size());
  loop->Run();
  return absl::OkStatus();
}

}  // namespace intercom
