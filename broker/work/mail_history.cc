// What mail there was.
#include <charconv>
#include <memory>
#include <string>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/delivery_summary.h"
#include "broker/domain/fence.h"
#include "broker/work/mail.h"

namespace intercom {
namespace {

constexpr int kMaxPage = 200;
constexpr int kDefaultPage = 20;
constexpr int kMaxSummaries = 500;
constexpr int kDefaultSummaries = 50;
// Of summaries, which have none of it, but of which each is read for them.
constexpr int64_t kMaxSummarizedBytes = 16 << 20;
constexpr size_t kMaxContaining = 256;

// The sequence that `token` names; 0 for no token. -1: it is none.
int64_t SequenceOf(const std::string& token) {
  if (token.empty()) return 0;
  int64_t sequence = 0;
  const char* end = token.data() + token.size();
  const auto [at, error] = std::from_chars(token.data(), end, sequence);
  return error == std::errc() && at == end && sequence >= 1 ? sequence : -1;
}

absl::Status Invalid(std::string_view reason, std::string_view message) {
  return Error(absl::StatusCode::kInvalidArgument, reason, message);
}

absl::StatusOr<HistoryFilter> FilterOf(const v1::ListMessagesRequest& request) {
  if (request.page_size() < 0 || request.page_size() > kMaxPage) {
    return Invalid("PAGE_SIZE", "page_size is 1 to 200");
  }
  const auto characters = CountCharacters(request.containing());
  if (!characters.has_value() || *characters > kMaxContaining) {
    return Invalid("TEXT_TOO_LONG",
                   "what a text contains has at most 256 characters of UTF-8");
  }
  HistoryFilter filter;
  filter.session_id = request.session_id();
  filter.limit = request.page_size() == 0 ? kDefaultPage : request.page_size();
  filter.from_sequence = SequenceOf(request.page_token());
  if (filter.from_sequence < 0) {
    return Invalid("PAGE_TOKEN", "page_token is not from an earlier answer");
  }
  filter.oldest_first = request.oldest_first();
  filter.containing = request.containing();
  for (const int kind : request.kinds()) {
    filter.kinds.insert(static_cast<v1::EnvelopeKind>(kind));
  }
  for (const int state : request.states()) {
    filter.states.insert(static_cast<v1::DeliveryState>(state));
  }
  for (const int end : request.ends()) {
    filter.ends.insert(static_cast<v1::DeliveryEnd>(end));
  }
  if (request.has_since()) filter.since = FromProto(request.since());
  if (request.has_until()) filter.until = FromProto(request.until());
  return filter;
}

absl::StatusOr<HistoryFilter> FilterOf(
    const v1::ListDeliveriesRequest& request) {
  HistoryFilter filter;
  filter.from_sequence = SequenceOf(request.page_token());
  if (request.page_size() < 0 || request.page_size() > kMaxSummaries ||
      filter.from_sequence < 0) {
    return Invalid("PAGE_INVALID",
                   "page_size is 1 to 500, and page_token from an earlier "
                   "answer");
  }
  filter.session_id = request.session_id();
  filter.limit =
      request.page_size() == 0 ? kDefaultSummaries : request.page_size();
  filter.max_text_bytes = kMaxSummarizedBytes;
  for (const int state : request.states()) {
    filter.states.insert(static_cast<v1::DeliveryState>(state));
  }
  for (const int end : request.ends()) {
    filter.ends.insert(static_cast<v1::DeliveryEnd>(end));
  }
  filter.waiting = request.waiting();
  return filter;
}

std::string TokenOf(const HistoryPage& page) {
  return page.more ? std::to_string(page.last_sequence) : "";
}

}  // namespace

void Mail::List(CallerEvidence evidence, v1::ListMessagesRequest request,
                ListDone done) {
  absl::StatusOr<HistoryFilter> filter = FilterOf(request);
  if (!filter.ok()) return done(filter.status());
  ListIn(std::move(evidence), Operation::kMessageRead, request.directory(),
         *std::move(filter), [this, done = std::move(done)](auto page) mutable {
           if (!page.ok()) return done(page.status());
           v1::ListMessagesResponse response;
           response.set_next_page_token(TokenOf(*page));
           for (v1::DeliveryRecord& record : page->records) {
             dispatcher_.DescribeWait(record);
             *response.add_records() = std::move(record);
           }
           done(std::move(response));
         });
}

void Mail::ListDeliveries(CallerEvidence evidence,
                          v1::ListDeliveriesRequest request,
                          ListDeliveriesDone done) {
  absl::StatusOr<HistoryFilter> filter = FilterOf(request);
  if (!filter.ok()) return done(filter.status());
  ListIn(std::move(evidence), Operation::kInspect, request.directory(),
         *std::move(filter), [this, done = std::move(done)](auto page) mutable {
           if (!page.ok()) return done(page.status());
           v1::ListDeliveriesResponse response;
           response.set_next_page_token(TokenOf(*page));
           for (v1::DeliveryRecord& record : page->records) {
             dispatcher_.DescribeWait(record);
             runs_.Describe(record);
             *response.add_deliveries() = SummaryOf(record);
           }
           done(std::move(response));
         });
}

void Mail::ListIn(CallerEvidence evidence, Operation operation,
                  std::string directory, HistoryFilter filter, PageDone done) {
  runner_.PostTask([this, evidence = std::move(evidence), operation,
                    directory = std::move(directory),
                    filter = std::move(filter),
                    done = std::move(done)]() mutable {
    if (auto caller = workspaces_.callers().ResolveFor(operation, evidence);
        !caller.ok()) {
      return done(caller.status());
    }
    if (directory.empty()) return Read(std::move(filter), std::move(done));
    workspaces_.FindRoot(directory,
                         [this, directory, filter = std::move(filter),
                          done = std::move(done)](auto root) mutable {
                           if (!root.ok()) return done(root.status());
                           if (root->empty()) {
                             return done(NoWorkspaceAt(directory));
                           }
                           filter.workspace_root = *root;
                           Read(std::move(filter), std::move(done));
                         });
  });
}

void Mail::Read(HistoryFilter filter, PageDone done) {
  auto shared_done = std::make_shared<PageDone>(std::move(done));
  const absl::Status posted = reader_.Post(
      [this, filter = std::move(filter), shared_done](Database& database) {
        auto page = DeliveryHistory(database).List(filter);
        // Why something waits is known on the state's thread only.
        runner_.PostTask([page = std::move(page), shared_done]() mutable {
          (*shared_done)(std::move(page));
        });
      });
  if (!posted.ok()) (*shared_done)(posted);
}

}  // namespace intercom
