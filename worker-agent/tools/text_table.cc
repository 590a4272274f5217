#include "worker-agent/tools/text_table.h"

#include <algorithm>
#include <clocale>
#include <cstdint>
#include <cwchar>
#include <utility>

namespace intercom {
namespace {

// Takes one code point off the front of UTF-8 `text`; a stray byte counts as
// one. Returns it and its bytes.
std::pair<uint32_t, size_t> FirstCodePoint(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  size_t bytes = 1;
  uint32_t value = lead;
  if (lead >= 0xf0) {
    bytes = 4;
    value = lead & 0x07;
  } else if (lead >= 0xe0) {
    bytes = 3;
    value = lead & 0x0f;
  } else if (lead >= 0xc0) {
    bytes = 2;
    value = lead & 0x1f;
  }
  if (bytes > text.size()) return {0xfffd, 1};
  for (size_t i = 1; i < bytes; ++i) {
    value = (value << 6) | (static_cast<unsigned char>(text[i]) & 0x3f);
  }
  return {value, bytes};
}

// wcwidth() knows wide characters in a UTF-8 locale only; this gives the
// thread one for a scope.
class Utf8Locale {
 public:
  Utf8Locale() : before_(uselocale(Utf8())) {}
  ~Utf8Locale() { uselocale(before_); }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  static locale_t Utf8() {
    static const locale_t kUtf8 =
        newlocale(LC_CTYPE_MASK, "C.UTF-8", static_cast<locale_t>(nullptr));
    return kUtf8;
  }
  locale_t before_;
};

size_t WidthOf(uint32_t code_point) {
  const int width = wcwidth(static_cast<wchar_t>(code_point));
  return width < 0 ? 1 : static_cast<size_t>(width);
}

}  // namespace

size_t DisplayWidth(std::string_view text) {
  const Utf8Locale locale;
  size_t columns = 0;
  while (!text.empty()) {
    const auto [code_point, bytes] = FirstCodePoint(text);
    columns += WidthOf(code_point);
    text.remove_prefix(bytes);
  }
  return columns;
}

std::string CutToWidth(std::string_view text, size_t columns) {
  if (DisplayWidth(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  const Utf8Locale locale;
  size_t used = 0;
  size_t end = 0;
  while (end < text.size()) {
    const auto [code_point, bytes] = FirstCodePoint(text.substr(end));
    if (used + WidthOf(code_point) > columns - 1) break;
    used += WidthOf(code_point);
    end += bytes;
  }
  return std::string(text.substr(0, end)) + "…";
}

TextTable::TextTable(std::vector<std::string> headings) {
  rows_.push_back(std::move(headings));
}

void TextTable::AddRow(std::vector<std::string> cells) {
  cells.resize(rows_.front().size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::ToString() const {
  const size_t columns = rows_.front().size();
  std::vector<size_t> widths(columns);
  std::vector<bool> shown(columns, rows_.size() == 1);
  size_t last = 0;
  for (size_t column = 0; column < columns; ++column) {
    for (size_t row = 0; row < rows_.size(); ++row) {
      const std::string& cell = rows_[row][column];
      widths[column] = std::max(widths[column], DisplayWidth(cell));
      if (row > 0 && !cell.empty()) shown[column] = true;
    }
    if (shown[column]) last = column;
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (size_t column = 0; column <= last; ++column) {
      if (!shown[column]) continue;
      line += row[column];
      if (column < last) {
        line.append(widths[column] - DisplayWidth(row[column]) + 2, ' ');
      }
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace intercom
