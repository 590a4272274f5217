#include "worker-agent/agent.h"

#include <algorithm>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/log.h"
#include "broker/base/process.h"
#include "broker/domain/fence.h"
#include "worker-agent/tools/ask_result.h"

namespace intercom {
namespace {

// The person's home directory; may be empty.
std::string HomeOf(const LaunchRoom& room) {
  const auto found = room.around.environment.find("HOME");
  return found == room.around.environment.end() ? "" : found->second;
}

}  // namespace

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
    hello_.set_session_name(name);
    frame.mutable_renamed()->set_name(name);
    link_.Send(std::move(frame));
  } else if (method == "responsibility/loaded") {
    if (!view_.Loaded(StringOr(params, "entryHash", ""))) {
      SPDLOG_WARN("the host loaded an entry that is none of its own");
      return;
    }
    ReportLoaded();
    Publish();
  } else if (method == "job") {
    controls_.HandleJob(params);
  } else if (method == "run") {
    work_.HandleRun(params);
  } else if (method == "runs/policy") {
    const bool refused = BoolOr(params, "refused", false);
    link_.RefuseRuns(refused);
    frame.mutable_run_policy()->set_refuses(refused);
    link_.Send(std::move(frame));
  } else if (method == "bulletin/shown") {
    bulletins_.HandleShown(params);
  } else if (method == "results/shown") {
    tools_.runs().HandleShown(StringsField(params, "ids"));
  } else if (method == "results/lost") {
    tools_.runs().HandleLost(StringsField(params, "ids"));
  } else if (method == "programs") {
    SetPrograms(BoolOr(params, "allowed", false));
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
  if (hello_.session_id().empty()) {
    return respond(Error(absl::StatusCode::kFailedPrecondition,
                         "NOT_INITIALIZED", "initialize comes first"));
  }
  if (method == "tools/call") return tools_.Call(params, respond);
  if (ChannelCalls::Handles(method)) {
    return channels_.Call(method, params, respond);
  }
  if (method == "sessions/list") {
    return tools_.peers().ListSessions(params, respond);
  }
  respond(Error(absl::StatusCode::kUnimplemented, "UNKNOWN_METHOD",
                "there is no method " + SafeLabel(method)));
}

void Agent::Initialize(const Json& params, const JsonRpc::Respond& respond) {
  if (!hello_.session_id().empty()) {
    return respond(Error(absl::StatusCode::kFailedPrecondition,
                         "ALREADY_INITIALIZED", "initialize comes once"));
  }
  absl::StatusOr<v1::Hello> hello = HelloOf(params);
  if (!hello.ok()) return respond(hello.status());
  if (hello->workspace_root().empty()) {
    hello->set_workspace_root(options_.workspace_root);
  }
  const absl::StatusOr<HostSettings> settings = HostSettingsOf(params);
  if (!settings.ok()) return respond(settings.status());
  hello->set_host_start_ticks(StartTicksOf(hello->host_pid()));
  hello_ = *std::move(hello);
  tools_.SetHost(HostLaunchOf(params));
  Apply(*settings);
  SPDLOG_INFO("session {} of {}", SafeLabel(hello_.session_id()),
              SafeLabel(hello_.host_kind()));
  respond(Json{{"agentVersion", INTERCOM_VERSION}, {"protocolVersion", 1}});
  view_.Connecting(absl::OkStatus());
  Publish();
  link_.Start(hello_);
}

void Agent::Apply(const HostSettings& settings) {
  reply_hint_ = settings.reply_hint;
  if (settings.supervisor.has_value()) view_.SetSupervised();
  watches_.SetDirectory(hello_.cwd());
  SetPrograms(settings.may_run_programs);
  monitor_.SetWanted(settings.shows_monitor);
  tools_.SetHeadless(settings.most_headless, [this] {
    view_.SetSupervises();
    Publish();
  });
  PeerCalls::Host host{.cwd = hello_.cwd(),
                       .home = HomeOf(room_),
                       .supervisor = settings.supervisor};
  if (settings.ask_time.has_value()) host.ask_time = *settings.ask_time;
  tools_.peers().SetHost(std::move(host));
  const absl::Duration after =
      settings.ping_after.value_or(options_.link.ping_after);
  link_.SetPings(after, std::min(after, settings.ping_timeout.value_or(
                                            options_.link.ping_timeout)));
}

