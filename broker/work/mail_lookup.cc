// Where mail is, and what there was.
#include <charconv>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/short_id.h"
#include "broker/work/mail.h"

namespace intercom {
namespace {

constexpr int kMaxPage = 200;
constexpr int kDefaultPage = 20;

absl::Status UnknownEnvelope(const std::string& id) {
  return Error(absl::StatusCode::kNotFound, "UNKNOWN_ENVELOPE",
               "no stored message has the id " + QuotedLine(id, 400) +
                   "; intercom history lists the latest");
}

}  // namespace

void Mail::Get(CallerEvidence evidence, std::string id, RecordDone done) {
  runner_.PostTask([this, evidence = std::move(evidence), id = std::move(id),
                    done = std::move(done)]() mutable {
    if (auto caller =
            workspaces_.callers().ResolveFor(Operation::kMessageRead, evidence);
        !caller.ok()) {
      return done(caller.status());
    }
    absl::StatusOr<v1::DeliveryRecord> record = FindOne(id);
    if (record.ok()) {
      dispatcher_.DescribeWait(*record);
      runs_.Describe(*record);
    }
    done(std::move(record));
  });
}

absl::StatusOr<v1::DeliveryRecord> Mail::FindOne(const std::string& id) {
  if (id.size() < kMinIdPrefix) {
    return Error(absl::StatusCode::kInvalidArgument, "ID_TOO_SHORT",
                 "an id needs at least 6 characters");
  }
  INTERCOM_ASSIGN_OR_RETURN(auto found, deliveries_.FindByIdPrefix(id, 6));
  if (found.empty()) return UnknownEnvelope(id);
  if (found.size() == 1) return std::move(found.front());
  for (v1::DeliveryRecord& record : found) {
    if (record.delivery_id() == id) return std::move(record);
  }
  std::string candidates;
  for (const v1::DeliveryRecord& record : found) {
    candidates += "\n  " + record.delivery_id();
  }
  return Error(absl::StatusCode::kFailedPrecondition, "AMBIGUOUS_ID",
               "several messages have an id that begins so; give more of "
               "it:" +
                   candidates);
}

void Mail::List(CallerEvidence evidence, v1::ListMessagesRequest request,
                ListDone done) {
  if (request.page_size() < 0 || request.page_size() > kMaxPage) {
    return done(Error(absl::StatusCode::kInvalidArgument, "PAGE_SIZE",
                      "page_size is 1 to 200"));
  }
  HistoryFilter filter;
  filter.session_id = request.session_id();
  filter.limit = request.page_size() == 0 ? kDefaultPage : request.page_size();
  if (const std::string& token = request.page_token(); !token.empty()) {
    const char* end = token.data() + token.size();
    const auto [at, error] =
        std::from_chars(token.data(), end, filter.before_sequence);
    if (error != std::errc() || at != end || filter.before_sequence < 1) {
      return done(Error(absl::StatusCode::kInvalidArgument, "PAGE_TOKEN",
                        "page_token is not from an earlier answer"));
    }
  }
  runner_.PostTask([this, evidence = std::move(evidence),
                    directory = request.directory(), filter = std::move(filter),
                    done = std::move(done)]() mutable {
    if (auto caller =
            workspaces_.callers().ResolveFor(Operation::kMessageRead, evidence);
        !caller.ok()) {
      return done(caller.status());
    }
    if (directory.empty()) return ListIn(std::move(filter), std::move(done));
    workspaces_.FindRoot(directory,
                         [this, filter = std::move(filter),
                          done = std::move(done)](auto root) mutable {
                           if (!root.ok()) return done(root.status());
                           if (root->empty())
                             return done(v1::ListMessagesResponse());
                           filter.workspace_root = *root;
                           ListIn(std::move(filter), std::move(done));
                         });
  });
}

void Mail::ListIn(HistoryFilter filter, ListDone done) {
  auto shared_done = std::make_shared<ListDone>(std::move(done));
  const absl::Status posted = reader_.Post(
      [this, filter = std::move(filter), shared_done](Database& database) {
        auto page = DeliveryHistory(database).List(filter);
        // Why something waits is known on the state's thread only.
        runner_.PostTask([this, page = std::move(page), shared_done]() mutable {
          if (!page.ok()) return (*shared_done)(page.status());
          v1::ListMessagesResponse response;
          for (v1::DeliveryRecord& record : page->records) {
            dispatcher_.DescribeWait(record);
            *response.add_records() = std::move(record);
          }
          if (page->more) {
            response.set_next_page_token(std::to_string(
                response.records(response.records_size() - 1).sequence()));
          }
          (*shared_done)(std::move(response));
        });
      });
  if (!posted.ok()) (*shared_done)(posted);
}

}  // namespace intercom
