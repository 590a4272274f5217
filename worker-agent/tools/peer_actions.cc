#include "worker-agent/tools/peer_actions.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/text_rules.h"
#include "broker/domain/validated_envelope.h"

namespace intercom {
namespace {

// What an action takes beside `action`, separated by blanks.
struct Action {
  std::string_view name;
  std::string_view required;
  std::string_view optional;
  bool is_for_supervisors = false;
};

constexpr Action kActions[] = {
    {"list", "", "cwd"},
    {"list-cwd", "", "cwd"},
    {"send", "message",
     "to attachments replyTo messageId supersedes retryOf cwd "
     "openProjectPaneIfMissing focus launcher run label idleMs maxMs"},
    {"ask", "message",
     "to attachments messageId supersedes retryOf cwd "
     "openProjectPaneIfMissing focus launcher timeoutMs"},
    {"reply", "message", "to attachments replyTo messageId retryOf"},
    {"pending", "", ""},
    {"status", "", "messageId"},
    {"cancel", "messageId", ""},
    {"peek", "", "runId", true},
    {"result", "runId", "", true},
    {"wait", "", "runId timeoutMs", true},
    {"steer", "runId message", "messageId", true},
    {"stop", "runId", "", true},
    {"inbox", "", "", true},
    {"message", "messageId", "", true},
};

constexpr int64_t kLeastAskMilliseconds = 1000;
constexpr int64_t kMostAskMilliseconds = 86'400'000;
constexpr absl::Duration kShortestWait = absl::Seconds(1);
constexpr absl::Duration kLongestWait = absl::Minutes(10);

absl::Status Invalid(const std::string& text) {
  return Error(absl::StatusCode::kInvalidArgument, "ARGUMENT_INVALID",
               "intercom: " + text);
}

std::vector<std::string> Words(std::string_view text) {
  return absl::StrSplit(std::string(text), ' ', absl::SkipEmpty());
}

const Action* ActionNamed(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kActions), std::end(kActions),
                   [&](const Action& action) { return action.name == name; });
  return found == std::end(kActions) ? nullptr : found;
}

// What `action` lacks or does not take.
absl::Status CheckTaken(const Action& action, const Json& arguments) {
  const std::string name(action.name);
  std::vector<std::string> taken = Words(action.required);
  for (const std::string& key : taken) {
    if (!arguments.contains(key)) {
      return Invalid("action " + name + " needs " + key);
    }
  }
  for (std::string& key : Words(action.optional)) {
    taken.push_back(std::move(key));
  }
  for (const auto& [key, unused] : arguments.items()) {
    if (key == "action" || key == "focus" || key == "launcher" ||
        std::find(taken.begin(), taken.end(), key) != taken.end()) {
      continue;
    }
    return Invalid(
        "action " + name + " does not take " + key + "; it takes " +
        (taken.empty() ? "nothing else" : absl::StrJoin(taken, ", ")));
  }
  return absl::OkStatus();
}

absl::Status CheckLength(std::string_view key, const std::string& text,
                         size_t most) {
  const size_t characters = CharacterCount(text);
  if (characters <= most) return absl::OkStatus();
  return Invalid(std::string(key) + " has " + std::to_string(characters) +
                 " characters; it may have at most " + std::to_string(most));
}

// What concerns a run, and only what opens one.
absl::Status CheckRun(const Action& action, const Json& arguments) {
  INTERCOM_RETURN_IF_ERROR(CheckLength(
      "runId", StringOr(arguments, "runId", ""), kMostIdCharacters));
  if (action.name == "steer") {
    const std::string message = StringOr(arguments, "message", "");
    INTERCOM_RETURN_IF_ERROR(
        CheckLength("message", message, kMostBodyCharacters));
    if (IsBlank(message)) return Invalid("action steer needs message");
  }
  const bool opens =
      BoolOr(arguments, "run", false) || arguments.contains("label");
  for (const char* key : {"idleMs", "maxMs"}) {
    if (arguments.contains(key) && !opens) {
      return Invalid(std::string(key) + " goes with run");
    }
  }
  return absl::OkStatus();
}

