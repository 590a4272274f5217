// The status of workers: asked for by the coordinator, or reported unasked.
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/activity.h"
#include "broker/domain/fence.h"
#include "broker/domain/permissions.h"
#include "broker/domain/route.h"
#include "broker/work/subject.h"
#include "broker/work/worker_desk.h"

namespace intercom {
namespace {

constexpr char kStatus[] = "STATUS";

}  // namespace

void WorkerDesk::RequestStatus(CallerEvidence evidence,
                               v1::RequestStatusRequest request,
                               Done<v1::RequestStatusResponse> done) {
  auto shared_done =
      std::make_shared<Done<v1::RequestStatusResponse>>(std::move(done));
  workspaces_.Decide(
      std::move(evidence), "", Operation::kStatusRequest, /*last_good=*/false,
      [this, to = request.to(), shared_done](const DecidedCall& call,
                                             Effects& effects) -> absl::Status {
        INTERCOM_ASSIGN_OR_RETURN(const v1::AgentEntry entry,
                                  RouteToWorker(to, call.workspace->agents));
        effects.AfterCommit(
            [this, entry, workspace = call.workspace, shared_done] {
              v1::RequestStatusResponse response;
              *response.mutable_entry() =
                  view_.Describe(entry.session_id(), workspace.get(), &entry);
              response.set_report_requested(roster_.Find(entry.session_id()) !=
                                            nullptr);
              if (response.report_requested()) {
                v1::Control control;
                control.set_kind(v1::Control::KIND_REPORT_STATUS);
                controls_.Send(entry.session_id(), std::move(control),
                               kControlTimeout,
                               [this, entry, workspace](auto result) {
                                 PostAnswer(*workspace, entry, result);
                               });
              }
              (*shared_done)(std::move(response));
            });
        return absl::OkStatus();
      },
      [shared_done](const absl::Status& status) { (*shared_done)(status); });
}

void WorkerDesk::PostAnswer(const Workspace& workspace,
                            const v1::AgentEntry& entry,
                            const absl::StatusOr<v1::ControlResult>& result) {
  const std::string& id = entry.session_id();
  if (result.ok() && result->ok()) {
    return runner_.PostCommand(
        {[this, id, workspace, status = result->status()](Effects& effects) {
           return PostStatus(workspace, id, status, effects);
         },
         nullptr});
  }
  std::string text = NameLabel(entry.name()) + " (session " + id + ")";
  if (absl::IsDeadlineExceeded(result.status())) {
    text += " did not answer the request for its status in 5 s.";
  } else {
    text += " did not report its status: " +
            (result.ok() ? SafeLabel(result->error(), 512)
                         : MessageOf(result.status())) +
            ".";
  }
  v1::Sender subject;
  subject.set_session_id(id);
  subject.set_name(entry.name());
  subject.set_origin(v1::ORIGIN_BROKER);
  subject.set_role(workspace.RoleOf(id));
  subject.set_workspace_root(workspace.root);
  runner_.PostCommand(
      {[this, subject, text, to = CoordinatorOf(workspace)](Effects& effects) {
         return dispatcher_.AcceptNotice(subject, to, kStatus, text,
                                         /*quiet=*/true, effects);
       },
       nullptr});
}

void WorkerDesk::ReportStatus(CallerEvidence evidence,
                              v1::ReportStatusRequest request,
                              Done<v1::ReportStatusResponse> done) {
  auto shared_done =
      std::make_shared<Done<v1::ReportStatusResponse>>(std::move(done));
  workspaces_.Decide(
      std::move(evidence), "", Operation::kStatusReport, /*last_good=*/false,
      [this, status = request.status(), shared_done](
          const DecidedCall& call, Effects& effects) -> absl::Status {
        INTERCOM_RETURN_IF_ERROR(PostStatus(
            *call.workspace, call.caller.session_id, status, effects));
        v1::ReportStatusResponse response;
        *response.mutable_status() = status;
        response.mutable_status()->set_session_id(call.caller.session_id);
        response.mutable_status()->set_port(port_);
        response.set_reported(true);
        effects.AfterSync(
            [shared_done, response] { (*shared_done)(response); });
        return absl::OkStatus();
      },
      [shared_done](const absl::Status& status) { (*shared_done)(status); });
}

absl::Status WorkerDesk::PostStatus(const Workspace& workspace,
                                    const std::string& session_id,
                                    const v1::StatusReport& status,
                                    Effects& effects) {
  const Attachment* attachment = roster_.Find(session_id);
  if (attachment == nullptr) return absl::OkStatus();
  const v1::Sender sender = SubjectOf(*attachment, workspace);
  std::string text = "Status of ";
  text += sender.name().empty() ? "an unnamed session"
                                : NameOr(sender.name(), session_id);
  text += " (session " + session_id + ", ";
  text += RoleName(sender.role());
  text += "): ";
  text += status.busy() ? "busy" : "idle";
  if (status.busy() && status.has_activity()) {
    text += ", " + std::string(PhaseName(status.activity().phase()));
    if (!status.activity().label().empty()) {
      text += " (" + MarkedLine(status.activity().label(), 64) + ")";
    }
  }
  text += "; directory " + MarkedLine(attachment->project_directory, 512) +
          ", port " + std::to_string(port_) + ".";
  return dispatcher_.AcceptNotice(sender, CoordinatorOf(workspace), kStatus,
                                  text, /*quiet=*/true, effects);
}

}  // namespace intercom
