#ifndef PI_INTERCOM_TESTS_INTEGRATION_LAUNCH_FIFO_H_
#define PI_INTERCOM_TESTS_INTEGRATION_LAUNCH_FIFO_H_

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace intercom {

// A pipe with a name, through which programs in panes say lines.
class Fifo {
 public:
  explicit Fifo(std::string path) : path_(std::move(path)) {
    if (mkfifo(path_.c_str(), 0600) != 0) std::abort();
    // Open for both, so that it has no end.
    fd_ = open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd_ < 0) std::abort();
  }
  ~Fifo() {
    close(fd_);
    unlink(path_.c_str());
  }
  Fifo(const Fifo&) = delete;
  Fifo& operator=(const Fifo&) = delete;

  // Blocks for the next line; "" after 30 s without one.
  std::string Next() {
    while (text_.find('\n') == std::string::npos) {
      pollfd waiting{fd_, POLLIN, 0};
      char bytes[4096];
      if (poll(&waiting, 1, 30000) <= 0) return "";
      const ssize_t count = read(fd_, bytes, sizeof(bytes));
      if (count > 0) text_.append(bytes, static_cast<size_t>(count));
    }
    const size_t end = text_.find('\n');
    const std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    return line;
  }

  // Whether somebody has said something that was not taken.
  bool HasSome() const {
    pollfd waiting{fd_, POLLIN, 0};
    return !text_.empty() || poll(&waiting, 1, 0) > 0;
  }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string text_;
  int fd_ = -1;
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_INTEGRATION_LAUNCH_FIFO_H_
