#include "worker-agent/run_news_desk.h"

#include <algorithm>
#include <utility>

#include "worker-agent/tools/run_digest.h"

namespace intercom {
namespace {

constexpr char kStallMark[] = "/stalled/";

// Each time that a run stalls is a thing of its own.
std::string StallId(const v1::Run& run) {
  const auto& at = run.last_advance_at();
  return run.run_id() + kStallMark + std::to_string(at.seconds()) + "." +
         std::to_string(at.nanos());
}

// The run of an id, and whether the id is that of a stall.
std::pair<std::string, bool> RunOf(const std::string& id) {
  const size_t mark = id.find(kStallMark);
  return {id.substr(0, mark), mark != std::string::npos};
}

}  // namespace

RunNewsDesk::RunNewsDesk(Bulletins& bulletins, Setting setting)
    : bulletins_(bulletins),
      setting_(std::move(setting)),
      gate_(std::make_shared<PostGate>(setting_.runner)) {
  bulletins_.Listen(kTopic, [this](const std::vector<std::string>& ids) {
    HandleShown(ids);
  });
}

RunNewsDesk::~RunNewsDesk() { gate_->Close(); }

void RunNewsDesk::Handle(const v1::RunNews& news) {
  if (news_.open() == 0) said_at_ = setting_.clock.Steady();
  news_ = news;
  ++version_;
  TellAgain();
  Refresh();
  if (news_.open() > 0 && !timer_runs_) CheckInLater(setting_.check_in);
}

void RunNewsDesk::Collected(const std::vector<std::string>& run_ids) {
  for (const std::string& id : run_ids) Tell(id, How::kCollected);
  Refresh();
}

void RunNewsDesk::HandleShown(const std::vector<std::string>& ids) {
  has_news_ = has_news_ && bulletins_.IsSaid(kTopic);
  for (const std::string& id : ids) {
    Tell(id, RunOf(id).second ? How::kStalled : How::kAnnounced);
  }
  Refresh();
}

RunNewsDesk::Told* RunNewsDesk::FindTold(const std::string& id) {
  const auto found =
      std::find_if(told_.begin(), told_.end(),
                   [&id](const Told& told) { return told.id == id; });
  return found == told_.end() ? nullptr : &*found;
}

void RunNewsDesk::Tell(const std::string& id, How how) {
  Told* told = FindTold(id);
  // It is counted, so it must not be told twice; what was announced can be
  // collected after that.
  const bool is_more =
      told != nullptr && how == How::kCollected && told->how == How::kAnnounced;
  if (told != nullptr && told->stream == stream_ && !is_more) return;
  if (told == nullptr) {
    told_.push_back({.id = id, .how = how, .stream = stream_});
    if (told_.size() > kMostTold) told_.pop_front();
  } else {
    told->stream = stream_;
    if (is_more) told->how = how;
  }
  v1::AttachRequest frame;
  v1::RunsTold& runs = *frame.mutable_runs_told();
  const std::string run_id = RunOf(id).first;
  switch (how) {
    case How::kAnnounced:
      runs.add_announced(run_id);
      break;
    case How::kCollected:
      runs.add_collected(run_id);
      break;
    case How::kStalled:
      runs.add_stalled(run_id);
      break;
  }
  setting_.send(std::move(frame));
}

void RunNewsDesk::TellAgain() {
  const auto again = [this](const std::string& id) {
    const Told* told = FindTold(id);
    if (told != nullptr) Tell(id, told->how);
  };
  for (const v1::SettledRun& run : news_.settled()) again(run.run().run_id());
  for (const v1::Run& run : news_.stalled()) again(StallId(run));
}

void RunNewsDesk::Refresh() {
  v1::RunNews untold;
  untold.set_open(news_.open());
  untold.set_settled_left_out(news_.settled_left_out());
  for (const v1::SettledRun& run : news_.settled()) {
    if (FindTold(run.run().run_id()) == nullptr) *untold.add_settled() = run;
  }
  for (const v1::Run& run : news_.stalled()) {
    if (FindTold(StallId(run)) == nullptr) *untold.add_stalled() = run;
  }
  if (untold.settled().empty() && untold.stalled().empty()) {
    // A check-in stays as long as something is open.
    if (has_news_ || news_.open() == 0) bulletins_.TakeBack(kTopic);
    has_news_ = false;
    return;
  }
  RunDigest digest = DigestOf(untold, setting_.clock.Now());
  Bulletins::Bulletin bulletin{.ids = std::move(digest.settled),
                               .content = std::move(digest.content),
                               .summary = std::move(digest.summary)};
  for (const v1::Run& run : untold.stalled()) {
    if (std::find(digest.stalled.begin(), digest.stalled.end(), run.run_id()) !=
        digest.stalled.end()) {
      bulletin.ids.push_back(StallId(run));
    }
  }
  has_news_ = true;
  said_at_ = setting_.clock.Steady();
  bulletins_.Say(kTopic, std::move(bulletin));
}

void RunNewsDesk::CheckInLater(absl::Duration delay) {
  timer_runs_ = true;
  gate_->PostDelayed(
      [this] {
        timer_runs_ = false;
        if (news_.open() == 0) return;
        const absl::Duration due =
            said_at_ + setting_.check_in - setting_.clock.Steady();
        if (due > absl::ZeroDuration()) return CheckInLater(due);
        // The one before has not been read: another says nothing more.
        if (!bulletins_.IsSaid(kTopic)) CheckIn();
        CheckInLater(setting_.check_in);
      },
      delay);
}

void RunNewsDesk::CheckIn() {
  setting_.list_runs([this, version = version_](
                         const absl::StatusOr<v1::ListRunsResponse>& runs) {
    if (!runs.ok() || runs->runs().empty() || version != version_ ||
        bulletins_.IsSaid(kTopic)) {
      return;
    }
    RunDigest digest = CheckInOf(*runs, setting_.clock.Now());
    said_at_ = setting_.clock.Steady();
    bulletins_.Say(kTopic, {.ids = {},
                            .content = std::move(digest.content),
                            .summary = std::move(digest.summary),
                            .quiet = true});
  });
}

}  // namespace intercom
