#include "worker-agent/inbox_calls.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "worker-agent/not_connected.h"
#include "worker-agent/tools/inbox_text.h"

namespace intercom {
namespace {

// Drains that one look repeats.
constexpr size_t kMostAgain = 8;
constexpr std::string_view kPrefix = "drain/";

std::string IdOf(const std::string& drain_id) {
  return std::string(kPrefix) + drain_id;
}

}  // namespace

InboxCalls::InboxCalls(BrokerLink& link, const Clock& clock, Told told,
                       Answer answer)
    : link_(link),
      clock_(clock),
      told_(std::move(told)),
      answer_(std::move(answer)) {}

void InboxCalls::Call(const std::string& call_id) {
  Look look;
  look.call_id = call_id;
  SessionCalls* const calls = link_.calls();
  if (calls == nullptr) return GiveUp(look, NotConnected());
  open_.insert(call_id);
  v1::DrainInboxRequest request;
  request.set_drain_id(call_id);
  calls->Call<v1::DrainInboxResponse>(
      request,
      [this,
       look](const absl::StatusOr<v1::DrainInboxResponse>& drained) mutable {
        if (!drained.ok()) return GiveUp(look, drained.status());
        look.own = *drained;
        FindUnseen(std::move(look));
      });
}

void InboxCalls::FindUnseen(Look look) {
  std::vector<std::string> ids;
  for (const std::string& earlier : look.own.earlier_drain_ids()) {
    if (!open_.contains(earlier) && !given_.Has(earlier)) {
      ids.push_back(IdOf(earlier));
    }
  }
  if (ids.empty()) return Finish(std::move(look));
  told_(ids, [this, ids, look = std::move(look)](
                 const std::vector<std::string>& told) mutable {
    for (const std::string& id : ids) {
      const std::string drain_id = id.substr(kPrefix.size());
      // Another look may have taken it on meanwhile.
      if (open_.contains(drain_id) || given_.Has(drain_id) ||
          std::find(told.begin(), told.end(), id) != told.end()) {
        continue;
      }
      if (look.again.size() == kMostAgain) {
        ++look.left;
        continue;
      }
      open_.insert(drain_id);
      look.again.push_back(drain_id);
    }
    Repeat(std::move(look), 0);
  });
}

void InboxCalls::Repeat(Look look, size_t next) {
  if (next == look.again.size()) return Finish(std::move(look));
  SessionCalls* const calls = link_.calls();
  if (calls == nullptr) return GiveUp(look, NotConnected());
  v1::DrainInboxRequest request;
  request.set_drain_id(look.again[next]);
  calls->Call<v1::DrainInboxResponse>(
      request,
      [this, next, look = std::move(look)](
          const absl::StatusOr<v1::DrainInboxResponse>& drained) mutable {
        if (!drained.ok()) return GiveUp(look, drained.status());
        look.earlier.mutable_notes()->MergeFrom(drained->notes());
        look.own.set_lost(look.own.lost() + drained->lost());
        *look.own.mutable_asks() = drained->asks();
        if (!drained->notes().empty()) {
          look.brought.push_back(look.again[next]);
        }
        Repeat(std::move(look), next + 1);
      });
}

void InboxCalls::Finish(Look look) {
  Close(look);
  if (!look.own.notes().empty()) look.brought.push_back(look.call_id);
  const InboxAgain again = {.notes = look.earlier.notes_size(),
                            .drains_left = look.left};
  v1::DrainInboxResponse inbox = std::move(look.own);
  look.earlier.mutable_notes()->MergeFrom(inbox.notes());
  inbox.mutable_notes()->Swap(look.earlier.mutable_notes());
  ToolResult result = RenderInbox(inbox, clock_.Now(), again);
  for (const std::string& drain_id : look.brought) {
    result.ids.push_back(IdOf(drain_id));
  }
  if (!answer_(look.call_id, result)) return;
  for (const std::string& drain_id : look.brought) given_.Add(drain_id);
}

void InboxCalls::GiveUp(const Look& look, const absl::Status& why) {
  Close(look);
  answer_(look.call_id, RenderError(why));
}

void InboxCalls::Close(const Look& look) {
  open_.erase(look.call_id);
  for (const std::string& drain_id : look.again) open_.erase(drain_id);
}

bool InboxCalls::Settled(const std::string& id) {
  if (!id.starts_with(kPrefix)) return false;
  given_.Remove(id.substr(kPrefix.size()));
  return true;
}

}  // namespace intercom
