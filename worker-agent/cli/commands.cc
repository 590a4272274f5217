#include "worker-agent/cli/commands.h"

#include <istream>
#include <iterator>
#include <ostream>
#include <string>

#include "absl/time/clock.h"
#include "broker/base/clock.h"
#include "broker/base/error.h"
#include "broker/base/home.h"
#include "broker/base/random.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "worker-agent/cli/broker_client.h"
#include "worker-agent/cli/broker_control.h"
#include "worker-agent/cli/command_context.h"
#include "worker-agent/cli/report.h"
#include "worker-agent/cli/view_command.h"
#include "worker-agent/cli/work_commands.h"
#include "worker-agent/link/broker_starter.h"
#include "worker-agent/monitor/monitor_command.h"

namespace intercom {
namespace {

constexpr absl::Duration kKillAfter = absl::Seconds(5);
constexpr absl::Duration kEndTimeout = absl::Seconds(20);
constexpr absl::Duration kRepeatFor = absl::Seconds(5);
constexpr absl::Duration kRepeatPause = absl::Milliseconds(200);
// One byte more than any text may have is read, so that too much is refused.
constexpr size_t kMaxInputBytes = 256 << 10;

// Runs one command. Each writes to `out_` only when it succeeds.
class Runner {
 public:
  Runner(const Arguments& arguments, std::string home, std::istream& in,
         std::ostream& out, std::ostream& err, const Terminal& terminal)
      : arguments_(arguments),
        home_(std::move(home)),
        in_(in),
        out_(out),
        err_(err),
        terminal_(terminal) {}

