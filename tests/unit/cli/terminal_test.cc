#include "worker-agent/cli/terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>

#include "gtest/gtest.h"

namespace intercom {
namespace {

// Standard output is a terminal, and the environment that of one, as long as
// this lives.
class AtATerminal {
 public:
  AtATerminal() {
    std::fflush(stdout);
    saved_ = dup(STDOUT_FILENO);
    controller_ = posix_openpt(O_RDWR | O_NOCTTY);
    grantpt(controller_);
    unlockpt(controller_);
    const int terminal = open(ptsname(controller_), O_RDWR | O_NOCTTY);
    is_terminal_ = terminal >= 0 && dup2(terminal, STDOUT_FILENO) >= 0;
    close(terminal);
    for (const char* name : {"TERM", "NO_COLOR"}) {
      const char* value = getenv(name);
      (name[0] == 'T' ? term_ : no_color_) =
          value == nullptr ? std::nullopt : std::optional<std::string>(value);
    }
    setenv("TERM", "xterm-256color", 1);
    unsetenv("NO_COLOR");
  }
  ~AtATerminal() {
    dup2(saved_, STDOUT_FILENO);
    close(saved_);
    close(controller_);
    Restore("TERM", term_);
    Restore("NO_COLOR", no_color_);
  }

  bool is_terminal() const { return is_terminal_; }

 private:
  static void Restore(const char* name,
                      const std::optional<std::string>& value) {
    if (value.has_value()) {
      setenv(name, value->c_str(), 1);
    } else {
      unsetenv(name);
    }
  }

  int saved_ = -1;
  int controller_ = -1;
  bool is_terminal_ = false;
  std::optional<std::string> term_, no_color_;
};

std::string Shown() { return Terminal::OfProcess().Red("x"); }

TEST(TerminalTest, ColourComesAtATerminal) {
  const AtATerminal here;
  ASSERT_TRUE(here.is_terminal());
  EXPECT_EQ(Shown(), "\x1b[31mx\x1b[0m");
}

TEST(TerminalTest, NoColourWithNoColor) {
  const AtATerminal here;
  setenv("NO_COLOR", "1", 1);
  EXPECT_EQ(Shown(), "x");
}

TEST(TerminalTest, NoColourAtADumbTerminal) {
  const AtATerminal here;
  setenv("TERM", "dumb", 1);
  EXPECT_EQ(Shown(), "x");
  unsetenv("TERM");
  EXPECT_EQ(Shown(), "x");
}

TEST(TerminalTest, NoColourWithoutATerminal) {
  const AtATerminal here;
  const int nowhere = open("/dev/null", O_WRONLY);
  ASSERT_GE(dup2(nowhere, STDOUT_FILENO), 0);
  close(nowhere);
  EXPECT_EQ(Shown(), "x");
}

}  // namespace
}  // namespace intercom
