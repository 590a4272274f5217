#include "worker-agent/host/json_rpc.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/log.h"
#include "broker/domain/fence.h"
#include "worker-agent/host/line_splitter.h"
#include "worker-agent/host/rpc_error.h"

namespace intercom {
namespace {

constexpr int kMaxUnhandled = 256;
constexpr size_t kReadBytes = 64 << 10;

bool IsId(const Json& id) { return id.is_string() || id.is_number_integer(); }

}  // namespace

JsonRpc::JsonRpc(int in, int out, TaskRunner& runner, Events events,
                 LineWriter::Limits limits)
    : in_(in),
      runner_(runner),
      events_(std::move(events)),
      stop_fd_(eventfd(0, EFD_CLOEXEC)),
      writer_(out, limits,
              {.blocked_changed = [this] { Post([this] { TellBlocked(); }); },
               .broken = [this] { Post([this] { Close(); }); }}),
      reader_([this] { Read(); }) {}

JsonRpc::~JsonRpc() {
  *alive_ = false;
  {
    MutexLock lock(mu_);
    stopping_ = true;
    handled_.NotifyAll();
  }
  eventfd_write(stop_fd_, 1);
  reader_.join();
  close(stop_fd_);
}

void JsonRpc::Post(std::function<void()> task) {
  runner_.PostTask([alive = alive_, task = std::move(task)] {
    if (*alive) task();
  });
}

void JsonRpc::TellBlocked() {
  const bool blocked = writer_.blocked();
  if (closed_ || std::exchange(told_blocked_, blocked) == blocked) return;
  events_.blocked(blocked);
}

void JsonRpc::Notify(std::string_view method, const Json& params) {
  Send({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
}

void JsonRpc::Request(std::string_view method, const Json& params,
                      Respond answer) {
  if (closed_) {
    answer(Error(absl::StatusCode::kCancelled, "HOST_GONE", "the host ended"));
    return;
  }
  const int64_t id = next_id_++;
  open_[id] = std::move(answer);
  Send(
      {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
}

void JsonRpc::Send(const Json& message) {
  if (closed_) return;
  std::string line = ToLine(message);
  if (line.size() >= LineSplitter::kMaxLineBytes) {
    SPDLOG_ERROR("a message of {} bytes is too long for the host; dropped",
                 line.size());
    return;
  }
  writer_.Write(std::move(line));
}

void JsonRpc::Read() {
  LineSplitter splitter([this](std::string_view line) { ReadLine(line); },
                        [](size_t bytes) {
                          SPDLOG_ERROR(
                              "protocol: a line of {} bytes from the "
                              "host is over the limit; dropped",
                              bytes);
                        });
  std::string buffer(kReadBytes, '\0');
  while (true) {
    pollfd fds[] = {{in_, POLLIN, 0}, {stop_fd_, POLLIN, 0}};
    if (poll(fds, 2, -1) < 0 && errno != EINTR) break;
    if (fds[1].revents != 0) return;
    if (fds[0].revents == 0) continue;
    const ssize_t count = read(in_, buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) break;
    splitter.Feed(std::string_view(buffer).substr(0, count));
  }
  if (splitter.pending_bytes() > 0) {
    SPDLOG_ERROR("protocol: the host's last line was cut off after {} bytes",
                 splitter.pending_bytes());
  }
  Post([this] { Close(); });
}

void JsonRpc::ReadLine(std::string_view line) {
  if (!CountCharacters(line).has_value()) {
    SPDLOG_ERROR("protocol: a line of {} bytes from the host is not UTF-8",
                 line.size());
    return;
  }
  Json message = ParseJson(line);
  if (message.is_discarded()) {
    SPDLOG_ERROR("protocol: a line of {} bytes from the host is not JSON",
                 line.size());
    return;
  }
  {
    MutexLock lock(mu_);
    while (unhandled_ >= kMaxUnhandled && !stopping_) handled_.Wait(mu_);
    if (stopping_) return;
    ++unhandled_;
  }
  Post([this, message = std::move(message)]() mutable {
    {
      MutexLock lock(mu_);
      --unhandled_;
      handled_.NotifyAll();
    }
    if (!closed_) Handle(std::move(message));
  });
}

void JsonRpc::Handle(Json message) {
  const Json id = Field(message, "id");
  const std::optional<std::string> method = StringField(message, "method");
  const bool has_id = message.is_object() && message.contains("id");
  if (!method.has_value() && has_id &&
      (message.contains("result") || message.contains("error"))) {
    return HandleAnswer(message);
  }
  const Json& params = Field(message, "params");
  if (!method.has_value() || (has_id && !IsId(id)) ||
      StringOr(message, "jsonrpc", "") != "2.0" ||
      !(params.is_object() || params.is_null())) {
    SPDLOG_ERROR("protocol: a message from the host is no JSON-RPC 2.0");
    if (IsId(id)) Send(RpcErrorMessage(id, kRpcInvalidRequest, "bad request"));
    return;
  }
  Json taken = params.is_null() ? Json::object() : std::move(message["params"]);
  if (!has_id) return events_.notification(*method, std::move(taken));
  auto answered = std::make_shared<bool>(false);
  events_.request(
      *method, std::move(taken),
      [this, alive = alive_, answered, id](absl::StatusOr<Json> result) {
        if (!*alive || *answered) return;
        *answered = true;
        if (result.ok()) {
          Send(
              {{"jsonrpc", "2.0"}, {"id", id}, {"result", *std::move(result)}});
        } else {
          Send(RpcErrorMessage(id, result.status()));
        }
      });
}

void JsonRpc::HandleAnswer(const Json& message) {
  const std::optional<int64_t> id = IntegerField(message, "id");
  const auto found = id.has_value() ? open_.find(*id) : open_.end();
  if (found == open_.end()) {
    SPDLOG_WARN("protocol: the host answered an unknown request");
    return;
  }
  Respond answer = std::move(found->second);
  open_.erase(found);
  if (message.contains("error")) {
    answer(StatusOfRpcError(Field(message, "error")));
  } else {
    answer(Field(message, "result"));
  }
}

void JsonRpc::Close() {
  if (closed_) return;
  closed_ = true;
  const auto open = std::exchange(open_, {});
  for (const auto& [id, answer] : open) {
    answer(Error(absl::StatusCode::kCancelled, "HOST_GONE", "the host ended"));
  }
  events_.closed();
}

}  // namespace intercom
