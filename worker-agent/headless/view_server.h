#ifndef PI_INTERCOM_WORKER_AGENT_HEADLESS_VIEW_SERVER_H_
#define PI_INTERCOM_WORKER_AGENT_HEADLESS_VIEW_SERVER_H_

#include <poll.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "worker-agent/headless/output_ring.h"

namespace intercom {

// Serves a ring to whoever connects to a socket. Never blocks; the owner polls.
// Not thread-safe.
class ViewServer {
 public:
  // Listens at `path`, where nobody does. `ring` must outlive this object.
  static absl::StatusOr<ViewServer> Listen(const std::string& path,
                                           const OutputRing& ring);

  ViewServer(ViewServer&& other) noexcept;
  ViewServer& operator=(ViewServer&&) = delete;
  // Takes the socket away.
  ~ViewServer();

  // Adds what to wait for.
  void AddTo(std::vector<pollfd>& waiting) const;
  // Takes viewers and gives them what they lack; to be called after each wait.
  void Serve();

  // Whether each viewer has all there is.
  bool IsCaughtUp() const;

 private:
  struct Viewer {
    int fd = -1;
    // Where the ring's text goes on for it, after the rest of its first line.
    int64_t position = 0;
    std::string head;
    // It may still say something, which is ignored.
    bool talks = true;
  };

  ViewServer(std::string path, int fd, const OutputRing& ring)
      : path_(std::move(path)), fd_(fd), ring_(ring) {}
  void Accept();
  // False if it is gone, or too far behind.
  bool Give(Viewer& viewer) const;

  std::string path_;
  int fd_;
  const OutputRing& ring_;
  std::vector<Viewer> viewers_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_HEADLESS_VIEW_SERVER_H_
