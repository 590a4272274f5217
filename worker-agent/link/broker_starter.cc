#include "worker-agent/link/broker_starter.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "broker/base/clock.h"
#include "broker/base/error.h"
#include "broker/base/home.h"
#include "broker/base/lock_file.h"
#include "broker/base/log.h"
#include "broker/base/status_macros.h"
#include "worker-agent/link/broker_address.h"
#include "worker-agent/link/broker_process.h"
#include "worker-agent/link/channel.h"
#include "worker-agent/link/directory_watch.h"

namespace intercom {
namespace {

// The state directory is private: it holds the token and the socket.
absl::Status MakeHome(const std::string& home) {
  std::error_code failed;
  const std::filesystem::path path(home);
  std::filesystem::create_directories(path.parent_path(), failed);
  if (!failed && mkdir(home.c_str(), 0700) != 0 && errno != EEXIST) {
    failed = std::error_code(errno, std::generic_category());
  }
  if (failed) return ErrnoError(failed.value(), home);
  return absl::OkStatus();
}

}  // namespace

BrokerStarter::BrokerStarter(Options options) : options_(std::move(options)) {}

absl::Status BrokerStarter::Ensure() {
  INTERCOM_RETURN_IF_ERROR(CheckSocketPath(SocketPath(options_.home)));
  if (SocketAnswers()) {
    const absl::Status health = CheckHolder();
    // A broker that left meanwhile is replaced.
    if (health.ok() || SocketAnswers()) return health;
  }
  INTERCOM_RETURN_IF_ERROR(MakeHome(options_.home));
  const SystemClock clock;
  const absl::Duration deadline =
      clock.Steady() + options_.start_timeout + options_.health_timeout;
  DirectoryWatch watch(options_.home);
  while (true) {
    const absl::StatusOr<std::unique_ptr<LockFile>> lock =
        LockFile::TryAcquire(StartLockPath(options_.home));
    if (lock.ok()) {
      const absl::Status started = StartUnlessRunning();
      // It may have been killed by chance: that is worth a second attempt.
      return ReasonOf(started) == "BROKER_DIED" ? StartUnlessRunning()
                                                : started;
    }
    if (ReasonOf(lock.status()) != "LOCKED") return lock.status();
    if (SocketAnswers()) return CheckHolder();
    const absl::Duration left = deadline - clock.Steady();
    if (left <= absl::ZeroDuration()) {
      return Error(
          absl::StatusCode::kUnavailable, "START_LOCKED",
          "process " +
              std::to_string(LockFile::Holder(StartLockPath(options_.home))) +
              " has been starting the broker for too long");
    }
    watch.Wait(left);
  }
}

absl::Status BrokerStarter::StartUnlessRunning() {
  const SystemClock clock;
  const absl::Duration deadline = clock.Steady() + options_.health_timeout;
  DirectoryWatch watch(options_.home);
  // A broker without its socket is on its way in or out.
  while (!SocketAnswers()) {
    if (LockFile::Holder(BrokerLockPath(options_.home)) == 0) {
      std::string program = options_.program;
      if (program.empty()) {
        INTERCOM_ASSIGN_OR_RETURN(program, FindBroker());
      }
      INTERCOM_ASSIGN_OR_RETURN(
          const int port,
          StartBrokerProcess(program, options_.home, options_.workspace,
                             options_.start_timeout));
      SPDLOG_INFO("started the broker, port {}", port);
      return absl::OkStatus();
    }
    const absl::Duration left = deadline - clock.Steady();
    if (left <= absl::ZeroDuration()) return HungError();
    watch.Wait(left);
  }
  return CheckHolder();
}

bool BrokerStarter::SocketAnswers() const {
  const std::string path = SocketPath(options_.home);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  // Not blocking: a hung broker's backlog may be full, which counts as there.
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  const bool answers = connect(fd, reinterpret_cast<sockaddr*>(&address),
                               sizeof(address)) == 0 ||
                       errno == EAGAIN;
  close(fd);
  return answers;
}

absl::Status BrokerStarter::CheckHolder() const {
  const absl::Status health = CheckHealth(
      MakeChannel(UnixAddress(options_.home)), options_.health_timeout);
  if (absl::IsDeadlineExceeded(health)) return HungError();
  return health;
}

absl::Status BrokerStarter::HungError() const {
  const int64_t holder = LockFile::Holder(BrokerLockPath(options_.home));
  return Error(absl::StatusCode::kUnavailable, "BROKER_HUNG",
               "the broker" +
                   (holder == 0 ? std::string()
                                : " (process " + std::to_string(holder) + ")") +
                   " does not answer within " +
                   absl::FormatDuration(options_.health_timeout) +
                   "; replace it with: intercom broker restart");
}

}  // namespace intercom
