#ifndef PI_INTERCOM_WORKER_AGENT_CLI_PROGRESS_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_PROGRESS_H_

#include <iosfwd>
#include <string>

#include "worker-agent/cli/terminal.h"

namespace intercom {

// Tells at a terminal, and only there, how long work goes on; gone when it is
// over. Where a terminal can't rewrite a line, each text is shown once.
class Progress {
 public:
  // Both must outlive this object.
  Progress(std::ostream& err, const Terminal& terminal)
      : err_(err), terminal_(terminal) {}
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  bool IsShown() const {
    return terminal_.progress() != Terminal::Progress::kNone;
  }
  // `text` is one safe line. `figures` stand behind it, and make no new line of
  // their own.
  void Show(const std::string& text, const std::string& figures = "");
  void Clear();

 private:
  std::ostream& err_;
  const Terminal& terminal_;
  std::string last_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_PROGRESS_H_
