#include "worker-agent/host/line_splitter.h"

#include <utility>

namespace intercom {

LineSplitter::LineSplitter(std::function<void(std::string_view)> line,
                           std::function<void(size_t)> too_long)
    : on_line_(std::move(line)), on_too_long_(std::move(too_long)) {}

void LineSplitter::Feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (dropped_ == 0 && line_.size() + part.size() < kMaxLineBytes) {
      line_.append(part);
    } else {
      dropped_ += line_.size() + part.size();
      line_.clear();
      line_.shrink_to_fit();
    }
    if (end == std::string_view::npos) return;
    EndLine();
    bytes.remove_prefix(end + 1);
  }
}

void LineSplitter::EndLine() {
  if (dropped_ > 0) {
    on_too_long_(dropped_ + 1);
    dropped_ = 0;
    return;
  }
  std::string line = std::exchange(line_, {});
  on_line_(line);
}

}  // namespace intercom
