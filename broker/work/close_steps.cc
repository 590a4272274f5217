// The steps of a close, from the request to the end of the host and its pane.
#include <utility>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "broker/domain/validated_envelope.h"
#include "broker/work/close_desk.h"
#include "broker/work/job_text.h"
#include "broker/work/subject.h"

namespace intercom {
namespace {

constexpr size_t kMaxErrorCharacters = 512;

std::string HandoffRequestText(const std::string& job_id) {
  return "This session is about to be closed by its coordinator. Before that, "
         "write a handoff for whoever carries on: what is completed, what is "
         "unfinished, what blocks it, how it was validated, and which files "
         "matter. No secrets. Call intercom_report_handoff once, with jobId " +
         job_id +
         " and the handoff as summary (at most 4,000 characters), then end the "
         "turn and wait. Do nothing else.";
}

// What a control came to, for a person.
std::string WhyNot(const absl::StatusOr<v1::ControlResult>& result) {
  if (!result.ok()) return MessageOf(result.status());
  return result->error().empty()
             ? "no reason was given"
             : SafeLabel(result->error(), kMaxErrorCharacters);
}

}  // namespace

void CloseDesk::Prepare(const std::string& job_id) {
  Run* run = FindRun(job_id);
  const JobRow* job = fences_.Find(job_id);
  if (run == nullptr || job == nullptr) return;
  if (WorkerIn(*run) == nullptr) return Interrupt(job_id);
  v1::Control control;
  control.set_kind(v1::Control::KIND_PREPARE_CLOSE);
  control.set_job_id(job_id);
  *control.mutable_requested_at() = ToProto(job->created_at);
  *control.mutable_deadline_at() = ToProto(*job->deadline_at);
  control.set_handoff_envelope_id(job_id);
  controls_.Send(run->session_id, std::move(control), kAnswerWithin,
                 [this, job_id](auto result) { Prepared(job_id, result); });
}

void CloseDesk::Prepared(const std::string& job_id,
                         const absl::StatusOr<v1::ControlResult>& result) {
  Run* run = FindRun(job_id);
  if (run == nullptr) return;
  const Attachment* worker = WorkerIn(*run);
  if (worker == nullptr) return Interrupt(job_id);
  if (!result.ok()) {
    return Fail(job_id, "delivery_failed",
                "its host did not answer: " + WhyNot(result));
  }
  if (!result->ok()) {
    return Fail(job_id, "identity_failed",
                "its host can't be closed: " + WhyNot(result));
  }
  const v1::HostIdentity& identity = result->identity();
  if (identity.session_id() != run->session_id ||
      !ProcessWatch::IsKnown(identity.host_pid(),
                             identity.host_start_ticks()) ||
      identity.host_pid() != worker->host_pid ||
      identity.host_start_ticks() != worker->hello.host_start_ticks()) {
    return Fail(job_id, "identity_failed",
                "its host says that it is another process than the one that "
                "attached");
  }
  run->identity = identity;
  Inspect(job_id, &CloseDesk::AskForHandoff);
}

void CloseDesk::Inspect(const std::string& job_id, Step next) {
  if (FindRun(job_id) == nullptr) return;
  AskCoordinator(v1::Control::KIND_INSPECT_HOST, job_id,
                 [this, job_id, next](auto result) {
                   if (FindRun(job_id) == nullptr) return;
                   if (!result.ok() || !result->ok()) {
                     return Fail(job_id, "identity_failed",
                                 "the coordinator's agent could not confirm "
                                 "which host it is: " +
                                     WhyNot(result));
                   }
                   (this->*next)(job_id);
                 });
}

void CloseDesk::AskCoordinator(v1::Control::Kind kind,
                               const std::string& job_id, Asked answered) {
  const Run* run = FindRun(job_id);
  if (run == nullptr) return;
  const auto workspace = mirror_.Find(run->root);
  const std::string coordinator =
      workspace == nullptr ? "" : workspace->coordinator_session_id;
  v1::Control control;
  control.set_kind(kind);
  control.set_job_id(job_id);
  *control.mutable_identity() = run->identity;
  controls_.Send(
      coordinator, std::move(control), kPaneWithin,
      [this, kind, job_id, coordinator,
       answered = std::move(answered)](auto result) mutable {
        // A coordinator that is being reloaded is asked again.
        if (ReasonOf(result.status()) == "SESSION_AWAY" &&
            roster_.PresenceOf(coordinator).presence ==
                v1::PRESENCE_RESTARTING) {
          runner_.PostDelayedTask(
              [this, kind, job_id, answered = std::move(answered)]() mutable {
                AskCoordinator(kind, job_id, std::move(answered));
              },
              kAskAgain);
          return;
        }
        answered(std::move(result));
      });
}

void CloseDesk::AskForHandoff(const std::string& job_id) {
  const Run* run = FindRun(job_id);
  jobs_.Advance(
      job_id, {v1::Job::STATE_REQUESTED},
      [this, identity = run->identity](JobRow& job,
                                       Effects& effects) -> absl::Status {
        job.state = v1::Job::STATE_AWAITING_HANDOFF;
        job.identity = identity;
        v1::Envelope request;
        request.set_envelope_id(job.job_id);
        request.set_kind(v1::ENVELOPE_KIND_NOTICE);
        request.set_topic("HANDOFF_REQUEST");
        request.set_text(HandoffRequestText(job.job_id));
        INTERCOM_ASSIGN_OR_RETURN(
            const ValidatedEnvelope envelope,
            ValidatedEnvelope::FromBroker(std::move(request)));
        return dispatcher_
            .Accept(envelope, BrokerSender(), {job.session_id, job.name, {}},
                    effects)
            .status();
      },
      [this, job_id](const absl::Status& status) {
        if (status.ok()) return;
        Fail(job_id, "delivery_failed",
             "it could not be asked for its handoff: " + MessageOf(status));
      });
}

void CloseDesk::Settled(const std::string& job_id) {
  jobs_.Advance(
      job_id, {v1::Job::STATE_AWAITING_SETTLEMENT},
      [](JobRow& job, Effects&) {
        job.state = v1::Job::STATE_READY;
        return absl::OkStatus();
      },
      [this, job_id](const absl::Status& status) {
        if (status.ok()) return Inspect(job_id, &CloseDesk::BeginClosing);
        Fail(job_id, "save_failed", MessageOf(status));
      });
}

void CloseDesk::BeginClosing(const std::string& job_id) {
  jobs_.Advance(
      job_id, {v1::Job::STATE_READY},
      [](JobRow& job, Effects&) {
        job.state = v1::Job::STATE_CLOSING;
        return absl::OkStatus();
      },
      [this, job_id](const absl::Status& status) {
        if (status.ok()) return Inspect(job_id, &CloseDesk::Commit);
        Fail(job_id, "save_failed", MessageOf(status));
      });
}

void CloseDesk::Commit(const std::string& job_id) {
  Run* run = FindRun(job_id);
  if (WorkerIn(*run) == nullptr) return Interrupt(job_id);
  run->commit_sent = true;
  v1::Control control;
  control.set_kind(v1::Control::KIND_COMMIT_CLOSE);
  control.set_job_id(job_id);
  const std::string nonce = NewSecret(random_);
  control.set_nonce(nonce);
  controls_.Send(
      run->session_id, std::move(control), kAnswerWithin,
      [this, job_id, nonce](auto result) { Committed(job_id, nonce, result); });
}

void CloseDesk::Committed(const std::string& job_id, const std::string& nonce,
                          const absl::StatusOr<v1::ControlResult>& result) {
  const Run* run = FindRun(job_id);
  if (run == nullptr) return;
  if (!result.ok()) {
    if (ReasonOf(result.status()) == "CONTROLS_FULL") {
      return Fail(job_id, "commit_rejected", WhyNot(result));
    }
    // It may be about to end, or gone already: its process tells.
    return AwaitHostEnd(job_id, "its host was told to end and did not answer");
  }
  if (!result->ok()) {
    return Fail(job_id, "commit_rejected",
                "its host refused to end: " + WhyNot(result));
  }
  if (result->nonce() != nonce) {
    return SetUncertain(job_id, "its host answered for another close");
  }
  AwaitHostEnd(job_id, "its host agreed to end");
}

void CloseDesk::AwaitHostEnd(const std::string& job_id,
                             const std::string& what) {
  const v1::HostIdentity& identity = FindRun(job_id)->identity;
  watch_.AwaitEnd(
      identity.host_pid(), identity.host_start_ticks(), kEndWithin,
      [this, job_id, what](bool ended) {
        if (FindRun(job_id) == nullptr) return;
        if (ended) return ClosePane(job_id);
        SetUncertain(job_id, what + ", and its process still runs after 15 s");
      });
}

void CloseDesk::ClosePane(const std::string& job_id) {
  const Run* run = FindRun(job_id);
  if (run->identity.pane().launcher().empty()) {
    return End(job_id, v1::Job::STATE_SUCCEEDED, "", "its host has ended");
  }
  AskCoordinator(v1::Control::KIND_CLOSE_PANE, job_id,
                 [this, job_id](auto result) {
                   if (FindRun(job_id) == nullptr) return;
                   if (result.ok() && result->ok() && result->pane_gone()) {
                     return End(job_id, v1::Job::STATE_SUCCEEDED, "",
                                "its host has ended and its pane is gone");
                   }
                   SetUncertain(job_id,
                                "its host has ended, but its pane may be there "
                                "still: " +
                                    WhyNot(result));
                 });
}

void CloseDesk::PassDeadline(const std::string& job_id) {
  const Run* run = FindRun(job_id);
  if (run == nullptr) return;
  if (run->commit_sent) {
    return End(job_id, v1::Job::STATE_UNCERTAIN, "timeout",
               "its host was told to end, and whether it has was not known "
               "within 120 s");
  }
  End(job_id, v1::Job::STATE_TIMED_OUT, "timeout",
      "it was not done within 120 s; its host was not told to end");
}

}  // namespace intercom
