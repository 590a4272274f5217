#include "worker-agent/peer_questions.h"

#include <optional>
#include <utility>

#include "worker-agent/directory.h"
#include "worker-agent/not_connected.h"
#include "worker-agent/tools/ask_result.h"
#include "worker-agent/tools/session_list.h"

namespace intercom {
namespace {

// `render` for an answer, and the error for none.
template <typename Render>
auto OrError(Render render) {
  return [render = std::move(render)](const auto& response) {
    return response.ok() ? render(*response) : RenderError(response.status());
  };
}

}  // namespace

template <typename Response, typename Request, typename Render>
void PeerQuestions::Ask(Request request, const std::string& call_id,
                        Render render) {
  SessionCalls* const calls = link_.calls();
  if (calls == nullptr) return answer_(call_id, RenderError(NotConnected()));
  calls->Call<Response>(std::move(request),
                        [this, call_id, render = std::move(render)](
                            const absl::StatusOr<Response>& response) {
                          answer_(call_id, render(response));
                        });
}

void PeerQuestions::List(const Json& arguments, const std::string& call_id) {
  v1::ListSessionsRequest request;
  if (StringOr(arguments, "action", "") == "list-cwd") {
    const absl::StatusOr<std::string> directory =
        CanonicalDirectory(StringOr(arguments, "cwd", "."), cwd_, home_);
    if (!directory.ok()) {
      return answer_(call_id, RenderError(directory.status()));
    }
    request.set_cwd(*directory);
  }
  Ask<v1::ListSessionsResponse>(
      std::move(request), call_id,
      OrError([home = home_](const v1::ListSessionsResponse& response) {
        return RenderSessions(response, home);
      }));
}

void PeerQuestions::Pending(const std::string& call_id) {
  Ask<v1::ListAsksResponse>(
      v1::ListAsksRequest(), call_id,
      OrError([this](const v1::ListAsksResponse& response) {
        return RenderPending(response.asks(), clock_.Now());
      }));
}

void PeerQuestions::MessageStatus(const std::string& message_id,
                                  const std::string& call_id) {
  v1::GetMessageRequest request;
  request.set_id(message_id);
  Ask<v1::GetMessageResponse>(
      std::move(request), call_id,
      OrError([this](const v1::GetMessageResponse& response) {
        return RenderMessageStatus(response.record(), clock_.Now());
      }));
}

void PeerQuestions::OwnStatus(const OwnSession& own,
                              const std::string& call_id) {
  if (link_.calls() == nullptr) {
    return answer_(call_id, RenderOwnSession(own, std::nullopt));
  }
  Ask<v1::ListSessionsResponse>(
      v1::ListSessionsRequest(), call_id,
      [own](const absl::StatusOr<v1::ListSessionsResponse>& response) {
        return RenderOwnSession(
            own, response.ok() ? std::optional(*response) : std::nullopt);
      });
}

void PeerQuestions::Withdraw(const std::string& message_id,
                             const std::string& call_id) {
  v1::WithdrawMessageRequest request;
  request.set_envelope_id(message_id);
  request.set_request_if_late(true);
  Ask<v1::WithdrawMessageResponse>(
      std::move(request), call_id,
      [message_id](
          const absl::StatusOr<v1::WithdrawMessageResponse>& response) {
        return response.ok()
                   ? RenderWithdrawn(*response, message_id)
                   : RenderNotWithdrawn(response.status(), message_id);
      });
}

void PeerQuestions::ListSessions(const Json& params,
                                 const JsonRpc::Respond& respond) {
  SessionCalls* const calls = link_.calls();
  if (calls == nullptr) return respond(NotConnected());
  v1::ListSessionsRequest request;
  request.set_with_away(BoolOr(params, "withAway", false));
  if (const auto path = StringField(params, "cwd"); path.has_value()) {
    const absl::StatusOr<std::string> directory =
        CanonicalDirectory(*path, cwd_, home_);
    if (!directory.ok()) return respond(directory.status());
    request.set_cwd(*directory);
  }
  calls->Call<v1::ListSessionsResponse>(
      std::move(request),
      [respond](const absl::StatusOr<v1::ListSessionsResponse>& response) {
        if (!response.ok()) return respond(response.status());
        respond(SessionsJson(*response, kMaxSessionListBytes));
      });
}

}  // namespace intercom
