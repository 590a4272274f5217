#include "worker-agent/launch/tmux_commands.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"

namespace intercom::tmux {
namespace {

// What people may have named comes last, where spaces do no harm.
constexpr char kRowFormat[] =
    "#{pane_id} #{pane_pid} #{pane_dead} #{window_panes} #{window_id} "
    "#{session_id} #{pane_tty} #{@intercom_host}";
constexpr char kCreatedFormat[] =
    "#{pane_id} #{pane_pid} #{window_id} #{session_id} #{pane_tty} "
    "#{window_index}\n#{socket_path}\n#{session_name}";
constexpr char kMark[] = "@intercom_host";
constexpr size_t kMaxNameLength = 40;

absl::Status Unreadable(std::string_view out) {
  return Error(absl::StatusCode::kUnavailable, "TMUX_UNREADABLE",
               "tmux answered something else than expected: \"" +
                   std::string(out.substr(0, 200)) + "\"");
}

// -u: without it, tmux replaces what is not ASCII in what it prints.
Argv Command(const std::string& socket) {
  Argv argv = {"tmux", "-u"};
  if (!socket.empty()) {
    argv.push_back("-S");
    argv.push_back(socket);
  }
  return argv;
}

void Append(Argv& argv, const Argv& words) {
  for (const std::string& word : words) argv.push_back(Word(word));
}

// Ends one command of several.
void Separate(Argv& argv) { argv.push_back(";"); }

bool IsNumber(std::string_view text) {
  return !text.empty() && text.size() <= 18 &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

int64_t NumberOf(std::string_view text) {
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool IsId(std::string_view text, char sigil) {
  return text.starts_with(sigil) && IsNumber(text.substr(1));
}

// The next word of `line`, which loses it and the space behind it.
std::string_view Take(std::string_view& line) {
  const size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

std::string_view TakeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::optional<PaneRow> ParseRow(std::string_view line) {
  PaneRow row;
  const std::string_view pane = Take(line), pid = Take(line), dead = Take(line),
                         panes = Take(line), window = Take(line),
                         session = Take(line), tty = Take(line);
  if (!IsId(pane, '%') || !IsNumber(pid) || (dead != "0" && dead != "1") ||
      !IsNumber(panes) || !IsId(window, '@') || !IsId(session, '$')) {
    return std::nullopt;
  }
  row.pane.set_launcher("tmux");
  row.pane.set_workspace(std::string(session));
  row.pane.set_tab(std::string(window));
  row.pane.set_pane(std::string(pane));
  row.pane.set_terminal(std::string(tty));
  row.pane.set_pid(NumberOf(pid));
  row.dead = dead == "1";
  row.panes_in_window = static_cast<int>(NumberOf(panes));
  row.mark = line;
  return row;
}

void KeepTitle(Argv& argv, const std::string& window) {
  for (const char* option : {"automatic-rename", "allow-rename"}) {
    Append(argv, {"set-option", "-w", "-t", window, option, "off"});
    Separate(argv);
  }
}

}  // namespace

std::string Word(std::string_view text) {
  std::string word(text);
  if (word.ends_with(';')) word.insert(word.size() - 1, "\\");
  return word;
}

std::string Literal(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_not_of('#', at), text.size());
    const size_t count = end - at;
    // Before a bracket tmux leaves them all.
    const bool style = end < text.size() && text[end] == '[';
    out.append(style ? count : 2 * count, '#');
    if (end < text.size()) out += text[end];
    at = end + 1;
  }
  return out;
}

std::string Title(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '#') out += c;
  }
  return out;
}

std::string SessionName(std::string_view directory, int attempt) {
  while (directory.ends_with('/')) directory.remove_suffix(1);
  const size_t slash = directory.rfind('/');
  std::string name = "intercom-";
  for (const char c :
       directory.substr(slash == std::string_view::npos ? 0 : slash + 1)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') || c == '_';
    if (plain) {
      name += c;
    } else if (name.back() != '-') {
      name += '-';
    }
    if (name.size() == kMaxNameLength) break;
  }
  while (name.ends_with('-')) name.pop_back();
  if (attempt > 1) name += "-" + std::to_string(attempt);
  return name;
}

std::string SocketOf(std::string_view tmux_variable) {
  const size_t session = tmux_variable.rfind(',');
  if (session == std::string_view::npos || session == 0) return "";
  const size_t pid = tmux_variable.rfind(',', session - 1);
  if (pid == std::string_view::npos || !tmux_variable.starts_with('/')) {
    return "";
  }
  return std::string(tmux_variable.substr(0, pid));
}

