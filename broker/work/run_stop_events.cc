// What comes to stops other than by calls: the word of hosts, their return, and
// the broker's own wishes.
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "broker/work/run_stops.h"
#include "broker/work/run_text.h"
#include "spdlog/spdlog.h"

namespace intercom {
namespace {

constexpr size_t kMaxWhyCharacters = 300;

}  // namespace

void RunStops::OnEvent(SessionKey key, v1::JobEvent event) {
  const auto number = ParseRunId(event.job_id());
  if (!number.ok() || event.event() != v1::JobEvent::EVENT_STOP_FAILED) return;
  runner_.PostCommand(
      {[this, key = std::move(key), number = *number,
        why = QuotedLine(event.detail(), kMaxWhyCharacters)](
           Effects& effects) -> absl::Status {
         const Attachment* attachment = roster_.Find(key.session_id);
         if (attachment == nullptr || attachment->epoch != key.epoch) {
           return absl::OkStatus();
         }
         INTERCOM_ASSIGN_OR_RETURN(auto run, store_.Find(number));
         if (!run.has_value() || !run->open() ||
             run->worker_session_id != key.session_id) {
           return absl::OkStatus();
         }
         run->detail = "its worker's host could not cancel it: " + why;
         // The broker's own stops settle by themselves.
         if (run->reason == "cancelled") {
           effects.AfterCommit([this, run = *run] { TellFailed(run); });
         }
         return runs_.Put(*run, Runs::News::kTell, effects);
       },
       [](const absl::Status& status) {
         spdlog::error("that a stop failed is not stored: {}",
                       MessageOf(status));
       }});
}

void RunStops::TellFailed(const RunRow& run) {
  Recipient supervisor{run.supervisor_session_id, run.supervisor_name, {}};
  // That of a workspace has an entry there.
  if (run.root.empty()) supervisor.expires_after = kUnconfiguredKept;
  runner_.PostCommand(
      {[this, run, supervisor](Effects& effects) {
         return dispatcher_.AddNotice(
             BrokerSender(), supervisor, "STOP",
             "Stopping " + RunId(run.number) + " at " +
                 NameOr(run.worker_name, run.worker_session_id) +
                 " did not end well, and it goes on: " + run.detail +
                 ". A second stop settles it whatever its host does.",
             /*quiet=*/false, effects);
       },
       [number = run.number](const absl::Status& status) {
         spdlog::warn("that run {} could not be stopped is not told: {}",
                      number, MessageOf(status));
       }});
}

void RunStops::RefuseWaiting(const std::string& worker) {
  for (const RunRow& waiting : runs_.OfWorker(worker)) {
    if (waiting.state != v1::Run::STATE_WAITING) continue;
    runner_.PostCommand(
        {[this, number = waiting.number](Effects& effects) -> absl::Status {
           INTERCOM_ASSIGN_OR_RETURN(auto run, store_.Find(number));
           if (!run.has_value() || run->state != v1::Run::STATE_WAITING) {
             return absl::OkStatus();
           }
           // Why it is withdrawn must be known when it ends, in whichever
           // broker.
           if (run->reason.empty()) {
             run->reason = "runs_off";
             INTERCOM_RETURN_IF_ERROR(
                 runs_.Put(*run, Runs::News::kNone, effects));
           }
           return dispatcher_.TakeBack(run->delivery_id,
                                       v1::DELIVERY_END_CANCELLED,
                                       "its recipient takes no runs", effects);
         },
         [number = waiting.number](const absl::Status& status) {
           spdlog::error("run {} is not taken back yet: {}", number,
                         MessageOf(status));
         }});
  }
}

void RunStops::Request(int64_t number, std::string reason) {
  runner_.PostCommand(
      {[this, number, reason](Effects& effects) -> absl::Status {
         INTERCOM_ASSIGN_OR_RETURN(auto run, store_.Find(number));
         if (!run.has_value() || run->state != v1::Run::STATE_RUNNING ||
             run->stop_requested_at.has_value()) {
           return absl::OkStatus();
         }
         INTERCOM_RETURN_IF_ERROR(Mark(*run, reason, effects));
         effects.AfterSync([this, run = *run] {
           runner_.PostTask([this, run] {
             if (runs_.Find(run.number) != nullptr) Cancel(run, nullptr);
           });
         });
         return absl::OkStatus();
       },
       [number](const absl::Status& status) {
         spdlog::error("run {} is not stopped yet: {}", number,
                       MessageOf(status));
       }});
}

void RunStops::OnAttached(Attachment& attachment) {
  if (attachment.hello.refuses_runs()) RefuseWaiting(attachment.session_id);
  for (const RunRow& run : runs_.OfWorker(attachment.session_id)) {
    if (run.state == v1::Run::STATE_RUNNING &&
        run.stop_requested_at.has_value()) {
      Cancel(run, nullptr);
    }
  }
}

}  // namespace intercom
