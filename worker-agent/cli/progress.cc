#include "worker-agent/cli/progress.h"

#include <ostream>

#include "worker-agent/tools/text_table.h"

namespace intercom {
namespace {

// What fits the narrowest usual terminal: a wrapped line can't be taken back.
constexpr size_t kColumns = 79;
constexpr char kEraseLine[] = "\r\x1b[K";

}  // namespace

void Progress::Show(const std::string& text, const std::string& figures) {
  switch (terminal_.progress()) {
    case Terminal::Progress::kNone:
      return;
    case Terminal::Progress::kLines:
      if (text != last_) err_ << text << "\n" << std::flush;
      break;
    case Terminal::Progress::kRewriting:
      err_ << kEraseLine << CutToWidth(text + figures, kColumns) << std::flush;
      break;
  }
  last_ = text;
}

void Progress::Clear() {
  if (!last_.empty() &&
      terminal_.progress() == Terminal::Progress::kRewriting) {
    err_ << kEraseLine << std::flush;
  }
  last_.clear();
}

}  // namespace intercom
