#include "worker-agent/monitor_opener.h"

#include <utility>

#include "broker/base/error.h"
#include "broker/base/log.h"
#include "broker/domain/identity.h"

namespace intercom {

void MonitorOpener::Look() {
  if (is_busy_) {
    has_news_ = true;
    return;
  }
  if (link_.calls() == nullptr) return;
  if (unrecorded_.has_value()) {
    return Record(*std::exchange(unrecorded_, std::nullopt), "");
  }
  if (is_over_) return;
  is_busy_ = true;
  panes_.Run([own = room_.own_pane] { return own(); },
             [this](const absl::StatusOr<v1::Pane>& own) {
               const bool is_shown = own.ok() && (own->launcher() == "tmux" ||
                                                  own->launcher() == "herdr");
               if (!is_shown) {
                 // There is nothing to be above of.
                 SPDLOG_DEBUG("no pane for the monitor: {}",
                              own.ok() ? "" : MessageOf(own.status()));
                 return Finish();
               }
               own_ = *own;
               Claim("");
             });
}

void MonitorOpener::Pause() {
  is_busy_ = false;
  if (std::exchange(has_news_, false)) Look();
}

void MonitorOpener::Claim(const std::string& gone) {
  if (link_.calls() == nullptr) return Pause();
  v1::ClaimMonitorPaneRequest request;
  request.set_claim_id(NewUuid(random_));
  *request.mutable_caller() = own_;
  request.set_gone_claim_id(gone);
  link_.calls()->Call<v1::ClaimMonitorPaneResponse>(
      std::move(request),
      [this, has_looked = !gone.empty()](
          const absl::StatusOr<v1::ClaimMonitorPaneResponse>& response) {
        if (response.ok()) return HandleClaim(*response, has_looked);
        SPDLOG_INFO("no pane for the monitor: {}",
                    MessageOf(response.status()));
        Pause();
      });
}

void MonitorOpener::HandleClaim(const v1::ClaimMonitorPaneResponse& response,
                                bool has_looked) {
  if (response.open()) return Step(response.pane());
  // There is no worker yet, or a person closed it.
  if (!response.has_pane()) return Pause();
  if (response.pane().stage() < v1::MonitorPane::STAGE_SUBMITTED ||
      has_looked) {
    return Finish();
  }
  panes_.Run([look = room_.is_monitor_there,
              pane = response.pane().pane()] { return look(pane); },
             [this, claim_id = response.pane().claim_id()](
                 const absl::StatusOr<bool>& there) {
               // One that does not answer may be there.
               if (!there.ok() || *there) return Finish();
               Claim(claim_id);
             });
}

void MonitorOpener::Step(v1::MonitorPane claim) {
  panes_.Run([step = room_.do_monitor_step, claim] { return step(claim); },
             [this, claim](const absl::StatusOr<MonitorStep>& step) mutable {
               if (step.ok()) {
                 claim.set_stage(step->stage);
                 *claim.mutable_pane() = step->pane;
                 return Record(std::move(claim), "");
               }
               const std::string why = MessageOf(step.status());
               warn_("The monitor's pane could not be opened: " + why +
                     ". To see it: intercom monitor");
               claim.set_stage(v1::MonitorPane::STAGE_GONE);
               Record(std::move(claim), why);
             });
}

void MonitorOpener::Record(v1::MonitorPane claim, const std::string& detail) {
  if (link_.calls() == nullptr) {
    unrecorded_ = std::move(claim);
    return Finish();
  }
  v1::AdvanceMonitorPaneRequest request;
  request.set_claim_id(claim.claim_id());
  request.set_stage(claim.stage());
  if (claim.has_pane()) *request.mutable_pane() = claim.pane();
  request.set_detail(detail);
  link_.calls()->Call<v1::AdvanceMonitorPaneResponse>(
      std::move(request),
      [this, claim = std::move(claim)](
          const absl::StatusOr<v1::AdvanceMonitorPaneResponse>& response) {
        if (!response.ok()) {
          SPDLOG_WARN("the monitor's pane is not on record: {}",
                      MessageOf(response.status()));
          if (absl::IsUnavailable(response.status())) unrecorded_ = claim;
          return Finish();
        }
        if (claim.stage() >= v1::MonitorPane::STAGE_SUBMITTED) return Finish();
        Step(claim);
      });
}

}  // namespace intercom
