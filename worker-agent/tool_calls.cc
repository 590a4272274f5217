#include "worker-agent/tool_calls.h"

#include <utility>

#include "broker/base/error.h"
#include "broker/domain/fence.h"
#include "broker/domain/validated_envelope.h"
#include "worker-agent/not_connected.h"
#include "worker-agent/tools/catalogue.h"
#include "worker-agent/tools/job_result.h"
#include "worker-agent/tools/peer_actions.h"
#include "worker-agent/tools/requests.h"
#include "worker-agent/tools/status_page.h"
#include "worker-agent/tools/worker_result.h"

namespace intercom {
namespace {

constexpr char kSendTool[] = "intercom_send";
constexpr char kTalkTool[] = "intercom";
constexpr char kSupervisorTool[] = "contact_supervisor";
constexpr char kFellowTool[] = "contact_peer";
constexpr char kWatchTool[] = "intercom_watch";

PeerCalls::Setting WithPanes(PeerCalls::Setting setting, PaneOpener& panes) {
  setting.open_pane = [&panes](const PaneRequest& request,
                               PaneOpener::Done done) {
    panes.Open(request, std::move(done));
  };
  return setting;
}

}  // namespace

ToolCalls::ToolCalls(BrokerLink& link, const LaunchRoom& room,
                     Background& launching,
                     std::function<v1::StatusReport()> own_status,
                     PeerCalls::Setting peers, RunCalls::Setting runs)
    : link_(link),
      own_status_(std::move(own_status)),
      launches_(link, room, launching,
                [this](const std::string& call_id, const ToolResult& result) {
                  Answer(call_id, result);
                }),
      panes_(link, room, launching),
      peers_(link, WithPanes(std::move(peers), panes_),
             [this](const std::string& call_id, const ToolResult& result) {
               Answer(call_id, result);
             }),
      runs_(link, std::move(runs),
            [this](const std::string& call_id, const ToolResult& result) {
              return TryAnswer(call_id, result);
            }) {}

void ToolCalls::Call(const Json& params, JsonRpc::Respond respond) {
  const std::string name = StringOr(params, "name", "");
  const std::string call_id = StringOr(params, "callId", "");
  if (const absl::Status status = CheckEnvelopeId(call_id); !status.ok()) {
    return respond(Error(absl::StatusCode::kInvalidArgument, "CALL_ID_INVALID",
                         "callId must be 1 to 64 letters, digits and hyphens"));
  }
  if (open_.contains(call_id)) {
    return respond(Error(absl::StatusCode::kAlreadyExists, "CALL_OPEN",
                         "a call with this callId is open"));
  }
  const Tool* tool = FindTool(name);
  if (tool == nullptr) {
    return respond(
        RenderError(Error(absl::StatusCode::kNotFound, "UNKNOWN_TOOL",
                          "there is no tool " + QuotedLine(name)))
            .ToJson());
  }
  if (tool->host) {
    return respond(
        RenderError(Error(absl::StatusCode::kUnimplemented, "HOST_TOOL",
                          name + " is answered by the host itself"))
            .ToJson());
  }
  const Json& given = Field(params, "arguments");
  const Json arguments = given.is_null() ? Json::object() : given;
  if (const absl::Status status = CheckArguments(*tool, arguments);
      !status.ok()) {
    return respond(RenderError(status).ToJson());
  }
  open_[call_id] = std::move(respond);
  const bool repeated = BoolOr(params, "repeated", false);
  if (Talk(name, arguments,
           {.call_id = call_id,
            .repeated = repeated,
            .trigger = StringOr(params, "trigger", "")})) {
    return;
  }
  if (name == kSendTool) {
    Send(arguments, call_id, repeated);
  } else {
    Dispatch(name, arguments, call_id, repeated);
  }
}

bool ToolCalls::Talk(const std::string& name, const Json& arguments,
                     const PeerCalls::Call& call) {
  if (name == kTalkTool) {
    Intercom(WithoutAliases(WithoutEmpty(arguments)), call);
  } else if (name == kSupervisorTool) {
    peers_.ContactSupervisor(arguments, call);
  } else if (name == kFellowTool) {
    peers_.ContactPeer(arguments, call);
  } else if (name == kWatchTool && watches_.call != nullptr) {
    watches_.call(arguments, call.call_id);
  } else {
    return false;
  }
  return true;
}

void ToolCalls::Intercom(const Json& arguments, const PeerCalls::Call& call) {
  if (const absl::Status status = CheckPeerArguments(arguments); !status.ok()) {
    Answer(call.call_id, RenderError(status));
  } else if (RunCalls::Handles(StringOr(arguments, "action", ""))) {
    runs_.Call(arguments, call.call_id);
  } else {
    peers_.Intercom(arguments, call);
  }
}

void ToolCalls::Send(const Json& arguments, const std::string& call_id,
                     bool repeated) {
  link_.Submit(SubmitOf(arguments, call_id), repeated,
               [this, call_id](absl::StatusOr<v1::DeliveryRecord> record) {
                 Answer(call_id, record.ok() ? RenderSubmitted(*record)
                                             : RenderError(record.status()));
               });
}

template <typename Response>
SessionCalls::Answer<Response> ToolCalls::AnswerWith(
    const std::string& call_id, ToolResult (*render)(const Response&)) {
  return [this, call_id, render](absl::StatusOr<Response> response) {
    Answer(call_id,
           response.ok() ? render(*response) : RenderError(response.status()));
  };
}

template <auto kRequestOf, auto kRender>
void ToolCalls::Plain(const Json& arguments, const std::string& call_id,
                      bool repeated) {
  link_.calls()->Call(kRequestOf(arguments), AnswerWith(call_id, kRender));
}

void ToolCalls::Create(const Json& arguments, const std::string& call_id,
                       bool repeated) {
  launches_.Begin(CreateRequestOf(arguments, call_id), repeated);
}

void ToolCalls::Resume(const Json& arguments, const std::string& call_id,
                       bool repeated) {
  launches_.Begin(ResumeRequestOf(arguments, call_id), repeated);
}

void ToolCalls::ReportStatus(const Json& arguments, const std::string& call_id,
                             bool repeated) {
  v1::ReportStatusRequest request;
  *request.mutable_status() = own_status_();
  link_.calls()->Call(std::move(request),
                      AnswerWith(call_id, &RenderReportedStatus));
}

void ToolCalls::WorkerStatus(const Json& arguments, const std::string& call_id,
                             bool repeated) {
  AskForPage(WorkerStatusRequestOf(arguments), /*truncated=*/false, call_id);
}

void ToolCalls::AskForPage(const v1::GetWorkerStatusRequest& request,
                           bool truncated, const std::string& call_id) {
  SessionCalls* const calls = link_.calls();
  if (calls == nullptr) return Answer(call_id, RenderError(NotConnected()));
  calls->Call<v1::GetWorkerStatusResponse>(
      request, [this, request, truncated, call_id](
                   const absl::StatusOr<v1::GetWorkerStatusResponse>& page) {
        if (!page.ok()) return Answer(call_id, RenderError(page.status()));
        const int fit = WorkersThatFit(*page);
        if (fit < page->workers_size()) {
          v1::GetWorkerStatusRequest smaller = request;
          smaller.set_limit(fit);
          return AskForPage(smaller, /*truncated=*/true, call_id);
        }
        Answer(call_id, RenderStatusPage(*page, truncated));
      });
}

struct ToolCalls::Row {
  const char* tool;
  Make make;
};

void ToolCalls::Dispatch(const std::string& name, const Json& arguments,
                         const std::string& call_id, bool repeated) {
  static constexpr Row kTable[] = {
      {"intercom_create_worker", &ToolCalls::Create},
      {"intercom_configure_worker",
       &ToolCalls::Plain<&ConfigureWorkerRequestOf, &RenderConfigured>},
      {"intercom_reload_worker",
       &ToolCalls::Plain<&ReloadWorkerRequestOf, &RenderReloaded>},
      {"intercom_list", &ToolCalls::Plain<&ListRequestOf, &RenderWorkspace>},
      {"intercom_worker_status", &ToolCalls::WorkerStatus},
      {"intercom_request_status",
       &ToolCalls::Plain<&RequestStatusRequestOf, &RenderRequestedStatus>},
      {"intercom_report_status", &ToolCalls::ReportStatus},
      {"intercom_report_work",
       &ToolCalls::Plain<&ReportWorkRequestOf, &RenderReportedWork>},
      {"intercom_stop_worker",
       &ToolCalls::Plain<&StopWorkerRequestOf, &RenderStopped>},
      {"intercom_close_worker",
       &ToolCalls::Plain<&CloseWorkerRequestOf, &RenderClosing>},
      {"intercom_report_handoff",
       &ToolCalls::Plain<&ReportHandoffRequestOf, &RenderHandoff>},
      {"intercom_resume_worker", &ToolCalls::Resume},
      {"intercom_remove_worker",
       &ToolCalls::Plain<&RemoveWorkerRequestOf, &RenderRemoved>},
      {"intercom_set_multiplexer",
       &ToolCalls::Plain<&SetMultiplexerRequestOf, &RenderMultiplexer>},
      {"intercom_register",
       &ToolCalls::Plain<&RegisterRequestOf, &RenderRegistered>},
  };
  if (link_.calls() == nullptr) {
    return Answer(
        call_id,
        RenderError(
            repeated
                ? Error(absl::StatusCode::kUnavailable, "OUTCOME_UNKNOWN",
                        "an agent that has died may have made this call, and "
                        "this one is not connected now; whether it took "
                        "effect is unknown: intercom_list, or intercom jobs in "
                        "a shell, shows how things are")
                : NotConnected()));
  }
  for (const Row& row : kTable) {
    if (name == row.tool)
      return (this->*row.make)(arguments, call_id, repeated);
  }
  Answer(call_id, RenderError(Error(absl::StatusCode::kInternal, "NO_CALL",
                                    "the tool has no call")));
}

void ToolCalls::Cancel(const Json& params) {
  const std::string call_id = StringOr(params, "callId", "");
  // What opens a session for a message ends that message, too.
  panes_.Cancel(call_id);
  if (!open_.contains(call_id) || peers_.Cancel(call_id) ||
      runs_.Cancel(call_id)) {
    return;
  }
  if (const auto result = launches_.Cancel(call_id); result.has_value()) {
    return Answer(call_id, *result);
  }
  if (watches_.cancel != nullptr) {
    if (const auto result = watches_.cancel(call_id); result.has_value()) {
      return Answer(call_id, *result);
    }
  }
  // A send says by itself whether it may have happened.
  link_.CancelSubmit(call_id);
  Answer(call_id,
         RenderError(Error(absl::StatusCode::kCancelled, "OUTCOME_UNKNOWN",
                           "cancelled before the broker answered; whether it "
                           "took effect is unknown")));
}

bool ToolCalls::TryAnswer(const std::string& call_id,
                          const ToolResult& result) {
  const auto found = open_.find(call_id);
  if (found == open_.end()) return false;
  const JsonRpc::Respond respond = std::move(found->second);
  open_.erase(found);
  respond(result.ToJson());
  return true;
}

}  // namespace intercom
