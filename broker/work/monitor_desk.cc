#include "broker/work/monitor_desk.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/process.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/validated_envelope.h"
#include "spdlog/spdlog.h"

namespace intercom {
namespace {

constexpr size_t kMaxDetailCharacters = 512;

v1::MonitorPane DescribePane(const MonitorPaneRow& row) {
  v1::MonitorPane pane;
  pane.set_claim_id(row.claim_id);
  pane.set_workspace_root(row.root);
  pane.set_coordinator_session_id(row.coordinator_session_id);
  pane.set_stage(row.stage);
  *pane.mutable_caller() = row.caller;
  if (!row.pane.pane().empty()) *pane.mutable_pane() = row.pane;
  *pane.mutable_updated_at() = ToProto(row.updated_at);
  return pane;
}

bool HasWorker(const Workspace& workspace) {
  return std::any_of(workspace.agents.begin(), workspace.agents.end(),
                     [&](const v1::AgentEntry& entry) {
                       return entry.session_id() !=
                              workspace.coordinator_session_id;
                     });
}

bool IsBeingOpened(const MonitorPaneRow& row) {
  return row.stage < v1::MonitorPane::STAGE_SUBMITTED;
}

absl::Status Invalid(std::string_view reason, std::string_view message) {
  return Error(absl::StatusCode::kInvalidArgument, reason, message);
}

}  // namespace

void MonitorDesk::Claim(CallerEvidence evidence,
                        v1::ClaimMonitorPaneRequest request,
                        Done<v1::ClaimMonitorPaneResponse> done) {
  if (request.claim_id().empty() || !CheckEnvelopeId(request.claim_id()).ok() ||
      request.caller().pane().empty()) {
    return done(Invalid("CLAIM_INVALID",
                        "claim_id must be a UUID, and caller the pane of the "
                        "coordinator; nothing was claimed"));
  }
  auto shared_done =
      std::make_shared<Done<v1::ClaimMonitorPaneResponse>>(std::move(done));
  workspaces_.Decide(
      std::move(evidence), /*directory=*/"", Operation::kMonitorPane,
      /*last_good=*/true,
      [this, request = std::move(request), shared_done](
          const DecidedCall& call, Effects& effects) -> absl::Status {
        INTERCOM_ASSIGN_OR_RETURN(auto response, Decide(call, request));
        effects.AfterSync([shared_done, response = std::move(response)] {
          (*shared_done)(response);
        });
        return absl::OkStatus();
      },
      [shared_done](const absl::Status& status) { (*shared_done)(status); });
}

absl::StatusOr<v1::ClaimMonitorPaneResponse> MonitorDesk::Decide(
    const DecidedCall& call, const v1::ClaimMonitorPaneRequest& request) {
  v1::ClaimMonitorPaneResponse response;
  const Attachment* host = roster_.Find(call.caller.host_session_id);
  INTERCOM_ASSIGN_OR_RETURN(std::optional<MonitorPaneRow> row,
                            store_.Find(call.root()));
  if (row.has_value() && row->claim_id == request.claim_id()) {
    response.set_open(IsBeingOpened(*row));
    *response.mutable_pane() = DescribePane(*row);
    return response;
  }
  if (host == nullptr || !HasWorker(*call.workspace)) return response;
  if (row.has_value()) {
    const bool is_of_host =
        row->host_pid == host->host_pid &&
        row->host_start_ticks == host->hello.host_start_ticks();
    const bool is_gone = !IsRunning(row->claim_id) &&
                         (row->stage == v1::MonitorPane::STAGE_GONE ||
                          request.gone_claim_id() == row->claim_id);
    // What a host began and did not end is not begun again beside it.
    const bool is_left = IsBeingOpened(*row) && !is_of_host &&
                         StartTicksOf(row->host_pid) != row->host_start_ticks;
    if (!is_gone && !is_left) {
      *response.mutable_pane() = DescribePane(*row);
      return response;
    }
    // A person closed it, or it can't be opened there.
    if (is_of_host) return response;
  }
  MonitorPaneRow claim;
  claim.root = call.root();
  claim.claim_id = request.claim_id();
  claim.coordinator_session_id = host->session_id;
  claim.host_pid = host->host_pid;
  claim.host_start_ticks = host->hello.host_start_ticks();
  claim.stage = v1::MonitorPane::STAGE_SPLIT_PENDING;
  claim.caller = request.caller();
  claim.updated_at = clock_.Now();
  INTERCOM_RETURN_IF_ERROR(store_.Save(claim));
  response.set_open(true);
  *response.mutable_pane() = DescribePane(claim);
  return response;
}

void MonitorDesk::Advance(CallerEvidence evidence,
                          v1::AdvanceMonitorPaneRequest request,
                          Done<v1::AdvanceMonitorPaneResponse> done) {
  auto shared_done =
      std::make_shared<Done<v1::AdvanceMonitorPaneResponse>>(std::move(done));
  workspaces_.Decide(
      std::move(evidence), /*directory=*/"", Operation::kMonitorPane,
      /*last_good=*/true,
      [this, request = std::move(request), shared_done](
          const DecidedCall& call, Effects& effects) -> absl::Status {
        INTERCOM_ASSIGN_OR_RETURN(std::optional<MonitorPaneRow> row,
                                  store_.Find(call.root()));
        if (!row.has_value() || row->claim_id != request.claim_id()) {
          return Error(absl::StatusCode::kNotFound, "UNKNOWN_CLAIM",
                       "the monitor's pane is another's to open now; nothing "
                       "was changed");
        }
        // The monitor may be quicker than the word of who started it.
        const bool is_late =
            row->stage == v1::MonitorPane::STAGE_OBSERVED &&
            request.stage() == v1::MonitorPane::STAGE_SUBMITTED;
        if (!is_late && (request.stage() < row->stage ||
                         !v1::MonitorPane::Stage_IsValid(request.stage()) ||
                         request.stage() == v1::MonitorPane::STAGE_OBSERVED)) {
          return Invalid("STAGE_INVALID",
                         "the opening of the monitor's pane has come further; "
                         "nothing was changed");
        }
        if (!is_late) row->stage = request.stage();
        if (request.has_pane()) row->pane = request.pane();
        row->detail = SafeLabel(request.detail(), kMaxDetailCharacters);
        row->updated_at = clock_.Now();
        INTERCOM_RETURN_IF_ERROR(store_.Save(*row));
        effects.AfterSync([shared_done, pane = DescribePane(*row)] {
          v1::AdvanceMonitorPaneResponse response;
          *response.mutable_pane() = pane;
          (*shared_done)(std::move(response));
        });
        return absl::OkStatus();
      },
      [shared_done](const absl::Status& status) { (*shared_done)(status); });
}

bool MonitorDesk::IsRunning(const std::string& claim_id) const {
  const auto monitor = monitors_.find(claim_id);
  return monitor != monitors_.end() && !monitor->second.expired();
}

void MonitorDesk::OnObserved(const std::string& claim_id,
                             std::weak_ptr<const void> watch) {
  std::erase_if(monitors_,
                [](const auto& monitor) { return monitor.second.expired(); });
  monitors_.insert_or_assign(claim_id, std::move(watch));
  runner_.PostCommand({[this, claim_id](Effects&) -> absl::Status {
                         INTERCOM_ASSIGN_OR_RETURN(
                             std::optional<MonitorPaneRow> row,
                             store_.FindByClaim(claim_id));
                         if (!row.has_value() ||
                             row->stage >= v1::MonitorPane::STAGE_OBSERVED) {
                           return absl::OkStatus();
                         }
                         row->stage = v1::MonitorPane::STAGE_OBSERVED;
                         row->updated_at = clock_.Now();
                         return store_.Save(*row);
                       },
                       [](const absl::Status& status) {
                         spdlog::error("the monitor's pane is not recorded: {}",
                                       MessageOf(status));
                       }});
}

void MonitorDesk::OnMirrored(const Workspace& workspace) {
  const Attachment* coordinator =
      roster_.Find(workspace.coordinator_session_id);
  if (coordinator == nullptr || !HasWorker(workspace)) return;
  const auto [told, is_new] =
      told_.try_emplace(workspace.root, coordinator->epoch);
  if (!is_new && told->second == coordinator->epoch) return;
  told->second = coordinator->epoch;
  v1::AttachResponse frame;
  frame.mutable_roster_changed();
  coordinator->link->Send(std::move(frame));
}

}  // namespace intercom
