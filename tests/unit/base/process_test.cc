#include "broker/base/process.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace intercom {
namespace {

using ::testing::Each;
using ::testing::Gt;
using ::testing::IsEmpty;

// `sleep` with its own environment, killed at the end.
class Sleeper {
 public:
  explicit Sleeper(std::vector<std::string> environment = {}) {
    std::vector<char*> variables;
    for (std::string& variable : environment) {
      variables.push_back(variable.data());
    }
    variables.push_back(nullptr);
    std::string name = "sleep";
    std::string seconds = "600";
    char* arguments[] = {name.data(), seconds.data(), nullptr};
    if (posix_spawn(&pid_, "/bin/sleep", nullptr, nullptr, arguments,
                    variables.data()) != 0) {
      std::abort();
    }
    // The kernel may still be filling in what it was started with.
    while (!environment.empty() && !HasEnvironment()) sched_yield();
  }
  ~Sleeper() { Kill(); }
  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  pid_t pid() const { return pid_; }

 private:
  bool HasEnvironment() const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/environ");
    return file.get() != std::ifstream::traits_type::eof();
  }

  pid_t pid_ = 0;
};

TEST(ProcessTest, AncestryIsNearestFirstWithoutPidOne) {
  const Sleeper child;
  const std::vector<int64_t> ancestry = Ancestry(child.pid());
  ASSERT_GE(ancestry.size(), 2u);
  EXPECT_EQ(ancestry[0], child.pid());
  EXPECT_EQ(ancestry[1], getpid());
  EXPECT_THAT(ancestry, Each(Gt(1)));
}

TEST(ProcessTest, AncestryIsBounded) {
  // A chain of 70 processes whose last one looks at itself.
  int out[2];
  ASSERT_EQ(pipe(out), 0);
  const pid_t first = fork();
  if (first == 0) {
    for (int depth = 0; depth < 70; ++depth) {
      const pid_t next = fork();
      if (next == 0) continue;
      waitpid(next, nullptr, 0);
      _exit(0);
    }
    const char size = static_cast<char>(Ancestry(getpid()).size());
    _exit(write(out[1], &size, 1) == 1 ? 0 : 1);
  }
  char size = 0;
  ASSERT_EQ(read(out[0], &size, 1), 1);
  waitpid(first, nullptr, 0);
  close(out[0]);
  close(out[1]);
  EXPECT_EQ(size, 64);
}

TEST(ProcessTest, NobodyHasNoAncestors) {
  EXPECT_THAT(Ancestry(0), IsEmpty());
  EXPECT_THAT(Ancestry(1), IsEmpty());
}

TEST(ProcessTest, ReadsTheEnvironmentWithWhichAProcessWasStarted) {
  const Sleeper child(
      {"XPI_INTERCOM_SESSION=wrong", "PI_INTERCOM_SESSION=s=1", "EMPTY="});
  EXPECT_EQ(EnvironmentOf(child.pid(), "PI_INTERCOM_SESSION"), "s=1");
  EXPECT_EQ(EnvironmentOf(child.pid(), "EMPTY"), "");
  EXPECT_EQ(EnvironmentOf(child.pid(), "PI_INTERCOM"), "");
  EXPECT_EQ(EnvironmentOf(child.pid(), "ABSENT"), "");
}

// A socket that listens on a free port of 127.0.0.1.
struct Listener {
  Listener() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(descriptor, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(descriptor, 1), 0);
    EXPECT_EQ(
        getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size),
        0);
    port = ntohs(address.sin_port);
  }
  ~Listener() { close(descriptor); }
  int descriptor = -1;
  int port = 0;
};

// Another process that is connected to `listener`, and its port as seen here.
struct Connected {
  Connected(const Listener& listener, int family, const sockaddr* address,
            socklen_t size) {
    pid = fork();
    if (pid == 0) {
      const int client = socket(family, SOCK_STREAM, 0);
      if (connect(client, address, size) != 0) _exit(1);
      for (;;) pause();
    }
    sockaddr_in peer{};
    socklen_t peer_size = sizeof(peer);
    accepted = accept(listener.descriptor, reinterpret_cast<sockaddr*>(&peer),
                      &peer_size);
    port = ntohs(peer.sin_port);
  }
  ~Connected() {
    Kill();
    close(accepted);
  }
  void Kill() {
    if (pid > 0) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
    pid = 0;
  }
  pid_t pid = 0;
  int accepted = -1;
  int port = 0;
};

TEST(ProcessTest, FindsTheOtherProcessBehindALoopbackConnection) {
  Listener listener;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(listener.port));
  Connected client(listener, AF_INET, reinterpret_cast<sockaddr*>(&address),
                   sizeof(address));
  ASSERT_GE(client.accepted, 0);
  EXPECT_EQ(OwnerOfTcpPort(client.port), client.pid);
  client.Kill();
  EXPECT_EQ(OwnerOfTcpPort(client.port), 0);
}

// As gRPC's clients connect where IPv6 is to be had.
TEST(ProcessTest, FindsAProcessWithASocketForBothFamilies) {
  Listener listener;
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  inet_pton(AF_INET6, "::ffff:127.0.0.1", &address.sin6_addr);
  address.sin6_port = htons(static_cast<uint16_t>(listener.port));
  const int probe = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool has_ipv6 = connect(probe, reinterpret_cast<sockaddr*>(&address),
                                sizeof(address)) == 0;
  if (has_ipv6) close(accept(listener.descriptor, nullptr, nullptr));
  close(probe);
  if (!has_ipv6) GTEST_SKIP() << "this machine has no IPv6";
  const Connected client(listener, AF_INET6,
                         reinterpret_cast<sockaddr*>(&address),
                         sizeof(address));
  ASSERT_GE(client.accepted, 0);
  EXPECT_EQ(OwnerOfTcpPort(client.port), client.pid);
}

TEST(ProcessTest, APortThatNobodyUsesHasNoOwner) {
  int port = 0;
  { port = Listener().port; }
  EXPECT_EQ(OwnerOfTcpPort(port), 0);
}

TEST(ProcessTest, AProcessIsNamedByWhenItStarted) {
  const int64_t ticks = StartTicksOf(getpid());
  EXPECT_GT(ticks, 0);
  EXPECT_EQ(StartTicksOf(getpid()), ticks);
  EXPECT_LE(StartTicksOf(getppid()), ticks);
}

// Reading /proc of a process that goes away meanwhile fails in its own way.
TEST(ProcessTest, AProcessMayEndWhileItIsReadAbout) {
  for (int round = 0; round < 40; ++round) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    ASSERT_GT(child, 0);
    std::thread reaper([child] { waitpid(child, nullptr, 0); });
    while (StartTicksOf(child) != 0) EnvironmentOf(child, "X");
    reaper.join();
    EXPECT_EQ(StartTicksOf(child), 0);
  }
}

TEST(ProcessTest, AZombieHasEnded) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info;
  // Ended, and not yet reaped.
  ASSERT_EQ(waitid(P_PID, child, &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(StartTicksOf(child), 0);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(StartTicksOf(child), 0);
}

TEST(ParentTest, IsKnownWhileTheProcessIsThere) {
  EXPECT_EQ(ParentOf(getpid()), getppid());
  EXPECT_EQ(ParentOf(1'000'000'000), 0);
}

}  // namespace
}  // namespace intercom
