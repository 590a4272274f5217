#include "worker-agent/monitor/timeline.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "broker/base/proto_time.h"
#include "broker/domain/fence.h"
#include "broker/domain/job.h"
#include "broker/domain/report.h"
#include "worker-agent/tools/delivery_text.h"
#include "worker-agent/tools/labels.h"
#include "worker-agent/tools/run_labels.h"
#include "worker-agent/tools/work_labels.h"

namespace intercom {
namespace {

Style StyleOfState(const v1::DeliverySummary& delivery) {
  switch (delivery.end()) {
    case v1::DELIVERY_END_EXPIRED:
    case v1::DELIVERY_END_REFUSED:
    case v1::DELIVERY_END_DEAD_LETTERED:
      return Style::kBad;
    case v1::DELIVERY_END_CANCELLED:
    case v1::DELIVERY_END_SUPERSEDED:
      return Style::kFaint;
    default:
      break;
  }
  if (delivery.state() >= v1::DELIVERY_STATE_SEEN) return Style::kGood;
  return delivery.state() < v1::DELIVERY_STATE_INJECTED ? Style::kWaiting
                                                        : Style::kPlain;
}

std::string_view SessionWord(v1::SessionChange::Kind kind) {
  switch (kind) {
    case v1::SessionChange::KIND_ATTACHED:
      return "attached";
    case v1::SessionChange::KIND_DETACHED:
      return "left";
    case v1::SessionChange::KIND_RESTARTING:
      return "restarting";
    case v1::SessionChange::KIND_ROLE:
      return "role changed";
    case v1::SessionChange::KIND_RENAMED:
      return "renamed";
    default:
      // Activities are in the table.
      return "";
  }
}

std::string_view AskWord(v1::Ask::State state) {
  switch (state) {
    case v1::Ask::STATE_TIMED_OUT:
      return "timed out";
    case v1::Ask::STATE_RECIPIENT_GONE:
      return "recipient gone";
    default:
      // Its envelope and its reply are items of their own.
      return "";
  }
}

TimelineItem OfRun(const v1::Run& run) {
  TimelineItem item;
  item.id = "run " + run.run_id();
  item.kind = "run";
  item.from = NameOr(run.supervisor_name(), run.supervisor_session_id());
  item.to = NameOr(run.worker_name(), run.worker_session_id());
  item.state = run.stalled() ? "stalled" : RunStateLabel(run.state());
  switch (run.state()) {
    case v1::Run::STATE_FAILED:
      item.style = Style::kBad;
      break;
    case v1::Run::STATE_STOPPED:
      item.style = Style::kFaint;
      break;
    default:
      item.style = run.stalled() || run.state() == v1::Run::STATE_WAITING
                       ? Style::kWaiting
                       : Style::kGood;
  }
  if (run.has_settled_at()) {
    item.latency = FromProto(run.settled_at()) - FromProto(run.opened_at());
  }
  return item;
}

TimelineItem OfJob(const v1::Job& job) {
  TimelineItem item;
  item.id = "job " + job.job_id();
  item.kind = JobKindName(job.kind());
  item.from = NameOr(job.name(), job.session_id());
  item.state = JobStateLabel(job);
  std::replace(item.state.begin(), item.state.end(), '_', ' ');
  item.style = IsPending(job.state())                      ? Style::kWaiting
               : job.state() == v1::Job::STATE_SUCCEEDED   ? Style::kGood
               : job.state() == v1::Job::STATE_INTERRUPTED ? Style::kFaint
                                                           : Style::kBad;
  return item;
}

TimelineItem OfEvent(const v1::WatchEventsResponse& event) {
  TimelineItem item;
  switch (event.event_case()) {
    case v1::WatchEventsResponse::kDelivery:
      item = ItemOf(event.delivery().delivery());
      if (item.latency.has_value() && event.delivery().has_latency()) {
        item.latency = FromProtoDuration(event.delivery().latency());
      }
      break;
    case v1::WatchEventsResponse::kSession:
      item.id = "session " + event.cursor();
      item.kind = "session";
      item.from = NameOr(event.session().name(), event.session().session_id());
      item.state = SessionWord(event.session().kind());
      item.style = Style::kFaint;
      break;
    case v1::WatchEventsResponse::kRun:
      item = OfRun(event.run());
      break;
    case v1::WatchEventsResponse::kJob:
      item = OfJob(event.job());
      break;
    case v1::WatchEventsResponse::kAsk:
      item.id = "ask " + event.ask().delivery_id();
      item.kind = "ask";
      item.from = ShortSenderLabel(event.ask().asker());
      item.to = NameOr(event.ask().recipient_name(),
                       event.ask().recipient_session_id());
      item.state = AskWord(event.ask().state());
      item.style = Style::kBad;
      break;
    default:
      // A report is an envelope, too.
      break;
  }
  item.at = FromProto(event.at());
  return item;
}

}  // namespace

bool Timeline::Add(const v1::WatchEventsResponse& event) {
  TimelineItem item = OfEvent(event);
  if (item.state.empty()) return false;
  if (const std::optional<size_t> old = Find(item.id); old.has_value()) {
    items_.erase(items_.begin() + static_cast<ptrdiff_t>(*old));
  }
  items_.push_front(std::move(item));
  if (items_.size() > kMost) items_.pop_back();
  return true;
}

void Timeline::Fill(const v1::ListDeliveriesResponse& before) {
  for (const v1::DeliverySummary& delivery : before.deliveries()) {
    TimelineItem item = ItemOf(delivery);
    const std::optional<size_t> old = Find(item.id);
    if (!old.has_value()) {
      items_.push_back(std::move(item));
    } else if (item.at > items_[*old].at) {
      items_[*old] = std::move(item);
    }
  }
  std::stable_sort(
      items_.begin(), items_.end(),
      [](const TimelineItem& a, const TimelineItem& b) { return a.at > b.at; });
  if (items_.size() > kMost) items_.resize(kMost);
}

std::optional<size_t> Timeline::Find(const std::string& id) const {
  const auto found =
      std::find_if(items_.begin(), items_.end(),
                   [&id](const TimelineItem& item) { return item.id == id; });
  if (found == items_.end()) return std::nullopt;
  return static_cast<size_t>(found - items_.begin());
}

TimelineItem ItemOf(const v1::DeliverySummary& delivery) {
  TimelineItem item;
  item.id = delivery.delivery_id();
  item.is_envelope = true;
  item.at = FromProto(delivery.has_changed_at() ? delivery.changed_at()
                                                : delivery.accepted_at());
  item.from = ShortSenderLabel(delivery.sender());
  item.to = NameOr(delivery.recipient_name(), delivery.recipient_session_id());
  item.kind = KindLabel(delivery.kind());
  item.style = StyleOfState(delivery);
  if (delivery.end() != v1::DELIVERY_END_UNSPECIFIED) {
    item.state = EndLabel(delivery.end());
  } else if (const std::string_view why = WaitWord(delivery.wait_reason());
             !why.empty()) {
    item.state = "waits " + std::string(why);
    item.style = Style::kWaiting;
  } else {
    item.state = StateLabel(delivery.state());
  }
  // Of what only was accepted there is nothing to tell yet.
  const bool is_only_accepted =
      delivery.state() <= v1::DELIVERY_STATE_ACCEPTED &&
      delivery.end() == v1::DELIVERY_END_UNSPECIFIED;
  if (!is_only_accepted && delivery.has_changed_at() &&
      delivery.has_accepted_at()) {
    item.latency =
        FromProto(delivery.changed_at()) - FromProto(delivery.accepted_at());
  }
  return item;
}

std::string LatencyText(absl::Duration latency) {
  latency = std::max(latency, absl::ZeroDuration());
  if (latency < absl::Seconds(1)) {
    return absl::StrFormat("%dms", absl::ToInt64Milliseconds(latency));
  }
  if (latency < absl::Seconds(10)) {
    return absl::StrFormat("%.1fs", absl::ToDoubleSeconds(latency));
  }
  return AgeLabel(latency);
}

}  // namespace intercom
