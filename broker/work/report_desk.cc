#include "broker/work/report_desk.h"

#include <optional>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/report.h"
#include "broker/domain/validated_envelope.h"
#include "broker/work/subject.h"

namespace intercom {

// A report on its way to the coordinator.
struct ReportDesk::Saved {
  std::shared_ptr<const Workspace> workspace;
  v1::Sender worker;
  v1::Report report;
  Done<v1::ReportWorkResponse> done;
};

void ReportDesk::ReportWork(CallerEvidence evidence,
                            v1::ReportWorkRequest request,
                            Done<v1::ReportWorkResponse> done) {
  auto saved = std::make_shared<Saved>();
  saved->report.set_status(request.status());
  saved->report.set_summary(request.summary());
  saved->done = std::move(done);
  workspaces_.Decide(
      std::move(evidence), "", Operation::kWorkReport, /*last_good=*/false,
      [this, saved](const DecidedCall& call, Effects& effects) -> absl::Status {
        INTERCOM_RETURN_IF_ERROR(
            CheckReport(saved->report.status(), saved->report.summary()));
        const Attachment* attachment = roster_.Find(call.caller.session_id);
        if (attachment == nullptr || !attachment->has_loaded()) {
          return Error(absl::StatusCode::kFailedPrecondition,
                       "RESPONSIBILITY_NOT_LOADED",
                       "this session was configured but has not loaded its "
                       "responsibility; the coordinator calls "
                       "intercom_reload_worker. Nothing was reported");
        }
        *saved->report.mutable_reported_at() = ToProto(clock_.Now());
        saved->workspace = call.workspace;
        saved->worker = SubjectOf(*attachment, *call.workspace);
        // The worker's own words.
        saved->worker.set_origin(v1::ORIGIN_SESSION);
        INTERCOM_RETURN_IF_ERROR(reports_.Save(
            call.workspace->root, call.caller.session_id, saved->report));
        effects.AfterCommit([this, saved] {
          observations_.Record(saved->workspace->root,
                               saved->worker.session_id(), saved->worker.name(),
                               "report",
                               ReportStatusName(saved->report.status()), "");
          if (on_reported_) on_reported_(saved->worker, saved->report);
        });
        effects.AfterSync([this, saved] { Tell(saved); });
        return absl::OkStatus();
      },
      [saved](const absl::Status& status) { saved->done(status); });
}

void ReportDesk::Tell(std::shared_ptr<Saved> saved) {
  runner_.PostCommand(
      {[this, saved](Effects& effects) -> absl::Status {
         INTERCOM_RETURN_IF_ERROR(Accept(*saved, effects));
         effects.AfterSync([saved] {
           v1::ReportWorkResponse response;
           *response.mutable_report() = saved->report;
           response.set_notified(true);
           saved->done(std::move(response));
         });
         return absl::OkStatus();
       },
       [saved](const absl::Status& status) {
         v1::ReportWorkResponse response;
         *response.mutable_report() = saved->report;
         response.set_note(
             "the report is stored and shown in the coordinator's list and "
             "status page, but the coordinator was not told: " +
             MessageOf(status));
         saved->done(std::move(response));
       }});
}

absl::Status ReportDesk::Accept(const Saved& saved, Effects& effects) {
  const v1::Report& report = saved.report;
  v1::Envelope envelope;
  envelope.set_kind(v1::ENVELOPE_KIND_REPORT);
  envelope.set_topic(std::string(ReportTopic(report.status())));
  envelope.set_quiet(report.status() == v1::Report::STATUS_CLEAR);
  envelope.set_text(report.summary().empty() ? "Nothing to report any more."
                                             : report.summary());
  const Recipient coordinator = CoordinatorOf(*saved.workspace);
  std::optional<v1::DeliveryRecord> waiting;
  for (const v1::Report::Status status : kReportStatuses) {
    INTERCOM_ASSIGN_OR_RETURN(
        auto open,
        deliveries_.OpenTo(coordinator.session_id, v1::ENVELOPE_KIND_REPORT,
                           ReportTopic(status), saved.worker.session_id()));
    if (!open.empty() && (!waiting.has_value() ||
                          waiting->sequence() < open.back().sequence())) {
      waiting = std::move(open.back());
    }
  }
  if (waiting.has_value()) {
    if (waiting->envelope().topic() == envelope.topic() &&
        waiting->envelope().text() == envelope.text()) {
      return absl::OkStatus();
    }
    // Those before it were superseded by it.
    envelope.set_supersedes(waiting->envelope().envelope_id());
  }
  envelope.set_envelope_id(NewUuid(random_));
  INTERCOM_ASSIGN_OR_RETURN(const ValidatedEnvelope valid,
                            ValidatedEnvelope::FromBroker(std::move(envelope)));
  return dispatcher_.Accept(valid, saved.worker, coordinator, effects).status();
}

void ReportDesk::Register(CallerEvidence evidence, v1::RegisterRequest,
                          Done<v1::RegisterResponse> done) {
  auto shared_done =
      std::make_shared<Done<v1::RegisterResponse>>(std::move(done));
  workspaces_.Decide(
      std::move(evidence), "", Operation::kRegistrationRepeat,
      /*last_good=*/false,
      [this, shared_done](const DecidedCall& call,
                          Effects& effects) -> absl::Status {
        // The decision saw the attachment whose call this is.
        INTERCOM_RETURN_IF_ERROR(news_.AcceptRegistration(
            *roster_.Find(call.caller.session_id), *call.workspace, effects));
        v1::RegisterResponse response;
        response.set_coordinator_attached(
            roster_.Find(call.workspace->coordinator_session_id) != nullptr);
        effects.AfterSync(
            [shared_done, response] { (*shared_done)(response); });
        return absl::OkStatus();
      },
      [shared_done](const absl::Status& status) { (*shared_done)(status); });
}

}  // namespace intercom
