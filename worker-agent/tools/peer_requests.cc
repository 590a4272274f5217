#include "worker-agent/tools/peer_requests.h"

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/text_rules.h"
#include "broker/domain/validated_envelope.h"
#include "worker-agent/tools/interview.h"

namespace intercom {
namespace {

absl::Status Invalid(const std::string& text) {
  return Error(absl::StatusCode::kInvalidArgument, "ARGUMENT_INVALID",
               "contact_supervisor: " + text);
}

v1::MessageAttachment::Type TypeNamed(const std::string& word) {
  if (word == "file") return v1::MessageAttachment::TYPE_FILE;
  if (word == "snippet") return v1::MessageAttachment::TYPE_SNIPPET;
  return v1::MessageAttachment::TYPE_CONTEXT;
}

v1::EnvelopeKind KindOf(const std::string& action) {
  if (action == "ask") return v1::ENVELOPE_KIND_ASK;
  if (action == "reply") return v1::ENVELOPE_KIND_REPLY;
  return v1::ENVELOPE_KIND_MESSAGE;
}

// What this run is, in lines that no value can add to.
std::string RunLines(const Supervisor& supervisor) {
  return "Run: " + IdLabel(supervisor.run_id, 80) +
         "\nAgent: " + NameLabel(supervisor.agent) +
         "\nChild index: " + NameLabel(supervisor.index) + "\n";
}

std::string HeadingOf(const std::string& reason) {
  if (reason == "need_decision") return "A subagent needs a decision.";
  if (reason == "interview_request") return "A subagent has questions.";
  return "A subagent reports what changes its plan.";
}

}  // namespace

v1::Submit PeerSubmitOf(const Json& arguments, const std::string& call_id,
                        const std::string& trigger, const std::string& cwd,
                        absl::Duration ask_time) {
  v1::Submit submit;
  submit.set_to(StringOr(arguments, "to", ""));
  submit.set_reach(v1::REACH_ACCOUNT);
  submit.set_cwd(cwd);
  v1::Envelope& envelope = *submit.mutable_envelope();
  envelope.set_envelope_id(StringOr(arguments, "messageId", call_id));
  envelope.set_kind(KindOf(StringOr(arguments, "action", "")));
  envelope.set_text(StringOr(arguments, "message", ""));
  envelope.set_reply_to(StringOr(arguments, "replyTo", ""));
  envelope.set_supersedes(StringOr(arguments, "supersedes", ""));
  envelope.set_retry_of(StringOr(arguments, "retryOf", ""));
  for (const Json& given : Field(arguments, "attachments")) {
    v1::MessageAttachment& attachment = *envelope.add_attachments();
    attachment.set_type(TypeNamed(StringOr(given, "type", "")));
    attachment.set_name(StringOr(given, "name", ""));
    attachment.set_content(StringOr(given, "content", ""));
    attachment.set_language(StringOr(given, "language", ""));
  }
  if (envelope.kind() == v1::ENVELOPE_KIND_ASK) {
    const auto milliseconds = IntegerField(arguments, "timeoutMs");
    *envelope.mutable_reply_within() = ToProtoDuration(
        milliseconds.has_value() ? absl::Milliseconds(*milliseconds)
                                 : ask_time);
  }
  if (envelope.kind() == v1::ENVELOPE_KIND_REPLY) submit.set_trigger(trigger);
  return submit;
}

absl::StatusOr<v1::Submit> SupervisorSubmitOf(const Json& arguments,
                                              const std::string& call_id,
                                              const Supervisor& supervisor,
                                              absl::Duration ask_time) {
  const std::string reason = StringOr(arguments, "reason", "");
  const std::string message = StringOr(arguments, "message", "");
  const Json& interview = Field(arguments, "interview");
  const bool is_interview = reason == "interview_request";
  if (message.empty() && !is_interview) {
    return Invalid(reason + " needs message");
  }
  if (is_interview != interview.is_object()) {
    return Invalid(is_interview ? "interview_request needs interview"
                                : reason + " does not take interview");
  }
  std::string text = HeadingOf(reason) + "\n" + RunLines(supervisor);
  if (!message.empty()) text += "\n" + message + "\n";
  if (is_interview) {
    INTERCOM_RETURN_IF_ERROR(CheckInterview(interview));
    text += "\n" + InterviewText(interview);
  }
  if (const size_t characters = CharacterCount(text);
      characters > kMaxTextCharacters) {
    return Invalid("message and interview come to " +
                   std::to_string(characters) + " characters together; " +
                   std::to_string(kMaxTextCharacters) + " are allowed");
  }
  v1::Submit submit;
  submit.set_to(supervisor.session_id.empty() ? supervisor.target
                                              : supervisor.session_id);
  submit.set_reach(v1::REACH_ACCOUNT);
  v1::Envelope& envelope = *submit.mutable_envelope();
  envelope.set_envelope_id(call_id);
  envelope.set_text(text);
  if (reason == "progress_update") {
    envelope.set_kind(v1::ENVELOPE_KIND_MESSAGE);
  } else {
    envelope.set_kind(v1::ENVELOPE_KIND_ASK);
    *envelope.mutable_reply_within() = ToProtoDuration(ask_time);
  }
  return submit;
}

}  // namespace intercom
