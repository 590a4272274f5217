#include "worker-agent/agent.h"

#include <utility>

#include "broker/base/error.h"
#include "broker/base/log.h"
#include "broker/domain/fence.h"
#include "worker-agent/initialize.h"

namespace intercom {

Agent::Agent(Options options, int in, int out, TaskRunner& runner,
             TaskRunner& blocking, Random& random, EnsureBroker ensure_broker,
             std::function<void()> finished)
    : options_(std::move(options)),
      ensure_broker_(std::move(ensure_broker)),
      finished_(std::move(finished)),
      host_(in, out, runner,
            {.notification =
                 [this](const std::string& method, const Json& params) {
                   HandleNotification(method, params);
                 },
             .request =
                 [this](const std::string& method, const Json& params,
                        const JsonRpc::Respond& respond) {
                   HandleRequest(method, params, respond);
                 },
             .blocked = [this](bool blocked) { link_.SetBlocked(blocked); },
             .closed = [this] { Leave(v1::Goodbye::REASON_HOST_GONE); }}),
      link_(options_.link, runner, blocking, random,
            [this] { return ensure_broker_(cwd_); },
            {.welcome = [this](const v1::Welcome& w) { HandleWelcome(w); },
             .frame = [this](const v1::AttachResponse& f) { HandleFrame(f); },
             .lost =
                 [this](const absl::Status& status) {
                   view_.Connecting(status);
                   Publish();
                 },
             .refused =
                 [this](const absl::Status& status, bool final) {
                   view_.Refused(status, final);
                   desk_.HostDropped();
                   Publish();
                 },
             .superseded =
                 [this](const std::string& message) {
                   view_.Superseded(message);
                   Publish();
                 }}),
      desk_(host_,
            [this](v1::AttachRequest frame) { link_.Send(std::move(frame)); }),
      tools_(link_, [this] { return OwnStatus(); }) {}

void Agent::HandleNotification(const std::string& method, const Json& params) {
  v1::AttachRequest frame;
  if (method == "tools/cancel") {
    tools_.Cancel(params);
  } else if (method == "receipt") {
    desk_.HandleReceipt(params);
  } else if (method == "activity") {
    activity_ = ActivityOf(params);
    *frame.mutable_activity() = *activity_;
    link_.Send(std::move(frame));
  } else if (method == "session/renamed") {
    const std::string name = StringOr(params, "name", "");
    link_.Rename(name);
    frame.mutable_renamed()->set_name(name);
    link_.Send(std::move(frame));
  } else if (method == "responsibility/loaded") {
    if (!view_.Loaded(StringOr(params, "entryHash", ""))) {
      SPDLOG_WARN("the host loaded an entry that is none of its own");
      return;
    }
    ReportLoaded();
    Publish();
  } else if (method == "goodbye") {
    Leave(GoodbyeReasonOf(params));
  } else {
    SPDLOG_WARN("protocol: unknown notification {}", SafeLabel(method));
  }
}

void Agent::HandleRequest(const std::string& method, const Json& params,
                          const JsonRpc::Respond& respond) {
  if (method == "initialize") return Initialize(params, respond);
  if (session_id_.empty()) {
    return respond(Error(absl::StatusCode::kFailedPrecondition,
                         "NOT_INITIALIZED", "initialize comes first"));
  }
  if (method == "tools/call") return tools_.Call(params, respond);
  respond(Error(absl::StatusCode::kUnimplemented, "UNKNOWN_METHOD",
                "there is no method " + SafeLabel(method)));
}

void Agent::Initialize(const Json& params, const JsonRpc::Respond& respond) {
  if (!session_id_.empty()) {
    return respond(Error(absl::StatusCode::kFailedPrecondition,
                         "ALREADY_INITIALIZED", "initialize comes once"));
  }
  absl::StatusOr<v1::Hello> hello = HelloOf(params);
  if (!hello.ok()) return respond(hello.status());
  if (hello->workspace_root().empty()) {
    hello->set_workspace_root(options_.workspace_root);
  }
  session_id_ = hello->session_id();
  cwd_ = hello->cwd();
  SPDLOG_INFO("session {} of {}", SafeLabel(session_id_),
              SafeLabel(hello->host_kind()));
  respond(Json{{"agentVersion", INTERCOM_VERSION}, {"protocolVersion", 1}});
  view_.Connecting(absl::OkStatus());
  Publish();
  link_.Start(*std::move(hello));
}

void Agent::HandleWelcome(const v1::Welcome& welcome) {
  view_.Welcomed(welcome);
  desk_.StreamStarted();
  ReportLoaded();
  if (activity_.has_value()) {
    v1::AttachRequest frame;
    *frame.mutable_activity() = *activity_;
    link_.Send(std::move(frame));
  }
  Publish();
  for (const std::string& notice : welcome.notices()) {
    host_.Notify("notice",
                 {{"level", "warning"}, {"text", StripControls(notice)}});
  }
}

void Agent::HandleFrame(const v1::AttachResponse& frame) {
  switch (frame.frame_case()) {
    case v1::AttachResponse::kReconcile:
      return desk_.Reconcile(frame.reconcile());
    case v1::AttachResponse::kDelivery:
      return desk_.Deliver(frame.delivery());
    case v1::AttachResponse::kWithdraw:
      return desk_.Withdraw(frame.withdraw().delivery_id());
    case v1::AttachResponse::kControl:
      return HandleControl(frame.control());
    case v1::AttachResponse::kRoleChanged:
      view_.RoleChanged(frame.role_changed());
      return Publish();
    case v1::AttachResponse::kDraining:
      SPDLOG_INFO("the broker is about to leave");
      return;
    default:
      // A hint, or from a newer broker.
      return;
  }
}

void Agent::HandleControl(const v1::Control& control) {
  Json params = {{"controlId", control.control_id()}};
  if (control.kind() == v1::Control::KIND_RELOAD_RESPONSIBILITY) {
    params["kind"] = "reloadResponsibility";
    params["entry"] = EntryOf(control.agent_entry());
    params["instructions"] = view_.InstructionsWith(control.agent_entry());
  } else if (control.kind() == v1::Control::KIND_REPORT_STATUS) {
    params["kind"] = "reportStatus";
  } else {
    return AnswerControl(
        control, Error(absl::StatusCode::kUnimplemented, "UNKNOWN_CONTROL",
                       "this agent does not know the control"));
  }
  host_.Request("control", params,
                [this, control](const absl::StatusOr<Json>& answer) {
                  AnswerControl(control, answer);
                });
}

void Agent::AnswerControl(const v1::Control& control,
                          const absl::StatusOr<Json>& answer) {
  v1::AttachRequest frame;
  v1::ControlResult& result = *frame.mutable_control_result();
  result.set_control_id(control.control_id());
  result.set_ok(answer.ok() && BoolOr(*answer, "ok", false));
  std::string error;
  if (!answer.ok()) {
    error = MessageOf(answer.status());
  } else {
    // A warning of what worked is told in the same place.
    error = StringOr(*answer, result.ok() ? "warning" : "error", "");
  }
  if (!error.empty()) result.set_error(SafeLabel(error, 512));
  if (result.ok() && control.kind() == v1::Control::KIND_REPORT_STATUS) {
    *result.mutable_status() = OwnStatus();
    result.mutable_status()->set_busy(
        BoolOr(*answer, "busy", result.status().busy()));
  }
  if (result.ok() &&
      control.kind() == v1::Control::KIND_RELOAD_RESPONSIBILITY) {
    view_.Reloaded(control.agent_entry());
    // Before the result, so that the caller's next message finds it loaded.
    ReportLoaded();
    Publish();
  }
  link_.Send(std::move(frame));
}

void Agent::ReportLoaded() {
  if (view_.loaded_hash().empty()) return;
  v1::AttachRequest frame;
  frame.mutable_responsibility_loaded()->set_entry_hash(view_.loaded_hash());
  link_.Send(std::move(frame));
}

v1::StatusReport Agent::OwnStatus() const {
  v1::StatusReport status;
  status.set_session_id(session_id_);
  status.set_port(view_.port());
  if (activity_.has_value()) {
    *status.mutable_activity() = *activity_;
    status.set_busy(activity_->phase() != v1::ACTIVITY_PHASE_IDLE);
  }
  return status;
}

void Agent::Publish() {
  Json session = view_.ToJson();
  if (session == published_) return;
  host_.Notify("session", session);
  published_ = std::move(session);
}

void Agent::Leave(v1::Goodbye::Reason reason) {
  if (std::exchange(leaving_, true)) return;
  link_.SayGoodbye(reason, options_.goodbye_timeout, finished_);
}

}  // namespace intercom