// A wait takes every time, an ask does not.
absl::Status CheckTime(const Action& action, const Json& arguments) {
  const auto time = IntegerField(arguments, "timeoutMs");
  if (action.name != "ask" || !time.has_value() ||
      (*time >= kLeastAskMilliseconds && *time <= kMostAskMilliseconds)) {
    return absl::OkStatus();
  }
  return Invalid("timeoutMs of action ask must be " +
                 std::to_string(kLeastAskMilliseconds) + " to " +
                 std::to_string(kMostAskMilliseconds));
}

// What new messages are called. Others may be named by any id that finds them.
absl::Status CheckIds(const Action& action, const Json& arguments) {
  for (const char* key : {"messageId", "supersedes", "retryOf"}) {
    const auto id = StringField(arguments, key);
    if (!id.has_value() || action.name == "status") continue;
    if (action.name == "message") {
      INTERCOM_RETURN_IF_ERROR(CheckLength(key, *id, kMostIdCharacters));
      continue;
    }
    if (!CheckEnvelopeId(*id).ok()) {
      return Invalid(std::string(key) +
                     " must be 1 to 64 letters, digits and hyphens");
    }
  }
  return absl::OkStatus();
}

// How a pane would open does no harm where none does.
absl::Status CheckPane(const Json& arguments) {
  if (!BoolOr(arguments, "openProjectPaneIfMissing", false) ||
      arguments.contains("cwd")) {
    return absl::OkStatus();
  }
  return Invalid("openProjectPaneIfMissing needs cwd, the directory to open");
}

}  // namespace

std::vector<std::string> IntercomActionNames(bool supervises) {
  std::vector<std::string> names;
  for (const Action& action : kActions) {
    if (supervises || !action.is_for_supervisors) {
      names.emplace_back(action.name);
    }
  }
  return names;
}

Json WithoutEmpty(const Json& arguments) {
  Json kept = Json::object();
  for (const auto& [key, value] : arguments.items()) {
    const bool is_empty =
        value.is_null() ||
        (value.is_string() && value.get_ref<const std::string&>().empty()) ||
        (value.is_array() && value.empty()) ||
        ((key == "openProjectPaneIfMissing" || key == "run") && value == false);
    if (!is_empty) kept[key] = value;
  }
  return kept;
}

Json WithoutAliases(const Json& arguments) {
  Json named = arguments;
  const auto rename = [&named](const char* alias, const char* key) {
    if (!named.contains(alias) || named.contains(key)) return;
    named[key] = named[alias];
    named.erase(alias);
  };
  const std::string name = StringOr(arguments, "action", "");
  const Action* action = ActionNamed(name);
  if (action == nullptr) return named;
  const auto takes_run = [](std::string_view keys) {
    const std::vector<std::string> words = Words(keys);
    return std::find(words.begin(), words.end(), "runId") != words.end();
  };
  if (takes_run(action->required) || takes_run(action->optional)) {
    rename("to", "runId");
  }
  if (name == "reply") rename("askId", "replyTo");
  return named;
}

absl::Duration WaitTimeOf(const Json& arguments) {
  const auto time = IntegerField(arguments, "timeoutMs");
  if (!time.has_value()) return kLongestWait;
  return std::clamp(absl::Milliseconds(*time), kShortestWait, kLongestWait);
}

absl::Status CheckPeerArguments(const Json& arguments) {
  const Action* action = ActionNamed(StringOr(arguments, "action", ""));
  if (action == nullptr) return Invalid("there is no such action");
  INTERCOM_RETURN_IF_ERROR(CheckTaken(*action, arguments));
  INTERCOM_RETURN_IF_ERROR(CheckIds(*action, arguments));
  INTERCOM_RETURN_IF_ERROR(CheckPane(arguments));
  INTERCOM_RETURN_IF_ERROR(CheckRun(*action, arguments));
  INTERCOM_RETURN_IF_ERROR(CheckTime(*action, arguments));
  if ((action->name == "send" || action->name == "ask") &&
      !arguments.contains("to") && !arguments.contains("cwd") &&
      (action->name == "ask" || !arguments.contains("replyTo"))) {
    return Invalid("action " + std::string(action->name) +
                   " needs to, the session; or cwd, where only one is" +
                   (action->name == "send" ? "; or replyTo" : ""));
  }
  return absl::OkStatus();
}

}  // namespace intercom