void Agent::HandleWelcome(const v1::Welcome& welcome) {
  view_.Welcomed(welcome);
  desk_.StreamStarted();
  run_news_.StreamStarted();
  // The broker tells those that are left.
  if (pending_asks_ > 0) HandleAsks(v1::PendingAsks());
  ReportLoaded();
  if (activity_.has_value()) {
    v1::AttachRequest frame;
    *frame.mutable_activity() = *activity_;
    link_.Send(std::move(frame));
  }
  if (std::exchange(host_dropped_, false)) bulletins_.Repeat();
  channels_.Welcomed(welcome);
  Publish();
  tools_.Attached();
  LookForMonitor();
  for (const std::string& notice : welcome.notices()) Warn(notice);
}

void Agent::HandleLost() {
  controls_.StreamLost();
  channels_.StreamLost();
  Publish();
}

void Agent::HandleAsks(const v1::PendingAsks& asks) {
  pending_asks_ = asks.asks_size();
  host_.Notify("asks", {{"pending", AsksJson(asks.asks())}});
}

void Agent::HandleOpenRuns(const v1::OpenRuns& runs) {
  work_.Handle(runs);
  view_.SetDelegated(work_.is_delegated());
  Publish();
}

void Agent::HandleRunNews(const v1::RunNews& news) {
  if (news.supervises()) view_.SetSupervises();
  Publish();
  run_news_.Handle(news);
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
      return controls_.Handle(frame.control());
    case v1::AttachResponse::kRoleChanged:
      view_.RoleChanged(frame.role_changed());
      LookForMonitor();
      return Publish();
    case v1::AttachResponse::kRosterChanged:
      return LookForMonitor();
    case v1::AttachResponse::kChannelResult:
      return channels_.HandleResult(frame.channel_result());
    case v1::AttachResponse::kChannelEvent:
      return channels_.HandleEvent(frame.channel_event());
    case v1::AttachResponse::kPendingAsks:
      return HandleAsks(frame.pending_asks());
    case v1::AttachResponse::kOpenRuns:
      return HandleOpenRuns(frame.open_runs());
    case v1::AttachResponse::kRunNews:
      return HandleRunNews(frame.run_news());
    case v1::AttachResponse::kDraining:
      SPDLOG_INFO("the broker is about to leave");
      return;
    default:
      // A hint, or from a newer broker.
      return;
  }
}

void Agent::LookForMonitor() {
  if (view_.role() == v1::ROLE_COORDINATOR) monitor_.Look();
}

void Agent::SayWatched(const std::optional<WatchBulletin>& bulletin) {
  if (!bulletin.has_value()) return bulletins_.TakeBack("watch");
  bulletins_.Say("watch", {.ids = bulletin->ids,
                           .content = bulletin->content,
                           .summary = bulletin->summary});
}

void Agent::SetPrograms(bool allowed) {
  view_.SetMayRunPrograms(allowed);
  watches_.SetAllowed(allowed);
}

void Agent::ReportLoaded() {
  if (view_.loaded_hash().empty()) return;
  v1::AttachRequest frame;
  frame.mutable_responsibility_loaded()->set_entry_hash(view_.loaded_hash());
  link_.Send(std::move(frame));
}

void Agent::TakeEntry(const v1::AgentEntry& entry) {
  view_.Reloaded(entry);
  title_.TryAgain();
  ReportLoaded();
  Publish();
}

v1::HostIdentity Agent::Identity() const {
  v1::HostIdentity identity;
  identity.set_session_id(hello_.session_id());
  identity.set_host_pid(hello_.host_pid());
  identity.set_host_start_ticks(hello_.host_start_ticks());
  return identity;
}

v1::StatusReport Agent::OwnStatus() const {
  v1::StatusReport status;
  status.set_session_id(hello_.session_id());
  status.set_port(view_.port());
  if (activity_.has_value()) {
    *status.mutable_activity() = *activity_;
    status.set_busy(activity_->phase() != v1::ACTIVITY_PHASE_IDLE);
  }
  return status;
}

Reader Agent::ReaderOfDeliveries() const {
  return {.role = view_.role(),
          .workspace_root = view_.workspace_root(),
          .home = HomeOf(room_),
          .reply_hint = reply_hint_};
}

void Agent::Warn(const std::string& text) {
  host_.Notify("notice", {{"level", "warning"}, {"text", StripControls(text)}});
}

void Agent::Publish() {
  if (const std::string name = view_.loaded_worker_name(); !name.empty()) {
    title_.Show(name);
  }
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
