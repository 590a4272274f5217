#ifndef PI_INTERCOM_BROKER_WORK_INSPECTION_H_
#define PI_INTERCOM_BROKER_WORK_INSPECTION_H_

#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/roster/callers.h"
#include "broker/roster/workspace_mirror.h"
#include "broker/storage/mailbox_store.h"
#include "broker/storage/reader.h"
#include "broker/storage/state_runner.h"
#include "broker/work/observations.h"
#include "broker/work/roster_view.h"
#include "intercom/v1/inspect.pb.h"

namespace intercom {

// What InspectionService answers. Methods are thread-safe; each calls its
// `done` once, on the state's thread or on one that only hands answers on: it
// must not block.
class Inspection {
 public:
  // All references must outlive this object. `self` holds what does not
  // change; attachments and draining are filled in.
  Inspection(StateRunner& runner, Roster& roster, WorkspaceMirror& mirror,
             MailboxStore& mailboxes, RosterView& view, Reader& reader,
             Observations& observations, v1::GetBrokerResponse self)
      : runner_(runner),
        roster_(roster),
        callers_(roster),
        mirror_(mirror),
        mailboxes_(mailboxes),
        view_(view),
        reader_(reader),
        observations_(observations),
        self_(std::move(self)) {}

  template <typename Response>
  using Done = absl::AnyInvocable<void(absl::StatusOr<Response>)>;

  void GetBroker(CallerEvidence evidence, Done<v1::GetBrokerResponse> done);
  void ListAttachments(CallerEvidence evidence,
                       Done<v1::ListAttachmentsResponse> done);
  void ListWorkspaces(CallerEvidence evidence,
                      Done<v1::ListWorkspacesResponse> done);
  void ListMailboxes(CallerEvidence evidence,
                     Done<v1::ListMailboxesResponse> done);

  void ListObservations(CallerEvidence evidence,
                        v1::ListObservationsRequest request,
                        Done<v1::ListObservationsResponse> done);

  // From now on the broker says that it leaves.
  void SetDraining();

 private:
  // Runs `answer` on the state's thread if the caller is known.
  template <typename Response, typename Answer>
  void AnswerOn(CallerEvidence evidence, Done<Response> done, Answer answer);
  void ReadObservations(const v1::ListObservationsRequest& request,
                        Done<v1::ListObservationsResponse> done);

  StateRunner& runner_;
  Roster& roster_;
  Callers callers_;
  WorkspaceMirror& mirror_;
  MailboxStore& mailboxes_;
  RosterView& view_;
  Reader& reader_;
  Observations& observations_;
  v1::GetBrokerResponse self_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_INSPECTION_H_
