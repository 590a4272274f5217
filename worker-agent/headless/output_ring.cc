#include "worker-agent/headless/output_ring.h"

namespace intercom {
namespace {

bool IsInsideCharacter(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

}  // namespace

void OutputRing::Append(std::string_view text) {
  text_.append(text);
  if (text_.size() <= max_bytes_) return;
  size_t cut = text_.size() - max_bytes_;
  const size_t line = text_.find('\n', cut - 1);
  // A line as long as all that is kept is cut itself.
  if (line != std::string::npos && line + 1 < text_.size()) {
    cut = line + 1;
  } else {
    while (cut < text_.size() && IsInsideCharacter(text_[cut])) ++cut;
  }
  text_.erase(0, cut);
  begin_ += static_cast<int64_t>(cut);
}

std::string_view OutputRing::From(int64_t position) const {
  return std::string_view(text_).substr(static_cast<size_t>(position - begin_));
}

}  // namespace intercom
