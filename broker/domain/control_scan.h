#ifndef PI_INTERCOM_BROKER_DOMAIN_CONTROL_SCAN_H_
#define PI_INTERCOM_BROKER_DOMAIN_CONTROL_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace intercom {

// What NextCodePoint gives for a byte that is no UTF-8.
inline constexpr uint32_t kNoCodePoint = 0xffffffff;

// Decodes the code point at `at`, which is inside of `text`, and moves behind
// it. A byte that is no UTF-8 gives kNoCodePoint and moves by one.
uint32_t NextCodePoint(std::string_view text, size_t& at);

// One pass over a text that leaves out what steers terminals; see
// StripControls(), which is how it is used. It never goes back behind an
// escape sequence that it has looked at, so the whole takes time in proportion
// to the text, whatever stands in it.
class ControlScan {
 public:
  // `text` must outlive this object.
  explicit ControlScan(std::string_view text) : text_(text) {}

  // The text without controls. Called once.
  std::string Strip();

  // How many bytes were looked at, each as often as it was. At most
  // kMostLooks for a byte.
  size_t looks() const { return looks_; }
  static constexpr size_t kMostLooks = 6;

 private:
  // The end of the escape sequence that starts at `at`, or the end of its
  // introducer alone where it is not finished.
  size_t EndOfEscape(size_t at);
  size_t EndOfParameters(size_t at, size_t limit);
  size_t EndOfString(size_t at, size_t limit);
  unsigned char Look(size_t at);

  std::string_view text_;
  size_t looks_ = 0;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_DOMAIN_CONTROL_SCAN_H_
