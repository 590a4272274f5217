#include "broker/work/run_openings.h"

#include <map>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "broker/domain/text_rules.h"
#include "broker/work/run_text.h"

namespace intercom {
namespace {

constexpr size_t kMaxLabelCharacters = 80;

absl::Status RunInvalid(const std::string& why) {
  return Error(absl::StatusCode::kInvalidArgument, "RUN_INVALID",
               why + "; nothing was sent");
}

bool IsWithin(const google::protobuf::Duration& duration, absl::Duration most) {
  const absl::Duration value = FromProtoDuration(duration);
  return value >= absl::Seconds(1) && value <= most;
}

std::string NameFor(const PeerTarget& target) {
  return NameOr(target.name, target.session_id);
}

}  // namespace

absl::Status RunOpenings::CheckRequest(const v1::SendRequest& request) {
  const int ways =
      request.has_run() + !request.to_run().empty() + request.to_fellow();
  if (ways == 0) return absl::OkStatus();
  if (ways > 1) {
    return RunInvalid(
        "a message opens a run, steers one, or goes to a fellow: choose one");
  }
  if (request.envelope().kind() != v1::ENVELOPE_KIND_MESSAGE) {
    return RunInvalid(
        "only a plain message has to do with a run: send an ask or a reply "
        "without one");
  }
  if (!request.to_run().empty() &&
      (!request.to().empty() || !request.cwd().empty())) {
    return RunInvalid(
        "a run that is steered is named instead of a recipient: leave that "
        "out");
  }
  if (!request.has_run()) return absl::OkStatus();
  const v1::RunRequest& run = request.run();
  if (!request.envelope().reply_to().empty()) {
    return RunInvalid(
        "what answers a message opens no run: send it without, or as a message "
        "of its own");
  }
  if (CharacterCount(run.label()) > kMaxLabelCharacters ||
      HasControlCharacter(run.label())) {
    return RunInvalid("a run's label is one line of at most 80 characters");
  }
  if (run.has_stop_when_idle() &&
      !IsWithin(run.stop_when_idle(), absl::Hours(24))) {
    return RunInvalid("a run is stopped when it was idle for 1 s to 24 h");
  }
  if (run.has_stop_after() &&
      !IsWithin(run.stop_after(), absl::Hours(7 * 24))) {
    return RunInvalid("a run is stopped after 1 s to 7 days");
  }
  return absl::OkStatus();
}

absl::Status RunOpenings::CheckOpening(const DecidedCall& call,
                                       const PeerTarget& target) const {
  const std::string& caller = call.caller.session_id;
  if (call.caller.origin != v1::ORIGIN_SESSION) {
    return RunInvalid(
        "only a session opens runs, or steers them: send a message without "
        "one");
  }
  const v1::AgentEntry* entry =
      call.workspace == nullptr ? nullptr
                                : call.workspace->EntryOf(target.session_id);
  bool is_own = call.role == v1::ROLE_COORDINATOR && entry != nullptr &&
                !entry->coordinator();
  if (!is_own) {
    INTERCOM_ASSIGN_OR_RETURN(const auto launched_by,
                              headless_.SupervisorOf(target.session_id));
    is_own = launched_by == caller;
  }
  if (!is_own) {
    return Error(absl::StatusCode::kFailedPrecondition, "NOT_ONES_WORKER",
                 NameFor(target) +
                     " is neither a worker of a workspace that this session "
                     "coordinates nor a headless worker that it launched; "
                     "nothing was sent. Send it a message without a run");
  }
  const Attachment* attachment = roster_.Find(target.session_id);
  if (attachment != nullptr && attachment->hello.refuses_runs()) {
    return Error(absl::StatusCode::kFailedPrecondition, "RUNS_OFF",
                 "the person at " + NameFor(target) +
                     " takes no runs there; nothing was sent. Send it a "
                     "message without a run, or ask that person");
  }
  INTERCOM_ASSIGN_OR_RETURN(const auto open, store_.OpenOfSupervisor(caller));
  if (open.size() < Runs::kMaxOpen) return absl::OkStatus();
  return Error(absl::StatusCode::kResourceExhausted, "RUNS_FULL",
               "64 runs of this session are open, which is the limit; nothing "
               "was sent. Wait for one to settle, or stop one");
}

absl::StatusOr<PeerTarget> RunOpenings::FindWorker(
    const DecidedCall& call, const std::string& run_id) const {
  if (call.caller.origin != v1::ORIGIN_SESSION) {
    return RunInvalid(
        "only a session opens runs, or steers them: send a message without "
        "one");
  }
  INTERCOM_ASSIGN_OR_RETURN(const RunRow run,
                            desk_.FindRun(call.caller.session_id, run_id));
  if (run.state != v1::Run::STATE_RUNNING) {
    return Error(absl::StatusCode::kFailedPrecondition, "RUN_NOT_RUNNING",
                 RunId(run.number) +
                     (run.open() ? " has not reached its worker's session yet"
                                 : " has settled") +
                     ", so there is nothing to steer; nothing was sent. " +
                     (run.open() ? "Peek shows when it runs"
                                 : "Result gives what it came to; send opens "
                                   "another run"));
  }
  if (roster_.Find(run.worker_session_id) == nullptr) {
    return Error(absl::StatusCode::kFailedPrecondition, "RECIPIENT_AWAY",
                 "the worker of " + RunId(run.number) +
                     " is not attached; nothing was sent. Look again in a "
                     "moment, or send it a message, which waits for it");
  }
  return peers_.Find(call, run.worker_session_id);
}

void RunOpenings::Foresee(const DecidedCall& call,
                          const v1::SendRequest& request, Effects& effects) {
  if (!request.has_run()) return;
  runs_.Foresee(
      DeliveryId(call.caller.session_id, request.envelope().envelope_id()),
      effects);
}

absl::Status RunOpenings::OnAccepted(const DecidedCall& call,
                                     const v1::SendRequest& request,
                                     bool is_repeat, v1::DeliveryRecord& record,
                                     Effects& effects) {
  if (is_repeat) {
    Describe(record);
    if (!request.has_run() || !record.run_id().empty()) return absl::OkStatus();
    // Its run may have been dropped since; then that is known by the number,
    // where it is that of the delivery.
    INTERCOM_ASSIGN_OR_RETURN(
        const bool is_dropped,
        store_.IsDropped(call.caller.session_id, record.sequence()));
    if (is_dropped) {
      record.set_run_id(RunId(record.sequence()));
      return absl::OkStatus();
    }
    return Error(
        absl::StatusCode::kAlreadyExists, "ENVELOPE_ID_REUSED",
        "this envelope was sent before; it opened no run, or one that "
        "has settled and gave way to later ones. Nothing was sent now: "
        "take a new id only if the work is to be done once more");
  }
  if (!request.has_run()) return absl::OkStatus();
  RunRow run;
  run.delivery_id = record.delivery_id();
  run.supervisor_session_id = call.caller.session_id;
  run.supervisor_name = record.sender().name();
  run.worker_session_id = record.recipient_session_id();
  run.worker_name = record.recipient_name();
  run.root = call.root();
  run.label = std::string(Trimmed(request.run().label()));
  INTERCOM_ASSIGN_OR_RETURN(const auto launched_by,
                            headless_.SupervisorOf(run.worker_session_id));
  run.headless = launched_by.has_value();
  run.stop_when_idle = FromProtoDuration(request.run().stop_when_idle());
  run.stop_after = FromProtoDuration(request.run().stop_after());
  INTERCOM_RETURN_IF_ERROR(runs_.Open(record.sequence(), run, effects));
  record.set_run_id(RunId(run.number));
  effects.AfterCommit([this, worker = run.worker_session_id] {
    fellow_messages_.erase(worker);
  });
  return absl::OkStatus();
}

void RunOpenings::Describe(v1::DeliveryRecord& record) const {
  const auto run = store_.FindByDelivery(record.delivery_id());
  if (run.ok() && run->has_value()) record.set_run_id(RunId((*run)->number));
}

absl::StatusOr<std::vector<RunOpenings::Service>> RunOpenings::ServicesOf(
    const std::string& worker) const {
  std::vector<Service> services;
  INTERCOM_ASSIGN_OR_RETURN(auto runs, store_.OpenOfWorker(worker));
  for (RunRow& run : runs) {
    services.push_back({run.supervisor_session_id, std::move(run)});
  }
  if (!services.empty()) return services;
  INTERCOM_ASSIGN_OR_RETURN(const auto launched_by,
                            headless_.SupervisorOf(worker));
  if (launched_by.has_value()) {
    services.push_back({*launched_by, std::nullopt});
    return services;
  }
  return Error(absl::StatusCode::kNotFound, "NO_SUPERVISOR",
               "this session works on no run and nobody launched it as a "
               "headless worker, so it has no fellows; nothing was sent. "
               "intercom, action send, reaches a session by its name");
}

const RunOpenings::Service& RunOpenings::Choose(
    const std::vector<Service>& services, const std::string& trigger) {
  for (const Service& service : services) {
    if (service.run.has_value() && service.run->delivery_id == trigger) {
      return service;
    }
  }
  return services.front();
}

absl::StatusOr<PeerTarget> RunOpenings::FindFellow(
    const DecidedCall& call, const v1::SendRequest& request) const {
  const std::string& caller = call.caller.session_id;
  if (call.caller.origin != v1::ORIGIN_SESSION) {
    return RunInvalid(
        "only a session has fellows: send to a session by its name");
  }
  INTERCOM_ASSIGN_OR_RETURN(const auto services, ServicesOf(caller));
  const std::string& supervisor =
      Choose(services, request.trigger()).supervisor;
  const std::string wanted = NameKey(request.to());
  // By session, with what each is called.
  std::map<std::string, std::string> fellows;
  std::map<std::string, std::string> matches;
  const auto add = [&](const std::string& session_id, const std::string& name,
                       std::initializer_list<std::string> also) {
    fellows.emplace(session_id, name.empty() ? session_id : name);
    bool is_wanted = session_id == request.to() || NameKey(name) == wanted ||
                     IsShownAs(name, request.to());
    for (const std::string& alias : also) {
      is_wanted = is_wanted || (!alias.empty() && NameKey(alias) == wanted);
    }
    if (is_wanted && !wanted.empty()) matches.emplace(session_id, name);
  };
  INTERCOM_ASSIGN_OR_RETURN(const auto runs,
                            store_.OpenOfSupervisor(supervisor));
  for (const RunRow& run : runs) {
    add(run.worker_session_id, run.worker_name, {RunId(run.number), run.label});
  }
  INTERCOM_ASSIGN_OR_RETURN(const auto headless,
                            headless_.AttachedOf(supervisor));
  for (const Attachment* worker : headless) {
    add(worker->session_id, worker->name(), {});
  }
  fellows.erase(caller);
  const bool is_self = matches.erase(caller) > 0;
  if (matches.size() == 1) return peers_.Find(call, matches.begin()->first);
  std::string names;
  for (const auto& [session_id, name] : matches.empty() ? fellows : matches) {
    names +=
        "\n  " + NameOr(name, session_id) + " (" + IdLabel(session_id) + ")";
  }
  if (matches.size() > 1) {
    return Error(absl::StatusCode::kFailedPrecondition, "AMBIGUOUS_RECIPIENT",
                 "several fellows are called " + QuotedLine(request.to()) +
                     "; nothing was sent. Name one by its session id:" + names);
  }
  if (is_self) {
    return Error(
        absl::StatusCode::kInvalidArgument, "SELF_TARGET",
        QuotedLine(request.to()) +
            " is this session itself; nothing was sent. Name another worker");
  }
  return Error(absl::StatusCode::kFailedPrecondition, "NOT_A_FELLOW",
               "no other worker of the same supervisor is called " +
                   QuotedLine(request.to()) + "; nothing was sent. " +
                   (names.empty() ? "There is no other now"
                                  : "Those that there are:" + names));
}

absl::Status RunOpenings::SpendFellowMessage(const DecidedCall& call,
                                             const v1::SendRequest& request,
                                             Effects& effects) {
  const std::string& caller = call.caller.session_id;
  INTERCOM_ASSIGN_OR_RETURN(const auto services, ServicesOf(caller));
  const Service& service = Choose(services, request.trigger());
  const auto counted = fellow_messages_.find(caller);
  const int64_t sent = service.run.has_value() ? service.run->fellow_messages
                       : counted == fellow_messages_.end() ? 0
                                                           : counted->second;
  if (sent >= kMaxFellowMessages) {
    return Error(absl::StatusCode::kResourceExhausted, "FELLOWS_FULL",
                 "this run has sent its 20 messages to fellows; nothing was "
                 "sent. Tell the supervisor instead");
  }
  if (service.run.has_value()) {
    RunRow run = *service.run;
    ++run.fellow_messages;
    return runs_.Put(run, Runs::News::kNone, effects);
  }
  effects.AfterCommit([this, caller] {
    if (fellow_messages_.size() >= kMaxCounted) fellow_messages_.clear();
    ++fellow_messages_[caller];
  });
  return absl::OkStatus();
}

}  // namespace intercom
