#include "worker-agent/run_work.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/log.h"
#include "broker/domain/fence.h"
#include "worker-agent/tools/tool_result.h"

namespace intercom {
namespace {

std::optional<v1::RunEvent::Event> EventOf(const std::string& text) {
  if (text == "progress") return v1::RunEvent::EVENT_PROGRESS;
  if (text == "done") return v1::RunEvent::EVENT_DONE;
  if (text == "failed") return v1::RunEvent::EVENT_FAILED;
  if (text == "stopped") return v1::RunEvent::EVENT_STOPPED;
  if (text == "interrupted") return v1::RunEvent::EVENT_INTERRUPTED;
  return std::nullopt;
}

Delegation DelegationBy(const v1::Run& run) {
  return {.supervisor_session_id = run.supervisor_session_id(),
          .supervisor_name = run.supervisor_name(),
          .run_id = run.run_id(),
          .label = run.label()};
}

absl::Status Ambiguous(const v1::OpenRuns& open) {
  std::string names;
  for (const v1::Run& run : open.runs()) {
    if (!names.empty()) names += ", ";
    names += IdLabel(run.run_id(), 40) + " of " +
             NameOr(run.supervisor_name(), run.supervisor_session_id());
  }
  return Error(absl::StatusCode::kFailedPrecondition, "AMBIGUOUS_RUN",
               "several supervisors wait for work of this session (" + names +
                   "), and nothing says which of them this is for; name one "
                   "with intercom, action ask or send, to its session");
}

}  // namespace

RunWork::RunWork(Notify notify, SendFrame send)
    : notify_(std::move(notify)), send_(std::move(send)) {}

void RunWork::Handle(const v1::OpenRuns& runs) {
  open_ = runs;
  Json open = Json::array();
  for (const v1::Run& run : open_.runs()) {
    open.push_back({{"runId", run.run_id()},
                    {"deliveryId", run.delivery_id()},
                    {"label", run.label()},
                    {"supervisor",
                     {{"sessionId", run.supervisor_session_id()},
                      {"name", run.supervisor_name()}}}});
  }
  notify_("runs", {{"open", std::move(open)}});
}

void RunWork::HandleRun(const Json& params) {
  const std::string delivery_id = StringOr(params, "deliveryId", "");
  const auto event = EventOf(StringOr(params, "event", ""));
  if (delivery_id.empty() || !event.has_value()) {
    SPDLOG_ERROR("protocol: news of a run without delivery or event");
    return;
  }
  v1::AttachRequest frame;
  v1::RunEvent& run = *frame.mutable_run_event();
  run.set_delivery_id(delivery_id);
  run.set_event(*event);
  run.set_turns(
      std::max<int64_t>(IntegerField(params, "turns").value_or(0), 0));
  run.set_model(StringOr(params, "model", ""));
  if (const Json& usage = Field(params, "usage"); usage.is_object()) {
    *run.mutable_usage() = UsageOf(usage);
  }
  run.mutable_result()->set_text(StringOr(params, "text", ""));
  run.mutable_result()->set_error(StringOr(params, "error", ""));
  run.mutable_result()->set_left_out(
      std::max<int64_t>(IntegerField(params, "leftOut").value_or(0), 0));
  send_(std::move(frame));
}

absl::StatusOr<Delegation> RunWork::DelegationOf(
    const std::string& trigger) const {
  for (const v1::Run& run : open_.runs()) {
    if (!trigger.empty() && run.delivery_id() == trigger) {
      return DelegationBy(run);
    }
  }
  if (open_.runs().empty()) {
    if (open_.supervisor_session_id().empty()) {
      return Error(absl::StatusCode::kNotFound, "NO_SUPERVISOR",
                   "no other session delegated this one's task; use intercom "
                   "to reach a session by its name");
    }
    return Delegation{.supervisor_session_id = open_.supervisor_session_id(),
                      .supervisor_name = open_.supervisor_name()};
  }
  const v1::Run& first = open_.runs(0);
  const bool is_one = std::all_of(
      open_.runs().begin(), open_.runs().end(), [&first](const v1::Run& run) {
        return run.supervisor_session_id() == first.supervisor_session_id();
      });
  if (!is_one) return Ambiguous(open_);
  return DelegationBy(first);
}

}  // namespace intercom
