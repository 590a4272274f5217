#ifndef PI_INTERCOM_WORKER_AGENT_WATCH_WATCH_FEED_H_
#define PI_INTERCOM_WORKER_AGENT_WATCH_WATCH_FEED_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "worker-agent/watch/watch_order.h"

namespace intercom {

// What a watch has to tell.
struct WatchEvent {
  enum class Kind {
    kLine,      // of its output
    kEnded,     // by itself
    kDeadline,  // it took too long
    kLost,      // its guard was killed
    kRevoked,   // the session may not run programs any more
  };
  Kind kind = Kind::kLine;
  // kLine: the line. Others, in exit mode: the last of the output.
  std::string out = {};
  // Bytes of `out` that are not shown.
  int64_t left_out = 0;
  // The last of what it wrote on standard error. Not for kLine.
  std::string err = {};
  int64_t err_left_out = 0;
  // Output mode, kDeadline: the line that had not ended.
  std::string partial = {};
  // kEnded: as waitpid() tells it.
  int status = 0;
  // kLine: it was the last one asked for, and the program is ended.
  bool last = false;
  // How many lines were told, this one included.
  int lines = 0;
};

// The rules by which the output of one program becomes events: in output mode
// one for each line that is not blank and was not told yet, and the last one
// asked for ends the watch; in exit mode one, at the end. How the output comes
// in pieces makes no difference. Memory is bounded. Pure; not thread-safe.
class WatchFeed {
 public:
  WatchFeed(WatchOrder::Mode mode, int max_events)
      : mode_(mode), max_events_(max_events) {}

  // The next bytes of standard output, and of standard error.
  std::vector<WatchEvent> Out(std::string_view bytes);
  void Err(std::string_view bytes);

  // The end, once: the program's own, with all of its output heard; its
  // deadline; or the loss of it.
  std::vector<WatchEvent> Ended(int status);
  std::vector<WatchEvent> Deadline();
  std::vector<WatchEvent> Lost();

  // Nothing comes of anything any more.
  bool is_over() const { return over_; }

 private:
  // The end of a text, bounded.
  struct Tail {
    std::string text;
    int64_t left_out = 0;
    void Add(std::string_view bytes);
  };
  // The line that comes in.
  struct Line {
    std::string shown;
    int64_t length = 0;
    uint64_t hash = 0;
    bool blank = true;
    // A CR that may belong to the line's end.
    bool ends_with_cr = false;
    Line();
    void Add(char c);
  };

  void EndLine(std::vector<WatchEvent>& events);
  std::vector<WatchEvent> End(WatchEvent::Kind kind, int status);

  const WatchOrder::Mode mode_;
  const int max_events_;
  bool over_ = false;
  Line line_;
  // Length and hash of the lines that were told: max_events at most.
  std::set<std::pair<int64_t, uint64_t>> told_;
  Tail out_;
  Tail err_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_WATCH_WATCH_FEED_H_
