#include "broker/work/answer_finder.h"

#include <algorithm>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "broker/domain/short_id.h"
#include "broker/work/age_text.h"

namespace intercom {
namespace {

constexpr int kMaxMatches = 16;
constexpr size_t kMaxNamed = 8;

absl::Status UnknownTarget(const std::string& reply_to) {
  return Error(
      absl::StatusCode::kNotFound, "UNKNOWN_REPLY_TARGET",
      "no message with the id " + QuotedLine(reply_to, 400) + " came to you" +
          (reply_to.size() < kMinIdPrefix ? "; give at least 6 characters of it"
                                          : "") +
          ". Nothing was sent");
}

absl::Status NothingToReplyTo() {
  return Error(absl::StatusCode::kNotFound, "NOTHING_TO_REPLY_TO",
               "no question waits for an answer here; to say something send a "
               "message to its recipient, or name with replyTo what you "
               "answer. Nothing was sent");
}

std::string EnvelopeIdOf(const std::string& delivery_id) {
  const auto parts = ParseDeliveryId(delivery_id);
  return parts.has_value() ? parts->envelope_id : delivery_id;
}

}  // namespace

absl::StatusOr<AnswerTarget> AnswerFinder::Find(
    const DecidedCall& call, const v1::SendRequest& request,
    const std::optional<PeerTarget>& to) const {
  const v1::Envelope& envelope = request.envelope();
  Search search;
  search.caller = call.caller.session_id;
  if (to.has_value()) {
    search.from = to->session_id;
    search.from_name = to->name.empty() ? to->session_id : to->name;
  }
  if (!envelope.supersedes().empty()) {
    search.replaced_answer = DeliveryId(search.caller, envelope.supersedes());
  }
  INTERCOM_ASSIGN_OR_RETURN(AnswerTarget target,
                            envelope.reply_to().empty()
                                ? FindUnnamed(search, request.trigger())
                                : FindNamed(search, envelope.reply_to()));
  if (!target.is_session && !target.is_ask &&
      !IsPersonSessionId(target.session_id)) {
    return Error(absl::StatusCode::kNotFound, "UNKNOWN_RECIPIENT",
                 "a program sent that, for which no mail is kept, and it does "
                 "not wait for an answer: say it in this session. Nothing was "
                 "sent");
  }
  return target;
}

absl::StatusOr<std::optional<AnswerTarget>> AnswerFinder::Infer(
    const DecidedCall& call, std::string_view recipient,
    std::string_view trigger) const {
  Search search;
  search.caller = call.caller.session_id;
  INTERCOM_ASSIGN_OR_RETURN(const auto open, asks_.OpenOf(recipient));
  for (const AskRow& ask : open) {
    if (ask.recipient_session_id != search.caller ||
        !waits_.IsAwaited(ask.delivery_id)) {
      continue;
    }
    if (ask.delivery_id != trigger) {
      INTERCOM_ASSIGN_OR_RETURN(auto record, deliveries_.Find(ask.delivery_id));
      if (!record.has_value()) continue;
      dispatcher_.DescribeWait(*record);
      // It waits somewhere: whatever is said now does not answer it.
      if (record->wait_reason() != v1::WAIT_REASON_UNSPECIFIED) continue;
    }
    return TargetOf(ask);
  }
  return std::nullopt;
}

absl::StatusOr<std::vector<AskRow>> AnswerFinder::PendingOf(
    std::string_view session_id) const {
  return asks_.Unanswered(session_id, clock_.Now() - kListed, kMaxListed);
}

absl::StatusOr<AnswerTarget> AnswerFinder::FindNamed(
    const Search& search, const std::string& reply_to) const {
  std::vector<AnswerTarget> found;
  if (ParseDeliveryId(reply_to).has_value()) {
    INTERCOM_ASSIGN_OR_RETURN(auto target, FindSent(search, reply_to));
    if (target.has_value()) found.push_back(*std::move(target));
  } else if (reply_to.size() >= kMinIdPrefix) {
    INTERCOM_ASSIGN_OR_RETURN(found, FindByPrefix(search, reply_to));
  }
  if (found.empty()) return UnknownTarget(reply_to);
  const auto keep = [&found](const auto& is_kept) {
    if (std::any_of(found.begin(), found.end(), is_kept)) {
      std::erase_if(found, std::not_fn(is_kept));
    }
  };
  keep([&](const AnswerTarget& target) {
    return search.from.empty() || target.session_id == search.from;
  });
  keep([&](const AnswerTarget& target) {
    return EnvelopeIdOf(target.delivery_id) == reply_to;
  });
  keep([](const AnswerTarget& target) { return target.is_ask; });
  if (found.size() > 1) return Ambiguous(found);
  AnswerTarget& target = found.front();
  if (!search.from.empty() && target.session_id != search.from) {
    return Error(absl::StatusCode::kNotFound, "UNKNOWN_REPLY_TARGET",
                 NameLabel(search.from_name) + " did not send " +
                     QuotedLine(reply_to, 400) + ", " +
                     NameOr(target.name, target.session_id) +
                     " did: leave the recipient out. Nothing was sent");
  }
  return std::move(target);
}

absl::StatusOr<std::vector<AnswerTarget>> AnswerFinder::FindByPrefix(
    const Search& search, const std::string& prefix) const {
  std::vector<AnswerTarget> found;
  INTERCOM_ASSIGN_OR_RETURN(const auto pending, PendingOf(search.caller));
  for (const AskRow& ask : pending) {
    if (!EnvelopeIdOf(ask.delivery_id).starts_with(prefix)) continue;
    INTERCOM_ASSIGN_OR_RETURN(AnswerTarget target, TargetOf(ask));
    found.push_back(std::move(target));
  }
  INTERCOM_ASSIGN_OR_RETURN(
      const auto received,
      deliveries_.FindReceived(search.caller, prefix, kMaxMatches));
  for (const v1::DeliveryRecord& record : received) {
    if (record.sender().session_id() == kBrokerSessionId ||
        std::any_of(found.begin(), found.end(), [&](const AnswerTarget& known) {
          return known.delivery_id == record.delivery_id();
        })) {
      continue;
    }
    INTERCOM_ASSIGN_OR_RETURN(AnswerTarget target, TargetOf(search, record));
    found.push_back(std::move(target));
  }
  return found;
}

absl::StatusOr<AnswerTarget> AnswerFinder::FindUnnamed(
    const Search& search, const std::string& trigger) const {
  INTERCOM_ASSIGN_OR_RETURN(const auto triggered,
                            FindTriggered(search, trigger));
  if (triggered.has_value() && triggered->is_ask) return *triggered;
  INTERCOM_ASSIGN_OR_RETURN(auto pending, PendingOf(search.caller));
  if (!search.from.empty()) {
    std::erase_if(pending, [&](const AskRow& ask) {
      return ask.asker_session_id != search.from;
    });
  }
  if (!pending.empty()) {
    std::vector<AnswerTarget> candidates;
    const std::optional<AskRow> chosen = Choose(pending);
    if (chosen.has_value()) pending = {*chosen};
    for (const AskRow& ask : pending) {
      INTERCOM_ASSIGN_OR_RETURN(AnswerTarget target, TargetOf(ask));
      candidates.push_back(std::move(target));
    }
    // What started this turn is another's: this may be meant for that one.
    if (triggered.has_value() &&
        std::none_of(candidates.begin(), candidates.end(),
                     [&](const AnswerTarget& candidate) {
                       return candidate.session_id == triggered->session_id;
                     })) {
      candidates.push_back(*triggered);
    }
    if (candidates.size() > 1) return Ambiguous(candidates);
    return candidates.front();
  }
  if (triggered.has_value()) return *triggered;
  if (!search.from.empty()) {
    INTERCOM_ASSIGN_OR_RETURN(
        const auto last, deliveries_.LastInjected(search.caller, search.from));
    if (last.has_value()) return TargetOf(search, *last);
  }
  return NothingToReplyTo();
}

std::optional<AskRow> AnswerFinder::Choose(
    const std::vector<AskRow>& pending) const {
  if (pending.size() == 1) return pending.front();
  std::optional<AskRow> awaited;
  for (const AskRow& ask : pending) {
    if (!ask.open() || !waits_.IsWanted(ask.delivery_id)) continue;
    if (awaited.has_value()) return std::nullopt;
    awaited = ask;
  }
  return awaited;
}

absl::StatusOr<std::optional<AnswerTarget>> AnswerFinder::FindSent(
    const Search& search, std::string_view delivery_id) const {
  INTERCOM_ASSIGN_OR_RETURN(const auto ask, asks_.Find(delivery_id));
  if (ask.has_value() && ask->recipient_session_id == search.caller &&
      TakesAnswer(search, *ask)) {
    return TargetOf(*ask);
  }
  INTERCOM_ASSIGN_OR_RETURN(const auto record, deliveries_.Find(delivery_id));
  if (!record.has_value() || record->recipient_session_id() != search.caller ||
      record->sender().session_id() == kBrokerSessionId) {
    return std::nullopt;
  }
  return TargetOf(search, *record);
}

absl::StatusOr<std::optional<AnswerTarget>> AnswerFinder::FindTriggered(
    const Search& search, std::string_view delivery_id) const {
  if (delivery_id.empty()) return std::nullopt;
  INTERCOM_ASSIGN_OR_RETURN(auto target, FindSent(search, delivery_id));
  if (!target.has_value() ||
      (!search.from.empty() && target->session_id != search.from)) {
    return std::nullopt;
  }
  if (target->is_ask) return target;
  INTERCOM_ASSIGN_OR_RETURN(const auto record, deliveries_.Find(delivery_id));
  if (record->envelope().kind() == v1::ENVELOPE_KIND_NOTICE) {
    return std::nullopt;
  }
  return target;
}

absl::StatusOr<AnswerTarget> AnswerFinder::TargetOf(
    const Search& search, const v1::DeliveryRecord& record) const {
  if (record.envelope().kind() == v1::ENVELOPE_KIND_ASK) {
    INTERCOM_ASSIGN_OR_RETURN(const auto ask, asks_.Find(record.delivery_id()));
    if (ask.has_value() && TakesAnswer(search, *ask)) {
      return TargetOf(*ask);
    }
  }
  AnswerTarget target;
  target.delivery_id = record.delivery_id();
  target.session_id = record.sender().session_id();
  target.name = record.sender().name();
  target.is_session = IsOfSession(record.sender());
  return target;
}

absl::StatusOr<AnswerTarget> AnswerFinder::TargetOf(const AskRow& ask) const {
  INTERCOM_ASSIGN_OR_RETURN(const v1::Ask told, asks_.Describe(ask));
  AnswerTarget target;
  target.delivery_id = ask.delivery_id;
  target.is_ask = true;
  // One that is answered takes this as a better answer.
  target.is_awaited =
      (ask.open() || !ask.unanswered()) && waits_.IsAwaited(ask.delivery_id);
  target.session_id = ask.asker_session_id;
  target.name = told.asker().name();
  target.is_session = IsOfSession(told.asker());
  return target;
}

bool AnswerFinder::TakesAnswer(const Search& search, const AskRow& ask) const {
  return ask.unanswered() || (!search.replaced_answer.empty() &&
                              ask.reply_delivery_id == search.replaced_answer);
}

absl::Status AnswerFinder::Ambiguous(
    const std::vector<AnswerTarget>& targets) const {
  std::vector<std::string> ids;
  for (const AnswerTarget& target : targets) {
    ids.push_back(EnvelopeIdOf(target.delivery_id));
  }
  const std::vector<std::string> short_ids = ShortIds({ids.begin(), ids.end()});
  std::string list;
  for (size_t i = 0; i < targets.size() && i < kMaxNamed; ++i) {
    const AnswerTarget& target = targets[i];
    const bool shares_its_id = std::count(ids.begin(), ids.end(), ids[i]) > 1;
    list += "\n  " + NameOr(target.name, target.session_id) + ", " +
            (shares_its_id ? target.delivery_id : short_ids[i]);
    INTERCOM_ASSIGN_OR_RETURN(const auto record,
                              deliveries_.Find(target.delivery_id));
    if (!record.has_value()) continue;
    list += ", " + AgeText(clock_.Now() - FromProto(record->marks(0).at())) +
            " ago: " + QuotedLine(record->envelope().text());
  }
  if (targets.size() > kMaxNamed) {
    list += "\n  and " + std::to_string(targets.size() - kMaxNamed) + " more";
  }
  return Error(absl::StatusCode::kFailedPrecondition, "AMBIGUOUS_REPLY",
               "this could answer any of these; say with replyTo which. "
               "Nothing was sent:" +
                   list);
}

}  // namespace intercom
