#include "broker/work/run_stops.h"

#include <optional>
#include <string>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/validated_envelope.h"
#include "broker/work/capability.h"
#include "broker/work/run_text.h"

namespace intercom {
namespace {

constexpr char kAgain[] = "; stop it once more to settle it as it is";

}  // namespace

struct RunStops::Call {
  Done done;
  std::string request_id;
  int64_t number = 0;
  v1::StopRunResponse response;
  bool is_answered = false;
};

RunStops::RunStops(StateRunner& runner, Workspaces& workspaces, Roster& roster,
                   Runs& runs, RunStore& store, RunDesk& desk,
                   const Fences& fences, Controls& controls,
                   Dispatcher& dispatcher, const Clock& clock)
    : runner_(runner),
      workspaces_(workspaces),
      roster_(roster),
      runs_(runs),
      store_(store),
      desk_(desk),
      fences_(fences),
      controls_(controls),
      dispatcher_(dispatcher),
      clock_(clock) {
  desk_.SetOnStopDue([this](int64_t number) {
    // The command that began it may have settled it, too.
    runner_.PostTask([this, number] {
      if (const RunRow* run = runs_.Find(number)) Cancel(*run, nullptr);
    });
  });
  desk_.SetOnRefused(
      [this](const std::string& worker) { RefuseWaiting(worker); });
}

void RunStops::StopRun(CallerEvidence evidence, v1::StopRunRequest request,
                       Done done) {
  if (!request.request_id().empty() &&
      !CheckEnvelopeId(request.request_id()).ok()) {
    return done(Error(absl::StatusCode::kInvalidArgument, "REQUEST_ID_INVALID",
                      "a request id has 1 to 64 letters, digits and hyphens"));
  }
  auto call = std::make_shared<Call>();
  call->done = std::move(done);
  call->request_id = request.request_id();
  runner_.PostTask([this, call, evidence = std::move(evidence),
                    run_id = request.run_id()] {
    const auto caller =
        workspaces_.callers().ResolveFor(Operation::kRunSupervise, evidence);
    if (!caller.ok()) return call->done(caller.status());
    runner_.PostCommand(
        {[this, call, caller = *caller, run_id](Effects& effects) {
           return Begin(caller, run_id, call, effects);
         },
         [call](const absl::Status& status) { call->done(status); }});
  });
}

absl::Status RunStops::Begin(const Caller& caller, const std::string& run_id,
                             const CallPtr& call, Effects& effects) {
  INTERCOM_ASSIGN_OR_RETURN(RunRow run,
                            desk_.FindRun(caller.session_id, run_id));
  call->number = run.number;
  if (!run.open()) {
    return Error(absl::StatusCode::kFailedPrecondition, "RUN_SETTLED",
                 RunId(run.number) +
                     " has settled already; result gives what it came to");
  }
  INTERCOM_ASSIGN_OR_RETURN(const std::optional<std::string> first,
                            store_.FirstStop(run.number));
  const bool is_repeat = !call->request_id.empty() && first == call->request_id;
  if (first.has_value() && !is_repeat) {
    return Force(std::move(run), call, effects);
  }
  if (run.state == v1::Run::STATE_RUNNING) {
    INTERCOM_RETURN_IF_ERROR(CheckHost(run));
  }
  INTERCOM_RETURN_IF_ERROR(store_.AddFirstStop(run.number, call->request_id));
  if (!run.stop_requested_at.has_value()) {
    INTERCOM_RETURN_IF_ERROR(Mark(run, "cancelled", effects));
  }
  effects.AfterSync([this, call, run] {
    runner_.PostTask([this, call, run] {
      runner_.PostDelayedTask(
          [this, call] {
            Answer(call, std::string("its host has not said yet whether it "
                                     "cancels it") +
                             kAgain);
          },
          kAnswerWithin);
      // It may have settled by the host's word since.
      if (runs_.Find(run.number) == nullptr) return Answer(call, "");
      if (run.state == v1::Run::STATE_WAITING) return WithdrawFirst(run, call);
      CancelFor(run, call);
    });
  });
  return absl::OkStatus();
}

void RunStops::CancelFor(const RunRow& run, const CallPtr& call) {
  Cancel(run, [this, run, call](const std::string& detail) {
    if (detail.empty()) NameOthers(run, *call);
    Answer(call, detail);
  });
}

void RunStops::NameOthers(const RunRow& run, Call& call) const {
  call.response.clear_also_cancelled();
  int others = 0;
  for (const RunRow& other : runs_.OfWorker(run.worker_session_id)) {
    if (other.number == run.number) continue;
    if (other.supervisor_session_id == run.supervisor_session_id) {
      *call.response.add_also_cancelled() = ToProto(other, clock_.Now());
    } else {
      ++others;
    }
  }
  call.response.set_others_also_cancelled(others);
}

absl::Status RunStops::Force(RunRow run, const CallPtr& call,
                             Effects& effects) {
  // Before the run is settled, after which nothing is known of it.
  effects.AfterCommit([this, run, call] {
    if (run.state != v1::Run::STATE_RUNNING) return;
    NameOthers(run, *call);
    Cancel(run, nullptr);
  });
  INTERCOM_RETURN_IF_ERROR(runs_.Settle(
      run, v1::Run::STATE_STOPPED, "forced",
      "it was stopped a second time, and settled without the word of its "
      "worker's host; what it has done is not undone, and it may go on",
      effects));
  // It may run before its message is proved to be there: nobody is to do the
  // work later.
  INTERCOM_RETURN_IF_ERROR(
      dispatcher_.TakeBack(run.delivery_id, v1::DELIVERY_END_CANCELLED,
                           "its supervisor stopped the run", effects));
  effects.AfterSync([this, call] {
    runner_.PostTask([this, call] {
      call->response.set_forced(true);
      Answer(call, "");
    });
  });
  return absl::OkStatus();
}

absl::Status RunStops::CheckHost(const RunRow& run) const {
  const Attachment* attachment = roster_.Find(run.worker_session_id);
  if (attachment == nullptr) return absl::OkStatus();
  INTERCOM_RETURN_IF_ERROR(
      fences_.Check(attachment->root, run.worker_session_id));
  v1::AgentEntry entry;
  entry.set_name(run.worker_name.empty() ? run.worker_session_id
                                         : run.worker_name);
  return CheckHostCan("stop", attachment, entry);
}

absl::Status RunStops::Mark(RunRow& run, std::string reason, Effects& effects) {
  run.stop_requested_at = clock_.Now();
  run.reason = std::move(reason);
  return runs_.Put(run, Runs::News::kTell, effects);
}

void RunStops::WithdrawFirst(const RunRow& run, const CallPtr& call) {
  dispatcher_.Withdraw(
      run.delivery_id, v1::DELIVERY_END_CANCELLED,
      "its supervisor stopped the run",
      [this, run, call](const absl::Status& status) {
        runner_.PostTask([this, run, call, status] {
          if (status.ok() || runs_.Find(run.number) == nullptr) {
            return Answer(call, "");
          }
          // It is, or is about to be, in the session.
          if (ReasonOf(status) != "TOO_LATE") {
            return Answer(call, MessageOf(status) + kAgain);
          }
          if (!dispatcher_.HasEnded(run.delivery_id)) {
            return CancelFor(run, call);
          }
          // It was withdrawn before, and may be there.
          Answer(call, runs_.Find(run.number)->detail + kAgain);
        });
      });
}

void RunStops::Cancel(const RunRow& run, Told told) {
  const auto tell = [told = std::move(told)](const std::string& detail) {
    if (told) told(detail);
  };
  if (roster_.Find(run.worker_session_id) == nullptr) {
    return tell(std::string("its worker is away, so nothing was cancelled; it "
                            "is told when it is back") +
                kAgain);
  }
  if (const absl::Status can = CheckHost(run); !can.ok()) {
    return tell(MessageOf(can) + kAgain);
  }
  v1::Control control;
  control.set_kind(v1::Control::KIND_STOP);
  control.set_job_id(RunId(run.number));
  *control.mutable_requested_at() =
      ToProto(run.stop_requested_at.value_or(clock_.Now()));
  *control.mutable_deadline_at() = ToProto(clock_.Now() + kDeadline);
  controls_.Send(run.worker_session_id, std::move(control), kAcknowledgeWithin,
                 [tell](const auto& result) {
                   if (!result.ok()) {
                     return tell(MessageOf(result.status()) + kAgain);
                   }
                   if (!result->ok()) {
                     return tell("its host does not cancel it: " +
                                 QuotedLine(result->error(), 512) + kAgain);
                   }
                   tell("");
                 });
}

void RunStops::Answer(const CallPtr& call, const std::string& detail) {
  if (std::exchange(call->is_answered, true)) return;
  const auto run = store_.Find(call->number);
  if (!run.ok()) return call->done(run.status());
  if (!run->has_value()) return call->done(RunDropped(call->number));
  *call->response.mutable_run() = ToProto(**run, clock_.Now());
  if ((*run)->open()) call->response.mutable_run()->set_detail(detail);
  call->done(std::move(call->response));
}

}  // namespace intercom
