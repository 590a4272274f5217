#include "worker-agent/tools/worker_result.h"

#include "broker/domain/fence.h"
#include "worker-agent/tools/labels.h"

namespace intercom {

ToolResult RenderConfigured(const v1::ConfigureWorkerResponse& response) {
  const std::string name = NameLabel(response.entry().name());
  ToolResult result;
  result.text = response.changed()
                    ? "Wrote the entry of " + name + " into the config.\n"
                    : "The config says this about " + name +
                          " already; nothing was written.\n";
  result.text += response.attached()
                     ? "It is attached: intercom_reload_worker makes it take "
                       "its name and responsibility on.\n"
                     : "It is not attached; it loads the entry when it "
                       "attaches next.\n";
  if (!response.known()) {
    result.text +=
        "But no session of this id has ever attached to this broker: check it "
        "against the registration.\n";
  }
  result.summary =
      name + (response.changed() ? " configured" : " was configured already") +
      (response.known() ? "" : ", session unknown");
  result.details = {{"sessionId", response.entry().session_id()},
                    {"name", response.entry().name()},
                    {"attached", response.attached()},
                    {"changed", response.changed()},
                    {"known", response.known()}};
  return result;
}

ToolResult RenderReloaded(const v1::ReloadWorkerResponse& response) {
  const std::string name = NameLabel(response.entry().name());
  ToolResult result;
  result.text = name +
                " loaded its responsibility. It now waits for work: "
                "send it with intercom_send.\n";
  if (!response.warning().empty()) {
    result.text += "Warning: " + SafeLabel(response.warning(), 512) + "\n";
  }
  result.summary =
      name + " loaded" + (response.warning().empty() ? "" : ", with a warning");
  return result;
}

ToolResult RenderRemoved(const v1::RemoveWorkerResponse& response) {
  const std::string name =
      NameOr(response.entry().name(), response.entry().session_id());
  ToolResult result;
  result.text = "Took " + name +
                " out of the config. No process was ended and no session "
                "deleted: session " +
                IdLabel(response.entry().session_id(), 256) +
                " can still be opened by hand.\n";
  if (response.refused() > 0) {
    result.text += std::to_string(response.refused()) +
                   " waiting messages to it were refused; their senders are "
                   "told.\n";
  }
  result.summary = name + " removed";
  result.details = {{"sessionId", response.entry().session_id()},
                    {"name", response.entry().name()},
                    {"refused", response.refused()}};
  return result;
}

ToolResult RenderMultiplexer(const v1::SetMultiplexerResponse& response) {
  const std::string name = NameLabel(response.multiplexer());
  ToolResult result;
  result.text = response.changed()
                    ? "Workers are launched in " + name + " from now on.\n"
                    : "The config names " + name + " already.\n";
  if (response.multiplexer() == "none") {
    result.text =
        "The config names none: launches are refused until another "
        "multiplexer is set or named in the call.\n";
  } else if (response.multiplexer() == "headless") {
    result.text =
        "The config names headless, which can't launch workers yet: launches "
        "are refused until another multiplexer is set or named in the call.\n";
  }
  result.text += "Open sessions stay where they are.\n";
  result.summary =
      "multiplexer " + name + (response.changed() ? "" : " (as it was)");
  result.details = {{"multiplexer", response.multiplexer()},
                    {"changed", response.changed()}};
  return result;
}

ToolResult RenderRegistered(const v1::RegisterResponse& response) {
  ToolResult result;
  result.text =
      response.coordinator_attached()
          ? "The coordinator is told that this session is here.\n"
          : "The coordinator is not attached: it is told when it returns, "
            "unless this session goes before.\n";
  result.text += "Wait until it configures this session, if it does.\n";
  result.summary = response.coordinator_attached()
                       ? "registered again"
                       : "registered again, coordinator away";
  result.details = {{"coordinatorAttached", response.coordinator_attached()}};
  return result;
}

}  // namespace intercom
