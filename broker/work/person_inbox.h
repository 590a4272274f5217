#ifndef PI_INTERCOM_BROKER_WORK_PERSON_INBOX_H_
#define PI_INTERCOM_BROKER_WORK_PERSON_INBOX_H_

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/roster/callers.h"
#include "broker/routing/dispatcher.h"
#include "broker/storage/delivery_history.h"
#include "broker/storage/reader.h"
#include "broker/storage/state_runner.h"
#include "intercom/v1/message.pb.h"

namespace intercom {

// The mailbox of the account's person: mail waits in it, without an end, until
// a command that the person typed says that it was shown. Semantics and errors
// are those of MessageService.
//
// Methods are thread-safe. Each calls its `done` once, on the state's thread or
// on one that only hands answers on: it must not block.
class PersonInbox {
 public:
  // All must outlive this object.
  PersonInbox(StateRunner& runner, const Callers& callers,
              Dispatcher& dispatcher, Reader& reader)
      : runner_(runner),
        callers_(callers),
        dispatcher_(dispatcher),
        reader_(reader) {}

  template <typename Response>
  using Done = absl::AnyInvocable<void(absl::StatusOr<Response>)>;

  void List(CallerEvidence evidence, v1::ListInboxRequest request,
            Done<v1::ListInboxResponse> done);
  void MarkRead(CallerEvidence evidence, v1::MarkReadRequest request,
                Done<v1::MarkReadResponse> done);

 private:
  StateRunner& runner_;
  const Callers& callers_;
  Dispatcher& dispatcher_;
  Reader& reader_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_PERSON_INBOX_H_
