#include "worker-agent/watch/watch_calls.h"

#include <optional>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "worker-agent/launch/command_runner.h"
#include "worker-agent/tools/labels.h"

namespace intercom {
namespace {

constexpr size_t kMaxWatches = 8;
constexpr absl::Duration kGrace = absl::Seconds(2);
constexpr size_t kIdCharacters = 8;

ToolResult Said(std::string text, std::string summary, const std::string& id) {
  ToolResult result;
  result.text = std::move(text);
  result.summary = std::move(summary);
  if (!id.empty()) result.details = {{"watchId", id}};
  return result;
}

std::string ModeSentence(const WatchOrder& order) {
  if (order.mode == WatchOrder::Mode::kExit) {
    return "You hear of it once, when it ends";
  }
  return "You hear of each new line of its standard output, " +
         std::to_string(order.max_events) + " at most";
}

}  // namespace

WatchCalls::WatchCalls(TaskRunner& runner, const Clock& clock, Random& random,
                       const Surroundings& around, WatchBacklog::Say say,
                       Answer answer)
    : clock_(clock),
      random_(random),
      around_(around),
      answer_(std::move(answer)),
      gate_(std::make_shared<PostGate>(runner)),
      backlog_(runner, clock, std::move(say)) {}

WatchCalls::~WatchCalls() { gate_->Close(); }

void WatchCalls::SetAllowed(bool allowed) {
  allowed_ = allowed;
  if (allowed) return;
  for (auto& [id, watch] : watches_) {
    if (watch.over) continue;
    backlog_.Remove(id);
    EndWatch(watch);
    // A call that is to be answered says it itself.
    if (!watch.call_id.empty()) continue;
    backlog_.Add(
        {.id = id + "/" + std::to_string(++watch.events),
         .watch = id,
         .label = watch.order.label,
         .event = {.kind = WatchEvent::Kind::kRevoked, .lines = watch.lines}});
  }
}

void WatchCalls::Call(const Json& arguments, const std::string& call_id) {
  const std::string action = StringOr(arguments, "action", "");
  if (action == "arm") return Arm(arguments, call_id);
  answer_(call_id, action == "list"
                       ? List()
                       : CancelWatch(StringOr(arguments, "id", "")));
}

void WatchCalls::Arm(const Json& arguments, const std::string& call_id) {
  if (!allowed_) {
    return answer_(call_id, RenderError(Error(
                                absl::StatusCode::kPermissionDenied,
                                "PROGRAMS_NOT_ALLOWED",
                                "this session may not run programs now, so "
                                "it may watch none; nothing was started. Ask "
                                "its person to allow it to run programs")));
  }
  if (watches_.size() >= kMaxWatches) {
    return answer_(
        call_id,
        RenderError(Error(absl::StatusCode::kResourceExhausted, "WATCHES_FULL",
                          std::to_string(kMaxWatches) +
                              " watches are active, or about to end, which is "
                              "the most; cancel one first")));
  }
  const absl::StatusOr<WatchOrder> order = WatchOrderOf(arguments);
  if (!order.ok()) return answer_(call_id, RenderError(order.status()));
  absl::StatusOr<GuardedCommand> command = CommandOf(*order);
  if (!command.ok()) return answer_(call_id, RenderError(command.status()));
  // Also known to a later agent of the session, as no other watch's.
  const std::string id = "w-" + command->id.substr(0, kIdCharacters);
  Watch& watch = watches_[id];
  watch.order = *order;
  watch.call_id = call_id;
  watch.started_at = clock_.Steady();
  const auto post = [gate = gate_](auto task) { gate->Post(std::move(task)); };
  watch.process = std::make_unique<WatchProcess>(
      *std::move(command), *order, clock_,
      WatchProcess::Events{
          .started =
              [this, post, id](const absl::Status& status) {
                post([this, id, status] { HandleStarted(id, status); });
              },
          .event =
              [this, post, id](WatchEvent event) {
                post([this, id, event = std::move(event)]() mutable {
                  HandleEvent(id, std::move(event));
                });
              },
          .gone = [this, post,
                   id] { post([this, id] { watches_.erase(id); }); }});
}

absl::StatusOr<GuardedCommand> WatchCalls::CommandOf(const WatchOrder& order) {
  std::string program = order.command;
  if (program.find('/') != std::string::npos && !program.starts_with('/')) {
    program = directory_ + "/" + program;
  }
  const absl::StatusOr<std::string> found =
      FindProgram(program, around_.environment);
  if (!found.ok()) {
    return Error(found.status().code(), "START_FAILED",
                 MessageOf(found.status()) +
                     "; nothing was started. A command is one program, with "
                     "its arguments in args; no shell reads it");
  }
  GuardedCommand command;
  command.id = NewUuid(random_);
  command.agent_path = around_.agent_path;
  command.argv = {*found};
  command.argv.insert(command.argv.end(), order.args.begin(), order.args.end());
  command.directory = directory_;
  command.environment = around_.environment;
  command.grace = kGrace;
  return command;
}

void WatchCalls::HandleStarted(const std::string& id,
                               const absl::Status& status) {
  const auto found = watches_.find(id);
  if (found == watches_.end()) return;
  Watch& watch = found->second;
  const std::string call_id = std::exchange(watch.call_id, {});
  const bool over = watch.over;
  const WatchOrder order = watch.order;
  if (!status.ok()) watches_.erase(found);
  if (call_id.empty()) return;
  if (!status.ok()) {
    return answer_(
        call_id,
        RenderError(Error(
            status.code(), ReasonOf(status),
            MessageOf(status) +
                "; nothing is watched. Arm it again once that is mended")));
  }
  if (over) {
    return answer_(
        call_id, RenderError(Error(absl::StatusCode::kPermissionDenied,
                                   "PROGRAMS_NOT_ALLOWED",
                                   "this session may not run programs any "
                                   "more; what was started was ended. Ask "
                                   "its person to allow it to run programs")));
  }
  answer_(call_id,
          Said("Watch " + id + " (" + order.label + ") runs. " +
                   ModeSentence(order) + "; it is ended after " +
                   AgeLabel(order.deadline) +
                   " at the latest. End your turn instead of waiting: what it "
                   "sees starts a new one.\n",
               "watching " + order.label, id));
}

void WatchCalls::HandleEvent(const std::string& id, WatchEvent event) {
  const auto found = watches_.find(id);
  if (found == watches_.end() || found->second.over) return;
  Watch& watch = found->second;
  watch.lines = event.lines;
  watch.over = event.last || event.kind != WatchEvent::Kind::kLine;
  backlog_.Add({.id = id + "/" + std::to_string(++watch.events),
                .watch = id,
                .label = watch.order.label,
                .event = std::move(event)});
}

void WatchCalls::EndWatch(Watch& watch) {
  watch.over = true;
  watch.process->End();
}

ToolResult WatchCalls::List() const {
  std::string text;
  int count = 0;
  for (const auto& [id, watch] : watches_) {
    if (watch.over) continue;
    ++count;
    const absl::Duration age = clock_.Steady() - watch.started_at;
    text += id + "  " + watch.order.label + "  " +
            (watch.order.mode == WatchOrder::Mode::kExit
                 ? "until it ends"
                 : std::to_string(watch.lines) + " of " +
                       std::to_string(watch.order.max_events) + " lines") +
            "  for " + AgeLabel(age) + ", " +
            AgeLabel(watch.order.deadline - age) + " left\n";
  }
  if (count == 0) return Said("No watch is active.\n", "no watches", "");
  return Said(text, std::to_string(count) + " watches", "");
}

ToolResult WatchCalls::CancelWatch(const std::string& id) {
  if (id.empty()) {
    return RenderError(Error(absl::StatusCode::kInvalidArgument,
                             "ARGUMENT_INVALID",
                             "intercom_watch: cancel needs the watch's id; "
                             "list shows them"));
  }
  const int taken_back = backlog_.Remove(id);
  const auto found = watches_.find(id);
  const bool active = found != watches_.end() && !found->second.over;
  if (active) EndWatch(found->second);
  if (!active && taken_back == 0) {
    return RenderError(
        Error(absl::StatusCode::kNotFound, "WATCH_UNKNOWN",
              "there is no active watch " + SafeLabel(id) +
                  "; it may have ended by itself. list shows those "
                  "that there are"));
  }
  std::string text = "Watch " + id +
                     (active ? " was cancelled, and its program is being ended"
                             : " had ended already");
  if (taken_back > 0) {
    text += ". What it had seen and not yet told is dropped";
  }
  return Said(text + ".\n", "watch cancelled", id);
}

std::optional<ToolResult> WatchCalls::Cancel(const std::string& call_id) {
  for (auto& [id, watch] : watches_) {
    if (watch.call_id != call_id) continue;
    watch.call_id.clear();
    EndWatch(watch);
    return RenderError(Error(absl::StatusCode::kCancelled, "CANCELLED",
                             "the call was cancelled; what was about to start "
                             "is ended, and nothing is watched. Arm it again "
                             "if it is needed still"));
  }
  return std::nullopt;
}

}  // namespace intercom
