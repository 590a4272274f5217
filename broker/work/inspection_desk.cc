#include "broker/work/inspection_desk.h"

#include <utility>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/work/run_text.h"

namespace intercom {
namespace {

// Without what its text tells.
v1::Ask WithoutPreview(v1::Ask ask) {
  ask.clear_preview();
  return ask;
}

}  // namespace

void InspectionDesk::Allow(CallerEvidence evidence, Answer answer) {
  runner_.PostTask([this, evidence = std::move(evidence),
                    answer = std::move(answer)]() mutable {
    answer(workspaces_.callers()
               .ResolveFor(Operation::kInspect, evidence)
               .status());
  });
}

void InspectionDesk::AllowIn(CallerEvidence evidence, std::string directory,
                             InRoot answer) {
  Allow(std::move(evidence), [this, directory = std::move(directory),
                              answer = std::move(answer)](
                                 const absl::Status& allowed) mutable {
    if (!allowed.ok()) return answer(allowed);
    if (directory.empty()) return answer("");
    workspaces_.FindRoot(
        directory, [directory, answer = std::move(answer)](auto root) mutable {
          if (root.ok() && root->empty()) root = NoWorkspaceAt(directory);
          answer(std::move(root));
        });
  });
}

void InspectionDesk::GetMetrics(CallerEvidence evidence, v1::GetMetricsRequest,
                                Done<v1::GetMetricsResponse> done) {
  Allow(std::move(evidence),
        [this, done = std::move(done)](const absl::Status& allowed) mutable {
          if (!allowed.ok()) return done(allowed);
          done(metrics_.Describe());
        });
}

void InspectionDesk::CheckStore(CallerEvidence evidence,
                                v1::CheckStoreRequest request,
                                Done<v1::CheckStoreResponse> done) {
  const absl::Duration within =
      request.has_within() ? FromProtoDuration(request.within()) : kUsualCheck;
  if (within < absl::ZeroDuration() || within > kMostCheck) {
    return done(Error(absl::StatusCode::kInvalidArgument, "WITHIN_INVALID",
                      "a check takes 0 to 60 seconds"));
  }
  Allow(std::move(evidence), [this, within, done = std::move(done)](
                                 const absl::Status& allowed) mutable {
    if (!allowed.ok()) return done(allowed);
    auto shared_done =
        std::make_shared<Done<v1::CheckStoreResponse>>(std::move(done));
    const absl::Status begun =
        checker_.Start(within, [shared_done](absl::StatusOr<StoreCheck> check) {
          if (!check.ok()) return (*shared_done)(check.status());
          v1::CheckStoreResponse response;
          for (std::string& finding : check->findings) {
            response.add_findings(std::move(finding));
          }
          response.set_complete(check->complete);
          response.set_file_bytes(check->file_bytes);
          response.set_log_bytes(check->log_bytes);
          response.set_free_disk_bytes(check->free_disk_bytes);
          response.set_schema_version(check->schema_version);
          (*shared_done)(std::move(response));
        });
    if (!begun.ok()) (*shared_done)(begun);
  });
}

void InspectionDesk::ListOpenAsks(CallerEvidence evidence,
                                  v1::ListOpenAsksRequest request,
                                  Done<v1::ListOpenAsksResponse> done) {
  AllowIn(std::move(evidence), std::move(*request.mutable_directory()),
          [this, done = std::move(done)](auto root) mutable {
            if (!root.ok()) return done(root.status());
            done(ListAsksIn(*root));
          });
}

absl::StatusOr<v1::ListOpenAsksResponse> InspectionDesk::ListAsksIn(
    const std::string& root) {
  INTERCOM_ASSIGN_OR_RETURN(const auto open, asks_.AllOpen());
  absl::flat_hash_map<std::string, bool> is_there;
  const auto is_in_root = [&](const std::string& id) {
    const auto [known, added] = is_there.try_emplace(id);
    if (added) {
      const auto workspace = WorkspaceOf(id);
      known->second = workspace != nullptr && workspace->root == root;
    }
    return known->second;
  };
  v1::ListOpenAsksResponse response;
  for (const AskDesk::OpenAsk& ask : open) {
    if (!root.empty() && !is_in_root(ask.row.asker_session_id) &&
        !is_in_root(ask.row.recipient_session_id)) {
      continue;
    }
    if (response.asks_size() == kMaxAsks) {
      response.set_left_out(response.left_out() + 1);
      continue;
    }
    INTERCOM_ASSIGN_OR_RETURN(v1::Ask told, asks_.Describe(ask.row));
    *response.add_asks() = WithoutPreview(std::move(told));
  }
  return response;
}

void InspectionDesk::ListAllRuns(CallerEvidence evidence,
                                 v1::ListAllRunsRequest request,
                                 Done<v1::ListAllRunsResponse> done) {
  if (request.limit() < 0 || request.limit() > kMaxRuns) {
    return done(Error(absl::StatusCode::kInvalidArgument, "PAGE_SIZE",
                      "limit is 1 to 500"));
  }
  RunStore::Filter filter;
  filter.session_id = request.session_id();
  filter.open = request.open();
  filter.limit = request.limit() == 0 ? kDefaultRuns : request.limit();
  AllowIn(std::move(evidence), std::move(*request.mutable_directory()),
          [this, filter = std::move(filter),
           done = std::move(done)](auto root) mutable {
            if (!root.ok()) return done(root.status());
            filter.root = *root;
            auto shared_done = std::make_shared<Done<v1::ListAllRunsResponse>>(
                std::move(done));
            const absl::Status posted =
                reader_.Post([filter = std::move(filter), now = clock_.Now(),
                              shared_done](Database& database) {
                  auto listed = RunStore(database).List(filter);
                  if (!listed.ok()) return (*shared_done)(listed.status());
                  v1::ListAllRunsResponse response;
                  response.set_left_out(listed->left_out);
                  for (const RunRow& run : listed->runs) {
                    v1::Run& told = *response.add_runs();
                    told = ToProto(run, now);
                    told.clear_detail();
                  }
                  (*shared_done)(std::move(response));
                });
            if (!posted.ok()) (*shared_done)(posted);
          });
}

}  // namespace intercom
