#ifndef PI_INTERCOM_WORKER_AGENT_HEADLESS_OUTPUT_RING_H_
#define PI_INTERCOM_WORKER_AGENT_HEADLESS_OUTPUT_RING_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace intercom {

// The last of a text that only grows. Positions count from its beginning. Not
// thread-safe.
class OutputRing {
 public:
  explicit OutputRing(size_t max_bytes = size_t{256} << 10)
      : max_bytes_(max_bytes) {}

  // What gives way goes by whole lines where it has any, never within a
  // character.
  void Append(std::string_view text);

  // Of the oldest byte that is kept, and of the next one to come.
  int64_t begin() const { return begin_; }
  int64_t end() const { return begin_ + static_cast<int64_t>(text_.size()); }

  // What is kept from `position` on, which lies between them. Good until the
  // next Append().
  std::string_view From(int64_t position) const;

 private:
  const size_t max_bytes_;
  std::string text_;
  int64_t begin_ = 0;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_HEADLESS_OUTPUT_RING_H_
