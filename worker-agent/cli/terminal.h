#ifndef PI_INTERCOM_WORKER_AGENT_CLI_TERMINAL_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_TERMINAL_H_

#include <string>
#include <string_view>

namespace intercom {

// How output looks, and whether somebody sits in front of it: colour only on a
// terminal, unless NO_COLOR is set or TERM is `dumb`.
class Terminal {
 public:
  // How the progress of long work is shown on standard error.
  enum class Progress {
    kNone,       // It is no terminal.
    kLines,      // Line by line.
    kRewriting,  // In one line that is written anew.
  };

  explicit Terminal(bool colour, bool can_ask = false,
                    Progress progress = Progress::kNone)
      : colour_(colour), can_ask_(can_ask), progress_(progress) {}

  // For the standard input, output and error of this process.
  static Terminal OfProcess();

  // Whether a question on standard error reaches a person who can answer on
  // standard input.
  bool can_ask() const { return can_ask_; }
  Progress progress() const { return progress_; }

  std::string Bold(std::string_view text) const { return In("1", text); }
  std::string Dim(std::string_view text) const { return In("2", text); }
  std::string Red(std::string_view text) const { return In("31", text); }

 private:
  std::string In(std::string_view code, std::string_view text) const {
    if (!colour_) return std::string(text);
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
  }

  const bool colour_;
  const bool can_ask_;
  const Progress progress_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_TERMINAL_H_
