#ifndef PI_INTERCOM_BROKER_WORK_MAIL_H_
#define PI_INTERCOM_BROKER_WORK_MAIL_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/base/clock.h"
#include "broker/roster/callers.h"
#include "broker/routing/dispatcher.h"
#include "broker/storage/delivery_history.h"
#include "broker/storage/reader.h"
#include "broker/storage/report_store.h"
#include "broker/work/allowance.h"
#include "broker/work/ask_desk.h"
#include "broker/work/fences.h"
#include "broker/work/peer_directory.h"
#include "broker/work/run_openings.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/inspect.pb.h"
#include "intercom/v1/message.pb.h"

namespace intercom {

// What people and agents do with mail: send, look up, list, withdraw.
// Semantics and errors are those of MessageService.
//
// Methods are thread-safe. Each calls its `done` once, on the state's thread or
// on one that only hands answers on: it must not block.
class Mail {
 public:
  // A sending session's rate: refilled by time, whatever the wall clock does.
  static constexpr double kSendsPerSecond = 120;
  static constexpr double kSendBurst = 240;

  // All must outlive this object.
  Mail(StateRunner& runner, Workspaces& workspaces, Roster& roster,
       Dispatcher& dispatcher, DeliveryStore& deliveries, ReportStore& reports,
       Reader& reader, const Fences& fences, const PeerDirectory& peers,
       AskDesk& asks, RunOpenings& runs, const Clock& clock)
      : runner_(runner),
        workspaces_(workspaces),
        roster_(roster),
        dispatcher_(dispatcher),
        deliveries_(deliveries),
        reports_(reports),
        reader_(reader),
        fences_(fences),
        peers_(peers),
        asks_(asks),
        runs_(runs),
        clock_(clock) {}

  // Told, on the state's thread, of each envelope that was not stored.
  using OnRefused = std::function<void(const absl::Status& why)>;
  // Before the first call.
  void SetOnRefused(OnRefused on_refused) {
    on_refused_ = std::move(on_refused);
  }

  using RecordDone =
      absl::AnyInvocable<void(absl::StatusOr<v1::DeliveryRecord>)>;
  void Send(CallerEvidence evidence, v1::SendRequest request, RecordDone done);
  void Get(CallerEvidence evidence, std::string id, RecordDone done);
  using WithdrawDone =
      absl::AnyInvocable<void(absl::StatusOr<v1::WithdrawMessageResponse>)>;
  void Withdraw(CallerEvidence evidence, v1::WithdrawMessageRequest request,
                WithdrawDone done);

  using ListDone =
      absl::AnyInvocable<void(absl::StatusOr<v1::ListMessagesResponse>)>;
  void List(CallerEvidence evidence, v1::ListMessagesRequest request,
            ListDone done);
  // As InspectionService.ListDeliveries.
  using ListDeliveriesDone =
      absl::AnyInvocable<void(absl::StatusOr<v1::ListDeliveriesResponse>)>;
  void ListDeliveries(CallerEvidence evidence,
                      v1::ListDeliveriesRequest request,
                      ListDeliveriesDone done);

 private:
  // An envelope as it is accepted: with what it answers, and to whom it goes.
  struct Addressed {
    ValidatedEnvelope envelope;
    Recipient recipient;
  };

  struct Withdrawal {
    std::string id;
    bool request_if_late = false;
    std::shared_ptr<WithdrawDone> done;
  };

  // Below: on the state's thread.
  absl::StatusOr<Addressed> Address(const DecidedCall& call,
                                    const v1::SendRequest& request,
                                    bool is_repeat, ValidatedEnvelope envelope);
  // Whether what must be done once only was done: false where nothing is.
  absl::StatusOr<bool> IsRepeat(const DecidedCall& call,
                                const v1::SendRequest& request);
  // Whom a request names: a session, or the person.
  absl::StatusOr<PeerTarget> FindRecipient(const DecidedCall& call,
                                           const v1::SendRequest& request);
  absl::StatusOr<PeerTarget> FindSession(const DecidedCall& call,
                                         const v1::SendRequest& request);
  // Who sent what is answered.
  absl::StatusOr<PeerTarget> FindAnswered(const DecidedCall& call,
                                          const AnswerTarget& answered);
  // A refused envelope may be stored all the same: then it has its first
  // answer, whatever became of names, roles, config and rates since.
  void AnswerRepeat(const CallerEvidence& evidence,
                    const ValidatedEnvelope& envelope, const std::string& to,
                    const absl::Status& refusal,
                    std::shared_ptr<RecordDone> done);
  void Refuse(const absl::Status& why, RecordDone& done);
  absl::Status Spend(const std::string& sender);
  absl::Status CheckLoaded(const DecidedCall& call,
                           const v1::AgentEntry& recipient) const;
  // A word of the coordinator or a person answers a worker's report, unless it
  // is an earlier one that is repeated.
  absl::Status AnswerReport(const DecidedCall& call,
                            const v1::Envelope& envelope,
                            const std::string& recipient);
  void BeginWithdraw(const Withdrawal& withdrawal);
  absl::Status EndWithdraw(const Withdrawal& withdrawal,
                           const absl::Status& outcome, Effects& effects);
  absl::StatusOr<v1::DeliveryRecord> FindOne(const std::string& id);
  // Calls `done` on the state's thread with what the filter takes of the
  // workspace of `directory`, or of all where it is empty.
  using PageDone = absl::AnyInvocable<void(absl::StatusOr<HistoryPage>)>;
  void ListIn(CallerEvidence evidence, Operation operation,
              std::string directory, HistoryFilter filter, PageDone done);
  void Read(HistoryFilter filter, PageDone done);

  StateRunner& runner_;
  Workspaces& workspaces_;
  Roster& roster_;
  Dispatcher& dispatcher_;
  DeliveryStore& deliveries_;
  ReportStore& reports_;
  Reader& reader_;
  const Fences& fences_;
  const PeerDirectory& peers_;
  AskDesk& asks_;
  RunOpenings& runs_;
  const Clock& clock_;
  OnRefused on_refused_;
  absl::flat_hash_map<std::string, Allowance> allowances_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_MAIL_H_
