#include "worker-agent/monitor/line.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>

#include "broker/domain/control_scan.h"
#include "broker/domain/fence.h"

namespace intercom {
namespace {

constexpr std::string_view kEllipsis = "…";
// No script has more marks on one letter.
constexpr int kMaxFollowers = 6;

struct Free {
  void operator()(utf8proc_uint8_t* text) const { std::free(text); }
};

// A letter and its marks become one code point where there is one.
std::string Composed(const std::string& text) {
  utf8proc_uint8_t* mapped = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
      static_cast<utf8proc_ssize_t>(text.size()), &mapped,
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, Free> owned(mapped);
  if (size < 0) return text;
  return {reinterpret_cast<const char*>(mapped), static_cast<size_t>(size)};
}

size_t WidthOf(uint32_t c) {
  const int width = utf8proc_charwidth(static_cast<utf8proc_int32_t>(c));
  return width < 0 ? 0 : std::min<size_t>(static_cast<size_t>(width), 2);
}

bool IsMark(uint32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
         category == UTF8PROC_CATEGORY_ME;
}

// A soft hyphen and its like: shown by some terminals, not by others.
bool IsFormat(uint32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c)) ==
         UTF8PROC_CATEGORY_CF;
}

// What chooses another picture for the character before it, which terminals
// disagree about.
bool IsVariation(uint32_t c) {
  return (c >= 0xfe00 && c <= 0xfe0f) || (c >= 0xe0100 && c <= 0xe01ef);
}

bool IsRegionalIndicator(uint32_t c) { return c >= 0x1f1e6 && c <= 0x1f1ff; }

// Whether `c`, inside of a cluster, belongs to the letter rather than to a
// picture joined of several.
bool StaysInCluster(uint32_t c) {
  if (IsMark(c)) return !IsVariation(c);
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_LO;
}

// The sign of ours that looks like it.
char AsciiFor(uint32_t c) {
  switch (c) {
    case 0x2026:  // …
      return '~';
    case 0x2192:  // →
      return '>';
    case 0x2190:  // ←
      return '<';
    case 0x00b7:  // ·
    case 0x2500:  // ─
    case 0x2013:  // –
      return '-';
    case 0x2502:  // │
      return '|';
    case 0x2191:  // ↑
      return '^';
    case 0x2193:  // ↓
      return 'v';
    default:
      break;
  }
  // ▁ to █
  if (c >= 0x2581 && c <= 0x2588) return ".:-=+*%#"[c - 0x2581];
  return '?';
}

}  // namespace

std::vector<Cluster> Clusters(std::string_view text) {
  std::vector<Cluster> clusters;
  const std::string clean = Composed(StripControls(text));
  utf8proc_int32_t state = 0;
  uint32_t before = 0;
  bool is_dropped = true;
  int followers = 0;
  for (size_t at = 0; at < clean.size();) {
    const size_t start = at;
    uint32_t c = NextCodePoint(clean, at);
    if (c == '\n' || c == '\t') c = ' ';
    const bool begins =
        start == 0 || utf8proc_grapheme_break_stateful(
                          static_cast<utf8proc_int32_t>(before),
                          static_cast<utf8proc_int32_t>(c), &state);
    before = c;
    if (IsRegionalIndicator(c)) {
      clusters.push_back(
          {std::string(1, static_cast<char>('A' + c - 0x1f1e6))});
      is_dropped = true;
      continue;
    }
    const size_t width = WidthOf(c);
    if (begins) {
      // A mark without a letter has nothing to stand on.
      is_dropped = width == 0 || IsMark(c) || IsFormat(c);
      followers = 0;
      if (is_dropped) continue;
      clusters.push_back(
          {c == ' ' ? " " : clean.substr(start, at - start), width});
    } else if (!is_dropped && StaysInCluster(c) &&
               ++followers <= kMaxFollowers &&
               clusters.back().width + width <= 2) {
      clusters.back().text.append(clean, start, at - start);
      clusters.back().width += width;
    }
  }
  return clusters;
}

size_t ColumnsOf(std::string_view text) {
  size_t columns = 0;
  for (const Cluster& cluster : Clusters(text)) columns += cluster.width;
  return columns;
}

