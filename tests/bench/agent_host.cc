#include "tests/bench/agent_host.h"

#include <signal.h>
#include <unistd.h>

#include <utility>

namespace intercom::bench {
namespace {

using nlohmann::json;

json Notification(const char* method, json params) {
  return {
      {"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

json Request(json id, const char* method, json params) {
  json message = Notification(method, std::move(params));
  message["id"] = std::move(id);
  return message;
}

// Unique for the session, of the length of a UUID.
std::string CallId(int number) {
  const std::string digits = std::to_string(number);
  return std::string(36 - digits.size(), '0') + digits;
}

}  // namespace

AgentHost::AgentHost(const Options& options)
    : process_(Process::Start({options.program, "--log-level", "warn"},
                              {"PI_INTERCOM_HOME=" + options.home},
                              options.log)) {
  reader_ = std::thread([this] { Read(); });
  Write(Request(
      "initialize", "initialize",
      {{"protocolVersion", 1},
       {"sessionId", options.session_id},
       {"cwd", options.directory},
       {"host",
        {{"kind", "pi"}, {"version", "0"}, {"pid", getpid()}, {"mode", "tui"}}},
       {"startReason", "startup"},
       {"workspaceMode", "existing"}}));
}

AgentHost::~AgentHost() {
  Write(Notification("goodbye", {{"reason", "quit"}}));
  // The agent ends and its output with it.
  reader_.join();
}

void AgentHost::WaitUntilConnected() {
  connected_.WaitFor(1, "an attached agent");
}

void AgentHost::SetOnDelivery(std::function<void()> on_delivery) {
  MutexLock lock(mu_);
  on_delivery_ = std::move(on_delivery);
}

void AgentHost::Send(const std::string& to, const std::string& text) {
  const std::string id = CallId(++calls_);
  Write(Request(id, "tools/call",
                {{"name", "intercom_send"},
                 {"arguments", {{"to", to}, {"message", text}}},
                 {"callId", id}}));
}

pid_t AgentHost::broker_pid() {
  MutexLock lock(mu_);
  return broker_pid_;
}

void AgentHost::Read() {
  std::string input;
  char bytes[65536];
  ssize_t got = 0;
  while ((got = read(process_->out(), bytes, sizeof(bytes))) > 0) {
    input.append(bytes, static_cast<size_t>(got));
    for (size_t end = input.find('\n'); end != std::string::npos;
         end = input.find('\n')) {
      const json message = json::parse(input.substr(0, end), nullptr, false);
      input.erase(0, end + 1);
      if (message.is_discarded()) Die("an agent wrote no JSON");
      Dispatch(message);
    }
  }
}

void AgentHost::Dispatch(const json& message) {
  const std::string method = message.value("method", "");
  if (method.empty()) {
    if (message.contains("error") ||
        message["result"].value("isError", false)) {
      Die("an agent refused a call: " + message.dump());
    }
    return;
  }
  const json& params = message["params"];
  if (method == "deliver") {
    std::function<void()> on_delivery;
    {
      MutexLock lock(mu_);
      on_delivery = on_delivery_;
    }
    if (on_delivery) on_delivery();
    Write(Notification("receipt", {{"deliveryId", params["deliveryId"]},
                                   {"event", "injected"},
                                   {"evidence", "bench"}}));
  } else if (method == "reconcile") {
    Write({{"jsonrpc", "2.0"},
           {"id", message["id"]},
           {"result", {{"present", params["deliveryIds"]}}}});
  } else if (method == "session") {
    if (params.contains("entry") && !params.value("loaded", false)) {
      Write(Notification("responsibility/loaded",
                         {{"entryHash", params["entry"]["hash"]}}));
    }
    bool now_connected = false;
    {
      MutexLock lock(mu_);
      if (params.value("connection", "") == "connected") {
        now_connected = !std::exchange(is_connected_, true);
      }
      if (params.contains("endpoint")) {
        broker_pid_ = params["endpoint"].value("brokerPid", 0);
      }
    }
    if (now_connected) connected_.Count();
  }
}

void AgentHost::Write(const json& message) {
  const std::string line = message.dump() + "\n";
  MutexLock lock(write_mu_);
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t wrote =
        write(process_->in(), line.data() + done, line.size() - done);
    if (wrote < 0) Die("an agent is gone");
    done += static_cast<size_t>(wrote);
  }
}

}  // namespace intercom::bench
