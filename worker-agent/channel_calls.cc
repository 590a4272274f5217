#include "worker-agent/channel_calls.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/log.h"
#include "broker/domain/fence.h"

namespace intercom {
namespace {

constexpr char kFeature[] = "channels";

absl::Status Invalid(const std::string& what) {
  return Error(absl::StatusCode::kInvalidArgument, "ARGUMENT_INVALID", what);
}

Json Refusal(std::string_view reason, std::string_view message) {
  return {{"ok", false}, {"reason", reason}, {"message", message}};
}

// How many brackets of JSON are open at once, at most.
int DepthOf(std::string_view json) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

// Nothing (a discarded value) unless it is JSON that can be passed on.
Json PayloadOf(const std::string& bytes) {
  if (DepthOf(bytes) > ChannelCalls::kMaxDepth) {
    return Json(Json::value_t::discarded);
  }
  return ParseJson(bytes);
}

Json OwnerOf(const v1::ChannelOwner& owner) {
  return {{"sessionId", owner.session_id()}, {"epoch", owner.epoch()}};
}

// The bytes of a request's payload, where it has one.
absl::StatusOr<std::string> BytesOf(const Json& params) {
  if (!params.contains("payload")) return Invalid("payload is missing");
  std::string bytes = ToLine(params["payload"]);
  if (DepthOf(bytes) > ChannelCalls::kMaxDepth) {
    return Invalid("payload nests deeper than 256 levels");
  }
  return bytes;
}

absl::StatusOr<v1::ChannelRequest> RequestOf(const std::string& method,
                                             const Json& params) {
  v1::ChannelRequest request;
  const auto name = StringField(params, "namespace");
  if (!name.has_value()) return Invalid("namespace is not a string");
  request.set_namespace_(*name);
  if (method == "channel/join") {
    request.mutable_join()->set_owner_eligible(
        BoolOr(params, "ownerEligible", false));
  } else if (method == "channel/leave") {
    request.mutable_leave();
  } else if (method == "channel/publish") {
    absl::StatusOr<std::string> bytes = BytesOf(params);
    if (!bytes.ok()) return bytes.status();
    v1::ChannelRequest::Publish& publish = *request.mutable_publish();
    publish.set_payload(*std::move(bytes));
    const std::string audience = StringOr(params, "audience", "capable");
    if (audience != "capable" && audience != "owner") {
      return Invalid("audience is neither capable nor owner");
    }
    publish.set_audience(audience == "owner"
                             ? v1::ChannelRequest::Publish::AUDIENCE_OWNER
                             : v1::ChannelRequest::Publish::AUDIENCE_CAPABLE);
    publish.set_owner_only(BoolOr(params, "ownerOnly", false));
    publish.set_epoch(StringOr(params, "epoch", ""));
  } else {
    absl::StatusOr<std::string> bytes = BytesOf(params);
    if (!bytes.ok()) return bytes.status();
    const auto revision = IntegerField(params, "expectedRevision");
    if (!revision.has_value()) {
      return Invalid("expectedRevision is not a whole number");
    }
    v1::ChannelRequest::Commit& commit = *request.mutable_commit();
    commit.set_payload(*std::move(bytes));
    commit.set_expected_revision(*revision);
    commit.set_epoch(StringOr(params, "epoch", ""));
  }
  return request;
}

}  // namespace

bool ChannelCalls::Handles(const std::string& method) {
  return method == "channel/join" || method == "channel/leave" ||
         method == "channel/publish" || method == "channel/commit";
}

void ChannelCalls::Call(const std::string& method, const Json& params,
                        JsonRpc::Respond respond) {
  absl::StatusOr<v1::ChannelRequest> request = RequestOf(method, params);
  if (!request.ok()) return respond(request.status());
  // Out is out, whether the broker hears it now or forgets the session anyway.
  if (request->has_leave()) joined_.erase(request->namespace_());
  if (!is_attached_) {
    return respond(Refusal("NOT_CONNECTED",
                           "this session is not connected to the broker now; "
                           "nothing was sent"));
  }
  if (!is_supported_) {
    return respond(Refusal("UNSUPPORTED_BROKER",
                           "the running broker knows no channels; run "
                           "intercom broker restart"));
  }
  Send(*std::move(request), std::move(respond));
}

void ChannelCalls::Send(v1::ChannelRequest request, JsonRpc::Respond respond) {
  request.set_request_id(std::to_string(++last_request_));
  v1::AttachRequest frame;
  *frame.mutable_channel_request() = request;
  // What it carries is of no use for its answer.
  if (request.has_publish()) request.mutable_publish()->clear_payload();
  if (request.has_commit()) request.mutable_commit()->clear_payload();
  const std::string id = request.request_id();
  open_[id] = {std::move(request), std::move(respond)};
  send_(std::move(frame));
}

void ChannelCalls::Welcomed(const v1::Welcome& welcome) {
  is_attached_ = true;
  is_supported_ =
      std::find(welcome.features().begin(), welcome.features().end(),
                kFeature) != welcome.features().end();
  if (!is_supported_) return;
  for (const auto& [name, owner_eligible] : joined_) {
    v1::ChannelRequest request;
    request.set_namespace_(name);
    request.mutable_join()->set_owner_eligible(owner_eligible);
    Send(std::move(request), nullptr);
  }
}

void ChannelCalls::StreamLost() {
  is_attached_ = false;
  for (auto& [id, open] : std::exchange(open_, {})) {
    if (!open.respond) continue;
    open.respond(Refusal("NOT_CONNECTED",
                         "the connection to the broker was lost before it "
                         "answered; it may or may not have happened"));
  }
}

void ChannelCalls::HandleResult(const v1::ChannelResult& result) {
  const auto found = open_.find(result.request_id());
  if (found == open_.end()) return;
  const Open open = std::move(found->second);
  open_.erase(found);
  if (open.request.has_join() && result.ok()) {
    joined_[open.request.namespace_()] = open.request.join().owner_eligible();
  }
  // A join before it may have been answered meanwhile.
  if (open.request.has_leave()) joined_.erase(open.request.namespace_());
  if (!open.respond) {
    if (result.ok()) return;
    joined_.erase(open.request.namespace_());
    host_.Notify("notice",
                 {{"level", "warning"},
                  {"text", "the extension channel " +
                               SafeLabel(open.request.namespace_()) +
                               " is lost: " + SafeLabel(result.message())}});
    return;
  }
  Json answer = {{"ok", result.ok()}};
  if (open.request.has_commit()) answer["revision"] = result.revision();
  if (!result.ok()) {
    answer["reason"] = result.reason();
    answer["message"] = StripControls(result.message());
  }
  open.respond(std::move(answer));
}

void ChannelCalls::HandleEvent(const v1::ChannelEvent& event) {
  Json params = {{"namespace", event.namespace_()}};
  switch (event.event_case()) {
    case v1::ChannelEvent::kOwner:
      params["type"] = "owner";
      if (!event.owner().session_id().empty()) {
        params["owner"] = OwnerOf(event.owner());
      }
      break;
    case v1::ChannelEvent::kState:
      params["type"] = "state";
      params["state"] = {{"revision", event.state().revision()},
                         {"payload", PayloadOf(event.state().payload())}};
      break;
    case v1::ChannelEvent::kMessage:
      params["type"] = "message";
      params["fromSessionId"] = event.message().from_session_id();
      params["payload"] = PayloadOf(event.message().payload());
      if (event.message().has_owner()) {
        params["owner"] = OwnerOf(event.message().owner());
      }
      break;
    case v1::ChannelEvent::kMembership:
      params["type"] = "membership";
      params["sessionId"] = event.membership().session_id();
      params["name"] = event.membership().name();
      params["joined"] = event.membership().joined();
      break;
    default:
      return;  // From a newer broker.
  }
  if (Field(params, "payload").is_discarded() ||
      Field(Field(params, "state"), "payload").is_discarded()) {
    SPDLOG_WARN("channel {}: a payload that is not JSON, or nests too deep",
                SafeLabel(event.namespace_()));
    return;
  }
  host_.Notify("channel/event", params);
}

}  // namespace intercom
