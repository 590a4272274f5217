#include "broker/work/person_inbox.h"

#include <memory>
#include <string>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"

namespace intercom {
namespace {

constexpr int kMostListed = 200;
constexpr int kUsuallyListed = 50;
constexpr int kMostMarked = 200;

// What proves that a person was shown something.
std::string EvidenceOf(const CallerEvidence& evidence) {
  std::string text = "read at a terminal";
  if (!evidence.ancestry.empty()) {
    text += ", process " + std::to_string(evidence.ancestry.front());
  }
  return text;
}

}  // namespace

void PersonInbox::List(CallerEvidence evidence, v1::ListInboxRequest request,
                       Done<v1::ListInboxResponse> done) {
  runner_.PostTask([this, evidence = std::move(evidence),
                    request = std::move(request),
                    done = std::move(done)]() mutable {
    const auto caller = callers_.ResolveFor(Operation::kInboxRead, evidence);
    if (!caller.ok()) return done(caller.status());
    if (request.limit() < 0 || request.limit() > kMostListed) {
      return done(Error(absl::StatusCode::kInvalidArgument, "PAGE_SIZE",
                        "limit is 1 to 200"));
    }
    const int limit = request.limit() == 0 ? kUsuallyListed : request.limit();
    auto shared_done =
        std::make_shared<Done<v1::ListInboxResponse>>(std::move(done));
    const absl::Status posted = reader_.Post([this, person = caller->session_id,
                                              with_read = request.with_read(),
                                              limit,
                                              shared_done](Database& database) {
      auto page = DeliveryHistory(database).ListInbox(person, with_read, limit);
      runner_.PostTask([this, page = std::move(page), shared_done]() mutable {
        if (!page.ok()) return (*shared_done)(page.status());
        v1::ListInboxResponse response;
        response.set_left_out(page->left_out);
        for (v1::DeliveryRecord& record : page->records) {
          dispatcher_.DescribeWait(record);
          *response.add_records() = std::move(record);
        }
        (*shared_done)(std::move(response));
      });
    });
    if (!posted.ok()) (*shared_done)(posted);
  });
}

void PersonInbox::MarkRead(CallerEvidence evidence, v1::MarkReadRequest request,
                           Done<v1::MarkReadResponse> done) {
  runner_.PostTask([this, evidence = std::move(evidence),
                    request = std::move(request),
                    done = std::move(done)]() mutable {
    const auto caller = callers_.ResolveFor(Operation::kInboxRead, evidence);
    if (!caller.ok()) return done(caller.status());
    if (request.delivery_ids().empty() ||
        request.delivery_ids_size() > kMostMarked) {
      return done(Error(absl::StatusCode::kInvalidArgument, "MARKS_INVALID",
                        "1 to 200 deliveries are marked at once; nothing was "
                        "marked as read"));
    }
    auto shared_done =
        std::make_shared<Done<v1::MarkReadResponse>>(std::move(done));
    runner_.PostCommand(
        {[this, person = caller->session_id, text = EvidenceOf(evidence),
          request = std::move(request),
          shared_done](Effects& effects) -> absl::Status {
           v1::MarkReadResponse response;
           for (const std::string& id : request.delivery_ids()) {
             INTERCOM_ASSIGN_OR_RETURN(
                 *response.add_records(),
                 dispatcher_.RecordRead(id, person, text, effects));
           }
           effects.AfterSync(
               [shared_done, response = std::move(response)]() mutable {
                 (*shared_done)(std::move(response));
               });
           return absl::OkStatus();
         },
         [shared_done](const absl::Status& status) {
           (*shared_done)(status);
         }});
  });
}

}  // namespace intercom
