#include "worker-agent/monitor/monitor.h"

#include <algorithm>
#include <utility>

#include "broker/base/error.h"

namespace intercom {
namespace {

// A burst of events is one change.
constexpr absl::Duration kDrawPause = absl::Milliseconds(50);
constexpr absl::Duration kSessionPause = absl::Seconds(1);

// Why the broker's picture does not come, for a person.
std::string ProblemOf(const absl::Status& status) {
  const std::string reason = ReasonOf(status);
  if (reason == "BROKER_UNREACHABLE") {
    return "No broker answers. A Pi session starts one, or: intercom broker "
           "start";
  }
  if (reason == "DRAINING") return "The broker has left";
  if (reason == "NO_WORKSPACE") {
    return "There is no workspace here. Press a for all workspaces";
  }
  if (absl::IsUnimplemented(status)) {
    return "The broker is older than this monitor. Replace it with: intercom "
           "broker restart";
  }
  return "The broker does not tell: " + MessageOf(status);
}

}  // namespace

Monitor::Monitor(Options options, TaskRunner& runner, const Clock& clock,
                 Random& random, Outlets outlets)
    : options_(std::move(options)),
      runner_(runner),
      clock_(clock),
      outlets_(std::move(outlets)),
      model_(options_.scope, clock.Now(), clock.Steady()),
      random_(random),
      gate_(std::make_shared<PostGate>(runner)) {}

Monitor::~Monitor() { gate_->Close(); }

void Monitor::Resize(ScreenSize size) {
  size_ = size;
  // What the terminal shows now is not known.
  is_drawn_ = false;
  if (!streams_.has_value()) {
    streams_.emplace(
        options_.home, runner_, random_,
        InspectionStreams::Events{
            .overview =
                [this](v1::WatchOverviewResponse overview) {
                  model_.ApplyOverview(std::move(overview), clock_.Steady());
                  session_is_stale_ = true;
                  Ask();
                  Changed();
                },
            .event =
                [this](const v1::WatchEventsResponse& event) {
                  if (model_.ApplyEvent(event)) Changed();
                },
            .deliveries =
                [this](const v1::ListDeliveriesResponse& deliveries) {
                  model_.ApplyDeliveries(deliveries);
                  Changed();
                },
            .lost = [this](const absl::Status& status) { OnLost(status); }});
    Watch();
  }
  Changed(/*at_once=*/true);
}

void Monitor::Watch() {
  streams_->Watch(model_.scope().all ? "" : model_.scope().directory,
                  options_.claim_id);
}

void Monitor::OnLost(const absl::Status& status) {
  model_.ApplyLoss(ProblemOf(status), clock_.Steady());
  Changed();
}

void Monitor::Press(MonitorKey key) {
  const bool was_all = model_.scope().all;
  model_.Press(key, screen_.extent);
  if (model_.is_over()) {
    outlets_.over();
    return;
  }
  if (model_.scope().all != was_all) Watch();
  Ask();
  Changed(/*at_once=*/true);
}

void Monitor::Ask() {
  AskForSession();
  AskForMessage();
}

void Monitor::AskForSession() {
  const std::string wanted = model_.wanted_session();
  if (wanted.empty()) session_asked_.clear();
  if (wanted.empty() || session_is_asked_) return;
  if (wanted == session_asked_) {
    if (!session_is_stale_ || session_is_due_) return;
    const absl::Duration since = clock_.Steady() - session_asked_at_;
    if (since < kSessionPause) {
      session_is_due_ = true;
      gate_->PostDelayed(
          [this] {
            session_is_due_ = false;
            AskForSession();
          },
          kSessionPause - since);
      return;
    }
  }
  session_asked_ = wanted;
  session_asked_at_ = clock_.Steady();
  session_is_asked_ = true;
  session_is_stale_ = false;
  streams_->GetSession(
      wanted, [this, wanted](absl::StatusOr<v1::GetSessionResponse> answer) {
        session_is_asked_ = false;
        model_.ApplySession(wanted, std::move(answer));
        // Another one may have been selected meanwhile.
        AskForSession();
        Changed();
      });
}

void Monitor::AskForMessage() {
  const std::string& wanted = model_.wanted_message();
  if (wanted == message_asked_) return;
  message_asked_ = wanted;
  if (wanted.empty()) return;
  streams_->GetMessage(
      wanted, [this, wanted](absl::StatusOr<v1::GetMessageResponse> answer) {
        model_.ApplyMessage(wanted, std::move(answer));
        Changed();
      });
}

void Monitor::Changed(bool at_once) {
  const absl::Duration since = clock_.Steady() - drawn_at_;
  DrawSoon(at_once || !is_drawn_
               ? absl::ZeroDuration()
               : std::max(kDrawPause - since, absl::ZeroDuration()));
}

void Monitor::DrawSoon(absl::Duration delay) {
  draw_at_ = std::min(draw_at_, clock_.Steady() + delay);
  // One that is posted for before looks again: there are never many.
  if (!wakes_.empty() && *wakes_.begin() <= draw_at_) return;
  wakes_.insert(draw_at_);
  gate_->PostDelayed([this, at = draw_at_] { OnWake(at); }, delay);
}

void Monitor::OnWake(absl::Duration at) {
  wakes_.erase(at);
  const absl::Duration now = clock_.Steady();
  if (draw_at_ <= now) {
    Draw();
  } else if (draw_at_ < absl::InfiniteDuration()) {
    DrawSoon(draw_at_ - now);
  }
}

void Monitor::Draw() {
  draw_at_ = absl::InfiniteDuration();
  drawn_at_ = clock_.Steady();
  ScreenText next =
      ComposeScreen(model_, model_.Now(drawn_at_), size_, options_.about);
  const bool is_same = is_drawn_ && next.lines == screen_.lines;
  screen_ = std::move(next);
  is_drawn_ = true;
  if (!is_same) outlets_.draw(screen_);
  if (screen_.until_change < absl::InfiniteDuration()) {
    DrawSoon(std::max(screen_.until_change, kDrawPause));
  }
}

}  // namespace intercom
