#include "worker-agent/tool_calls.h"

#include <utility>

#include "broker/base/error.h"
#include "broker/domain/fence.h"
#include "broker/domain/validated_envelope.h"
#include "worker-agent/tools/catalogue.h"
#include "worker-agent/tools/requests.h"

namespace intercom {
namespace {

constexpr char kSendTool[] = "intercom_send";

}  // namespace

ToolCalls::ToolCalls(BrokerLink& link,
                     std::function<v1::StatusReport()> own_status)
    : link_(link), own_status_(std::move(own_status)) {}

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
                          "there is no tool " + SafeLabel(name)))
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
  if (name == kSendTool) {
    Send(arguments, call_id, repeated);
  } else {
    CallWorkspace(name, arguments, call_id, repeated);
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
WorkspaceCalls::Answer<Response> ToolCalls::AnswerWith(
    const std::string& call_id, ToolResult (*render)(const Response&)) {
  return [this, call_id, render](absl::StatusOr<Response> response) {
    Answer(call_id,
           response.ok() ? render(*response) : RenderError(response.status()));
  };
}

void ToolCalls::CallWorkspace(const std::string& name, const Json& arguments,
                              const std::string& call_id, bool repeated) {
  WorkspaceCalls* const calls = link_.calls();
  if (calls == nullptr && repeated) {
    return Answer(call_id,
                  RenderError(Error(
                      absl::StatusCode::kUnavailable, "OUTCOME_UNKNOWN",
                      "an agent that has died may have made this call, and "
                      "this one is not connected now; whether it took effect "
                      "is unknown, intercom_list shows how things are")));
  }
  if (calls == nullptr) {
    return Answer(call_id, RenderError(Error(
                               absl::StatusCode::kUnavailable, "NOT_CONNECTED",
                               "not connected to the broker now; nothing "
                               "was done, repeat the call later")));
  }
  if (name == "intercom_list") {
    calls->GetWorkspace({}, AnswerWith(call_id, &RenderWorkspace));
  } else if (name == "intercom_configure_worker") {
    calls->ConfigureWorker(ConfigureWorkerRequestOf(arguments),
                           AnswerWith(call_id, &RenderConfigured));
  } else if (name == "intercom_reload_worker") {
    calls->ReloadWorker(ReloadWorkerRequestOf(arguments),
                        AnswerWith(call_id, &RenderReloaded));
  } else if (name == "intercom_request_status") {
    calls->RequestStatus(RequestStatusRequestOf(arguments),
                         AnswerWith(call_id, &RenderRequestedStatus));
  } else if (name == "intercom_report_status") {
    v1::ReportStatusRequest request;
    *request.mutable_status() = own_status_();
    calls->ReportStatus(request, AnswerWith(call_id, &RenderReportedStatus));
  } else {
    Answer(call_id, RenderError(Error(absl::StatusCode::kInternal, "NO_CALL",
                                      "the tool has no call")));
  }
}

void ToolCalls::Cancel(const Json& params) {
  const std::string call_id = StringOr(params, "callId", "");
  // A send says by itself whether it may have happened.
  link_.CancelSubmit(call_id);
  Answer(call_id,
         RenderError(Error(absl::StatusCode::kCancelled, "OUTCOME_UNKNOWN",
                           "cancelled before the broker answered; whether it "
                           "took effect is unknown")));
}

void ToolCalls::Answer(const std::string& call_id, const ToolResult& result) {
  const auto found = open_.find(call_id);
  if (found == open_.end()) return;
  const JsonRpc::Respond respond = std::move(found->second);
  open_.erase(found);
  respond(result.ToJson());
}

}  // namespace intercom
