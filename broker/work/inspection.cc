#include "broker/work/inspection.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"

namespace intercom {
namespace {

constexpr int kMaxObservations = 500;
constexpr int kDefaultObservations = 50;

v1::AttachedHost HostOf(const Attachment& attachment) {
  const v1::Hello& hello = attachment.hello;
  v1::AttachedHost host;
  host.set_session_id(attachment.session_id);
  host.set_kind(hello.host_kind());
  host.set_version(hello.host_version());
  *host.mutable_capabilities() = hello.capabilities();
  host.set_agent_version(hello.agent_version());
  return host;
}

}  // namespace

template <typename Response, typename Answer>
void Inspection::AnswerOn(CallerEvidence evidence, Done<Response> done,
                          Answer answer) {
  runner_.PostTask([this, evidence = std::move(evidence),
                    done = std::move(done),
                    answer = std::move(answer)]() mutable {
    if (auto caller = callers_.ResolveFor(Operation::kInspect, evidence);
        !caller.ok()) {
      return done(caller.status());
    }
    done(answer());
  });
}

void Inspection::GetBroker(CallerEvidence evidence,
                           Done<v1::GetBrokerResponse> done) {
  AnswerOn(std::move(evidence), std::move(done),
           [this]() -> absl::StatusOr<v1::GetBrokerResponse> {
             v1::GetBrokerResponse response = self_;
             response.set_attachments(static_cast<int32_t>(roster_.size()));
             return response;
           });
}

void Inspection::ListAttachments(CallerEvidence evidence,
                                 Done<v1::ListAttachmentsResponse> done) {
  AnswerOn(std::move(evidence), std::move(done),
           [this]() -> absl::StatusOr<v1::ListAttachmentsResponse> {
             v1::ListAttachmentsResponse response;
             for (const Attachment* attachment : roster_.All()) {
               const auto workspace = attachment->root.empty()
                                          ? nullptr
                                          : mirror_.Find(attachment->root);
               *response.add_entries() = view_.Describe(
                   attachment->session_id, workspace.get(),
                   workspace == nullptr
                       ? nullptr
                       : workspace->EntryOf(attachment->session_id));
               *response.add_hosts() = HostOf(*attachment);
             }
             return response;
           });
}

void Inspection::ListWorkspaces(CallerEvidence evidence,
                                Done<v1::ListWorkspacesResponse> done) {
  AnswerOn(
      std::move(evidence), std::move(done),
      [this]() -> absl::StatusOr<v1::ListWorkspacesResponse> {
        v1::ListWorkspacesResponse response;
        for (const auto& workspace : mirror_.All()) {
          v1::WorkspaceSummary& summary = *response.add_workspaces();
          summary.set_root(workspace->root);
          summary.set_coordinator_session_id(workspace->coordinator_session_id);
          summary.set_generation(workspace->generation);
          *summary.mutable_mirrored_at() = ToProto(workspace->mirrored_at);
          summary.set_stale(!workspace->config_error.empty());
          summary.set_config_error(workspace->config_error);
          summary.set_agents(static_cast<int32_t>(workspace->agents.size()));
        }
        return response;
      });
}

void Inspection::ListMailboxes(CallerEvidence evidence,
                               Done<v1::ListMailboxesResponse> done) {
  AnswerOn(std::move(evidence), std::move(done),
           [this]() -> absl::StatusOr<v1::ListMailboxesResponse> {
             INTERCOM_ASSIGN_OR_RETURN(const auto mailboxes, mailboxes_.All());
             v1::ListMailboxesResponse response;
             for (const Mailbox& mailbox : mailboxes) {
               v1::MailboxSummary& summary = *response.add_mailboxes();
               summary.set_recipient_session_id(mailbox.recipient_session_id);
               summary.set_envelopes(mailbox.envelopes);
               summary.set_bytes(mailbox.bytes);
               if (mailbox.oldest_at.has_value()) {
                 *summary.mutable_oldest_at() = ToProto(*mailbox.oldest_at);
               }
             }
             return response;
           });
}

void Inspection::ListObservations(CallerEvidence evidence,
                                  v1::ListObservationsRequest request,
                                  Done<v1::ListObservationsResponse> done) {
  runner_.PostTask([this, evidence = std::move(evidence),
                    request = std::move(request),
                    done = std::move(done)]() mutable {
    if (auto caller = callers_.ResolveFor(Operation::kInspect, evidence);
        !caller.ok()) {
      return done(caller.status());
    }
    if (request.limit() < 0 || request.limit() > kMaxObservations) {
      return done(Error(absl::StatusCode::kInvalidArgument, "PAGE_SIZE",
                        "limit is 1 to 500"));
    }
    // What was seen up to now is in the answer.
    observations_.Flush();
    runner_.PostTask(
        [this, request = std::move(request), done = std::move(done)]() mutable {
          ReadObservations(request, std::move(done));
        });
  });
}

void Inspection::ReadObservations(const v1::ListObservationsRequest& request,
                                  Done<v1::ListObservationsResponse> done) {
  auto shared_done =
      std::make_shared<Done<v1::ListObservationsResponse>>(std::move(done));
  const int limit =
      request.limit() == 0 ? kDefaultObservations : request.limit();
  const absl::Status posted =
      reader_.Post([session_id = request.session_id(), limit,
                    shared_done](Database& database) {
        auto found = ObservationStore(database).List(session_id, limit);
        if (!found.ok()) return (*shared_done)(found.status());
        v1::ListObservationsResponse response;
        for (v1::Observation& observation : *found) {
          *response.add_observations() = std::move(observation);
        }
        (*shared_done)(std::move(response));
      });
  if (!posted.ok()) (*shared_done)(posted);
}

void Inspection::SetDraining() {
  runner_.PostTask([this] { self_.set_draining(true); });
}

}  // namespace intercom
