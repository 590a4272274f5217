#include "worker-agent/tools/requests.h"

#include "broker/base/proto_time.h"

namespace intercom {
namespace {

int32_t NumberOf(const Json& arguments, const char* key) {
  return static_cast<int32_t>(IntegerField(arguments, key).value_or(0));
}

// Of a request whose only argument is `to`.
template <typename Request>
Request RequestTo(const Json& arguments) {
  Request request;
  request.set_to(StringOr(arguments, "to", ""));
  return request;
}

v1::Report::Status ReportStatusOf(const std::string& word) {
  if (word == "blocked") return v1::Report::STATUS_BLOCKED;
  if (word == "needs_decision") return v1::Report::STATUS_NEEDS_DECISION;
  if (word == "ready_for_review") return v1::Report::STATUS_READY_FOR_REVIEW;
  return v1::Report::STATUS_CLEAR;
}

}  // namespace

v1::Submit SubmitOf(const Json& arguments, const std::string& call_id) {
  v1::Submit submit;
  submit.set_to(StringOr(arguments, "to", ""));
  v1::Envelope& envelope = *submit.mutable_envelope();
  envelope.set_envelope_id(call_id);
  envelope.set_kind(v1::ENVELOPE_KIND_MESSAGE);
  envelope.set_text(StringOr(arguments, "message", ""));
  AddRun(arguments, submit);
  return submit;
}

void AddRun(const Json& arguments, v1::Submit& submit) {
  const std::string label = StringOr(arguments, "label", "");
  if (!BoolOr(arguments, "run", false) && label.empty()) return;
  v1::RunRequest& run = *submit.mutable_run();
  run.set_label(label);
  if (const auto idle = IntegerField(arguments, "idleMs"); idle.has_value()) {
    *run.mutable_stop_when_idle() = ToProtoDuration(absl::Milliseconds(*idle));
  }
  if (const auto most = IntegerField(arguments, "maxMs"); most.has_value()) {
    *run.mutable_stop_after() = ToProtoDuration(absl::Milliseconds(*most));
  }
}

v1::BeginLaunchRequest CreateRequestOf(const Json& arguments,
                                       const std::string& call_id) {
  v1::BeginLaunchRequest request;
  request.set_job_id(call_id);
  request.set_project_directory(StringOr(arguments, "projectDirectory", ""));
  request.set_launcher(StringOr(arguments, "launcher", ""));
  return request;
}

v1::BeginLaunchRequest ResumeRequestOf(const Json& arguments,
                                       const std::string& call_id) {
  v1::BeginLaunchRequest request;
  request.set_job_id(call_id);
  request.set_resume(StringOr(arguments, "to", ""));
  request.set_confirm_closed(BoolOr(arguments, "confirmClosed", false));
  request.set_launcher(StringOr(arguments, "launcher", ""));
  return request;
}

v1::GetWorkspaceRequest ListRequestOf(const Json& arguments) { return {}; }

v1::ConfigureWorkerRequest ConfigureWorkerRequestOf(const Json& arguments) {
  v1::ConfigureWorkerRequest request;
  request.set_session_id(StringOr(arguments, "sessionId", ""));
  request.set_name(StringOr(arguments, "name", ""));
  request.set_description(StringOr(arguments, "description", ""));
  request.set_project_directory(StringOr(arguments, "projectDirectory", ""));
  request.set_port(NumberOf(arguments, "port"));
  return request;
}

v1::ReloadWorkerRequest ReloadWorkerRequestOf(const Json& arguments) {
  return RequestTo<v1::ReloadWorkerRequest>(arguments);
}

v1::GetWorkerStatusRequest WorkerStatusRequestOf(const Json& arguments) {
  v1::GetWorkerStatusRequest request;
  request.set_name(StringOr(arguments, "name", ""));
  request.set_offset(NumberOf(arguments, "offset"));
  request.set_limit(NumberOf(arguments, "limit"));
  request.set_probe(BoolOr(arguments, "probe", false));
  return request;
}

v1::RequestStatusRequest RequestStatusRequestOf(const Json& arguments) {
  return RequestTo<v1::RequestStatusRequest>(arguments);
}

v1::ReportWorkRequest ReportWorkRequestOf(const Json& arguments) {
  v1::ReportWorkRequest request;
  request.set_status(ReportStatusOf(StringOr(arguments, "status", "")));
  request.set_summary(StringOr(arguments, "summary", ""));
  return request;
}

v1::StopWorkerRequest StopWorkerRequestOf(const Json& arguments) {
  return RequestTo<v1::StopWorkerRequest>(arguments);
}

v1::CloseWorkerRequest CloseWorkerRequestOf(const Json& arguments) {
  return RequestTo<v1::CloseWorkerRequest>(arguments);
}

v1::ReportHandoffRequest ReportHandoffRequestOf(const Json& arguments) {
  v1::ReportHandoffRequest request;
  request.set_job_id(StringOr(arguments, "jobId", ""));
  request.set_summary(StringOr(arguments, "summary", ""));
  return request;
}

v1::RemoveWorkerRequest RemoveWorkerRequestOf(const Json& arguments) {
  return RequestTo<v1::RemoveWorkerRequest>(arguments);
}

v1::SetMultiplexerRequest SetMultiplexerRequestOf(const Json& arguments) {
  v1::SetMultiplexerRequest request;
  request.set_multiplexer(StringOr(arguments, "multiplexer", ""));
  return request;
}

v1::RegisterRequest RegisterRequestOf(const Json& arguments) { return {}; }

}  // namespace intercom
