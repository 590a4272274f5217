#include <utility>

#include "broker/base/error.h"
#include "broker/base/process.h"
#include "broker/base/status_macros.h"
#include "worker-agent/launch/herdr_client.h"
#include "worker-agent/launch/herdr_requests.h"
#include "worker-agent/launch/multiplexer.h"

namespace intercom {
namespace {

using Json = nlohmann::json;

class Herdr : public Multiplexer {
 public:
  Herdr(const CommandRunner& runner, const std::string& socket)
      : client_(runner, socket) {}

  absl::StatusOr<std::optional<Found>> Find(const v1::Pane& wanted) override {
    const absl::StatusOr<Json> answer =
        client_.Ask(herdr::GetPane(wanted.pane()));
    if (IsGone(answer.status())) return std::nullopt;
    if (absl::IsNotFound(answer.status()) && wanted.pid() != 0 &&
        StartTicksOf(wanted.pid()) == 0) {
      // A server that is gone has no panes; that the pane's process ended too
      // shows that it is not merely out of reach.
      return std::nullopt;
    }
    if (!answer.ok()) return Unknown(answer.status());
    absl::StatusOr<v1::Pane> pane = herdr::ParsePane(*answer);
    if (!pane.ok()) return Unknown(pane.status());
    const absl::StatusOr<Json> info =
        client_.Ask(herdr::ProcessInfo(pane->pane()));
    if (IsGone(info.status())) return std::nullopt;
    if (!info.ok()) return Unknown(info.status());
    const auto processes = herdr::ParseProcesses(*info);
    if (!processes.ok()) return Unknown(processes.status());
    pane->set_pid(processes->shell_pid);
    pane->set_server(client_.socket());
    Found found;
    found.dead = processes->shell_pid == 0;
    found.pane = *std::move(pane);
    return found;
  }

  absl::Status Close(const v1::Pane& pane) override {
    const absl::Status closed =
        client_.Ask(herdr::ClosePane(pane.pane())).status();
    return closed.ok() || IsGone(closed) ? absl::OkStatus() : Unknown(closed);
  }

  absl::Status Name(const Found& found, const std::string& name) override {
    const absl::Status named =
        client_.Ask(herdr::RenameTab(found.pane.tab(), name)).status();
    return named.ok() ? named : Unknown(named);
  }

 private:
  static bool IsGone(const absl::Status& status) {
    return ReasonOf(status) == "HERDR_PANE_NOT_FOUND";
  }
  static absl::Status Unknown(const absl::Status& cause) {
    return PaneUnknown(MessageOf(cause));
  }

  const HerdrClient client_;
};

}  // namespace

std::unique_ptr<Multiplexer> MakeHerdr(const CommandRunner& runner,
                                       const std::string& socket) {
  return std::make_unique<Herdr>(runner, socket);
}

}  // namespace intercom
