#include "worker-agent/monitor/terminal_screen.h"

#define NCURSES_NOMACROS 1
#include <curses.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "broker/base/error.h"
#include "broker/domain/control_scan.h"
#include "broker/domain/fence.h"

namespace intercom {
namespace {

// Colour pairs, by what they mean.
constexpr short kGoodPair = 1;
constexpr short kWaitingPair = 2;
constexpr short kBadPair = 3;
// An escape sequence comes at once; what follows later is another key.
constexpr int kEscapeDelayMs = 25;
constexpr int kControlC = 3;
constexpr int kControlL = 12;
constexpr int kEscape = 27;

bool IsUtf8() { return std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0; }

// Makes the process draw UTF-8 where it can. Returns what came of it.
std::string ChooseCharset(bool& is_ascii) {
  const char* set = std::setlocale(LC_CTYPE, "");
  if (set != nullptr && IsUtf8()) {
    return "Characters: UTF-8, by the locale " + SafeLabel(set, 40) + ".";
  }
  const std::string asked = set == nullptr ? "of the environment, which this "
                                             "system does not have,"
                                           : SafeLabel(set, 40);
  if (std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr && IsUtf8()) {
    return "Characters: UTF-8, by C.UTF-8: the locale " + asked +
           " knows no UTF-8.";
  }
  is_ascii = true;
  return "Characters: ASCII: the locale " + asked +
         " knows no UTF-8, and this system has no C.UTF-8.";
}

std::wstring Wide(std::string_view text) {
  std::wstring wide;
  for (size_t at = 0; at < text.size();) {
    wide += static_cast<wchar_t>(NextCodePoint(text, at));
  }
  return wide;
}

std::optional<MonitorKey> KeyOf(int code) {
  switch (code) {
    case KEY_UP:
    case 'k':
      return MonitorKey::kUp;
    case KEY_DOWN:
    case 'j':
      return MonitorKey::kDown;
    case KEY_PPAGE:
      return MonitorKey::kPageUp;
    case KEY_NPAGE:
    case ' ':
      return MonitorKey::kPageDown;
    case KEY_HOME:
      return MonitorKey::kHome;
    case KEY_END:
      return MonitorKey::kEnd;
    case KEY_ENTER:
    case '\r':
    case '\n':
      return MonitorKey::kEnter;
    case kEscape:
      return MonitorKey::kEscape;
    case 'q':
    case kControlC:
      return MonitorKey::kQuit;
    case 't':
    case '\t':
      return MonitorKey::kTimeline;
    case 'w':
      return MonitorKey::kWaits;
    case 'b':
      return MonitorKey::kBody;
    case '?':
      return MonitorKey::kHelp;
    case 'a':
      return MonitorKey::kAll;
    default:
      return std::nullopt;
  }
}

}  // namespace

absl::Status CheckTerminal() {
  if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1) {
    return Error(absl::StatusCode::kFailedPrecondition, "NO_TERMINAL",
                 "the monitor is a full screen, and standard input or output "
                 "is no terminal. For text: intercom list, intercom workers");
  }
  const char* term = std::getenv("TERM");
  if (term == nullptr || *term == '\0' || std::string_view(term) == "dumb") {
    return Error(absl::StatusCode::kFailedPrecondition, "TERMINAL_DUMB",
                 "the monitor needs a terminal that it can draw on, and TERM "
                 "says that this one can't. For text: intercom list, intercom "
                 "workers");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<TerminalScreen>> TerminalScreen::Open() {
  std::unique_ptr<TerminalScreen> opened(new TerminalScreen);
  opened->charset_note_ = ChooseCharset(opened->is_ascii_);
  opened->screen_ = newterm(nullptr, stdout, stdin);
  if (opened->screen_ == nullptr) {
    const char* term = std::getenv("TERM");
    return Error(absl::StatusCode::kFailedPrecondition, "TERMINAL_UNKNOWN",
                 "this system does not know the terminal " +
                     QuotedLine(term == nullptr ? "" : term, 40) +
                     " that TERM names. Set it to one that it has, such as "
                     "xterm-256color");
  }
  set_term(opened->screen_);
  set_escdelay(kEscapeDelayMs);
  raw();
  noecho();
  nonl();
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  leaveok(stdscr, TRUE);
  curs_set(0);
  opened->StartColours();
  std::fflush(stderr);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (isatty(STDERR_FILENO) == 1 && nowhere >= 0) {
    opened->stderr_copy_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (opened->stderr_copy_ >= 0) dup2(nowhere, STDERR_FILENO);
  }
  if (nowhere >= 0) close(nowhere);
  return opened;
}

TerminalScreen::~TerminalScreen() {
  if (screen_ != nullptr) {
    endwin();
    delscreen(screen_);
  }
  if (stderr_copy_ >= 0) {
    dup2(stderr_copy_, STDERR_FILENO);
    close(stderr_copy_);
  }
}

void TerminalScreen::StartColours() {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return;
  if (!has_colors() || start_color() == ERR) return;
  // The terminal's own background and text stay.
  if (use_default_colors() == ERR) return;
  init_pair(kGoodPair, COLOR_GREEN, -1);
  init_pair(kWaitingPair, COLOR_YELLOW, -1);
  init_pair(kBadPair, COLOR_RED, -1);
  has_colours_ = true;
}

ScreenSize TerminalScreen::size() const {
  return {.rows = static_cast<size_t>(std::max(getmaxy(stdscr), 0)),
          .columns = static_cast<size_t>(std::max(getmaxx(stdscr), 0))};
}

int TerminalScreen::AttributesOf(Style style, const Line& line) const {
  const int reverse = line.selected ? static_cast<int>(A_REVERSE) : 0;
  if (line.faded) return reverse | static_cast<int>(A_DIM);
  // A selected row is told by its words: colours on a bar are hard to read.
  const auto colour = [&](short pair) {
    return has_colours_ && !line.selected ? static_cast<int>(COLOR_PAIR(pair))
                                          : 0;
  };
  switch (style) {
    case Style::kPlain:
      return reverse;
    case Style::kStrong:
      return reverse | static_cast<int>(A_BOLD);
    case Style::kFaint:
      return line.selected ? reverse : static_cast<int>(A_DIM);
    case Style::kGood:
      return reverse | colour(kGoodPair);
    case Style::kWaiting:
      return reverse | colour(kWaitingPair);
    case Style::kBad:
      return reverse | colour(kBadPair) | static_cast<int>(A_BOLD);
  }
  return reverse;
}

void TerminalScreen::DrawLine(int row, const Line& line) {
  int column = 0;
  for (const Line::Span& span : line.spans()) {
    attrset(AttributesOf(span.style, line));
    if (is_ascii_) {
      const std::string text = ToAscii(span.text);
      mvaddnstr(row, column, text.data(), static_cast<int>(text.size()));
      column += static_cast<int>(text.size());
      continue;
    }
    // Each in its place: what the system's library thinks of the width of one
    // moves no other.
    for (const Cluster& cluster : Clusters(span.text)) {
      const std::wstring wide = Wide(cluster.text);
      mvaddnwstr(row, column, wide.data(), static_cast<int>(wide.size()));
      column += static_cast<int>(cluster.width);
    }
  }
}

void TerminalScreen::Draw(const ScreenText& text) {
  erase();
  for (size_t row = 0; row < text.lines.size(); ++row) {
    DrawLine(static_cast<int>(row), text.lines[row]);
  }
  attrset(0);
  refresh();
}

int TerminalScreen::key_fd() const { return STDIN_FILENO; }

int TerminalScreen::signal_fd() const { return signals_.fd(); }

std::optional<TerminalScreen::Input> TerminalScreen::Read() {
  while (const int signal = signals_.Read()) {
    if (signal != SIGWINCH) return Input{.kind = Input::Kind::kEnd};
    struct winsize size = {};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 ||
        size.ws_col == 0) {
      continue;
    }
    resizeterm(size.ws_row, size.ws_col);
    // Terminals differ in what they leave on the screen.
    clearok(curscr, TRUE);
    return Input{.kind = Input::Kind::kResized};
  }
  for (int code = getch(); code != ERR; code = getch()) {
    if (code == kControlL) {
      clearok(curscr, TRUE);
      return Input{.kind = Input::Kind::kResized};
    }
    if (const std::optional<MonitorKey> key = KeyOf(code)) {
      return Input{.kind = Input::Kind::kKey, .key = *key};
    }
  }
  pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (poll(&keys, 1, 0) > 0 &&
      (keys.revents & (POLLHUP | POLLERR | POLLNVAL))) {
    // The terminal is gone.
    return Input{.kind = Input::Kind::kEnd};
  }
  return std::nullopt;
}

}  // namespace intercom
