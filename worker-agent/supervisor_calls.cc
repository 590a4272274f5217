// The calls of those who work for a supervisor.

#include <utility>

#include "broker/base/error.h"
#include "broker/domain/fence.h"
#include "worker-agent/not_connected.h"
#include "worker-agent/peer_calls.h"
#include "worker-agent/tools/inbox_text.h"
#include "worker-agent/tools/interview.h"

namespace intercom {
namespace {

// Adds what a program can read of the answers, or why it can't.
void AddAnswers(const Json& interview, const v1::Envelope& reply,
                ToolResult& result) {
  const absl::StatusOr<Json> answers = ParseAnswers(interview, reply.text());
  if (answers.ok()) {
    result.details["structuredReply"] = *answers;
    return;
  }
  result.details["structuredReplyError"] = MessageOf(answers.status());
  result.text += "The answers can't be read by a program: " +
                 SafeLabel(MessageOf(answers.status()), 400) + ".\n";
}

// What makes of the reply to an interview what a program reads; null for
// others.
AskCalls::Amend AnswersOf(const Json& arguments) {
  const Json& interview = Field(arguments, "interview");
  if (!interview.is_object()) return nullptr;
  return [interview](const v1::Envelope& reply, ToolResult& result) {
    AddAnswers(interview, reply, result);
  };
}

}  // namespace

void PeerCalls::ContactSupervisor(const Json& arguments, const Call& call) {
  const absl::StatusOr<Delegation> delegation =
      setting_.delegation(call.trigger);
  if (delegation.ok()) {
    if (StringOr(arguments, "reason", "") == "progress_update") {
      return LeaveNote(arguments, call, *delegation);
    }
    return AskForDelegated(arguments, call, *delegation);
  }
  if (!host_.supervisor.has_value() || !absl::IsNotFound(delegation.status())) {
    return answer_(call.call_id, RenderError(delegation.status()));
  }
  absl::StatusOr<v1::Submit> submit = SupervisorSubmitOf(
      arguments, call.call_id, *host_.supervisor, host_.ask_time);
  if (!submit.ok()) {
    return answer_(call.call_id, RenderError(submit.status()));
  }
  Sending sending;
  sending.call = call;
  sending.submit = *std::move(submit);
  sending.amend = AnswersOf(arguments);
  // Its person may have gone on to a new session under the same name.
  if (!host_.supervisor->session_id.empty()) {
    sending.otherwise_to = host_.supervisor->target;
  }
  Begin(std::move(sending));
}

void PeerCalls::AskForDelegated(const Json& arguments, const Call& call,
                                const Delegation& delegation) {
  absl::StatusOr<v1::Submit> submit =
      DelegatedAskOf(arguments, call.call_id, delegation, host_.ask_time);
  if (!submit.ok()) {
    return answer_(call.call_id, RenderError(submit.status()));
  }
  Sending sending;
  sending.call = call;
  sending.submit = *std::move(submit);
  sending.amend = AnswersOf(arguments);
  Begin(std::move(sending));
}

void PeerCalls::LeaveNote(const Json& arguments, const Call& call,
                          const Delegation& delegation) {
  const absl::StatusOr<v1::AddNoteRequest> note =
      NoteOf(arguments, call.call_id, delegation);
  if (!note.ok()) return answer_(call.call_id, RenderError(note.status()));
  SessionCalls* const calls = link_.calls();
  if (calls == nullptr) {
    return answer_(call.call_id, RenderError(NotConnected()));
  }
  calls->Call<v1::AddNoteResponse>(
      *note, [this, call_id = call.call_id](
                 const absl::StatusOr<v1::AddNoteResponse>& response) {
        answer_(call_id, response.ok() ? RenderNoted(*response)
                                       : RenderError(response.status()));
      });
}

void PeerCalls::ContactPeer(const Json& arguments, const Call& call) {
  Sending sending;
  sending.call = call;
  sending.submit = FellowSubmitOf(arguments, call.call_id, call.trigger);
  Begin(std::move(sending));
}

}  // namespace intercom