  absl::Status Run() {
    switch (arguments_.command) {
      case Command::kList:
        return arguments_.all ? ListAll() : List();
      case Command::kSend:
        return Send();
      case Command::kStatus:
        return arguments_.id.empty() ? BrokerStatus(/*details=*/true)
                                     : MessageStatus();
      case Command::kHistory:
        return History();
      case Command::kWorkers:
        return ShowWorkers(context_);
      case Command::kJobs:
        return ShowJobs(context_);
      case Command::kJobShow:
        return ShowJob(context_);
      case Command::kJobResolve:
        return ResolveJob(context_);
      case Command::kCoordinatorTake:
        return TakeCoordinator(context_);
      case Command::kObservations:
        return ShowObservations(context_);
      case Command::kView:
        return ViewWorker(context_, home_);
      case Command::kMonitor:
        return RunMonitor({.home = home_,
                           .directory = Directory(),
                           .all = arguments_.all});
      case Command::kBrokerStart:
        return Start();
      case Command::kBrokerStop:
        return Stop();
      case Command::kBrokerRestart:
        return Restart();
      case Command::kBrokerStatus:
        return BrokerStatus(/*details=*/false);
      case Command::kBrokerPath:
        out_ << home_ << "\n";
        return absl::OkStatus();
      case Command::kVersion:
        out_ << "intercom " << INTERCOM_VERSION << "\n";
        return absl::OkStatus();
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Print(const google::protobuf::Message& message,
                     const std::string& text) {
    return context_.Print(message, text);
  }
  std::string Directory() const { return context_.Directory(); }

  absl::Status List() {
    v1::GetWorkspaceRequest request;
    request.set_directory(Directory());
    INTERCOM_ASSIGN_OR_RETURN(const v1::GetWorkspaceResponse response,
                              client_.GetWorkspace(request));
    return Print(response, WorkspaceReport(response, terminal_));
  }

  absl::Status ListAll() {
    INTERCOM_ASSIGN_OR_RETURN(const v1::ListAttachmentsResponse response,
                              client_.ListAttachments());
    return Print(response, AttachmentsReport(response));
  }

  absl::Status Send() {
    v1::SendRequest request;
    request.set_to(arguments_.to);
    request.set_directory(Directory());
    v1::Envelope& envelope = *request.mutable_envelope();
    SystemRandom random;
    envelope.set_envelope_id(arguments_.id.empty() ? NewUuid(random)
                                                   : arguments_.id);
    envelope.set_kind(v1::ENVELOPE_KIND_MESSAGE);
    envelope.set_text(arguments_.text == "-" ? ReadInput() : arguments_.text);
    absl::StatusOr<v1::SendResponse> response = client_.Send(request);
    const bool may_be_sent = MayBeSent(response.status());
    // Under its id it is safe to repeat: a broker that was lost is back soon.
    const absl::Duration give_up = clock_.Steady() + kRepeatFor;
    while (may_be_sent && IsAway(response.status()) &&
           clock_.Steady() < give_up) {
      absl::SleepFor(kRepeatPause);
      response = client_.Send(request);
    }
    if (may_be_sent &&
        (MayBeSent(response.status()) || IsAway(response.status()))) {
      return Error(response.status().code(), "OUTCOME_UNKNOWN",
                   MessageOf(response.status()) +
                       "; whether the message was sent is unknown. Repeating "
                       "it is safe with: --id " +
                       envelope.envelope_id());
    }
    INTERCOM_RETURN_IF_ERROR(response.status());
    return Print(*response, SentReport(response->record()));
  }

  // Whether a send that failed so may have been accepted.
  static bool MayBeSent(const absl::Status& status) {
    const std::string reason = ReasonOf(status);
    return reason == "OUTCOME_UNKNOWN" || reason == "CONNECTION_LOST" ||
           (!status.ok() && reason.empty());
  }
  // Whether it says nothing of what became of an earlier attempt.
  static bool IsAway(const absl::Status& status) {
    const std::string reason = ReasonOf(status);
    return absl::IsUnavailable(status) || reason == "BROKER_BUSY" ||
           reason == "BROKER_HUNG";
  }

  std::string ReadInput() {
    std::string text(kMaxInputBytes + 1, '\0');
    in_.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(in_.gcount()));
    // The newline that ends a pipe's text belongs to the pipe.
    if (text.ends_with('\n')) text.pop_back();
    return text;
  }

  absl::Status MessageStatus() {
    v1::GetMessageRequest request;
    request.set_id(arguments_.id);
    INTERCOM_ASSIGN_OR_RETURN(const v1::GetMessageResponse response,
                              client_.GetMessage(request));
    return Print(response,
                 RecordReport(response.record(), clock_.Now(), terminal_));
  }

  absl::Status History() {
    v1::ListMessagesRequest request;
    if (!arguments_.all) request.set_directory(Directory());
    v1::ListMessagesResponse found;
    // A page ends early where its texts are long.
    do {
      request.set_page_size(arguments_.limit - found.records_size());
      INTERCOM_ASSIGN_OR_RETURN(v1::ListMessagesResponse page,
                                client_.ListMessages(request));
      request.set_page_token(page.next_page_token());
      found.set_next_page_token(page.next_page_token());
      for (v1::DeliveryRecord& record : *page.mutable_records()) {
        *found.add_records() = std::move(record);
      }
    } while (!request.page_token().empty() &&
             found.records_size() < arguments_.limit);
    return Print(found, HistoryReport(found));
  }

  absl::Status BrokerStatus(bool details) {
    INTERCOM_ASSIGN_OR_RETURN(const v1::GetBrokerResponse broker,
                              client_.GetBroker());
    std::string text = BrokerReport(broker, clock_.Now(), terminal_);
    if (details && !arguments_.json) {
      INTERCOM_ASSIGN_OR_RETURN(const v1::ListAttachmentsResponse attachments,
                                client_.ListAttachments());
      INTERCOM_ASSIGN_OR_RETURN(const v1::ListMailboxesResponse mailboxes,
                                client_.ListMailboxes());
      text += "\n" + AttachmentsReport(attachments);
      const std::string mail = MailboxesReport(mailboxes, clock_.Now());
      if (!mail.empty()) text += "\n" + mail;
    }
    return Print(broker, text);
  }

  absl::Status Start() {
    INTERCOM_RETURN_IF_ERROR(
        BrokerStarter({.home = home_, .workspace = Directory()}).Ensure());
    return BrokerStatus(/*details=*/false);
  }

  absl::Status Stop() {
    INTERCOM_ASSIGN_OR_RETURN(
        const BrokerEnd end,
        EndBroker(home_, absl::InfiniteDuration(), kEndTimeout));
    out_ << "The broker (process " << end.pid << ") ended.\n";
    return absl::OkStatus();
  }

  absl::Status Restart() {
    const absl::StatusOr<BrokerEnd> end =
        EndBroker(home_, kKillAfter, kEndTimeout);
    if (!end.ok() && ReasonOf(end.status()) != "BROKER_NOT_RUNNING") {
      return end.status();
    }
    if (end.ok() && !arguments_.json) {
      out_ << "The broker (process " << end->pid << ") "
           << (end->killed ? "did not answer and was killed.\n" : "ended.\n");
    }
    return Start();
  }

  const Arguments& arguments_;
  const std::string home_;
  std::istream& in_;
  std::ostream& out_;
  std::ostream& err_;
  const Terminal& terminal_;
  const SystemClock clock_;
  BrokerClient client_{home_};
  const CommandContext context_{arguments_, client_, in_,      out_,
                                err_,       clock_,  terminal_};
};

}  // namespace

int RunCommand(const Arguments& arguments, std::istream& in, std::ostream& out,
               std::ostream& err, const Terminal& terminal) {
  absl::Status status;
  std::string home = arguments.home;
  if (home.empty()) {
    const absl::StatusOr<std::string> found = IntercomHome();
    status = found.status();
    if (found.ok()) home = *found;
  }
  if (status.ok())
    status = Runner(arguments, home, in, out, err, terminal).Run();
  if (status.ok()) return kExitOk;
  err << "intercom: " << StripControls(MessageOf(status)) << "\n";
  return ReasonOf(status) == "BROKER_NOT_RUNNING" ? kExitNotRunning
                                                  : kExitFailed;
}

}  // namespace intercom
