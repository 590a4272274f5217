#include "worker-agent/launch/herdr_client.h"

#include <utility>
#include <vector>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "worker-agent/launch/unix_socket.h"

namespace intercom {
namespace {

using Json = nlohmann::json;

// One request a connection: any id will do.
constexpr char kId[] = "intercom";

absl::Status Unreachable(const std::string& why) {
  return Error(absl::StatusCode::kNotFound, "HERDR_UNREACHABLE", why);
}

// The JSON line in what a command printed.
std::string JsonLine(const std::string& text) {
  const size_t start = text.starts_with('{') ? 0 : text.find("\n{") + 1;
  if (start == 0 && !text.starts_with('{')) return "";
  return text.substr(start, text.find('\n', start) - start);
}

}  // namespace

HerdrClient::HerdrClient(const CommandRunner& runner, std::string socket)
    : runner_(runner),
      socket_(socket.empty() ? herdr::SocketPath(runner.environment())
                             : std::move(socket)) {}

bool HerdrClient::HasSocket() const { return SomebodyListens(socket_); }

absl::StatusOr<Json> HerdrClient::Ask(const herdr::Request& request) const {
  std::string line;
  try {
    line = Json({{"id", kId},
                 {"method", request.method},
                 {"params", request.params}})
               .dump();
  } catch (const Json::exception&) {
    return Unreachable("a text that Herdr was to get is not UTF-8");
  }
  const absl::StatusOr<std::string> answer = AskSocket(socket_, line, runner_);
  if (answer.ok()) {
    return herdr::ParseAnswer(*answer, kId, request.result_type);
  }
  if (!absl::IsNotFound(answer.status())) return answer.status();
  if (request.words.empty()) return Unreachable(MessageOf(answer.status()));
  return AskProgram(request);
}

absl::StatusOr<Json> HerdrClient::AskProgram(
    const herdr::Request& request) const {
  Environment environment = runner_.environment();
  environment["HERDR_SOCKET_PATH"] = socket_;
  std::string program = "herdr";
  if (!FindProgram(program, environment).ok()) {
    const std::string set = ValueOf(environment, "HERDR_BIN_PATH");
    if (!set.empty()) program = set;
  }
  std::vector<std::string> argv = {program};
  argv.insert(argv.end(), request.words.begin(), request.words.end());
  const absl::StatusOr<CommandOutput> output =
      runner_.With(std::move(environment)).Run(argv);
  if (absl::IsNotFound(output.status())) {
    return Unreachable("nobody answers at " + socket_ + ", and " +
                       MessageOf(output.status()));
  }
  INTERCOM_RETURN_IF_ERROR(output.status());
  if (output->exit_code == 0) {
    if (request.result_type == "ok" && output->out.empty()) {
      return Json({{"type", "ok"}});
    }
    return herdr::ParseAnswer(JsonLine(output->out), "", request.result_type);
  }
  if (const std::string said = JsonLine(output->err); !said.empty()) {
    absl::StatusOr<Json> parsed =
        herdr::ParseAnswer(said, "", request.result_type);
    if (ReasonOf(parsed.status()) == "HERDR_SERVER_NOT_RUNNING") {
      return Unreachable(MessageOf(parsed.status()));
    }
    // It failed, whatever it printed.
    if (!parsed.ok()) return parsed.status();
  }
  return Error(absl::StatusCode::kUnavailable, "HERDR_FAILED",
               "herdr " + request.words[0] + " " + request.words[1] +
                   " failed with exit code " +
                   std::to_string(output->exit_code) + ": " +
                   SafeLabel(output->err, 300));
}

}  // namespace intercom
