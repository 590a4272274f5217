#include "broker/work/status_desk.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/activity.h"
#include "broker/domain/fence.h"
#include "broker/domain/route.h"
#include "broker/work/job_text.h"
#include "broker/work/run_text.h"
#include "broker/work/worker_observation.h"

namespace intercom {
namespace {

absl::Status PageInvalid(const std::string& what) {
  return Error(absl::StatusCode::kInvalidArgument, "PAGE_INVALID", what);
}

}  // namespace

// One call on its way.
struct StatusDesk::Page {
  std::shared_ptr<const Workspace> workspace;
  std::vector<v1::AgentEntry> entries;
  v1::GetWorkerStatusResponse response;
  Done done;
};

void StatusDesk::GetWorkerStatus(CallerEvidence evidence,
                                 v1::GetWorkerStatusRequest request,
                                 Done done) {
  auto page = std::make_shared<Page>();
  page->done = std::move(done);
  const std::string directory = request.directory();
  workspaces_.Decide(
      std::move(evidence), directory, Operation::kStatusRead,
      /*last_good=*/true,
      [this, page, request = std::move(request)](
          const DecidedCall& call, Effects& effects) -> absl::Status {
        page->workspace = call.workspace;
        INTERCOM_RETURN_IF_ERROR(Choose(request, *page));
        effects.AfterCommit([this, page, probe = request.probe()] {
          if (probe) return Probe(page);
          Answer(*page, {});
        });
        return absl::OkStatus();
      },
      [page](const absl::Status& status) { page->done(status); });
}

absl::Status StatusDesk::Choose(const v1::GetWorkerStatusRequest& request,
                                Page& page) {
  if (request.offset() < 0) return PageInvalid("offset is 0 or more");
  if (request.limit() < 0 || request.limit() > kMaxPage) {
    return PageInvalid("limit is 1 to 20");
  }
  std::vector<v1::AgentEntry> workers;
  if (!request.name().empty()) {
    INTERCOM_ASSIGN_OR_RETURN(
        workers.emplace_back(),
        RouteToWorker(request.name(), page.workspace->agents));
  } else {
    std::copy_if(page.workspace->agents.begin(), page.workspace->agents.end(),
                 std::back_inserter(workers),
                 [](const auto& entry) { return !entry.coordinator(); });
  }
  const int total = static_cast<int>(workers.size());
  const int begin = std::min(request.offset(), total);
  const int limit = request.limit() == 0 ? kDefaultPage : request.limit();
  const int end = std::min(begin + limit, total);
  page.entries.assign(workers.begin() + begin, workers.begin() + end);
  page.response.set_total_in_snapshot(total);
  page.response.set_offset(request.offset());
  if (end < total) page.response.set_next_offset(end);
  return absl::OkStatus();
}

void StatusDesk::Probe(std::shared_ptr<Page> page) {
  std::vector<std::string> attached;
  for (const v1::AgentEntry& entry : page->entries) {
    if (roster_.Find(entry.session_id()) != nullptr) {
      attached.push_back(entry.session_id());
    }
  }
  prober_.Ask(std::move(attached),
              [this, page](Prober::Probes probes) { Answer(*page, probes); });
}

void StatusDesk::Answer(Page& page, const Prober::Probes& probes) {
  v1::GetWorkerStatusResponse& response = page.response;
  *response.mutable_at() = ToProto(clock_.Now());
  if (!page.workspace->config_error.empty()) {
    response.add_errors(
        "the config is invalid now, this is by the last good "
        "one: " +
        page.workspace->config_error);
  }
  std::vector<v1::WorkerStatus> workers;
  for (const v1::AgentEntry& entry : page.entries) {
    const std::string name = NameLabel(entry.name());
    const absl::Status described =
        Describe(page.workspace->root, entry, probes, workers.emplace_back());
    if (!described.ok()) {
      response.add_errors(name +
                          " is not known whole: " + MessageOf(described));
    }
    if (workers.back().connection().reason() == "not_checked") {
      response.add_errors(name + " could not be probed in time");
    }
  }
  std::stable_partition(workers.begin(), workers.end(),
                        [](const v1::WorkerStatus& worker) {
                          return worker.connection().state() !=
                                 v1::Connection::STATE_DISCONNECTED;
                        });
  for (v1::WorkerStatus& worker : workers) {
    *response.add_workers() = std::move(worker);
  }
  const auto totals = runs_.TotalsIn(page.workspace->root);
  if (totals.ok() && totals->runs > 0) {
    *response.mutable_run_totals() = ToProto(*totals);
  }
  page.done(std::move(response));
}

absl::Status StatusDesk::Describe(const std::string& root,
                                  const v1::AgentEntry& entry,
                                  const Prober::Probes& probes,
                                  v1::WorkerStatus& worker) {
  const std::string& id = entry.session_id();
  worker.set_session_id(id);
  worker.set_name(entry.name());
  INTERCOM_ASSIGN_OR_RETURN(const auto row, sessions_.Find(id));
  *worker.mutable_connection() = ConnectionOf(id, row.has_value(), probes);
  const std::string& reason = worker.connection().reason();

  INTERCOM_ASSIGN_OR_RETURN(auto close_job,
                            jobs_.LatestOf(root, id, v1::Job::KIND_CLOSE));
  Sighting sighting;
  sighting.may_be_back = reason == "broker_started" || reason == "restarting";
  if (close_job.has_value() && close_job->state == v1::Job::STATE_SUCCEEDED) {
    sighting.closed_at = close_job->updated_at;
  }
  if (const Attachment* attachment = roster_.Find(id)) {
    sighting.attached = true;
    sighting.contradicted =
        reason == "timeout" || reason == "identity_mismatch";
    if (attachment->activity.has_at()) {
      sighting.activity = {attachment->activity.phase(),
                           attachment->activity.label(),
                           FromProto(attachment->activity.at())};
    }
  } else {
    if (row.has_value()) {
      sighting.attached_at = row->attached_at;
      sighting.last_seen_at = row->last_seen_at;
    }
    INTERCOM_ASSIGN_OR_RETURN(const auto last, observations_.LastActivity(id));
    if (last.has_value()) {
      sighting.activity = {PhaseNamed(last->phase()), last->label(),
                           FromProto(last->at())};
    }
  }
  Judge(sighting, clock_.Now(), worker);

  // The file's own record stands in where this broker has none.
  if (close_job.has_value()) {
    *worker.mutable_close_job() = ToProto(*close_job);
  } else if (entry.has_recorded_close_job()) {
    *worker.mutable_close_job() = entry.recorded_close_job();
  }
  INTERCOM_ASSIGN_OR_RETURN(auto handoff, handoffs_.Find(root, id));
  if (handoff.has_value()) {
    *worker.mutable_handoff() = *std::move(handoff);
  } else if (entry.has_recorded_handoff()) {
    *worker.mutable_handoff() = entry.recorded_handoff();
  }
  INTERCOM_ASSIGN_OR_RETURN(auto report, reports_.Find(root, id));
  if (report.has_value()) *worker.mutable_report() = *std::move(report);
  INTERCOM_ASSIGN_OR_RETURN(const Mailbox mailbox, mailboxes_.Find(id));
  worker.set_waiting(mailbox.envelopes);
  INTERCOM_ASSIGN_OR_RETURN(const RunTotals totals, runs_.TotalsOf(root, id));
  if (totals.runs > 0) *worker.mutable_run_totals() = ToProto(totals);
  return absl::OkStatus();
}

v1::Connection StatusDesk::ConnectionOf(const std::string& session_id,
                                        bool known_from_before,
                                        const Prober::Probes& probes) const {
  v1::Connection connection;
  *connection.mutable_checked_at() = ToProto(clock_.Now());
  const auto is = [&connection](v1::Connection::State state,
                                const char* reason) {
    connection.set_state(state);
    connection.set_reason(reason);
  };
  const Roster::PresenceMark presence = roster_.PresenceOf(session_id);
  if (presence.presence == v1::PRESENCE_RESTARTING) {
    is(v1::Connection::STATE_RESTARTING, "restarting");
  } else if (presence.presence == v1::PRESENCE_ATTACHED) {
    is(v1::Connection::STATE_CONNECTED, "attached");
    const auto probe = probes.find(session_id);
    if (probe == probes.end()) return connection;
    *connection.mutable_checked_at() = ToProto(probe->second.at);
    switch (probe->second.outcome) {
      case ProbeOutcome::kAnswered:
        is(v1::Connection::STATE_CONNECTED, "answered");
        break;
      case ProbeOutcome::kTimeout:
        is(v1::Connection::STATE_DISCONNECTED, "timeout");
        break;
      case ProbeOutcome::kIdentityMismatch:
        is(v1::Connection::STATE_DISCONNECTED, "identity_mismatch");
        break;
      case ProbeOutcome::kNotChecked:
        is(v1::Connection::STATE_UNSPECIFIED, "not_checked");
        break;
      case ProbeOutcome::kAway:
        break;  // It is back.
    }
  } else if (known_from_before && !presence.since.has_value() &&
             clock_.Steady() - started_ < kReturnTime) {
    is(v1::Connection::STATE_UNSPECIFIED, "broker_started");
  } else {
    is(v1::Connection::STATE_DISCONNECTED, "away");
  }
  return connection;
}

}  // namespace intercom
