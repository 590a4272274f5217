#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_TEXT_TABLE_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_TEXT_TABLE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace intercom {

// Columns that `text` takes on a terminal: 2 for wide characters such as most
// emoji, 0 for combining ones. `text` has no controls.
size_t DisplayWidth(std::string_view text);

// The longest beginning of `text` that fits `columns`, with "…" if it was cut.
std::string CutToWidth(std::string_view text, size_t columns);

// A table in plain text: a heading and rows, columns aligned, two spaces
// between them, nothing after the last. Cells are shown as given: make them
// safe before.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> headings);

  // Missing cells are empty.
  void AddRow(std::vector<std::string> cells);

  // Lines ended by LF. Columns without any content are left out.
  std::string ToString() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_TEXT_TABLE_H_
