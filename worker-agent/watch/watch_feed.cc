#include "worker-agent/watch/watch_feed.h"

namespace intercom {
namespace {

// Of a line and of each end of an output; what is shown has 4,000 characters at
// most, of up to four bytes.
constexpr size_t kKeptBytes = 16'000;
// FNV-1a.
constexpr uint64_t kHashStart = 14695981039346656037ULL;
constexpr uint64_t kHashPrime = 1099511628211ULL;

bool IsInsideCharacter(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

}  // namespace

void WatchFeed::Tail::Add(std::string_view bytes) {
  if (bytes.size() > kKeptBytes) {
    left_out += static_cast<int64_t>(text.size() + bytes.size() - kKeptBytes);
    bytes.remove_prefix(bytes.size() - kKeptBytes);
    text.clear();
  }
  text.append(bytes);
  // Not for every piece, which may be a byte.
  if (text.size() <= 2 * kKeptBytes) return;
  left_out += static_cast<int64_t>(text.size() - kKeptBytes);
  text.erase(0, text.size() - kKeptBytes);
}

WatchFeed::Line::Line() : hash(kHashStart) {}

void WatchFeed::Line::Add(char c) {
  ++length;
  hash = (hash ^ static_cast<unsigned char>(c)) * kHashPrime;
  if (c != ' ' && c != '\t' && c != '\r' && c != '\v' && c != '\f') {
    blank = false;
  }
  if (shown.size() < kKeptBytes) shown += c;
}

std::vector<WatchEvent> WatchFeed::Out(std::string_view bytes) {
  std::vector<WatchEvent> events;
  if (over_) return events;
  if (mode_ == WatchOrder::Mode::kExit) {
    out_.Add(bytes);
    return events;
  }
  for (const char c : bytes) {
    if (over_) break;
    if (c == '\n') {
      EndLine(events);
      continue;
    }
    if (line_.ends_with_cr) line_.Add('\r');
    line_.ends_with_cr = c == '\r';
    if (c != '\r') line_.Add(c);
  }
  return events;
}

void WatchFeed::Err(std::string_view bytes) {
  if (!over_) err_.Add(bytes);
}

void WatchFeed::EndLine(std::vector<WatchEvent>& events) {
  Line line = std::exchange(line_, Line());
  if (line.blank || !told_.emplace(line.length, line.hash).second) return;
  WatchEvent event{.kind = WatchEvent::Kind::kLine};
  event.left_out = line.length - static_cast<int64_t>(line.shown.size());
  event.out = std::move(line.shown);
  event.lines = static_cast<int>(told_.size());
  over_ = event.lines >= max_events_;
  event.last = over_;
  events.push_back(std::move(event));
}

std::vector<WatchEvent> WatchFeed::Ended(int status) {
  std::vector<WatchEvent> events;
  if (over_) return events;
  // What has no end of line is a line all the same.
  EndLine(events);
  if (over_) return events;
  std::vector<WatchEvent> end = End(WatchEvent::Kind::kEnded, status);
  events.insert(events.end(), end.begin(), end.end());
  return events;
}

std::vector<WatchEvent> WatchFeed::Deadline() {
  return End(WatchEvent::Kind::kDeadline, 0);
}

std::vector<WatchEvent> WatchFeed::Lost() {
  return End(WatchEvent::Kind::kLost, 0);
}

std::vector<WatchEvent> WatchFeed::End(WatchEvent::Kind kind, int status) {
  if (std::exchange(over_, true)) return {};
  WatchEvent event{.kind = kind};
  event.out = std::move(out_.text);
  event.left_out = out_.left_out;
  event.err = std::move(err_.text);
  event.err_left_out = err_.left_out;
  if (!line_.blank) event.partial = std::move(line_.shown);
  event.status = status;
  event.lines = static_cast<int>(told_.size());
  for (std::string* tail : {&event.out, &event.err}) {
    size_t inside = 0;
    while (inside < tail->size() && IsInsideCharacter((*tail)[inside])) {
      ++inside;
    }
    tail->erase(0, inside);
  }
  return {std::move(event)};
}

}  // namespace intercom
