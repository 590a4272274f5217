#include "worker-agent/control_desk.h"

#include <optional>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/log.h"
#include "broker/base/proto_time.h"
#include "broker/domain/fence.h"
#include "worker-agent/session_view.h"

namespace intercom {
namespace {

constexpr size_t kMaxDetailCharacters = 512;

absl::Duration TimeoutOf(const v1::Control& control) {
  return absl::Seconds(control.timeout().seconds()) +
         absl::Nanoseconds(control.timeout().nanos());
}

// What work on panes may take: less, so that its answer comes in time.
absl::Duration WorkLimit(const v1::Control& control) {
  return TimeoutOf(control) * 0.9;
}

v1::ControlResult ResultOf(const v1::Control& control) {
  v1::ControlResult result;
  result.set_control_id(control.control_id());
  return result;
}

absl::Status TooLate(const std::string& what) {
  return Error(absl::StatusCode::kDeadlineExceeded, "NOT_IN_TIME",
               "the multiplexer was busy for too long: " + what);
}

std::optional<v1::JobEvent::Event> EventOf(const std::string& text) {
  if (text == "stopped") return v1::JobEvent::EVENT_STOPPED;
  if (text == "stopFailed") return v1::JobEvent::EVENT_STOP_FAILED;
  if (text == "settled") return v1::JobEvent::EVENT_SETTLED;
  if (text == "invalidated") return v1::JobEvent::EVENT_INVALIDATED;
  return std::nullopt;
}

void FillNothing(const Json&, v1::ControlResult&) {}

}  // namespace

ControlDesk::ControlDesk(JsonRpc& host, const LaunchRoom& room,
                         Background& panes, Session session, SendFrame send)
    : host_(host),
      room_(room),
      panes_(panes),
      session_(std::move(session)),
      send_(std::move(send)) {}

void ControlDesk::Handle(const v1::Control& control) {
  switch (control.kind()) {
    case v1::Control::KIND_RELOAD_RESPONSIBILITY:
      return Reload(control);
    case v1::Control::KIND_REPORT_STATUS:
      return ReportStatus(control, "reportStatus");
    case v1::Control::KIND_PROBE:
      return ReportStatus(control, "probe");
    case v1::Control::KIND_STOP:
      return Stop(control);
    case v1::Control::KIND_PREPARE_CLOSE:
      return PrepareClose(control);
    case v1::Control::KIND_COMMIT_CLOSE:
      return CommitClose(control);
    case v1::Control::KIND_END_CLOSE:
      return EndClose(control);
    case v1::Control::KIND_INSPECT_HOST:
      return InspectHost(control);
    case v1::Control::KIND_CLOSE_PANE:
      return ClosePane(control);
    default:
      return Refuse(control,
                    Error(absl::StatusCode::kUnimplemented, "UNKNOWN_CONTROL",
                          "this agent does not know the control"));
  }
}

void ControlDesk::AskHost(const v1::Control& control, Json params, Fill fill) {
  params["controlId"] = control.control_id();
  host_.Request("control", params,
                [this, control,
                 fill = std::move(fill)](const absl::StatusOr<Json>& answer) {
                  if (!answer.ok()) return Refuse(control, answer.status());
                  v1::ControlResult result = ResultOf(control);
                  result.set_ok(BoolOr(*answer, "ok", false));
                  // A warning of what worked is told in the same place.
                  const std::string error =
                      StringOr(*answer, result.ok() ? "warning" : "error", "");
                  if (!error.empty()) {
                    result.set_error(SafeLabel(error, kMaxDetailCharacters));
                  }
                  if (result.ok()) fill(*answer, result);
                  Send(std::move(result));
                });
}

void ControlDesk::Reload(const v1::Control& control) {
  const v1::AgentEntry& entry = control.agent_entry();
  AskHost(control,
          {{"kind", "reloadResponsibility"},
           {"entry", EntryOf(entry)},
           {"instructions", session_.instructions_with(entry)}},
          // Before the result, so that the caller's next message finds it
          // loaded.
          [this, entry](const Json&, v1::ControlResult&) {
            session_.reloaded(entry);
          });
}

void ControlDesk::ReportStatus(const v1::Control& control, const char* kind) {
  AskHost(control, {{"kind", kind}},
          [this](const Json& answer, v1::ControlResult& result) {
            v1::StatusReport& status = *result.mutable_status();
            status = session_.own_status();
            status.set_busy(BoolOr(answer, "busy", status.busy()));
            status.set_session_id(
                StringOr(answer, "sessionId", status.session_id()));
          });
}

void ControlDesk::Stop(const v1::Control& control) {
  AskHost(control,
          {{"kind", "stop"},
           {"jobId", control.job_id()},
           {"requestedAt", absl::FormatTime(absl::RFC3339_full,
                                            FromProto(control.requested_at()),
                                            absl::UTCTimeZone())}},
          FillNothing);
}

void ControlDesk::PrepareClose(const v1::Control& control) {
  preparing_job_ = control.job_id();
  // The pane first: where it can't be told, nothing has changed at the host.
  panes_.Ask(
      WorkLimit(control), room_.own_pane,
      [this, control](const absl::StatusOr<v1::Pane>& pane) {
        // The job has ended meanwhile: the host must not begin to hold.
        if (preparing_job_ != control.job_id()) return;
        if (!pane.ok()) return Refuse(control, pane.status());
        AskHost(
            control,
            {{"kind", "prepareClose"},
             {"jobId", control.job_id()},
             {"handoffEnvelopeId", control.handoff_envelope_id()}},
            [this, pane = *pane](const Json& answer,
                                 v1::ControlResult& result) {
              v1::HostIdentity& identity = *result.mutable_identity();
              identity = session_.identity();
              identity.set_session_file(StringOr(answer, "sessionFile", ""));
              *identity.mutable_pane() = pane;
            });
      },
      [this, control] {
        Refuse(control, TooLate("its pane could not be found out"));
      });
}

void ControlDesk::CommitClose(const v1::Control& control) {
  AskHost(control,
          {{"kind", "commitClose"},
           {"jobId", control.job_id()},
           {"nonce", control.nonce()}},
          [](const Json& answer, v1::ControlResult& result) {
            result.set_nonce(StringOr(answer, "nonce", ""));
          });
}

void ControlDesk::EndClose(const v1::Control& control) {
  preparing_job_.clear();
  AskHost(control, {{"kind", "endClose"}, {"jobId", control.job_id()}},
          FillNothing);
}

void ControlDesk::InspectHost(const v1::Control& control) {
  panes_.Ask(
      WorkLimit(control),
      [inspect = room_.inspect_host, identity = control.identity()] {
        return inspect(identity);
      },
      [this, control](const absl::Status& status) {
        if (!status.ok()) return Refuse(control, status);
        v1::ControlResult result = ResultOf(control);
        result.set_ok(true);
        Send(std::move(result));
      },
      [this, control] {
        Refuse(control, TooLate("the host was not inspected"));
      });
}

void ControlDesk::ClosePane(const v1::Control& control) {
  panes_.Act(
      WorkLimit(control),
      [close = room_.close_pane, identity = control.identity()] {
        return close(identity);
      },
      [this, control](const absl::StatusOr<bool>& gone) {
        if (!gone.ok()) return Refuse(control, gone.status());
        v1::ControlResult result = ResultOf(control);
        result.set_ok(true);
        result.set_pane_gone(*gone);
        Send(std::move(result));
      },
      [this, control] { Refuse(control, TooLate("no pane was closed")); });
}

void ControlDesk::HandleJob(const Json& params) {
  const auto event = EventOf(StringOr(params, "event", ""));
  const std::string job_id = StringOr(params, "jobId", "");
  if (!event.has_value() || job_id.empty()) {
    SPDLOG_ERROR("protocol: a job notification without job or event");
    return;
  }
  v1::AttachRequest frame;
  v1::JobEvent& told = *frame.mutable_job_event();
  told.set_job_id(job_id);
  told.set_event(*event);
  if (const std::string detail = StringOr(params, "detail", "");
      !detail.empty()) {
    told.set_detail(SafeLabel(detail, kMaxDetailCharacters));
  }
  send_(std::move(frame));
}

void ControlDesk::Refuse(const v1::Control& control, const absl::Status& why) {
  v1::ControlResult result = ResultOf(control);
  result.set_error(SafeLabel(MessageOf(why), kMaxDetailCharacters));
  Send(std::move(result));
}

void ControlDesk::Send(v1::ControlResult result) {
  v1::AttachRequest frame;
  *frame.mutable_control_result() = std::move(result);
  send_(std::move(frame));
}

}  // namespace intercom
