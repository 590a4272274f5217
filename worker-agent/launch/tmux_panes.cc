#include <utility>
#include <vector>

#include "broker/base/error.h"
#include "broker/base/process.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "worker-agent/launch/multiplexer.h"
#include "worker-agent/launch/tmux_commands.h"
#include "worker-agent/launch/unix_socket.h"

namespace intercom {
namespace {

class Tmux : public Multiplexer {
 public:
  Tmux(const CommandRunner& runner, std::string socket)
      : runner_(runner), socket_(std::move(socket)) {}

  absl::StatusOr<std::optional<Found>> Find(const v1::Pane& wanted) override {
    if (!SomebodyListens(socket_)) {
      // A server without its socket may live; a pane whose process ended does
      // not.
      if (wanted.pid() == 0 || StartTicksOf(wanted.pid()) != 0) {
        return PaneUnknown("no tmux server answers at " + socket_);
      }
      return std::nullopt;
    }
    INTERCOM_ASSIGN_OR_RETURN(const std::string out,
                              Run(tmux::ListPane(socket_, wanted.pane())));
    const absl::StatusOr<std::vector<tmux::PaneRow>> rows =
        tmux::ParsePanes(out);
    if (!rows.ok()) return PaneUnknown(MessageOf(rows.status()));
    std::optional<Found> found;
    for (const tmux::PaneRow& row : *rows) {
      if (row.pane.pane() != wanted.pane()) continue;
      const bool preferred = row.pane.workspace() == wanted.workspace() &&
                             row.pane.tab() == wanted.tab();
      if (found.has_value() && !preferred) continue;
      found = Found{.pane = row.pane,
                    .dead = row.dead,
                    .alone = row.panes_in_window == 1,
                    .host_mark = row.mark};
      found->pane.set_server(socket_);
      if (preferred) break;
    }
    return found;
  }

  absl::Status Close(const v1::Pane& pane) override {
    return Run(tmux::ClosePane(pane)).status();
  }

  absl::Status Name(const Found& found, const std::string& name) override {
    return Run(found.alone ? tmux::NameWindow(found.pane, name)
                           : tmux::NamePane(found.pane, name))
        .status();
  }

 private:
  // Its output, if it succeeded.
  absl::StatusOr<std::string> Run(const tmux::Argv& argv) const {
    absl::StatusOr<CommandOutput> output = runner_.Run(argv);
    if (!output.ok()) return PaneUnknown(MessageOf(output.status()));
    if (output->exit_code != 0) {
      return PaneUnknown("tmux said: " + SafeLabel(output->err, 300));
    }
    return std::move(output->out);
  }

  const CommandRunner& runner_;
  const std::string socket_;
};

}  // namespace

std::unique_ptr<Multiplexer> MakeTmux(const CommandRunner& runner,
                                      const std::string& socket) {
  return std::make_unique<Tmux>(runner, socket);
}

absl::Status PaneUnknown(const std::string& why) {
  return Error(absl::StatusCode::kUnavailable, "PANE_UNKNOWN", why);
}

}  // namespace intercom
