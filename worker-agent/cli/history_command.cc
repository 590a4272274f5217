#include "worker-agent/cli/history_command.h"

#include <string>
#include <utility>

#include "absl/time/time.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "worker-agent/cli/command_options.h"
#include "worker-agent/cli/inspect_report.h"
#include "worker-agent/cli/progress.h"
#include "worker-agent/cli/report.h"
#include "worker-agent/cli/session_lookup.h"
#include "worker-agent/cli/words.h"

namespace intercom {
namespace {

// A page is as much as the broker looks at for one call.
std::string Searching(int pages, int found) {
  return ", " + std::to_string(pages) + (pages == 1 ? " page" : " pages") +
         " looked through, " + std::to_string(found) + " found";
}

// Sets what both requests are asked by.
template <typename Request>
absl::Status Narrow(const CommandContext& context, Request& request) {
  const Arguments& arguments = context.arguments;
  if (!arguments.session.empty()) {
    INTERCOM_ASSIGN_OR_RETURN(*request.mutable_session_id(),
                              FindSessionId(context, arguments.session));
  }
  // A session is one wherever it is, unless a workspace was named beside it.
  if (!arguments.all &&
      (arguments.session.empty() || !arguments.directory.empty())) {
    request.set_directory(context.Directory());
  }
  for (const std::string& word : arguments.states) {
    if (const auto state = StateOfWord(word)) request.add_states(*state);
    if (const auto end = EndOfWord(word)) request.add_ends(*end);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status NarrowMessages(const CommandContext& context,
                            v1::ListMessagesRequest& request) {
  const Arguments& arguments = context.arguments;
  INTERCOM_RETURN_IF_ERROR(Narrow(context, request));
  request.set_containing(arguments.containing);
  for (const std::string& word : arguments.kinds) {
    if (const auto kind = KindOfWord(word)) request.add_kinds(*kind);
  }
  const auto moment = [&](const std::string& word) {
    return MomentOfWord(word, context.clock.Now(), absl::LocalTimeZone());
  };
  if (const auto since = moment(arguments.since)) {
    *request.mutable_since() = ToProto(*since);
  }
  if (const auto until = moment(arguments.until)) {
    *request.mutable_until() = ToProto(*until);
  }
  return absl::OkStatus();
}

namespace {

absl::Status History(const CommandContext& context) {
  const Arguments& arguments = context.arguments;
  v1::ListMessagesRequest request;
  INTERCOM_RETURN_IF_ERROR(NarrowMessages(context, request));
  v1::ListMessagesResponse found;
  Progress progress(context.err, context.terminal);
  // A page ends early where its texts are long, or much was looked at.
  int pages = 0;
  do {
    if (pages > 0) {
      progress.Show("Searching", Searching(pages, found.records_size()));
    }
    request.set_page_size(arguments.limit - found.records_size());
    INTERCOM_ASSIGN_OR_RETURN(v1::ListMessagesResponse page,
                              context.client.ListMessages(request));
    request.set_page_token(page.next_page_token());
    found.set_next_page_token(page.next_page_token());
    for (v1::DeliveryRecord& record : *page.mutable_records()) {
      *found.add_records() = std::move(record);
    }
    ++pages;
  } while (!request.page_token().empty() &&
           found.records_size() < arguments.limit);
  progress.Clear();
  return context.Print(found, HistoryReport(found));
}

absl::Status Deliveries(const CommandContext& context) {
  const Arguments& arguments = context.arguments;
  v1::ListDeliveriesRequest request;
  INTERCOM_RETURN_IF_ERROR(Narrow(context, request));
  request.set_waiting(arguments.open);
  v1::ListDeliveriesResponse found;
  Progress progress(context.err, context.terminal);
  int pages = 0;
  do {
    if (pages > 0) {
      progress.Show("Searching", Searching(pages, found.deliveries_size()));
    }
    request.set_page_size(arguments.limit - found.deliveries_size());
    INTERCOM_ASSIGN_OR_RETURN(v1::ListDeliveriesResponse page,
                              context.client.ListDeliveries(request));
    request.set_page_token(page.next_page_token());
    found.set_next_page_token(page.next_page_token());
    for (v1::DeliverySummary& delivery : *page.mutable_deliveries()) {
      *found.add_deliveries() = std::move(delivery);
    }
    ++pages;
  } while (!request.page_token().empty() &&
           found.deliveries_size() < arguments.limit);
  progress.Clear();
  return context.Print(found, DeliveriesReport(found, context.clock.Now()));
}

// "" if it is one.
std::string CheckMoment(const std::string& word) {
  return MomentOfWord(word, absl::UnixEpoch(), absl::UTCTimeZone()).has_value()
             ? ""
             : "must be how long ago (90m, 2h, 3d) or a time (2026-01-31, "
               "2026-01-31 12:00, with Z behind it for UTC)";
}

}  // namespace

void DeclareMessageFilters(CLI::App& command, Arguments& arguments) {
  command.add_option("--containing", arguments.containing,
                     "Only those whose text, or an attachment's name, contains "
                     "this, in either case");
  AddSession(command, arguments,
             "Only those from or to this session: a name or an id, or person "
             "for your own");
  command
      .add_option("--since", arguments.since,
                  "Accepted since: how long ago, 2h, or a time")
      ->check(CheckMoment);
  command
      .add_option("--until", arguments.until,
                  "Accepted before: how long ago, 2h, or a time")
      ->check(CheckMoment);
  AddStates(command, arguments);
  command
      .add_option("--kind", arguments.kinds,
                  "Only these, several with commas: " + JoinWords(KindWords()))
      ->delimiter(',')
      ->check(CLI::IsMember(KindWords()));
  AddDirectory(command, arguments);
  AddAll(command, arguments, "Of every workspace");
}

namespace {

void DeclareHistory(CLI::App& command, Arguments& arguments) {
  DeclareMessageFilters(command, arguments);
  AddLimit(command, arguments, 200);
}

void DeclareDeliveries(CLI::App& command, Arguments& arguments) {
  AddSession(command, arguments,
             "Only those from or to this session: a name or an id, or person "
             "for your own");
  AddStates(command, arguments);
  command.add_flag("--waiting", arguments.open,
                   "Only those that wait, and why");
  AddLimit(command, arguments, 500);
  AddDirectory(command, arguments);
  AddAll(command, arguments, "Of every workspace");
}

}  // namespace

std::vector<CommandSpec> HistoryCommands() {
  return {
      {"history", "List messages, the newest first", DeclareHistory, History,
       v1::ListMessagesResponse::descriptor()},
      {"deliveries", "List where mail is, the newest first, without its texts",
       DeclareDeliveries, Deliveries,
       v1::ListDeliveriesResponse::descriptor()}};
}

}  // namespace intercom
