#ifndef PI_INTERCOM_BROKER_WORK_RUN_NOTES_H_
#define PI_INTERCOM_BROKER_WORK_RUN_NOTES_H_

#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/base/clock.h"
#include "broker/storage/note_store.h"
#include "broker/storage/run_store.h"
#include "broker/storage/state_runner.h"
#include "broker/work/ask_desk.h"
#include "broker/work/headless_workers.h"
#include "broker/work/run_news.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/run.pb.h"

namespace intercom {

// What workers tell their supervisors without waking them. Semantics and errors
// are those of RunService.
//
// Methods are thread-safe; `done` is called once, on the state's thread or one
// that only hands answers on.
class RunNotes {
 public:
  static constexpr size_t kMaxCharacters = 8'000;

  // All must outlive this object.
  RunNotes(StateRunner& runner, Workspaces& workspaces, RunStore& runs,
           NoteStore& notes, const HeadlessWorkers& headless, AskDesk& asks,
           RunTeller& teller, const Clock& clock)
      : runner_(runner),
        workspaces_(workspaces),
        runs_(runs),
        notes_(notes),
        headless_(headless),
        asks_(asks),
        teller_(teller),
        clock_(clock) {}

  template <typename Response>
  using Done = absl::AnyInvocable<void(absl::StatusOr<Response>)>;
  void AddNote(CallerEvidence evidence, v1::AddNoteRequest request,
               Done<v1::AddNoteResponse> done);
  void DrainInbox(CallerEvidence evidence, v1::DrainInboxRequest request,
                  Done<v1::DrainInboxResponse> done);
  void GetNote(CallerEvidence evidence, v1::GetNoteRequest request,
               Done<v1::GetNoteResponse> done);

 private:
  // Below: on the state's thread.
  absl::StatusOr<v1::AddNoteResponse> Add(const std::string& worker,
                                          const v1::AddNoteRequest& request,
                                          Effects& effects);
  // For whom a note of the worker is, and about which run; both in `note`.
  absl::Status FindSupervisor(const std::string& run_id, NoteRow& note) const;
  absl::StatusOr<v1::AddNoteResponse> Describe(const NoteRow& note) const;

  StateRunner& runner_;
  Workspaces& workspaces_;
  RunStore& runs_;
  NoteStore& notes_;
  const HeadlessWorkers& headless_;
  AskDesk& asks_;
  RunTeller& teller_;
  const Clock& clock_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_RUN_NOTES_H_
