// One session, with all that is told of it.
#include <set>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/delivery_summary.h"
#include "broker/domain/fence.h"
#include "broker/domain/short_id.h"
#include "broker/storage/delivery_history.h"
#include "broker/work/inspection_desk.h"
#include "broker/work/run_text.h"

namespace intercom {
namespace {

constexpr int kMaxCandidates = 6;

}  // namespace

void InspectionDesk::GetSession(CallerEvidence evidence,
                                v1::GetSessionRequest request,
                                Done<v1::GetSessionResponse> done) {
  Allow(
      std::move(evidence),
      [this, prefix = std::move(*request.mutable_session_id()),
       done = std::move(done)](const absl::Status& allowed) mutable {
        if (!allowed.ok()) return done(allowed);
        const auto describe = [&]() -> absl::StatusOr<v1::GetSessionResponse> {
          INTERCOM_ASSIGN_OR_RETURN(const std::string id, FindSession(prefix));
          return Describe(id);
        };
        absl::StatusOr<v1::GetSessionResponse> response = describe();
        if (!response.ok()) return done(response.status());
        AddDeliveries(*std::move(response), std::move(done));
      });
}

absl::StatusOr<std::string> InspectionDesk::FindSession(
    const std::string& prefix) const {
  std::set<std::string> found;
  const auto add = [&](const std::string& id) {
    if (id.starts_with(prefix)) found.insert(id);
  };
  for (const Attachment* attachment : std::as_const(roster_).All()) {
    add(attachment->session_id);
  }
  for (const auto& workspace : mirror_.All()) {
    for (const v1::AgentEntry& entry : workspace->agents) {
      add(entry.session_id());
    }
  }
  INTERCOM_ASSIGN_OR_RETURN(const auto row, sessions_.Find(prefix));
  if (row.has_value()) found.insert(prefix);
  // A whole id may be short.
  if (found.contains(prefix)) return prefix;
  if (prefix.size() < kMinIdPrefix) {
    return Error(absl::StatusCode::kInvalidArgument, "ID_INVALID",
                 "no session has the id " + QuotedLine(prefix) +
                     "; the beginning of one needs at least 6 characters");
  }
  INTERCOM_ASSIGN_OR_RETURN(const auto rows,
                            sessions_.FindAnyByPrefix(prefix, kMaxCandidates));
  for (const SessionRow& stored : rows) found.insert(stored.session_id);
  if (found.empty()) {
    return Error(absl::StatusCode::kNotFound, "UNKNOWN_SESSION",
                 "no session has an id that begins with " +
                     QuotedLine(prefix, 400) +
                     "; intercom sessions lists those that there are");
  }
  if (found.size() == 1) return *found.begin();
  std::string candidates;
  int listed = 0;
  for (const std::string& id : found) {
    if (listed++ < kMaxCandidates) candidates += "\n  " + id;
  }
  return Error(absl::StatusCode::kFailedPrecondition, "AMBIGUOUS_ID",
               "several sessions have an id that begins so; give more of it:" +
                   candidates);
}

std::shared_ptr<const Workspace> InspectionDesk::WorkspaceOf(
    const std::string& session_id) const {
  if (const Attachment* attachment = roster_.Find(session_id)) {
    return attachment->root.empty() ? nullptr : mirror_.Find(attachment->root);
  }
  if (const auto row = sessions_.Find(session_id);
      row.ok() && row->has_value()) {
    const std::string& root = (*row)->workspace_root;
    return root.empty() ? nullptr : mirror_.Find(root);
  }
  for (const auto& workspace : mirror_.All()) {
    if (workspace->EntryOf(session_id) != nullptr) return workspace;
  }
  return nullptr;
}

absl::StatusOr<v1::GetSessionResponse> InspectionDesk::Describe(
    const std::string& session_id) {
  v1::GetSessionResponse response;
  const auto workspace = WorkspaceOf(session_id);
  const v1::AgentEntry* entry =
      workspace == nullptr ? nullptr : workspace->EntryOf(session_id);
  *response.mutable_entry() =
      view_.Describe(session_id, workspace.get(), entry);
  INTERCOM_ASSIGN_OR_RETURN(const auto row, sessions_.Find(session_id));
  if (roster_.Find(session_id) != nullptr) {
    *response.mutable_last_seen_at() = ToProto(clock_.Now());
  } else if (row.has_value()) {
    *response.mutable_last_seen_at() = ToProto(row->last_seen_at);
    v1::RosterEntry& told = *response.mutable_entry();
    if (told.name().empty()) told.set_name(row->name);
    if (told.project_directory().empty()) told.set_cwd(row->cwd);
  }
  if (workspace != nullptr) {
    INTERCOM_ASSIGN_OR_RETURN(auto handoff,
                              handoffs_.Find(workspace->root, session_id));
    if (handoff.has_value()) {
      *response.mutable_handoff() = *std::move(handoff);
    }
  }
  if (response.entry().has_job()) {
    response.mutable_entry()->mutable_job()->clear_detail();
  }
  const auto told = [now = clock_.Now()](const RunRow& run) {
    v1::Run metadata = ToProto(run, now);
    metadata.clear_detail();
    return metadata;
  };
  for (const RunRow& run : runs_.OfWorker(session_id)) {
    *response.add_working_on() = told(run);
  }
  for (const RunRow& run : runs_.OfSupervisor(session_id)) {
    if (response.supervises_size() == kMaxSupervised) break;
    *response.add_supervises() = told(run);
  }
  INTERCOM_ASSIGN_OR_RETURN(const auto asked, asks_.PendingOf(session_id));
  for (const v1::Ask& ask : asked) *response.add_asked() = ask;
  INTERCOM_ASSIGN_OR_RETURN(const auto asks, asks_.OpenOf(session_id));
  for (const v1::Ask& ask : asks) *response.add_asks() = ask;
  for (auto* list : {response.mutable_asked(), response.mutable_asks()}) {
    for (v1::Ask& ask : *list) ask.clear_preview();
  }
  return response;
}

void InspectionDesk::AddDeliveries(v1::GetSessionResponse response,
                                   Done<v1::GetSessionResponse> done) {
  struct Call {
    v1::GetSessionResponse response;
    Done<v1::GetSessionResponse> done;
  };
  auto call =
      std::make_shared<Call>(Call{std::move(response), std::move(done)});
  const absl::Status posted = reader_.Post([this, call](Database& database) {
    HistoryFilter filter;
    filter.session_id = call->response.entry().session_id();
    filter.limit = kMaxDeliveries;
    auto page = DeliveryHistory(database).List(filter);
    // Why something waits is known on the state's thread only.
    runner_.PostTask([this, call, page = std::move(page)]() mutable {
      if (!page.ok()) return call->done(page.status());
      for (v1::DeliveryRecord& record : page->records) {
        dispatcher_.DescribeWait(record);
        if (const RunRow* run = runs_.FindByDelivery(record.delivery_id())) {
          record.set_run_id(RunId(run->number));
        }
        *call->response.add_deliveries() = SummaryOf(record);
      }
      call->done(std::move(call->response));
    });
  });
  if (!posted.ok()) call->done(posted);
}

}  // namespace intercom
