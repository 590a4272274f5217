#include "worker-agent/pane_opener.h"

#include <utility>

#include "absl/strings/strip.h"
#include "broker/base/error.h"
#include "broker/domain/job.h"

namespace intercom {
namespace {

constexpr int kWaitSeconds = 20;

std::string WhereToLook(const std::string& call_id) {
  return "; intercom job show " + call_id + " in a shell tells how it stands";
}

std::string OneLine(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text;
}

// The launch that came to nothing, or may have, as a status.
absl::Status NotLaunched(const ToolResult& result) {
  return Error(absl::StatusCode::kFailedPrecondition,
               result.reason.empty() ? "LAUNCH_FAILED" : result.reason,
               "nobody is in that directory, and opening a session there came "
               "to this: " +
                   OneLine(result.text) + " The message was not sent");
}

absl::Status NotAttached(const std::string& launched,
                         const absl::Status& status,
                         const v1::AwaitLaunchResponse& response,
                         const std::string& call_id) {
  std::string why = "no session has attached within 20 s";
  if (!status.ok()) {
    why = "whether its session attached is not known: " + MessageOf(status);
  } else if (!IsPending(response.job().state()) &&
             response.job().state() != v1::Job::STATE_SUCCEEDED) {
    why = "its session did not come: " + response.job().detail();
  }
  return Error(absl::StatusCode::kUnavailable, "PANE_NOT_ATTACHED",
               launched + " But " + why +
                   ". Nothing was sent: send it again when the session is "
                   "there" +
                   WhereToLook(call_id));
}

}  // namespace

PaneOpener::PaneOpener(BrokerLink& link, const LaunchRoom& room,
                       Background& launching)
    : link_(link),
      launches_(link, room, launching,
                [this](const std::string& call_id, const ToolResult& result) {
                  HandleLaunched(call_id, result);
                }) {}

void PaneOpener::Open(const PaneRequest& request, Done done) {
  if (link_.calls() == nullptr) {
    return done(Error(absl::StatusCode::kUnavailable, "NOT_CONNECTED",
                      "not connected to the broker now; nothing was opened or "
                      "sent, repeat the call later"));
  }
  open_[request.call_id] = std::move(done);
  v1::BeginLaunchRequest begin;
  begin.set_job_id(request.call_id);
  begin.set_open_directory(request.directory);
  begin.set_launcher(request.launcher);
  launches_.Begin(std::move(begin), request.repeated, request.focus);
}

void PaneOpener::Cancel(const std::string& call_id) {
  const auto result = launches_.Cancel(call_id);
  if (result.has_value()) Finish(call_id, NotLaunched(*result));
}

void PaneOpener::HandleLaunched(const std::string& call_id,
                                const ToolResult& result) {
  if (!open_.contains(call_id)) return;
  if (result.is_error) return Finish(call_id, NotLaunched(result));
  const std::string launched = OneLine(result.text);
  SessionCalls* const calls = link_.calls();
  if (calls == nullptr) {
    return Finish(
        call_id,
        NotAttached(launched,
                    absl::UnavailableError("the broker is not there now"), {},
                    call_id));
  }
  v1::AwaitLaunchRequest wait;
  wait.set_job_id(call_id);
  wait.mutable_wait()->set_seconds(kWaitSeconds);
  calls->Call<v1::AwaitLaunchResponse>(
      wait, [this, call_id, launched](
                const absl::StatusOr<v1::AwaitLaunchResponse>& response) {
        if (response.ok() && !response->session_id().empty()) {
          return Finish(call_id, OpenedPane{response->session_id(),
                                            launched + " Its session " +
                                                response->session_id() +
                                                " is attached."});
        }
        Finish(call_id, NotAttached(launched, response.status(),
                                    response.ok() ? *response
                                                  : v1::AwaitLaunchResponse(),
                                    call_id));
      });
}

void PaneOpener::Finish(const std::string& call_id,
                        absl::StatusOr<OpenedPane> opened) {
  const auto found = open_.find(call_id);
  if (found == open_.end()) return;
  const Done done = std::move(found->second);
  open_.erase(found);
  done(std::move(opened));
}

}  // namespace intercom