std::string SessionOf(std::string_view tmux_variable) {
  const size_t comma = tmux_variable.rfind(',');
  if (comma == std::string_view::npos) return "";
  const std::string_view number = tmux_variable.substr(comma + 1);
  return IsNumber(number) ? "$" + std::string(number) : "";
}

std::string HostMark(int64_t pid, int64_t start_ticks) {
  if (pid == 0 || start_ticks == 0) return "";
  return std::to_string(pid) + "." + std::to_string(start_ticks);
}

Argv ListPane(const std::string& socket, const std::string& pane) {
  Argv argv = Command(socket);
  Append(argv, {"list-panes", "-a", "-f",
                "#{==:#{pane_id}," + Literal(pane) + "}", "-F", kRowFormat});
  return argv;
}

absl::StatusOr<std::vector<PaneRow>> ParsePanes(std::string_view out) {
  std::vector<PaneRow> rows;
  std::string_view rest = out;
  while (!rest.empty()) {
    std::optional<PaneRow> row = ParseRow(TakeLine(rest));
    if (!row.has_value()) return Unreadable(out);
    rows.push_back(*std::move(row));
  }
  return rows;
}

Argv NewWindow(const std::string& socket, const std::string& session,
               const std::string& title, const Argv& command, bool focus) {
  Argv argv = Command(socket);
  Append(argv, {"new-window"});
  if (!focus) Append(argv, {"-d"});
  Append(argv, {"-P", "-F", kCreatedFormat, "-t", session + ":", "-n",
                Title(title), "--"});
  Append(argv, command);
  return argv;
}

Argv NewSession(const std::string& socket, const std::string& session,
                const std::string& directory, const std::string& title,
                const Argv& command) {
  Argv argv = Command(socket);
  Append(argv, {"new-session", "-d", "-P", "-F", kCreatedFormat, "-s", session,
                "-x", "200", "-y", "50", "-c", Literal(directory), "-n",
                Title(title), "--"});
  Append(argv, command);
  return argv;
}

Argv SplitAbove(const v1::Pane& pane, const std::string& directory,
                const Argv& command) {
  Argv argv = Command(pane.server());
  Append(argv,
         {"split-window", "-d", "-b", "-v", "-l", "25%", "-P", "-F",
          kCreatedFormat, "-t", pane.pane(), "-c", Literal(directory), "--"});
  Append(argv, command);
  return argv;
}

absl::StatusOr<Created> ParseCreated(std::string_view out) {
  std::string_view rest = out;
  std::string_view line = TakeLine(rest);
  const std::string_view pane = Take(line), pid = Take(line),
                         window = Take(line), session = Take(line),
                         tty = Take(line), index = line;
  const std::string_view socket = TakeLine(rest), name = TakeLine(rest);
  if (!IsId(pane, '%') || !IsNumber(pid) || !IsId(window, '@') ||
      !IsId(session, '$') || !IsNumber(index) || !socket.starts_with('/') ||
      name.empty()) {
    return Unreadable(out);
  }
  Created created;
  created.pane.set_launcher("tmux");
  created.pane.set_server(std::string(socket));
  created.pane.set_workspace(std::string(session));
  created.pane.set_tab(std::string(window));
  created.pane.set_pane(std::string(pane));
  created.pane.set_terminal(std::string(tty));
  created.pane.set_pid(NumberOf(pid));
  created.session_name = name;
  created.window_index = index;
  return created;
}

Argv HasSession(const std::string& socket, const std::string& name) {
  Argv argv = Command(socket);
  // = takes the name as it is; without, a beginning of one would do.
  Append(argv, {"has-session", "-t", "=" + name});
  return argv;
}

Argv Settle(const v1::Pane& pane, const std::string& mark) {
  Argv argv = Command(pane.server());
  KeepTitle(argv, pane.tab());
  Append(argv, {"set-option", "-p", "-t", pane.pane(), kMark, mark});
  return argv;
}

Argv NameWindow(const v1::Pane& pane, const std::string& name) {
  Argv argv = Command(pane.server());
  KeepTitle(argv, pane.tab());
  Append(argv, {"rename-window", "-t", pane.tab(), "--", Title(name)});
  return argv;
}

Argv NamePane(const v1::Pane& pane, const std::string& name) {
  Argv argv = Command(pane.server());
  Append(argv, {"select-pane", "-t", pane.pane(), "-T", Title(name)});
  return argv;
}

Argv ClosePane(const v1::Pane& pane) {
  Argv argv = Command(pane.server());
  Append(argv, {"if-shell", "-F", "-t", pane.pane(),
                "#{&&:#{==:#{pane_pid}," + std::to_string(pane.pid()) +
                    "},#{==:#{window_id}," + Literal(pane.tab()) + "}}",
                "kill-pane -t " + pane.pane()});
  return argv;
}

}  // namespace intercom::tmux
