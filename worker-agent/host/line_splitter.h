#ifndef PI_INTERCOM_WORKER_AGENT_HOST_LINE_SPLITTER_H_
#define PI_INTERCOM_WORKER_AGENT_HOST_LINE_SPLITTER_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace intercom {

// Cuts a byte stream into LF-terminated lines and keeps at most one of them in
// memory: a line that is too long is dropped as it comes in. Not thread-safe.
class LineSplitter {
 public:
  // Of one line with its LF.
  static constexpr size_t kMaxLineBytes = 1 << 20;

  // `line` is called with each whole line, without its LF; `too_long` with the
  // bytes of each line over the limit.
  LineSplitter(std::function<void(std::string_view)> line,
               std::function<void(size_t)> too_long);

  // Takes the next bytes of the stream.
  void Feed(std::string_view bytes);

  // Bytes of the line that has not ended yet. At the end of input a value
  // other than zero means that the stream was cut off.
  size_t pending_bytes() const { return dropped_ + line_.size(); }

 private:
  // Ends the present line.
  void EndLine();

  std::function<void(std::string_view)> on_line_;
  std::function<void(size_t)> on_too_long_;
  std::string line_;
  // Bytes thrown away of a line over the limit; not zero means dropping.
  size_t dropped_ = 0;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_HOST_LINE_SPLITTER_H_
