#include "worker-agent/tools/requests.h"

namespace intercom {

v1::Submit SubmitOf(const Json& arguments, const std::string& call_id) {
  v1::Submit submit;
  submit.set_to(StringOr(arguments, "to", ""));
  v1::Envelope& envelope = *submit.mutable_envelope();
  envelope.set_envelope_id(call_id);
  envelope.set_kind(v1::ENVELOPE_KIND_MESSAGE);
  envelope.set_text(StringOr(arguments, "message", ""));
  return submit;
}

v1::ConfigureWorkerRequest ConfigureWorkerRequestOf(const Json& arguments) {
  v1::ConfigureWorkerRequest request;
  request.set_session_id(StringOr(arguments, "sessionId", ""));
  request.set_name(StringOr(arguments, "name", ""));
  request.set_description(StringOr(arguments, "description", ""));
  request.set_project_directory(StringOr(arguments, "projectDirectory", ""));
  request.set_port(
      static_cast<int32_t>(IntegerField(arguments, "port").value_or(0)));
  return request;
}

v1::ReloadWorkerRequest ReloadWorkerRequestOf(const Json& arguments) {
  v1::ReloadWorkerRequest request;
  request.set_to(StringOr(arguments, "to", ""));
  return request;
}

v1::RequestStatusRequest RequestStatusRequestOf(const Json& arguments) {
  v1::RequestStatusRequest request;
  request.set_to(StringOr(arguments, "to", ""));
  return request;
}

}  // namespace intercom
