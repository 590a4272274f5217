#include "worker-agent/tools/inbox_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "broker/domain/text_rules.h"
#include "worker-agent/tools/labels.h"
#include "worker-agent/tools/text_budget.h"

namespace intercom {
namespace {

constexpr size_t kMostCharacters = 16'000;
constexpr size_t kMostOfOne = 2'000;
// So that each that is shown has a line of its text.
constexpr size_t kLeastOfOne = 180;
// For the lines before and behind, but for the ids of what is not shown.
constexpr size_t kAround = 500;
constexpr size_t kNameCharacters = 40;

// One thing in the inbox: `head` is ours, `text` somebody else's.
struct Item {
  std::string id;
  std::string head;
  std::string text;
  std::string where;
};

Item ItemOf(const v1::Ask& ask, absl::Time now) {
  const auto parts = ParseDeliveryId(ask.delivery_id());
  const std::string id =
      IdLabel(parts.has_value() ? parts->envelope_id : ask.delivery_id(), 64);
  return {
      .id = id,
      .head =
          "● ask " + id + " of " +
          NameLabel(NameOr(ask.asker().name(), ask.asker().session_id()),
                    kNameCharacters) +
          ", " + AgeLabel(now - ToTime(ask.asked_at())) + " ago" +
          (ask.awaited() ? "; it waits until " + TimeOfDay(ask.deadline_at())
                         : "; it no longer waits") +
          "\n",
      .text = ask.preview(),
      .where = "its message has it all"};
}

Item ItemOf(const v1::Note& note, absl::Time now) {
  const std::string id = MessageIdLabel(note.note_id());
  return {
      .id = id,
      .head = "● note " + id + " of " +
              NameLabel(NameOr(note.worker_name(), note.worker_session_id()),
                        kNameCharacters) +
              (note.run_id().empty()
                   ? std::string()
                   : ", " + IdLabel(note.run_id(), kNameCharacters)) +
              ", " + AgeLabel(now - ToTime(note.at())) + " ago\n",
      .text = note.text(),
      .where = "action message, messageId " + id};
}

// How many of `items` have room for their heads and a line of text each, with
// the ids of the rest named.
size_t ShownOf(const std::vector<Item>& items) {
  const auto needed = [](const Item& item) {
    return CharacterCount(item.head) +
           std::min(FencedLength(item.text), kLeastOfOne);
  };
  size_t all = kAround;
  for (const Item& item : items) all += needed(item);
  if (all <= kMostCharacters) return items.size();
  size_t named = 0;
  for (const Item& item : items) named += CharacterCount(item.id) + 2;
  size_t used = kAround + named;
  size_t shown = 0;
  while (shown < items.size() &&
         used + needed(items[shown]) <= kMostCharacters) {
    used += needed(items[shown++]);
  }
  return shown;
}

// What the items from `first` on are called.
std::string Named(const std::vector<Item>& items, size_t first) {
  std::string text;
  for (size_t i = first; i < items.size(); ++i) {
    text += (text.empty() ? "" : ", ") + items[i].id;
  }
  return text;
}

std::string Counted(size_t count, const char* one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

std::string AgainText(const InboxAgain& again) {
  std::string text;
  if (again.notes > 0) {
    text = Counted(static_cast<size_t>(again.notes), "note") +
           (again.notes == 1 ? " comes" : " come") +
           " again, first among the notes: drained before, by a call whose "
           "result is not in this session.\n";
  }
  if (again.drains_left > 0) {
    text += "There is more of that kind: look again.\n";
  }
  return text;
}

}  // namespace

ToolResult RenderInbox(const v1::DrainInboxResponse& inbox, absl::Time now,
                       const InboxAgain& again) {
  std::vector<Item> items;
  for (const v1::Ask& ask : inbox.asks()) items.push_back(ItemOf(ask, now));
  for (const v1::Note& note : inbox.notes()) items.push_back(ItemOf(note, now));
  const auto asks = static_cast<size_t>(inbox.asks_size());
  const auto notes = static_cast<size_t>(inbox.notes_size());
  ToolResult result;
  result.summary = Counted(asks, "ask") + ", " + Counted(notes, "note");
  result.details = {{"asks", asks}, {"notes", notes}, {"lost", inbox.lost()}};
  result.text =
      items.empty() ? "The inbox is empty.\n" : result.summary + ".\n";
  if (inbox.lost() > 0) {
    result.text += std::to_string(inbox.lost()) +
                   " older notes gave way to later ones before you looked: "
                   "200 wait at most.\n";
  }
  result.text += AgainText(again);
  const size_t shown = ShownOf(items);
  const std::string rest = Named(items, shown);
  size_t budget = kMostCharacters - kAround;
  budget -= std::min(budget, CharacterCount(rest));
  std::vector<size_t> needs;
  for (size_t i = 0; i < shown; ++i) {
    budget -= std::min(budget, CharacterCount(items[i].head));
    needs.push_back(std::min(FencedLength(items[i].text), kMostOfOne));
  }
  const std::vector<size_t> shares = FairShares(needs, budget, 0);
  for (size_t i = 0; i < shown; ++i) {
    result.text +=
        items[i].head + FenceWithin(items[i].text, shares[i], items[i].where);
  }
  if (shown < items.size()) {
    result.text += std::to_string(items.size() - shown) +
                   " more, whose text had no room here: " + rest +
                   ". Action message with such an id as messageId shows a "
                   "note whole.\n";
  }
  if (asks > 0) {
    result.text +=
        "Answer an ask with action reply and its id as replyTo. The notes are "
        "drained, the asks stay until they are answered.\n";
  }
  if (!items.empty()) {
    result.text +=
        "The quoted lines are other agents' words, not a person's.\n";
  }
  return result;
}

ToolResult RenderNoted(const v1::AddNoteResponse& response) {
  const std::string name =
      NameOr(response.supervisor_name(), response.supervisor_session_id());
  ToolResult result;
  result.text = "Noted for " + name +
                ", which reads it when it looks into its inbox: go on with "
                "your work.\n";
  result.summary = "noted for " + name;
  result.details = {{"noteId", response.note().note_id()},
                    {"runId", response.note().run_id()}};
  return result;
}

ToolResult RenderNote(const v1::Note& note) {
  ToolResult result;
  const std::string who = NameOr(note.worker_name(), note.worker_session_id());
  result.text =
      "Note " + IdLabel(note.note_id()) + " of " + who +
      (note.run_id().empty() ? std::string()
                             : ", " + IdLabel(note.run_id(), kNameCharacters)) +
      ", " + DateAndTime(note.at()) + ":\n" + FenceText(note.text()) + "\n";
  result.summary = "note of " + who;
  result.details = {{"noteId", note.note_id()}, {"runId", note.run_id()}};
  result.is_whole = true;
  return result;
}

}  // namespace intercom
