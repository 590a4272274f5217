#include "worker-agent/headless/hosted_session.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "broker/base/error.h"
#include "broker/base/log.h"
#include "broker/base/status_macros.h"
#include "worker-agent/headless/host_input.h"
#include "worker-agent/headless/output_ring.h"
#include "worker-agent/headless/rpc_transcript.h"
#include "worker-agent/headless/view_server.h"
#include "worker-agent/host/line_splitter.h"

namespace intercom {
namespace {

// From the first signal until the guard ends the host.
constexpr absl::Duration kOrderlyEnd = absl::Seconds(5);
// For viewers, once the host has ended.
constexpr absl::Duration kLastWords = absl::Milliseconds(500);
constexpr char kAbortId[] = "intercom-abort";

int TakeSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    sigaddset(&signals, number);
  }
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

// Takes what is there. False at the end.
template <typename Take>
bool Drain(int fd, Take take) {
  char bytes[64 << 10];
  while (true) {
    const ssize_t count = read(fd, bytes, sizeof(bytes));
    if (count > 0) {
      take(std::string_view(bytes, static_cast<size_t>(count)));
      // Viewers are served in between.
      if (count < static_cast<ssize_t>(sizeof(bytes))) continue;
      return true;
    }
    if (count < 0 && errno == EINTR) continue;
    return count < 0 && errno == EAGAIN;
  }
}

}  // namespace

class HostedSession::Loop {
 public:
  Loop(std::string socket, int signals)
      : socket_(std::move(socket)), signals_(signals) {}
  ~Loop() { close(signals_); }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  absl::Status Start(const GuardedCommand& command) {
    INTERCOM_ASSIGN_OR_RETURN(ViewServer views,
                              ViewServer::Listen(socket_, ring_));
    views_.emplace(std::move(views));
    INTERCOM_ASSIGN_OR_RETURN(GuardedProcess process,
                              GuardedProcess::Start(command));
    process_.emplace(std::move(process));
    fcntl(process_->in(), F_SETFL, fcntl(process_->in(), F_GETFL) | O_NONBLOCK);
    SPDLOG_INFO("host {} runs in {}", process_->pid(), command.directory);
    return absl::OkStatus();
  }

  int Run() {
    while (!IsOver()) {
      Wait();
      HandleTime();
    }
    // What it wrote last is in the pipes.
    HearOut();
    HearErr();
    const int code = ExitCode();
    SPDLOG_INFO("the host ended with {}{}", code,
                last_error_.empty() ? "" : ": " + last_error_);
    Show(transcript_.Note("the worker's host ended with exit code " +
                          std::to_string(code)));
    SayLastWords();
    return code;
  }

  int64_t host_pid() const { return process_->pid(); }
  const std::string& socket() const { return socket_; }

 private:
  bool IsOver() const { return gone_ || process_->status().has_value(); }

