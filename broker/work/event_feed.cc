#include "broker/work/event_feed.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/domain/delivery_summary.h"
#include "broker/domain/identity.h"
#include "broker/work/job_text.h"
#include "broker/work/run_text.h"

namespace intercom {
namespace {

// What a change says of a delivery that is not known otherwise.
std::shared_ptr<const v1::DeliverySummary> FactsFrom(const DeliveryNews& news) {
  auto facts = std::make_shared<v1::DeliverySummary>();
  facts->set_delivery_id(news.delivery_id);
  facts->set_sequence(news.after.sequence);
  if (const auto id = ParseDeliveryId(news.delivery_id)) {
    facts->mutable_sender()->set_session_id(id->sender_session_id);
  }
  return facts;
}

}  // namespace

void EventFeed::Load() {
  for (const RunRow& run : runs_.All()) run_states_[run.number] = run.state;
  for (const JobRow& job : fences_.All()) job_states_[job.job_id] = job.state;
}

std::string EventFeed::RootOf(std::string_view session_id) const {
  if (const Attachment* attachment = roster_.Find(session_id)) {
    return attachment->root;
  }
  const auto workspace = mirror_.FindByAgent(session_id);
  return workspace == nullptr ? "" : workspace->root;
}

EventFeed::Known* EventFeed::FindKnown(int64_t sequence) {
  if (known_.empty()) return nullptr;
  Known& known = known_[static_cast<size_t>(sequence) % kKnown];
  return known.facts != nullptr && known.facts->sequence() == sequence
             ? &known
             : nullptr;
}

void EventFeed::Keep(int64_t sequence, Known known) {
  if (known_.empty()) known_.resize(kKnown);
  known_[static_cast<size_t>(sequence) % kKnown] = std::move(known);
}

void EventFeed::OnOffered(const v1::DeliveryRecord& record) {
  if (FindKnown(record.sequence()) != nullptr) return;
  Keep(record.sequence(),
       {std::make_shared<const v1::DeliverySummary>(SummaryOf(record)),
        std::nullopt, RootOf(record.recipient_session_id())});
}

void EventFeed::OnDelivery(const DeliveryNews& news) {
  const int64_t sequence = news.after.sequence;
  if (news.accepted != nullptr) {
    Keep(sequence, {news.accepted, clock_.Steady(),
                    RootOf(news.accepted->recipient_session_id())});
  }
  const Known* known = FindKnown(sequence);
  LoggedEvent event;
  event.at = news.at;
  event.delivery = known == nullptr ? FactsFrom(news) : known->facts;
  event.status = news.after;
  event.recipient_root = known == nullptr
                             ? RootOf(news.after.recipient_session_id)
                             : known->recipient_root;
  if (known != nullptr && news.accepted == nullptr) {
    event.latency = known->accepted_at.has_value()
                        ? clock_.Steady() - *known->accepted_at
                        : news.at - FromProto(known->facts->accepted_at());
    event.latency = std::max(event.latency, absl::ZeroDuration());
  }
  if (const RunRow* run = runs_.FindByDelivery(news.delivery_id)) {
    event.run_id = RunId(run->number);
  }
  CountDelivery(news, known, event.latency);
  log_.Append(std::move(event));
  on_changed_();
}

void EventFeed::CountDelivery(const DeliveryNews& news, const Known* known,
                              absl::Duration latency) {
  if (news.accepted != nullptr) {
    return metrics_.CountAccepted(news.accepted->kind());
  }
  if (news.after.end != v1::DELIVERY_END_UNSPECIFIED &&
      news.after.end != news.before.end) {
    metrics_.CountEnded(news.after.end);
  }
  // A state implies those before it.
  for (int state = news.before.state + 1; state <= news.after.state; ++state) {
    const auto reached = static_cast<v1::DeliveryState>(state);
    metrics_.CountReached(reached);
    if (known != nullptr) metrics_.AddLatency(reached, latency);
  }
}

void EventFeed::OnRefused(const absl::Status& why) {
  metrics_.CountRefused(ReasonOf(why));
}

void EventFeed::Tell(v1::WatchEventsResponse event,
                     std::string recipient_root) {
  LoggedEvent logged;
  logged.at = clock_.Now();
  logged.recipient_root = std::move(recipient_root);
  logged.other =
      std::make_shared<const v1::WatchEventsResponse>(std::move(event));
  log_.Append(std::move(logged));
  on_changed_();
}

void EventFeed::TellSession(const Attachment& attachment,
                            v1::SessionChange::Kind kind) {
  v1::WatchEventsResponse event;
  event.set_workspace_root(attachment.root);
  v1::SessionChange& change = *event.mutable_session();
  change.set_kind(kind);
  change.set_session_id(attachment.session_id);
  change.set_name(attachment.name());
  change.set_role(attachment.role);
  change.set_phase(attachment.activity.phase());
  change.set_label(attachment.activity.label());
  Tell(std::move(event));
}

void EventFeed::OnAttached(Attachment& attachment) {
  metrics_.CountAttached();
  told_[attachment.session_id] = {attachment.name(), attachment.role};
  TellSession(attachment, v1::SessionChange::KIND_ATTACHED);
}

void EventFeed::OnDetached(const Attachment& attachment, bool restarting) {
  metrics_.CountDetached();
  told_.erase(attachment.session_id);
  TellSession(attachment, restarting ? v1::SessionChange::KIND_RESTARTING
                                     : v1::SessionChange::KIND_DETACHED);
}

void EventFeed::OnActivity(const Attachment& attachment,
                           const v1::Activity& before) {
  const v1::Activity& now = attachment.activity;
  if (now.phase() == before.phase() && now.label() == before.label()) {
    // Figures and what the person set: shown, but no event.
    return on_changed_();
  }
  TellSession(attachment, v1::SessionChange::KIND_ACTIVITY);
}

void EventFeed::OnChanged(const Attachment& attachment) {
  const auto told = told_.find(attachment.session_id);
  if (told == told_.end()) return;
  if (told->second.role != attachment.role) {
    told->second.role = attachment.role;
    TellSession(attachment, v1::SessionChange::KIND_ROLE);
  }
  if (told->second.name != attachment.name()) {
    told->second.name = attachment.name();
    TellSession(attachment, v1::SessionChange::KIND_RENAMED);
  }
  on_changed_();
}

void EventFeed::OnWorkspace(const Workspace& workspace) {
  for (const Attachment* attachment : roster_.InWorkspace(workspace.root)) {
    OnChanged(*attachment);
  }
  on_changed_();
}

void EventFeed::OnJob(const JobRow& job) {
  const auto [state, added] = job_states_.try_emplace(job.job_id, job.state);
  if (added || state->second != job.state) {
    state->second = job.state;
    metrics_.CountJob(job.kind, job.state);
  }
  if (!job.open()) job_states_.erase(state);
  v1::WatchEventsResponse event;
  event.set_workspace_root(job.root);
  *event.mutable_job() = ToProto(job);
  event.mutable_job()->clear_detail();
  Tell(std::move(event));
}

void EventFeed::OnRun(const RunRow& run, Runs::News news) {
  const auto before = run_states_.find(run.number);
  const bool is_known = before != run_states_.end();
  // One that has settled already was counted then.
  if (run.open() ? !is_known || before->second != run.state : is_known) {
    metrics_.CountRun(run.state);
  }
  if (run.open()) {
    run_states_[run.number] = run.state;
  } else if (is_known) {
    run_states_.erase(before);
  }
  if (news == Runs::News::kNone) return on_changed_();
  v1::WatchEventsResponse event;
  event.set_workspace_root(run.root);
  *event.mutable_run() = ToProto(run, clock_.Now());
  event.mutable_run()->clear_detail();
  Tell(std::move(event));
}

void EventFeed::OnAsk(const AskRow& ask) {
  // A late reply leaves the state as it was.
  const bool is_late =
      ask.state != v1::Ask::STATE_ANSWERED && !ask.reply_delivery_id.empty();
  if (!is_late) metrics_.CountAsk(ask.state);
  if (ask.state == v1::Ask::STATE_ANSWERED || is_late) {
    metrics_.AddReplyTime(clock_.Now() - ask.asked_at);
  }
  v1::WatchEventsResponse event;
  v1::Ask& told = *event.mutable_ask();
  told.set_delivery_id(ask.delivery_id);
  told.mutable_asker()->set_session_id(ask.asker_session_id);
  if (const Known* known = FindKnown(ask.sequence)) {
    *told.mutable_asker() = known->facts->sender();
    told.set_recipient_name(known->facts->recipient_name());
  }
  told.set_recipient_session_id(ask.recipient_session_id);
  told.set_state(ask.state);
  *told.mutable_asked_at() = ToProto(ask.asked_at);
  *told.mutable_deadline_at() = ToProto(ask.deadline_at);
  if (ask.settled_at.has_value()) {
    *told.mutable_settled_at() = ToProto(*ask.settled_at);
  }
  told.set_reply_delivery_id(ask.reply_delivery_id);
  event.set_workspace_root(told.asker().workspace_root());
  Tell(std::move(event), RootOf(ask.recipient_session_id));
}

void EventFeed::OnReport(const v1::Sender& worker, const v1::Report& report) {
  v1::WatchEventsResponse event;
  event.set_workspace_root(worker.workspace_root());
  v1::ReportChange& change = *event.mutable_report();
  change.set_session_id(worker.session_id());
  change.set_name(worker.name());
  change.set_status(report.status());
  Tell(std::move(event));
}

}  // namespace intercom
