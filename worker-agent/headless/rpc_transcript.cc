#include "worker-agent/headless/rpc_transcript.h"

#include <utility>

#include "broker/domain/fence.h"

namespace intercom {
namespace {

constexpr size_t kMaxArguments = 200;
constexpr size_t kMaxOutcome = 300;
constexpr size_t kMaxNotice = 1000;
constexpr size_t kMaxErrorLine = 1000;
// Of what others write into the session.
constexpr size_t kMaxMessageBytes = 8 << 10;

// The text of a message or of a tool's result.
std::string TextOf(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  if (!content.is_array()) return text;
  for (const Json& part : content) {
    if (StringOr(part, "type", "") == "text")
      text += StringOr(part, "text", "");
  }
  return text;
}

std::string Quoted(const std::string& text) {
  // Cut between characters by the bounds of a label, but with its lines.
  std::string shown = text;
  if (shown.size() > kMaxMessageBytes) {
    size_t end = kMaxMessageBytes;
    while (end > 0 && (static_cast<unsigned char>(shown[end]) & 0xc0) == 0x80) {
      --end;
    }
    shown.resize(end);
    shown += "\n… (" + std::to_string(text.size() - end) + " bytes left out)";
  }
  return FenceText(shown);
}

bool AsksForAnswer(const std::string& method) {
  return method == "select" || method == "confirm" || method == "input" ||
         method == "editor";
}

}  // namespace

std::string RpcTranscript::Line(std::string_view line) {
  std::string text = within_line_ ? "\n" : "";
  within_line_ = false;
  text += line;
  if (!text.ends_with('\n')) text += '\n';
  return text;
}

std::string RpcTranscript::Note(std::string_view text) {
  return Line("[" + SafeLabel(text, kMaxNotice) + "]");
}

std::string RpcTranscript::TooLong(size_t bytes) {
  return Note("an event of " + std::to_string(bytes) + " bytes is left out");
}

std::string RpcTranscript::Error(std::string_view line) {
  return Line("[stderr] " + SafeLabel(line, kMaxErrorLine));
}

RpcTranscript::Heard RpcTranscript::Take(std::string_view line) {
  const Json event = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!event.is_object()) return {.text = Error(line)};
  const std::string type = StringOr(event, "type", "");
  if (type == "message_update") return {.text = Update(event)};
  if (type == "message_start") {
    return {.text = MessageStart(Field(event, "message"))};
  }
  if (type == "message_end")
    return {.text = MessageEnd(Field(event, "message"))};
  if (type == "extension_ui_request") return Ask(event);
  if (type == "tool_execution_start") {
    return {
        .text = Line(
            "→ " + SafeLabel(StringOr(event, "toolName", "")) + " " +
            SafeLabel(Field(event, "args")
                          .dump(-1, ' ', false, Json::error_handler_t::replace),
                      kMaxArguments))};
  }
  if (type == "tool_execution_end") {
    const bool failed = BoolOr(event, "isError", false);
    const std::string outcome =
        TextOf(Field(Field(event, "result"), "content"));
    return {
        .text = Line(
            "← " + SafeLabel(StringOr(event, "toolName", "")) +
            (failed ? " failed" : " ok") +
            (outcome.empty() ? "" : ": " + SafeLabel(outcome, kMaxOutcome)))};
  }
  if (type == "agent_settled") {
    return {.text = Note(BoolOr(event, "aborted", false) ? "stopped, idle"
                                                         : "idle")};
  }
  if (type == "auto_retry_start") {
    return {.text =
                Note("retry " + Field(event, "attempt").dump() +
                     " after: " + StringOr(event, "errorMessage", "an error"))};
  }
  if (type == "compaction_start") return {.text = Note("compaction")};
  if (type == "extension_error") {
    return {.text = Note("extension error in " + StringOr(event, "event", "") +
                         ": " + StringOr(event, "error", ""))};
  }
  if (type == "response") {
    Heard heard{.answered = StringOr(event, "id", "")};
    if (!BoolOr(event, "success", true)) {
      heard.text = Note(StringOr(event, "command", "") +
                        " failed: " + StringOr(event, "error", ""));
    }
    return heard;
  }
  return {};
}

std::string RpcTranscript::Update(const Json& event) {
  const Json& update = Field(event, "assistantMessageEvent");
  const std::string type = StringOr(update, "type", "");
  if (type == "thinking_start") return Note("thinking");
  if (type == "text_end") return within_line_ ? Line("") : "";
  if (type != "text_delta") return "";
  const std::string text = StripControls(StringOr(update, "delta", ""));
  if (!text.empty()) within_line_ = text.back() != '\n';
  return text;
}

std::string RpcTranscript::MessageStart(const Json& message) {
  const std::string role = StringOr(message, "role", "");
  // The others are shown as they come.
  if (role != "user" && role != "custom") return "";
  const std::string text = TextOf(Field(message, "content"));
  return text.empty() ? "" : Line(Quoted(text));
}

std::string RpcTranscript::MessageEnd(const Json& message) {
  if (StringOr(message, "role", "") != "assistant") return "";
  const std::string reason = StringOr(message, "stopReason", "");
  if (reason != "error" && reason != "aborted") {
    return within_line_ ? Line("") : "";
  }
  const std::string error = StringOr(message, "errorMessage", "");
  return Note(reason + (error.empty() ? "" : ": " + error));
}

RpcTranscript::Heard RpcTranscript::Ask(const Json& request) {
  const std::string method = StringOr(request, "method", "");
  if (method == "notify") {
    return {.text = Note(StringOr(request, "notifyType", "info") + ": " +
                         StringOr(request, "message", ""))};
  }
  // Everything else needs no answer.
  if (!AsksForAnswer(method)) return {};
  return {.text = Note("asked and cancelled, since nobody is here: " +
                       StringOr(request, "title", "")),
          .reply = Json{
              {"type", "extension_ui_response"},
              {"id", StringOr(request, "id", "")},
              {"cancelled",
               true}}.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

}  // namespace intercom
