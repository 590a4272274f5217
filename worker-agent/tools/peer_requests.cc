#include "worker-agent/tools/peer_requests.h"

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/text_rules.h"
#include "broker/domain/validated_envelope.h"
#include "worker-agent/tools/interview.h"
#include "worker-agent/tools/peer_actions.h"
#include "worker-agent/tools/requests.h"

namespace intercom {
namespace {

constexpr char kProgress[] = "progress_update";
constexpr char kInterview[] = "interview_request";

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
  if (reason == kInterview) return "A subagent has questions.";
  return "A subagent reports what changes its plan.";
}

// OK if the arguments have what their reason needs, and nothing else.
absl::Status CheckReason(const Json& arguments) {
  const std::string reason = StringOr(arguments, "reason", "");
  const bool is_interview = reason == kInterview;
  if (StringOr(arguments, "message", "").empty() && !is_interview) {
    return Invalid(reason + " needs message");
  }
  if (is_interview != Field(arguments, "interview").is_object()) {
    return Invalid(is_interview ? "interview_request needs interview"
                                : reason + " does not take interview");
  }
  return absl::OkStatus();
}

// What was said, and the questions of an interview.
absl::StatusOr<std::string> BodyOf(const Json& arguments) {
  const std::string message = StringOr(arguments, "message", "");
  std::string body;
  if (!message.empty()) body += "\n" + message + "\n";
  if (const Json& interview = Field(arguments, "interview");
      interview.is_object()) {
    INTERCOM_RETURN_IF_ERROR(CheckInterview(interview));
    body += "\n" + InterviewText(interview);
  }
  return body;
}

absl::Status CheckWhole(const std::string& text) {
  const size_t characters = CharacterCount(text);
  if (characters <= kMaxTextCharacters) return absl::OkStatus();
  return Invalid("message and interview come to " + std::to_string(characters) +
                 " characters together; " + std::to_string(kMaxTextCharacters) +
                 " are allowed");
}

// What a supervisor of ours is told at once, an interview's questions included.
absl::Status CheckBody(const std::string& body) {
  const size_t characters = CharacterCount(body);
  if (characters <= size_t{kMostBodyCharacters}) return absl::OkStatus();
  return Invalid("message and interview have " + std::to_string(characters) +
                 " characters; a supervisor is told at most " +
                 std::to_string(kMostBodyCharacters) +
                 " at once, and nothing was sent. Shorten it, or put it into a "
                 "file and name that");
}

// What the worker of a run, or a headless one, asks its supervisor.
std::string AskHeading(const Delegation& delegation, bool is_interview) {
  const std::string who =
      delegation.run_id.empty()
          ? "Your headless worker"
          : "The worker of " + IdLabel(delegation.run_id, 40);
  std::string text =
      who + (is_interview ? " has questions." : " needs a decision.");
  if (!delegation.label.empty()) {
    text += " Label: " + QuotedLine(delegation.label) + ".";
  }
  return text + " It waits for your answer.\n";
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
  if (envelope.kind() == v1::ENVELOPE_KIND_MESSAGE) AddRun(arguments, submit);
  return submit;
}

v1::Submit SteerSubmitOf(const Json& arguments, const std::string& call_id) {
  v1::Submit submit;
  submit.set_to_run(StringOr(arguments, "runId", ""));
  submit.set_reach(v1::REACH_ACCOUNT);
  v1::Envelope& envelope = *submit.mutable_envelope();
  envelope.set_envelope_id(StringOr(arguments, "messageId", call_id));
  envelope.set_kind(v1::ENVELOPE_KIND_MESSAGE);
  envelope.set_text(StringOr(arguments, "message", ""));
  return submit;
}

v1::Submit FellowSubmitOf(const Json& arguments, const std::string& call_id,
                          const std::string& trigger) {
  v1::Submit submit = SubmitOf(arguments, call_id);
  submit.set_trigger(trigger);
  submit.set_to_fellow(true);
  submit.set_reach(v1::REACH_ACCOUNT);
  return submit;
}

absl::StatusOr<v1::Submit> SupervisorSubmitOf(const Json& arguments,
                                              const std::string& call_id,
                                              const Supervisor& supervisor,
                                              absl::Duration ask_time) {
  INTERCOM_RETURN_IF_ERROR(CheckReason(arguments));
  INTERCOM_ASSIGN_OR_RETURN(const std::string body, BodyOf(arguments));
  const std::string reason = StringOr(arguments, "reason", "");
  const std::string text =
      HeadingOf(reason) + "\n" + RunLines(supervisor) + body;
  INTERCOM_RETURN_IF_ERROR(CheckWhole(text));
  v1::Submit submit;
  submit.set_to(supervisor.session_id.empty() ? supervisor.target
                                              : supervisor.session_id);
  submit.set_reach(v1::REACH_ACCOUNT);
  v1::Envelope& envelope = *submit.mutable_envelope();
  envelope.set_envelope_id(call_id);
  envelope.set_text(text);
  if (reason == kProgress) {
    envelope.set_kind(v1::ENVELOPE_KIND_MESSAGE);
  } else {
    envelope.set_kind(v1::ENVELOPE_KIND_ASK);
    *envelope.mutable_reply_within() = ToProtoDuration(ask_time);
  }
  return submit;
}

absl::StatusOr<v1::Submit> DelegatedAskOf(const Json& arguments,
                                          const std::string& call_id,
                                          const Delegation& delegation,
                                          absl::Duration ask_time) {
  INTERCOM_RETURN_IF_ERROR(CheckReason(arguments));
  INTERCOM_ASSIGN_OR_RETURN(const std::string body, BodyOf(arguments));
  const Json& interview = Field(arguments, "interview");
  const bool is_interview = interview.is_object();
  INTERCOM_RETURN_IF_ERROR(
      CheckBody(StringOr(arguments, "message", "") +
                (is_interview ? InterviewText(interview) : std::string())));
  const std::string text = AskHeading(delegation, is_interview) + body;
  v1::Submit submit;
  submit.set_to(delegation.supervisor_session_id);
  submit.set_reach(v1::REACH_ACCOUNT);
  v1::Envelope& envelope = *submit.mutable_envelope();
  envelope.set_envelope_id(call_id);
  envelope.set_kind(v1::ENVELOPE_KIND_ASK);
  envelope.set_text(text);
  *envelope.mutable_reply_within() = ToProtoDuration(ask_time);
  return submit;
}

absl::StatusOr<v1::AddNoteRequest> NoteOf(const Json& arguments,
                                          const std::string& call_id,
                                          const Delegation& delegation) {
  INTERCOM_RETURN_IF_ERROR(CheckReason(arguments));
  INTERCOM_RETURN_IF_ERROR(CheckBody(StringOr(arguments, "message", "")));
  v1::AddNoteRequest request;
  request.set_note_id(call_id);
  request.set_run_id(delegation.run_id);
  request.set_text(StringOr(arguments, "message", ""));
  return request;
}

}  // namespace intercom
