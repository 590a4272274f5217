#include "broker/work/close_desk.h"

#include <algorithm>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "broker/domain/route.h"
#include "broker/work/capability.h"
#include "broker/work/job_text.h"
#include "broker/work/subject.h"

namespace intercom {
namespace {

constexpr size_t kToldLines = 5;
constexpr size_t kToldLineCharacters = 200;

// The first lines of a handoff, as data.
std::string BeginningOf(const std::string& summary) {
  const std::string fenced = FenceText(summary);
  std::string told;
  size_t at = 0;
  for (size_t line = 0; line < kToldLines && at < fenced.size(); ++line) {
    const size_t end = std::min(fenced.find('\n', at), fenced.size());
    told += "\n" + SafeLabel(fenced.substr(at, end - at), kToldLineCharacters);
    at = end + 1;
  }
  return at < fenced.size() ? told + "\n> ..." : told;
}

}  // namespace

std::string CloseDesk::HandoffRequestId(const std::string& job_id) {
  return DeliveryId(BrokerSender().session_id(), job_id);
}

void CloseDesk::Close(CallerEvidence evidence, v1::CloseWorkerRequest request,
                      Done<v1::CloseWorkerResponse> done) {
  auto shared_done =
      std::make_shared<Done<v1::CloseWorkerResponse>>(std::move(done));
  workspaces_.Decide(
      std::move(evidence), "", Operation::kWorkerClose, /*last_good=*/false,
      [this, to = request.to(), shared_done](const DecidedCall& call,
                                             Effects& effects) -> absl::Status {
        INTERCOM_ASSIGN_OR_RETURN(const v1::AgentEntry entry,
                                  RouteToWorker(to, call.workspace->agents));
        return Request(call, entry, shared_done, effects);
      },
      [shared_done](const absl::Status& status) { (*shared_done)(status); });
}

absl::Status CloseDesk::Request(
    const DecidedCall& call, const v1::AgentEntry& entry,
    std::shared_ptr<Done<v1::CloseWorkerResponse>> done, Effects& effects) {
  const std::string& root = call.workspace->root;
  INTERCOM_ASSIGN_OR_RETURN(const auto open,
                            store_.OpenOf(root, entry.session_id()));
  for (const JobRow& job : open) {
    if (job.kind != v1::Job::KIND_CLOSE || !job.pending()) {
      return WorkerFenced(job);
    }
    v1::CloseWorkerResponse response;
    *response.mutable_job() = ToProto(job);
    response.set_existed(true);
    effects.AfterSync([done, response] { (*done)(response); });
    return absl::OkStatus();
  }
  const Attachment* worker = roster_.Find(entry.session_id());
  INTERCOM_RETURN_IF_ERROR(CheckHostCan("close", worker, entry));
  INTERCOM_ASSIGN_OR_RETURN(const int pending,
                            store_.CountPending(root, v1::Job::KIND_CLOSE));
  if (pending >= kMaxPending) {
    return Error(absl::StatusCode::kResourceExhausted, "JOBS_FULL",
                 "16 workers of this workspace are being closed; nothing was "
                 "done, try again when one of them has ended");
  }
  JobRow job;
  job.job_id = NewUuid(random_);
  job.kind = v1::Job::KIND_CLOSE;
  job.root = root;
  job.session_id = entry.session_id();
  job.name = entry.name();
  job.requested_by = call.caller.session_id;
  job.created_at = job.updated_at = clock_.Now();
  job.deadline_at = job.created_at + kDeadline;
  effects.AfterCommit([this, job, epoch = worker->epoch] {
    Run& run = runs_[job.job_id];
    run.session_id = job.session_id;
    run.root = job.root;
    run.epoch = epoch;
    runner_.PostDelayedTask([this, id = job.job_id] { PassDeadline(id); },
                            kDeadline);
  });
  INTERCOM_RETURN_IF_ERROR(jobs_.Put(job, effects));
  effects.AfterSync([this, job, done] {
    v1::CloseWorkerResponse response;
    *response.mutable_job() = ToProto(job);
    (*done)(std::move(response));
    runner_.PostTask([this, id = job.job_id] { Prepare(id); });
  });
  return absl::OkStatus();
}

void CloseDesk::Load() {
  for (const JobRow& job : fences_.All()) {
    if (job.kind != v1::Job::KIND_CLOSE) continue;
    dispatcher_.BeginClosing(job.session_id, HandoffRequestId(job.job_id));
  }
}

void CloseDesk::OnEvent(const JobRow& job, const v1::JobEvent& event) {
  const Run* run = FindRun(job.job_id);
  if (run == nullptr || WorkerIn(*run) == nullptr) return;
  if (event.event() == v1::JobEvent::EVENT_SETTLED) return Settled(job.job_id);
  // Once it was told to end, its answer to that decides.
  if (event.event() != v1::JobEvent::EVENT_INVALIDATED || run->commit_sent) {
    return;
  }
  std::string detail = "input came after the handoff";
  if (!event.detail().empty()) detail += ": " + SafeLabel(event.detail(), 512);
  Fail(job.job_id, "commit_rejected", detail);
}

void CloseDesk::OnDetached(const Attachment& attachment, bool) {
  for (const auto& [id, run] : runs_) {
    if (run.session_id == attachment.session_id &&
        run.epoch == attachment.epoch && !run.commit_sent && !run.is_over) {
      return Interrupt(id);
    }
  }
}

void CloseDesk::OnJobChanged(const JobRow& job) {
  if (job.kind != v1::Job::KIND_CLOSE) return;
  auto handoff = handoffs_.Find(job.root, job.session_id);
  const bool is_its_own = handoff.ok() && handoff->has_value() &&
                          (*handoff)->job_id() == job.job_id;
  record_.Publish(ToProto(job), is_its_own ? *handoff : std::nullopt);
  if (job.state == v1::Job::STATE_REQUESTED) {
    dispatcher_.BeginClosing(job.session_id, HandoffRequestId(job.job_id));
  }
  if (job.pending()) return;
  runs_.erase(job.job_id);
  TellEnd(job);
  if (job.open()) return;
  if (job.state != v1::Job::STATE_SUCCEEDED) SendEndClose(job);
  dispatcher_.EndClosing(job.session_id);
}

void CloseDesk::SendEndClose(const JobRow& job) {
  if (roster_.Find(job.session_id) == nullptr) return;
  v1::Control control;
  control.set_kind(v1::Control::KIND_END_CLOSE);
  control.set_job_id(job.job_id);
  controls_.Send(job.session_id, std::move(control), kAnswerWithin,
                 [](auto) {});
}

void CloseDesk::OnAttached(Attachment& attachment) {
  if (attachment.hello.start_reason() != v1::START_REASON_RECONNECT) return;
  const auto job = store_.LatestOf(attachment.root, attachment.session_id,
                                   v1::Job::KIND_CLOSE);
  if (!job.ok() || !job->has_value() || (*job)->open() ||
      (*job)->state == v1::Job::STATE_SUCCEEDED) {
    return;
  }
  SendEndClose(**job);
}

void CloseDesk::TellEnd(const JobRow& job) {
  // Nobody needs the handoff any more. First, since the next broker does what
  // was not told.
  dispatcher_.Withdraw(HandoffRequestId(job.job_id), v1::DELIVERY_END_CANCELLED,
                       "the close job is over", [](const absl::Status&) {});
  const std::string what = " (" + Describe(job) + ")";
  const std::string why = job.detail.empty() ? "" : ": " + job.detail;
  std::string text;
  if (job.state == v1::Job::STATE_SUCCEEDED) {
    text = WorkerOf(job) + " is closed" + what + why + ".";
    const auto handoff = handoffs_.Find(job.root, job.session_id);
    if (handoff.ok() && handoff->has_value() &&
        (*handoff)->job_id() == job.job_id) {
      text += " Its handoff begins:" + BeginningOf((*handoff)->summary());
    }
  } else if (job.state == v1::Job::STATE_UNCERTAIN) {
    text = "Whether " + WorkerOf(job) + " was closed is uncertain" + what +
           why +
           ". It stays fenced until a person has looked and runs intercom job "
           "resolve " +
           job.job_id + ".";
  } else {
    text = "Closing " + WorkerOf(job) + " did not end well" + what + why +
           ". It was not closed by this job, and mail to it flows again.";
  }
  news_.Tell(job, "CLOSE", std::move(text));
}

CloseDesk::Run* CloseDesk::FindRun(const std::string& job_id) {
  const auto found = runs_.find(job_id);
  return found == runs_.end() || found->second.is_over ? nullptr
                                                       : &found->second;
}

const Attachment* CloseDesk::WorkerIn(const Run& run) const {
  const Attachment* attachment = roster_.Find(run.session_id);
  return attachment != nullptr && attachment->epoch == run.epoch ? attachment
                                                                 : nullptr;
}

void CloseDesk::End(const std::string& job_id, v1::Job::State state,
                    std::string reason, std::string detail) {
  if (Run* run = FindRun(job_id)) run->is_over = true;
  jobs_.End(job_id,
            {v1::Job::STATE_REQUESTED, v1::Job::STATE_AWAITING_HANDOFF,
             v1::Job::STATE_AWAITING_SETTLEMENT, v1::Job::STATE_READY,
             v1::Job::STATE_CLOSING},
            state, std::move(reason), std::move(detail));
}

void CloseDesk::Interrupt(const std::string& job_id) {
  End(job_id, v1::Job::STATE_INTERRUPTED, "interrupted",
      "its host left or started anew before it was told to end");
}

}  // namespace intercom
