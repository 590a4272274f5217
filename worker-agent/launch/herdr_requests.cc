#include "worker-agent/launch/herdr_requests.h"

#include <algorithm>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "worker-agent/launch/command_runner.h"

namespace intercom::herdr {
namespace {

using Json = nlohmann::json;

absl::Status Unreadable(std::string_view what) {
  return Error(
      absl::StatusCode::kUnavailable, "HERDR_UNREADABLE",
      "Herdr answered something else than expected: " + SafeLabel(what, 300));
}

std::string Shown(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Herdr's command line looks for options among a label's words as well.
std::string LabelWord(const std::string& label) {
  return label.starts_with('-') ? " " + label : label;
}

// A text that is there and not empty; "" otherwise.
std::string Text(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>()
                                                   : "";
}

// A positive number; 0 if it is absent. Negative if it is something else.
int64_t Number(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || found->is_null()) return 0;
  return found->is_number_unsigned() ? found->get<int64_t>() : -1;
}

const Json& At(const Json& json, const char* name) {
  static const Json kNothing = Json::object();
  const auto found = json.find(name);
  return found != json.end() && found->is_object() ? *found : kNothing;
}

absl::StatusOr<v1::Pane> MakePane(const Json& result,
                                  const std::string& workspace,
                                  const std::string& tab,
                                  const std::string& pane,
                                  const std::string& terminal) {
  if (workspace.empty() || tab.empty() || pane.empty()) {
    return Unreadable(Shown(result));
  }
  v1::Pane out;
  out.set_launcher("herdr");
  out.set_workspace(workspace);
  out.set_tab(tab);
  out.set_pane(pane);
  out.set_terminal(terminal);
  return out;
}

std::string Upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') {
      c = static_cast<char>(c - 'a' + 'A');
    } else if (!(c >= '0' && c <= '9')) {
      c = '_';
    }
  }
  return text;
}

}  // namespace

Request ApplyLayout(const std::string& workspace, const std::string& directory,
                    const std::string& label,
                    const std::vector<std::string>& command, bool focus) {
  return {.method = "layout.apply",
          .params =
              {{"workspace_id", workspace},
               {"tab_label", label},
               {"focus", focus},
               {"root",
                {{"type", "pane"}, {"cwd", directory}, {"command", command}}}},
          .words = {},
          .result_type = "layout_apply"};
}

Request CreateTab(const std::string& workspace, const std::string& directory,
                  const std::string& label, bool focus) {
  Request request = {.method = "tab.create",
                     .params = {{"workspace_id", workspace},
                                {"cwd", directory},
                                {"label", label},
                                {"focus", focus}},
                     .words = {"tab", "create", "--workspace", workspace,
                               "--cwd", directory, "--label", LabelWord(label)},
                     .result_type = "tab_created"};
  if (!focus) request.words.push_back("--no-focus");
  return request;
}

Request RenameTab(const std::string& tab, const std::string& label) {
  return {.method = "tab.rename",
          .params = {{"tab_id", tab}, {"label", label}},
          .words = {"tab", "rename", tab, LabelWord(label)},
          .result_type = "tab_info"};
}

Request RunLine(const std::string& pane, const std::string& line) {
  return {.method = "pane.send_input",
          .params = {{"pane_id", pane},
                     {"text", line},
                     {"keys", Json::array({"Enter"})}},
          .words = {"pane", "run", pane, line},
          .result_type = "ok"};
}

Request GetPane(const std::string& pane) {
  return {.method = "pane.get",
          .params = {{"pane_id", pane}},
          .words = {"pane", "get", pane},
          .result_type = "pane_info"};
}

Request ProcessInfo(const std::string& pane) {
  return {.method = "pane.process_info",
          .params = {{"pane_id", pane}},
          .words = {"pane", "process-info", "--pane", pane},
          .result_type = "pane_process_info"};
}

Request ClosePane(const std::string& pane) {
  return {.method = "pane.close",
          .params = {{"pane_id", pane}},
          .words = {"pane", "close", pane},
          .result_type = "ok"};
}

