#ifndef PI_INTERCOM_WORKER_AGENT_LAUNCH_TMUX_COMMANDS_H_
#define PI_INTERCOM_WORKER_AGENT_LAUNCH_TMUX_COMMANDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "intercom/v1/work.pb.h"

// Pure: tmux's command lines, and what its answers mean. tmux reads more into
// its arguments than their words: these functions are the only ones that write
// them.
namespace intercom::tmux {

using Argv = std::vector<std::string>;

// One word that tmux takes as it is: a `;` at its end would begin another
// command, after `--` too.
std::string Word(std::string_view text);

// A text where tmux expands formats: `#{..}`, and `#(..)` which runs a command.
std::string Literal(std::string_view text);
// The same for a name, which tmux shows with styles: `#[..]`.
std::string Title(std::string_view text);

// A name for a session: letters, digits, _ and - of the last part of
// `directory`, behind "intercom-". `attempt` counts from 1.
std::string SessionName(std::string_view directory, int attempt);

// The socket in the value of $TMUX, which is "socket,pid,session". "" if it is
// none.
std::string SocketOf(std::string_view tmux_variable);
// The session's id ($N) in it, likewise.
std::string SessionOf(std::string_view tmux_variable);

// A pane as tmux lists it.
struct PaneRow {
  // Without its server.
  v1::Pane pane;
  // Its process ended, and it stays to be looked at.
  bool dead = false;
  int panes_in_window = 0;
  // The host that was launched in it: HostMark.
  std::string mark;
};

// The mark on a pane of a launched host. "" without a process.
std::string HostMark(int64_t pid, int64_t start_ticks);

// Commands. `socket` names the server: "" is the user's default one.

// Lists the pane `pane` ("%5"), once for each session that shows it.
Argv ListPane(const std::string& socket, const std::string& pane);
absl::StatusOr<std::vector<PaneRow>> ParsePanes(std::string_view out);

// Opens a window in `session` ("$1"), or a session of its own, that runs
// `command`, at least two words: tmux gives a single one to a shell. With
// `focus` the window is brought in front.
Argv NewWindow(const std::string& socket, const std::string& session,
               const std::string& title, const Argv& command,
               bool focus = false);
Argv NewSession(const std::string& socket, const std::string& session,
                const std::string& directory, const std::string& title,
                const Argv& command);
// Opens a pane above `pane`, on its server, with a quarter of its rows; the
// focus stays.
Argv SplitAbove(const v1::Pane& pane, const std::string& directory,
                const Argv& command);
// What they print.
struct Created {
  v1::Pane pane;
  std::string session_name;
  std::string window_index;
};
absl::StatusOr<Created> ParseCreated(std::string_view out);

Argv HasSession(const std::string& socket, const std::string& name);

// Keeps the window's title and marks the pane.
Argv Settle(const v1::Pane& pane, const std::string& mark);

// Names a window for good, or only a pane.
Argv NameWindow(const v1::Pane& pane, const std::string& name);
Argv NamePane(const v1::Pane& pane, const std::string& name);

// Closes the pane if, at that very moment, it is in that window and its process
// is that one.
Argv ClosePane(const v1::Pane& pane);

}  // namespace intercom::tmux

#endif  // PI_INTERCOM_WORKER_AGENT_LAUNCH_TMUX_COMMANDS_H_
