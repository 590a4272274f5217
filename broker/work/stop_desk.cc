#include "broker/work/stop_desk.h"

#include <utility>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/route.h"
#include "broker/work/capability.h"
#include "broker/work/job_text.h"

namespace intercom {

void StopDesk::Stop(CallerEvidence evidence, v1::StopWorkerRequest request,
                    Done done) {
  auto shared_done = std::make_shared<Done>(std::move(done));
  workspaces_.Decide(
      std::move(evidence), "", Operation::kWorkerStop, /*last_good=*/false,
      [this, to = request.to(), shared_done](const DecidedCall& call,
                                             Effects& effects) -> absl::Status {
        INTERCOM_ASSIGN_OR_RETURN(const v1::AgentEntry entry,
                                  RouteToWorker(to, call.workspace->agents));
        INTERCOM_ASSIGN_OR_RETURN(
            const auto open,
            store_.OpenOf(call.workspace->root, entry.session_id()));
        for (const JobRow& job : open) {
          if (job.kind != v1::Job::KIND_STOP) return WorkerFenced(job);
          effects.AfterCommit(
              [this, job, shared_done] { Await(job, shared_done); });
          return absl::OkStatus();
        }
        INTERCOM_RETURN_IF_ERROR(
            CheckHostCan("stop", roster_.Find(entry.session_id()), entry));
        JobRow job;
        job.job_id = NewUuid(random_);
        job.kind = v1::Job::KIND_STOP;
        job.root = call.workspace->root;
        job.session_id = entry.session_id();
        job.name = entry.name();
        job.requested_by = call.caller.session_id;
        job.created_at = job.updated_at = clock_.Now();
        job.deadline_at = job.created_at + kDeadline;
        INTERCOM_RETURN_IF_ERROR(jobs_.Put(job, effects));
        effects.AfterCommit([this, job, shared_done] {
          Await(job, shared_done);
          runner_.PostDelayedTask(
              [this, id = job.job_id] {
                EndIfPending(id, v1::Job::STATE_TIMED_OUT, "timeout",
                             "its host did not say within 30 s that it stands "
                             "still; it may have stopped all the same");
              },
              kDeadline);
        });
        effects.AfterSync([this, id = job.job_id] {
          runner_.PostTask([this, id] { SendControl(id); });
        });
        return absl::OkStatus();
      },
      [shared_done](const absl::Status& status) { (*shared_done)(status); });
}

void StopDesk::Await(const JobRow& job, std::shared_ptr<Done> done) {
  const int64_t caller = ++last_caller_;
  waiting_[job.job_id].callers[caller] = std::move(*done);
  runner_.PostDelayedTask(
      [this, id = job.job_id, caller] {
        const auto found = waiting_.find(id);
        if (found == waiting_.end()) return;
        auto node = found->second.callers.extract(caller);
        const JobRow* job = fences_.Find(id);
        if (!node || job == nullptr) return;
        found->second.told_pending = true;
        v1::StopWorkerResponse response;
        *response.mutable_job() = ToProto(*job);
        node.mapped()(std::move(response));
      },
      kAnswerWithin);
}

void StopDesk::SendControl(const std::string& job_id) {
  const JobRow* job = fences_.Find(job_id);
  if (job == nullptr) return;
  v1::Control control;
  control.set_kind(v1::Control::KIND_STOP);
  control.set_job_id(job_id);
  *control.mutable_requested_at() = ToProto(job->created_at);
  *control.mutable_deadline_at() = ToProto(*job->deadline_at);
  controls_.Send(
      job->session_id, std::move(control), kAcknowledgeWithin,
      [this, job_id](auto result) {
        if (!result.ok()) {
          // It may act all the same, or has left: the deadline decides.
          if (ReasonOf(result.status()) != "CONTROLS_FULL") return;
          return EndIfPending(job_id, v1::Job::STATE_FAILED, "not_sent",
                              MessageOf(result.status()));
        }
        if (!result->ok()) {
          return EndIfPending(job_id, v1::Job::STATE_FAILED, "refused",
                              SafeLabel(result->error(), 512));
        }
        jobs_.Advance(
            job_id, {v1::Job::STATE_REQUESTED},
            [](JobRow& row, Effects&) {
              row.state = v1::Job::STATE_ACKNOWLEDGED;
              return absl::OkStatus();
            },
            // That it was acknowledged decides nothing.
            [](const absl::Status&) {});
      });
}

void StopDesk::EndIfPending(const std::string& job_id, v1::Job::State state,
                            std::string reason, std::string detail) {
  jobs_.End(job_id, {v1::Job::STATE_REQUESTED, v1::Job::STATE_ACKNOWLEDGED},
            state, std::move(reason), std::move(detail));
}

void StopDesk::OnEvent(const JobRow& job, const v1::JobEvent& event) {
  std::string detail;
  if (!event.detail().empty()) detail = SafeLabel(event.detail(), 512);
  if (event.event() == v1::JobEvent::EVENT_STOPPED) {
    EndIfPending(job.job_id, v1::Job::STATE_SUCCEEDED, "", std::move(detail));
  } else if (event.event() == v1::JobEvent::EVENT_STOP_FAILED) {
    EndIfPending(job.job_id, v1::Job::STATE_FAILED, "stop_failed",
                 std::move(detail));
  }
}

void StopDesk::OnAttached(Attachment& attachment) {
  // An agent that only comes back tells nothing of its host, which went on.
  if (attachment.hello.start_reason() == v1::START_REASON_RECONNECT) return;
  const JobRow* job =
      fences_.JobOf(attachment.root, attachment.session_id, v1::Job::KIND_STOP);
  if (job == nullptr) return;
  EndIfPending(job->job_id, v1::Job::STATE_SUCCEEDED, "",
               "its host started anew");
}

void StopDesk::OnDetached(const Attachment& attachment, bool restarting) {
  if (restarting) return;
  const JobRow* job =
      fences_.JobOf(attachment.root, attachment.session_id, v1::Job::KIND_STOP);
  const int64_t ticks = attachment.hello.host_start_ticks();
  if (job == nullptr || !ProcessWatch::IsKnown(attachment.host_pid, ticks)) {
    return;
  }
  watch_.AwaitEnd(attachment.host_pid, ticks, kAnswerWithin,
                  [this, id = job->job_id](bool ended) {
                    if (!ended) return;
                    EndIfPending(id, v1::Job::STATE_INTERRUPTED, "interrupted",
                                 "its host ended before it said that it "
                                 "stands still");
                  });
}

void StopDesk::OnJobChanged(const JobRow& job) {
  if (job.kind != v1::Job::KIND_STOP || job.open()) return;
  Waiting waiting;
  if (auto node = waiting_.extract(job.job_id)) {
    waiting = std::move(node.mapped());
  }
  const bool is_known = !waiting.callers.empty() && !waiting.told_pending;
  for (auto& [id, done] : waiting.callers) {
    v1::StopWorkerResponse response;
    *response.mutable_job() = ToProto(job);
    done(std::move(response));
  }
  if (is_known) return news_.NeedNotTell(job);
  TellEnd(job);
}

void StopDesk::TellEnd(const JobRow& job) {
  std::string text = job.state == v1::Job::STATE_SUCCEEDED
                         ? WorkerOf(job) + " has stopped"
                         : "Stopping " + WorkerOf(job) + " did not end well";
  text += " (" + Describe(job) + ")";
  if (!job.detail.empty()) text += ": " + job.detail;
  news_.Tell(job, "STOP", text + ".");
}

}  // namespace intercom
