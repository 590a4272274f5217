// A stand-in for intercom-broker, for tests that start real processes: takes
// the same flags, holds broker.lock and serves the fake until it is killed.
// FAKE_BROKER_FAIL=line prints that line instead; `die` says nothing, `die
// once` does so at the first start.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "broker/base/home.h"
#include "tests/unit/link/fake_broker.h"

namespace {

void Say(int fd, const std::string& line) {
  if (write(fd, line.data(), line.size()) < 0) std::abort();
}

bool IsFirst(const std::string& home) {
  std::ifstream starts(home + "/starts");
  return std::count(std::istreambuf_iterator<char>(starts),
                    std::istreambuf_iterator<char>(), '\n') == 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::string home;
  int ready_fd = -1;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--home") == 0) home = argv[i + 1];
    if (std::strcmp(argv[i], "--ready-fd") == 0) ready_fd = atoi(argv[i + 1]);
  }
  // One line per start: tests count them.
  std::ofstream(home + "/starts", std::ios::app) << getpid() << "\n";
  if (const char* fail = std::getenv("FAKE_BROKER_FAIL")) {
    const std::string line(fail);
    if (line != "die once" || IsFirst(home)) {
      if (line != "die" && line != "die once") Say(ready_fd, line + "\n");
      return 1;
    }
  }
  const int lock = open(intercom::BrokerLockPath(home).c_str(),
                        O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (fcntl(lock, F_SETLK, &whole) != 0) {
    Say(ready_fd, "error ALREADY_RUNNING another broker holds the lock\n");
    return 1;
  }
  const intercom::FakeBroker broker({.home = home, .tcp = true});
  Say(ready_fd, "ready " + std::to_string(broker.port()) + "\n");
  close(ready_fd);
  pause();
  return 0;
}
