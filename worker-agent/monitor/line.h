#ifndef PI_INTERCOM_WORKER_AGENT_MONITOR_LINE_H_
#define PI_INTERCOM_WORKER_AGENT_MONITOR_LINE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace intercom {

// What a piece of text means; a terminal decides how that looks.
enum class Style : uint8_t {
  kPlain,
  // Names and headings.
  kStrong,
  // What matters least.
  kFaint,
  // Somebody works.
  kGood,
  // Something waits.
  kWaiting,
  // Overdue or failed.
  kBad,
};

// What a terminal draws in one place: a character with the marks on it.
struct Cluster {
  std::string text;
  // 1 or 2 columns.
  size_t width = 1;
};

// `text` as a terminal can draw it without moving anything else: controls and
// what has no width of its own are left out, an emoji that is joined of several
// is its first, a flag is its letters, a tab or line feed is a space. Widths
// are utf8proc's.
std::vector<Cluster> Clusters(std::string_view text);

// Columns that these take.
size_t ColumnsOf(std::string_view text);

// `text` in lines of at most `columns`, broken between words where there are
// any, and at its own line feeds. At most `most` lines, the last of which then
// ends in "…". At least one column and one line.
std::vector<std::string> WrapText(std::string_view text, size_t columns,
                                  size_t most);

// One row of the screen, from left to right. Whatever is added is drawable by
// Clusters().
class Line {
 public:
  struct Span {
    std::string text;
    size_t columns = 0;
    Style style = Style::kPlain;
  };
  enum class Align { kLeft, kRight };

  Line& Add(std::string_view text, Style style = Style::kPlain);
  // Exactly `columns`: cut with "…", or padded.
  Line& AddCell(std::string_view text, size_t columns,
                Style style = Style::kPlain, Align align = Align::kLeft);
  Line& Append(const Line& other);
  Line& Pad(size_t columns) { return Add(std::string(columns, ' ')); }
  // Exactly `columns` altogether.
  Line& FitTo(size_t columns);

  size_t columns() const { return columns_; }
  const std::vector<Span>& spans() const { return spans_; }
  // The whole without styles and without spaces at its end.
  std::string Text() const;

  // Drawn the other way round: the row that keys are about.
  bool selected = false;
  // Drawn faintly all over: it is out of date.
  bool faded = false;

  friend bool operator==(const Line&, const Line&) = default;

 private:
  void AddSpan(std::string text, size_t columns, Style style);

  std::vector<Span> spans_;
  size_t columns_ = 0;
};

inline bool operator==(const Line::Span& a, const Line::Span& b) {
  return a.text == b.text && a.style == b.style;
}

// One ASCII character for each column: our signs become their likes, letters
// that ASCII lacks a question mark.
std::string ToAscii(std::string_view text);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_MONITOR_LINE_H_
