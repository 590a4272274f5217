#include "worker-agent/tools/interview.h"

#include <algorithm>
#include <set>
#include <vector>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"

namespace intercom {
namespace {

constexpr std::string_view kFence = "```";

absl::Status Invalid(const std::string& text) {
  return Error(absl::StatusCode::kInvalidArgument, "ARGUMENT_INVALID",
               "interview: " + text);
}

absl::Status BadAnswer(const std::string& text) {
  return Error(absl::StatusCode::kInvalidArgument, "ANSWER_INVALID", text);
}

std::string TypeOf(const Json& question) {
  return StringOr(question, "type", "");
}

bool IsChoice(const Json& question) {
  const std::string type = TypeOf(question);
  return type == "single" || type == "multi";
}

std::string Quoted(std::string_view text) { return QuotedLine(text, 200); }

absl::Status CheckOptions(const Json& question, const std::string& id) {
  const std::vector<std::string> options = StringsField(question, "options");
  if (!IsChoice(question)) {
    if (options.empty()) return absl::OkStatus();
    return Invalid("question " + Quoted(id) + " is of the type " +
                   TypeOf(question) + ", which has no options");
  }
  if (options.empty()) {
    return Invalid("question " + Quoted(id) + " is of the type " +
                   TypeOf(question) + ", which needs options");
  }
  const std::set<std::string> different(options.begin(), options.end());
  if (different.size() < options.size()) {
    return Invalid("question " + Quoted(id) + " has the same option twice");
  }
  return absl::OkStatus();
}

const Json* QuestionWithId(const Json& interview, const std::string& id) {
  for (const Json& question : Field(interview, "questions")) {
    if (StringOr(question, "id", "") == id) return &question;
  }
  return nullptr;
}

// A value that would answer `question`.
Json ExampleOf(const Json& question) {
  const std::vector<std::string> options = StringsField(question, "options");
  const std::string type = TypeOf(question);
  if (type == "single") return options.front();
  if (type == "multi") return Json::array({options.front()});
  return type == "image" ? "path of the image, or what it shows" : "text";
}

Json ExampleAnswer(const Json& interview) {
  Json responses = Json::array();
  for (const Json& question : Field(interview, "questions")) {
    if (TypeOf(question) == "info") continue;
    responses.push_back(
        {{"id", StringOr(question, "id", "")}, {"value", ExampleOf(question)}});
  }
  return {{"responses", std::move(responses)}};
}

// What the type asks for, for a reader.
std::string HowToAnswer(const Json& question) {
  const std::string type = TypeOf(question);
  if (type == "single") return "choose one";
  if (type == "multi") return "choose any number";
  if (type == "image") return "an image: its path, or what it shows";
  return type == "info" ? "for information, no answer" : "free text";
}

absl::Status CheckOption(const Json& question, const std::string& id,
                         const Json& value) {
  const std::vector<std::string> options = StringsField(question, "options");
  if (value.is_string() &&
      std::find(options.begin(), options.end(),
                value.get_ref<const std::string&>()) != options.end()) {
    return absl::OkStatus();
  }
  return BadAnswer("the answer to " + Quoted(id) + " is none of its options");
}

// `value` as the question's type has it.
absl::StatusOr<Json> ValueFor(const Json& question, const std::string& id,
                              const Json& value) {
  if (!IsChoice(question)) {
    if (value.is_string()) return value;
    // A port or a yes is meant as its text.
    if (value.is_number() || value.is_boolean()) return Json(value.dump());
    return BadAnswer("the answer to " + Quoted(id) + " must be a string");
  }
  if (TypeOf(question) == "single") {
    INTERCOM_RETURN_IF_ERROR(CheckOption(question, id, value));
    return value;
  }
  // One choice needs no list.
  const Json chosen = value.is_array() ? value : Json::array({value});
  for (const Json& option : chosen) {
    INTERCOM_RETURN_IF_ERROR(CheckOption(question, id, option));
  }
  return chosen;
}

// The first fenced block that is JSON, or the whole text.
Json FindJson(std::string_view reply) {
  Json whole = ParseJson(reply);
  if (whole.is_object()) return whole;
  size_t at = reply.find(kFence);
  while (at != std::string_view::npos) {
    const size_t line_end = reply.find('\n', at);
    if (line_end == std::string_view::npos) break;
    const size_t end = reply.find(kFence, line_end);
    if (end == std::string_view::npos) break;
    Json block = ParseJson(reply.substr(line_end + 1, end - line_end - 1));
    if (block.is_object()) return block;
    at = reply.find(kFence, end + kFence.size());
  }
  return nullptr;
}

}  // namespace

absl::Status CheckInterview(const Json& interview) {
  std::set<std::string> ids;
  bool wants_an_answer = false;
  for (const Json& question : Field(interview, "questions")) {
    const std::string id = StringOr(question, "id", "");
    if (SafeLabel(id) != id) {
      return Invalid("the id " + Quoted(id) +
                     " must be one plain line without blanks at its ends");
    }
    if (!ids.insert(id).second) {
      return Invalid("two questions have the id " + Quoted(id));
    }
    INTERCOM_RETURN_IF_ERROR(CheckOptions(question, id));
    if (TypeOf(question) != "info") wants_an_answer = true;
  }
  if (!wants_an_answer) return Invalid("no question wants an answer");
  return absl::OkStatus();
}

std::string InterviewText(const Json& interview) {
  std::string text;
  const std::string title = StringOr(interview, "title", "");
  const std::string description = StringOr(interview, "description", "");
  if (!title.empty()) text += "Interview: " + SafeLabel(title, 200) + "\n";
  if (!description.empty()) text += description + "\n";
  int number = 0;
  for (const Json& question : Field(interview, "questions")) {
    text += "\n" + std::to_string(++number) + ". " +
            StringOr(question, "question", "") + "\n   id " +
            Quoted(StringOr(question, "id", "")) + ", " +
            HowToAnswer(question) + "\n";
    for (const std::string& option : StringsField(question, "options")) {
      text += "   - " + option + "\n";
    }
    const std::string context = StringOr(question, "context", "");
    if (!context.empty()) text += "   Context: " + context + "\n";
  }
  return text +
         "\nReply with JSON of this shape; questions may be left out:\n"
         "```json\n" +
         ExampleAnswer(interview).dump(2) + "\n```\n";
}

absl::StatusOr<Json> ParseAnswers(const Json& interview,
                                  std::string_view reply) {
  const Json answer = FindJson(reply);
  if (!answer.is_object()) {
    return BadAnswer(
        "the reply holds no JSON object, neither alone nor fenced");
  }
  const Json& responses = Field(answer, "responses");
  if (!responses.is_array() || responses.empty()) {
    return BadAnswer("the reply's JSON has no list \"responses\"");
  }
  std::set<std::string> answered;
  Json values = Json::array();
  for (const Json& response : responses) {
    const std::string id = StringOr(response, "id", "");
    const Json* question = QuestionWithId(interview, id);
    if (question == nullptr || TypeOf(*question) == "info") {
      return BadAnswer("the reply answers " + Quoted(id) +
                       ", which is no question that wants an answer");
    }
    if (!answered.insert(id).second) {
      return BadAnswer("the reply answers " + Quoted(id) + " twice");
    }
    INTERCOM_ASSIGN_OR_RETURN(
        Json value, ValueFor(*question, id, Field(response, "value")));
    values.push_back({{"id", id}, {"value", std::move(value)}});
  }
  return Json{{"responses", std::move(values)}};
}

}  // namespace intercom