Request SplitPane(const std::string& pane, const std::string& directory) {
  return {.method = "pane.split",
          .params = {{"target_pane_id", pane},
                     {"direction", "down"},
                     {"ratio", 0.25},
                     {"cwd", directory},
                     {"focus", false}},
          .words = {"pane", "split", "--pane", pane, "--direction", "down",
                    "--ratio", "0.25", "--cwd", directory, "--no-focus"},
          .result_type = "pane_info"};
}

Request RenamePane(const std::string& pane, const std::string& label) {
  return {.method = "pane.rename",
          .params = {{"pane_id", pane}, {"label", label}},
          .words = {"pane", "rename", pane, LabelWord(label)},
          .result_type = "pane_info"};
}

Request SwapPanes(const std::string& source, const std::string& target) {
  return {.method = "pane.swap",
          .params = {{"source_pane_id", source}, {"target_pane_id", target}},
          .words = {"pane", "swap", "--source-pane", source, "--target-pane",
                    target},
          .result_type = "pane_swap"};
}

absl::StatusOr<v1::Pane> ParseNewPane(const Json& result) {
  if (const Json& layout = At(result, "layout"); !layout.empty()) {
    const Json& root = At(layout, "root");
    if (Text(root, "type") != "pane") return Unreadable(Shown(result));
    return MakePane(result, Text(layout, "workspace_id"),
                    Text(layout, "tab_id"), Text(root, "pane_id"), "");
  }
  const Json& pane = At(result, "root_pane");
  return MakePane(result, Text(pane, "workspace_id"),
                  Text(At(result, "tab"), "tab_id"), Text(pane, "pane_id"),
                  Text(pane, "terminal_id"));
}

absl::StatusOr<v1::Pane> ParsePane(const Json& result) {
  const Json& pane = At(result, "pane");
  return MakePane(result, Text(pane, "workspace_id"), Text(pane, "tab_id"),
                  Text(pane, "pane_id"), Text(pane, "terminal_id"));
}

absl::StatusOr<Processes> ParseProcesses(const Json& result) {
  const Json& info = At(result, "process_info");
  const Processes processes = {
      .shell_pid = Number(info, "shell_pid"),
      .foreground_group = Number(info, "foreground_process_group_id")};
  if (Text(info, "pane_id").empty() || processes.shell_pid < 0 ||
      processes.foreground_group < 0) {
    return Unreadable(Shown(result));
  }
  return processes;
}

absl::StatusOr<Json> ParseAnswer(std::string_view line, std::string_view id,
                                 const std::string& result_type) {
  Json answer = Json::parse(line.begin(), line.end(), nullptr, false);
  if (!answer.is_object()) return Unreadable(line);
  // An answer to what Herdr can't read has an empty id.
  const std::string answered = Text(answer, "id");
  if (!id.empty() && answered != id &&
      !(answered.empty() && answer.contains("error"))) {
    return Unreadable(line);
  }
  if (const Json& error = At(answer, "error"); !error.empty()) {
    const std::string code = Text(error, "code");
    if (code.empty()) return Unreadable(line);
    // These may come after it was done.
    const bool uncertain = code == "server_unavailable" ||
                           code == "layout_apply_failed" || code == "timeout";
    return Error(uncertain ? absl::StatusCode::kUnavailable
                           : absl::StatusCode::kFailedPrecondition,
                 "HERDR_" + Upper(code),
                 "Herdr said: " + SafeLabel(Text(error, "message"), 300) +
                     " (" + SafeLabel(code) + ")");
  }
  if (Text(At(answer, "result"), "type") != result_type) {
    return Unreadable(line);
  }
  return std::move(answer["result"]);
}

std::string SocketPath(const Environment& environment) {
  if (std::string set = ValueOf(environment, "HERDR_SOCKET_PATH");
      !set.empty()) {
    return set;
  }
  std::string directory = ValueOf(environment, "XDG_CONFIG_HOME");
  if (directory.empty()) {
    directory = ValueOf(environment, "HOME");
    if (directory.empty()) return "";
    directory += "/.config";
  }
  directory += "/herdr";
  const std::string session = ValueOf(environment, "HERDR_SESSION");
  if (!session.empty() && session != "default" &&
      session.find('/') == std::string::npos) {
    directory += "/sessions/" + session;
  }
  return directory + "/herdr.sock";
}

}  // namespace intercom::herdr
