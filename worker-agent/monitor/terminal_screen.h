#ifndef PI_INTERCOM_WORKER_AGENT_MONITOR_TERMINAL_SCREEN_H_
#define PI_INTERCOM_WORKER_AGENT_MONITOR_TERMINAL_SCREEN_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "worker-agent/monitor/model.h"
#include "worker-agent/monitor/screen_text.h"
#include "worker-agent/monitor/terminal_signals.h"

struct screen;

namespace intercom {

// OK if a full screen can be shown on standard input and output: both are a
// terminal, and one that can be drawn on. FAILED_PRECONDITION (NO_TERMINAL,
// TERMINAL_DUMB) with what to do instead.
absl::Status CheckTerminal();

// This process's terminal as a full screen, by ncurses. Another process's text
// reaches it only as a ScreenText. While it is there, standard error goes
// nowhere: it would be drawn into the screen.
//
// Not thread-safe; one at a time. The signals that end a process, and those of
// a new size, are read here as keys are, so that the terminal is given back.
class TerminalScreen {
 public:
  // What was read of the terminal.
  struct Input {
    enum class Kind { kKey, kResized, kEnd };
    Kind kind = Kind::kKey;
    MonitorKey key = MonitorKey::kQuit;
  };

  // After CheckTerminal(). FAILED_PRECONDITION (TERMINAL_UNKNOWN): the system
  // does not know $TERM.
  static absl::StatusOr<std::unique_ptr<TerminalScreen>> Open();
  // Gives the terminal back as it was.
  ~TerminalScreen();
  TerminalScreen(const TerminalScreen&) = delete;
  TerminalScreen& operator=(const TerminalScreen&) = delete;

  ScreenSize size() const;
  void Draw(const ScreenText& text);

  // Readable when Read() has something.
  int key_fd() const;
  int signal_fd() const;
  // The next key, signal or end of the terminal that is there; nothing
  // otherwise. Unknown keys are skipped.
  std::optional<Input> Read();

  // How characters are drawn, for a person.
  const std::string& charset_note() const { return charset_note_; }

 private:
  TerminalScreen() = default;

  void StartColours();
  void DrawLine(int row, const Line& line);
  int AttributesOf(Style style, const Line& line) const;

  struct screen* screen_ = nullptr;
  bool has_colours_ = false;
  bool is_ascii_ = false;
  std::string charset_note_;
  int stderr_copy_ = -1;
  TerminalSignals signals_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_MONITOR_TERMINAL_SCREEN_H_
