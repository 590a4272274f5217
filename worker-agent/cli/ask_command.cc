#include "worker-agent/cli/ask_command.h"

#include <optional>
#include <ostream>
#include <string>

#include "absl/time/clock.h"
#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "worker-agent/cli/command_options.h"
#include "worker-agent/cli/interrupt.h"
#include "worker-agent/cli/mail_report.h"
#include "worker-agent/cli/message_sending.h"
#include "worker-agent/cli/progress.h"
#include "worker-agent/cli/read_marks.h"
#include "worker-agent/cli/report.h"
#include "worker-agent/cli/words.h"
#include "worker-agent/tools/labels.h"
#include "worker-agent/tools/record_text.h"

namespace intercom {
namespace {

// One call of the wait, where somebody watches and where nobody does.
constexpr absl::Duration kWatchedCall = absl::Seconds(5);
constexpr absl::Duration kCall = absl::Seconds(30);
// For how long a broker that is lost is waited for, and how often it is tried.
constexpr absl::Duration kLostFor = absl::Seconds(30);
constexpr absl::Duration kPause = absl::Milliseconds(200);

// Waits for the answer to an ask that is on disk.
class Wait {
 public:
  Wait(const CommandContext& context, const Interrupt& interrupt,
       const v1::DeliveryRecord& ask)
      : context_(context),
        interrupt_(interrupt),
        record_(ask),
        progress_(context.err, context.terminal) {}

  // The ask once it is open no more.
  absl::StatusOr<v1::AwaitReplyResponse> Run() {
    const absl::Duration began = context_.clock.Steady();
    v1::AwaitReplyRequest request;
    request.set_envelope_id(record_.envelope().envelope_id());
    *request.mutable_wait() =
        ToProtoDuration(progress_.IsShown() ? kWatchedCall : kCall);
    v1::Ask ask;
    ask.set_delivery_state(record_.state());
    std::optional<absl::Duration> lost_since;
    while (true) {
      Show(ask, context_.clock.Steady() - began);
      const absl::Duration called = context_.clock.Steady();
      const auto response = context_.client.AwaitReply(request, interrupt_);
      const absl::Duration now = context_.clock.Steady();
      if (response.ok()) {
        if (response->ask().state() != v1::Ask::STATE_OPEN) return response;
        ask = response->ask();
        lost_since.reset();
      } else if (ReasonOf(response.status()) == "INTERRUPTED") {
        return Ended("nobody waits any more");
      } else if (!IsBrokerAway(response.status()) &&
                 ReasonOf(response.status()) != "OUTCOME_UNKNOWN") {
        return response;
      } else {
        if (!lost_since.has_value()) lost_since = now;
        if (now - *lost_since >= kLostFor) {
          return Ended(MessageOf(response.status()));
        }
      }
      // One that leaves answers at once.
      if (now - called < kPause && interrupt_.Await(kPause)) {
        return Ended("nobody waits any more");
      }
    }
  }

 private:
  void Show(const v1::Ask& ask, absl::Duration waited) {
    std::string text = "Waiting for the answer of " +
                       NameLabel(RecipientName(record_), 40) + ": " +
                       std::string(StateLabel(ask.delivery_state()));
    if (ask.wait_reason() != v1::WAIT_REASON_UNSPECIFIED) {
      text += ", " + std::string(WaitWord(ask.wait_reason()));
    }
    progress_.Show(text, ", " + AgeLabel(waited));
  }

  absl::Status Ended(const std::string& why) {
    return Error(absl::StatusCode::kCancelled, "WAIT_ENDED",
                 why + ". The question " +
                     ShortId(record_.envelope().envelope_id()) +
                     " stands, and its answer will be " +
                     WhereAnswersGo(record_.sender()) + ". intercom cancel " +
                     record_.envelope().envelope_id() + " takes it back");
  }

  const CommandContext& context_;
  const Interrupt& interrupt_;
  const v1::DeliveryRecord& record_;
  Progress progress_;
};

// Why there is no answer.
absl::Status NoAnswer(const v1::DeliveryRecord& record, const v1::Ask& ask) {
  const std::string name = NameLabel(RecipientName(record));
  const std::string late =
      " A late answer will be " + WhereAnswersGo(record.sender());
  std::string why;
  switch (ask.state()) {
    case v1::Ask::STATE_TIMED_OUT:
      why = name + " did not answer within " +
            AgeLabel(FromProtoDuration(record.envelope().reply_within())) +
            "." + late;
      break;
    case v1::Ask::STATE_RECIPIENT_GONE:
      why = name + " left before it answered." + late;
      break;
    case v1::Ask::STATE_CANCELLED:
      why = "the question was taken back before it was answered";
      break;
    default:
      why = "the answer is not stored any more";
      break;
  }
  return Error(absl::StatusCode::kDeadlineExceeded, "NO_ANSWER", why);
}

absl::Status Ask(const CommandContext& context) {
  INTERCOM_ASSIGN_OR_RETURN(v1::Envelope envelope,
                            EnvelopeOf(context, v1::ENVELOPE_KIND_ASK));
  if (const auto within = SpanOfWord(context.arguments.timeout);
      within.has_value()) {
    *envelope.mutable_reply_within() = ToProtoDuration(*within);
  }
  // From before it is sent, so that no Ctrl-C leaves an answer unannounced.
  std::optional<Interrupt> interrupt;
  if (context.arguments.wait) interrupt.emplace();
  INTERCOM_ASSIGN_OR_RETURN(const v1::SendResponse sent,
                            SendToNamed(context, std::move(envelope)));
  const v1::DeliveryRecord& record = sent.record();
  if (!interrupt.has_value()) {
    return context.Print(sent, SentReport(record) + "The answer will be " +
                                   WhereAnswersGo(record.sender()) + ".\n");
  }
  INTERCOM_ASSIGN_OR_RETURN(const v1::AwaitReplyResponse response,
                            Wait(context, *interrupt, record).Run());
  if (!response.has_reply()) {
    if (context.arguments.json) {
      INTERCOM_RETURN_IF_ERROR(context.Print(response, ""));
    }
    return NoAnswer(record, response.ask());
  }
  INTERCOM_RETURN_IF_ERROR(
      context.Print(response, AnswerText(response.reply())));
  if (record.sender().origin() != v1::ORIGIN_PERSON) return absl::OkStatus();
  return MarkShown(context, {response.reply().delivery_id()});
}

void Declare(CLI::App& command, Arguments& arguments) {
  AddRecipient(command, arguments);
  AddText(command, arguments);
  command.add_flag_callback(
      "--wait", [&arguments] { arguments.wait = true; },
      "Wait for the answer and print it: what it does anyway");
  command.add_flag_callback(
      "--no-wait", [&arguments] { arguments.wait = false; },
      "Print the id; the answer will be in: intercom inbox");
  command
      .add_option("--timeout", arguments.timeout,
                  "How long an answer is wanted, 1s to 24h: 90s, 10m, 2h; "
                  "default: 10m")
      ->check([](const std::string& word) {
        const auto span = SpanOfWord(word);
        return span.has_value() && *span <= absl::Hours(24)
                   ? ""
                   : "must be a time from 1s to 24h, such as 90s, 10m or 2h";
      });
  AddEnvelopeId(command, arguments);
  AddDirectory(command, arguments);
}

}  // namespace

std::vector<CommandSpec> AskCommands() {
  return {{"ask", "Ask a session and wait for its answer", Declare, Ask,
           v1::AwaitReplyResponse::descriptor(), v1::SendResponse::descriptor(),
           "--no-wait"}};
}

}  // namespace intercom
