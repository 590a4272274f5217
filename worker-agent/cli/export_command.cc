#include "worker-agent/cli/export_command.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <ostream>
#include <string>

#include "CLI/CLI.hpp"
#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "google/protobuf/util/json_util.h"
#include "intercom/v1/envelope.pb.h"
#include "worker-agent/cli/history_command.h"
#include "worker-agent/cli/interrupt.h"
#include "worker-agent/cli/new_file.h"
#include "worker-agent/cli/progress.h"

namespace intercom {
namespace {

constexpr int kPageSize = 200;

struct Exported {
  int64_t messages = 0;
  int64_t first = 0;
  int64_t last = 0;
};

// The records of a page, one a line.
absl::StatusOr<std::string> LinesOf(const v1::ListMessagesResponse& page) {
  std::string lines;
  for (const v1::DeliveryRecord& record : page.records()) {
    std::string line;
    if (!google::protobuf::util::MessageToJsonString(record, &line).ok()) {
      return Error(absl::StatusCode::kInternal, "JSON_FAILED",
                   "message " + std::to_string(record.sequence()) +
                       " can't be written as JSON");
    }
    lines += line + "\n";
  }
  return lines;
}

// A page a call, from the oldest on, each given to `write` before the next is
// asked for. `exported` says what was written, after an error, too.
template <typename Write>
absl::Status ExportPages(const CommandContext& context, const Write& write,
                         Exported& exported) {
  v1::ListMessagesRequest request;
  INTERCOM_RETURN_IF_ERROR(NarrowMessages(context, request));
  request.set_oldest_first(true);
  request.set_page_size(kPageSize);
  if (context.arguments.after > 0) {
    request.set_page_token(std::to_string(context.arguments.after));
  }
  const Interrupt interrupt;
  Progress progress(context.err, context.terminal);
  do {
    if (interrupt.HasCome()) {
      return Error(absl::StatusCode::kCancelled, "INTERRUPTED",
                   "the export was interrupted");
    }
    progress.Show("Exporting", ", " + std::to_string(exported.messages) +
                                   " messages so far");
    INTERCOM_ASSIGN_OR_RETURN(const v1::ListMessagesResponse page,
                              context.client.ListMessages(request));
    INTERCOM_ASSIGN_OR_RETURN(const std::string lines, LinesOf(page));
    INTERCOM_RETURN_IF_ERROR(write(lines));
    if (page.records_size() > 0) {
      if (exported.messages == 0) exported.first = page.records(0).sequence();
      exported.messages += page.records_size();
      exported.last = page.records(page.records_size() - 1).sequence();
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return absl::OkStatus();
}

std::string Summary(const Exported& exported) {
  if (exported.messages == 0) return "No messages exported.\n";
  return std::to_string(exported.messages) +
         (exported.messages == 1 ? " message" : " messages") +
         " exported, sequences " + std::to_string(exported.first) + " to " +
         std::to_string(exported.last) + ".\n";
}

absl::Status ExportToOutput(const CommandContext& context) {
  Exported exported;
  const absl::Status status = ExportPages(
      context,
      [&context](const std::string& lines) -> absl::Status {
        context.out << lines << std::flush;
        if (context.out.good()) return absl::OkStatus();
        return Error(absl::StatusCode::kUnavailable, "OUTPUT_FAILED",
                     "standard output takes no more");
      },
      exported);
  context.err << Summary(exported);
  if (!status.ok() && exported.last > 0) {
    context.err << "Go on with --after " << exported.last << ".\n";
  }
  return status;
}

absl::Status ExportToFile(const CommandContext& context) {
  Exported exported;
  INTERCOM_ASSIGN_OR_RETURN(const std::unique_ptr<NewFile> file,
                            NewFile::Create(context.arguments.file));
  INTERCOM_RETURN_IF_ERROR(ExportPages(
      context, [&file](const std::string& lines) { return file->Write(lines); },
      exported));
  INTERCOM_RETURN_IF_ERROR(file->Finish());
  context.err << Summary(exported);
  return absl::OkStatus();
}

absl::Status Export(const CommandContext& context) {
  return context.arguments.file == "-" ? ExportToOutput(context)
                                       : ExportToFile(context);
}

void Declare(CLI::App& command, Arguments& arguments) {
  command
      .add_option("file", arguments.file,
                  "A file that doesn't exist, or - for standard output")
      ->required();
  command
      .add_option("--after", arguments.after,
                  "Only those after this sequence: go on where an export ended")
      ->check(CLI::Range(int64_t{0}, std::numeric_limits<int64_t>::max()));
  DeclareMessageFilters(command, arguments);
  // It is whole; the list's option would be taken and mean nothing.
  command.excludes(command.get_parent()->get_option("--limit"));
}

}  // namespace

std::vector<CommandSpec> ExportCommands() {
  return {{"history export",
           "Write messages as lines of JSON, whole, the oldest first", Declare,
           Export,
           // Each line, with --json and without.
           v1::DeliveryRecord::descriptor()}};
}

}  // namespace intercom