  int ExitCode() const {
    if (!process_->status().has_value()) return 1;
    const int status = *process_->status();
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  void Wait() {
    std::vector<pollfd> waiting = {
        {signals_, POLLIN, 0},
        {process_->guard(), POLLIN, 0},
        {process_->out(), POLLIN, 0},
        {process_->err(), POLLIN, 0},
        {input_.empty() ? -1 : process_->in(), POLLOUT, 0}};
    views_->AddTo(waiting);
    poll(waiting.data(), waiting.size(), Patience());
    signalfd_siginfo received;
    while (read(signals_, &received, sizeof(received)) == sizeof(received)) {
      HandleSignal();
    }
    gone_ = process_->ReadGuard();
    if (process_->out() >= 0) HearOut();
    if (process_->err() >= 0) HearErr();
    SendWaiting();
    views_->Serve();
  }

  int Patience() const {
    if (!end_at_.has_value() || *end_at_ == absl::InfiniteDuration()) {
      return -1;
    }
    const absl::Duration left = *end_at_ - clock_.Steady();
    return static_cast<int>(
               std::max<int64_t>(0, absl::ToInt64Milliseconds(left))) +
           1;
  }

  void HandleSignal() {
    if (end_at_.has_value()) return process_->End();
    end_at_ = clock_.Steady() + kOrderlyEnd;
    Show(transcript_.Note("asked to end"));
    Send(R"({"type":"clear_queue"})");
    Send(std::string(R"({"type":"abort","id":")") + kAbortId + "\"}");
  }

  void HandleTime() {
    if (!end_at_.has_value() || clock_.Steady() < *end_at_) return;
    process_->End();
    // It says when all have ended.
    end_at_ = absl::InfiniteDuration();
  }

  void HearOut() {
    const bool open = Drain(
        process_->out(), [this](std::string_view bytes) { out_.Feed(bytes); });
    if (!open) process_->CloseOut();
  }

  void HearErr() {
    const bool open = Drain(
        process_->err(), [this](std::string_view bytes) { err_.Feed(bytes); });
    if (!open) process_->CloseErr();
  }

  void HandleLine(std::string_view line) {
    const RpcTranscript::Heard heard = transcript_.Take(line);
    Show(heard.text);
    if (!heard.reply.empty()) Send(heard.reply);
    // All of its work is cancelled: the end of its input is its end.
    if (heard.answered == kAbortId) CloseInput();
  }

  void HandleErrorLine(std::string_view line) {
    Show(transcript_.Error(line));
    last_error_ = line.substr(0, 500);
  }

  void Show(const std::string& text) { ring_.Append(text); }

  void Send(const std::string& line) {
    if (process_->in() < 0) return;
    if (!input_.Add(line)) return HandleStuckHost();
    SendWaiting();
  }

  // It asks and asks, and reads no answer: nothing could tell it to end.
  void HandleStuckHost() {
    if (std::exchange(stuck_, true)) return;
    SPDLOG_ERROR("the host reads nothing of {} bytes: it is ended",
                 HostInput::kMostBytes);
    Show(transcript_.Note("the worker's host does not read its input: ended"));
    process_->End();
    end_at_ = absl::InfiniteDuration();
  }

  void SendWaiting() {
    if (process_->in() < 0) return;
    const bool is_open = input_.Write(process_->in());
    if (!is_open || (input_.empty() && closing_)) process_->CloseIn();
  }

  void CloseInput() {
    closing_ = true;
    SendWaiting();
  }

  void SayLastWords() {
    const absl::Duration give_up = clock_.Steady() + kLastWords;
    while (true) {
      views_->Serve();
      if (views_->IsCaughtUp() || clock_.Steady() >= give_up) return;
      std::vector<pollfd> waiting;
      views_->AddTo(waiting);
      poll(waiting.data(), waiting.size(), 50);
    }
  }

  const std::string socket_;
  const int signals_;
  const SystemClock clock_;
  OutputRing ring_;
  RpcTranscript transcript_;
  std::optional<ViewServer> views_;
  std::optional<GuardedProcess> process_;
  LineSplitter out_{[this](std::string_view line) { HandleLine(line); },
                    [this](size_t bytes) { Show(transcript_.TooLong(bytes)); }};
  LineSplitter err_{[this](std::string_view line) { HandleErrorLine(line); },
                    [this](size_t bytes) { Show(transcript_.TooLong(bytes)); }};
  HostInput input_;
  std::string last_error_;
  bool closing_ = false;
  bool stuck_ = false;
  bool gone_ = false;
  // After the first signal: when the guard is to end the host.
  std::optional<absl::Duration> end_at_;
};

absl::StatusOr<HostedSession> HostedSession::Start(
    const GuardedCommand& command, const std::string& socket) {
  const int signals = TakeSignals();
  if (signals < 0) return ErrnoError(errno, "signalfd");
  auto loop = std::make_unique<Loop>(socket, signals);
  INTERCOM_RETURN_IF_ERROR(loop->Start(command));
  return HostedSession(std::move(loop));
}

HostedSession::HostedSession(std::unique_ptr<Loop> loop)
    : loop_(std::move(loop)) {}
HostedSession::HostedSession(HostedSession&&) noexcept = default;
HostedSession::~HostedSession() = default;

int64_t HostedSession::host_pid() const { return loop_->host_pid(); }
const std::string& HostedSession::socket() const { return loop_->socket(); }
int HostedSession::Run() { return loop_->Run(); }

}  // namespace intercom