std::vector<std::string> WrapText(std::string_view text, size_t columns,
                                  size_t most) {
  columns = std::max<size_t>(columns, 2);
  std::vector<std::string> lines;
  const std::string clean = StripControls(text);
  for (size_t start = 0; start <= clean.size() && lines.size() <= most;) {
    const size_t end = std::min(clean.find('\n', start), clean.size());
    const std::vector<Cluster> all =
        Clusters(std::string_view(clean).substr(start, end - start));
    start = end + 1;
    size_t from = 0;
    do {
      size_t to = from;
      size_t used = 0;
      size_t space = 0;
      while (to < all.size() && used + all[to].width <= columns) {
        if (all[to].text == " ") space = to;
        used += all[to++].width;
      }
      const bool is_broken = to < all.size();
      if (is_broken && space > from && all[to].text != " ") to = space;
      std::string line;
      for (size_t i = from; i < to; ++i) line += all[i].text;
      lines.push_back(std::move(line));
      while (is_broken && to < all.size() && all[to].text == " ") ++to;
      from = to;
    } while (from < all.size() && lines.size() <= most);
  }
  while (lines.size() > 1 && lines.back().empty()) lines.pop_back();
  if (lines.size() <= most) return lines;
  lines.resize(std::max<size_t>(most, 1));
  std::string cut;
  size_t used = 0;
  for (const Cluster& cluster : Clusters(lines.back())) {
    used += cluster.width;
    if (used > columns - 1) break;
    cut += cluster.text;
  }
  lines.back() = cut + std::string(kEllipsis);
  return lines;
}

Line& Line::Add(std::string_view text, Style style) {
  std::string drawn;
  size_t columns = 0;
  for (const Cluster& cluster : Clusters(text)) {
    drawn += cluster.text;
    columns += cluster.width;
  }
  AddSpan(std::move(drawn), columns, style);
  return *this;
}

Line& Line::AddCell(std::string_view text, size_t columns, Style style,
                    Align align) {
  const std::vector<Cluster> all = Clusters(text);
  size_t whole = 0;
  for (const Cluster& cluster : all) whole += cluster.width;
  if (columns == 0) return *this;
  const size_t room = whole <= columns ? columns : columns - 1;
  std::string drawn;
  size_t used = 0;
  for (const Cluster& cluster : all) {
    if (used + cluster.width > room) break;
    drawn += cluster.text;
    used += cluster.width;
  }
  if (whole > columns) {
    drawn += kEllipsis;
    ++used;
  }
  const std::string gap(columns - used, ' ');
  if (align == Align::kRight) drawn.insert(0, gap);
  if (align == Align::kLeft) drawn += gap;
  AddSpan(std::move(drawn), columns, style);
  return *this;
}

Line& Line::Append(const Line& other) {
  for (const Span& span : other.spans_) {
    AddSpan(span.text, span.columns, span.style);
  }
  return *this;
}

Line& Line::FitTo(size_t columns) {
  if (columns_ < columns) return Pad(columns - columns_);
  if (columns_ == columns) return *this;
  std::vector<Span> spans;
  std::swap(spans, spans_);
  columns_ = 0;
  for (const Span& span : spans) {
    const size_t room = columns - columns_;
    // What follows is cut off as well: say so in the last column.
    const bool is_last = span.columns >= room;
    if (!is_last) {
      AddSpan(span.text, span.columns, span.style);
      continue;
    }
    AddCell(span.columns == room ? span.text + " " : span.text, room,
            span.style);
    break;
  }
  return *this;
}

std::string Line::Text() const {
  std::string text;
  for (const Span& span : spans_) text += span.text;
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

void Line::AddSpan(std::string text, size_t columns, Style style) {
  if (columns == 0) return;
  columns_ += columns;
  if (!spans_.empty() && spans_.back().style == style) {
    spans_.back().text += text;
    spans_.back().columns += columns;
    return;
  }
  spans_.push_back({std::move(text), columns, style});
}

std::string ToAscii(std::string_view text) {
  std::string out;
  for (const Cluster& cluster : Clusters(text)) {
    size_t at = 0;
    const uint32_t c = NextCodePoint(cluster.text, at);
    out.append(cluster.width, c < 0x80 ? static_cast<char>(c) : AsciiFor(c));
  }
  return out;
}

}  // namespace intercom
