#include "broker/work/run_notes.h"

#include <memory>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/text_rules.h"
#include "broker/domain/validated_envelope.h"
#include "broker/work/run_text.h"

namespace intercom {
namespace {

constexpr size_t kMinIdPrefix = 6;

absl::Status NoteInvalid(const std::string& why) {
  return Error(absl::StatusCode::kInvalidArgument, "NOTE_INVALID",
               why + "; nothing was told");
}

v1::Note ToProto(const NoteRow& row) {
  v1::Note note;
  note.set_note_id(row.note_id);
  if (row.run != 0) note.set_run_id(RunId(row.run));
  note.set_worker_session_id(row.worker_session_id);
  note.set_worker_name(row.worker_name);
  note.set_text(row.text);
  *note.mutable_at() = intercom::ToProto(row.at);
  return note;
}

}  // namespace

void RunNotes::AddNote(CallerEvidence evidence, v1::AddNoteRequest request,
                       Done<v1::AddNoteResponse> done) {
  if (!CheckEnvelopeId(request.note_id()).ok()) {
    return done(
        NoteInvalid("a note's id has 1 to 64 letters, digits and "
                    "hyphens; take a UUID"));
  }
  if (IsBlank(request.text()) ||
      CharacterCount(request.text()) > kMaxCharacters) {
    return done(
        NoteInvalid("a note has 1 to 8,000 characters; shorten it, or leave "
                    "several"));
  }
  auto shared_done =
      std::make_shared<Done<v1::AddNoteResponse>>(std::move(done));
  runner_.PostTask([this, shared_done, evidence = std::move(evidence),
                    request = std::move(request)] {
    const auto caller =
        workspaces_.callers().ResolveFor(Operation::kRunWork, evidence);
    if (!caller.ok()) return (*shared_done)(caller.status());
    runner_.PostCommand({[this, shared_done, worker = caller->session_id,
                          request](Effects& effects) -> absl::Status {
                           INTERCOM_ASSIGN_OR_RETURN(
                               auto response, Add(worker, request, effects));
                           effects.AfterSync(
                               [shared_done, response = std::move(response)] {
                                 (*shared_done)(response);
                               });
                           return absl::OkStatus();
                         },
                         [shared_done](const absl::Status& status) {
                           (*shared_done)(status);
                         }});
  });
}

absl::StatusOr<v1::AddNoteResponse> RunNotes::Add(
    const std::string& worker, const v1::AddNoteRequest& request,
    Effects& effects) {
  INTERCOM_ASSIGN_OR_RETURN(const auto known,
                            notes_.Find(worker, request.note_id()));
  if (known.has_value()) {
    if (known->text == request.text()) return Describe(*known);
    return Error(absl::StatusCode::kAlreadyExists, "NOTE_ID_REUSED",
                 "a note of this id with another text was left before; take a "
                 "new id");
  }
  NoteRow note;
  note.worker_session_id = worker;
  note.worker_name = headless_.NameOf(worker);
  note.note_id = request.note_id();
  note.text = request.text();
  note.at = clock_.Now();
  INTERCOM_RETURN_IF_ERROR(FindSupervisor(request.run_id(), note));
  INTERCOM_RETURN_IF_ERROR(notes_.Add(note));
  effects.AfterCommit([this, supervisor = note.supervisor_session_id] {
    teller_.Changed(supervisor);
  });
  return Describe(note);
}

absl::Status RunNotes::FindSupervisor(const std::string& run_id,
                                      NoteRow& note) const {
  if (!run_id.empty()) {
    INTERCOM_ASSIGN_OR_RETURN(const int64_t number, ParseRunId(run_id));
    INTERCOM_ASSIGN_OR_RETURN(const auto run, runs_.Find(number));
    if (!run.has_value() || run->worker_session_id != note.worker_session_id) {
      return Error(
          absl::StatusCode::kNotFound, "UNKNOWN_RUN",
          "this session does not work on " + RunId(number) +
              "; nothing was told. Leave the run out to tell the supervisor of "
              "the open one");
    }
    note.supervisor_session_id = run->supervisor_session_id;
    note.run = number;
    return absl::OkStatus();
  }
  INTERCOM_ASSIGN_OR_RETURN(const auto open,
                            runs_.OpenOfWorker(note.worker_session_id));
  for (const RunRow& run : open) {
    if (run.supervisor_session_id == open.front().supervisor_session_id) {
      continue;
    }
    return Error(absl::StatusCode::kFailedPrecondition, "AMBIGUOUS_RUN",
                 "this session works on runs of several supervisors; nothing "
                 "was told. Say which run the note is about");
  }
  if (!open.empty()) {
    note.supervisor_session_id = open.front().supervisor_session_id;
    note.run = open.front().number;
    return absl::OkStatus();
  }
  INTERCOM_ASSIGN_OR_RETURN(const auto launched_by,
                            headless_.SupervisorOf(note.worker_session_id));
  if (!launched_by.has_value()) {
    return Error(absl::StatusCode::kNotFound, "NO_SUPERVISOR",
                 "this session works on no run, and nobody launched it as a "
                 "headless worker; nothing was told. intercom, action send, "
                 "reaches a session by its name");
  }
  note.supervisor_session_id = *launched_by;
  return absl::OkStatus();
}

absl::StatusOr<v1::AddNoteResponse> RunNotes::Describe(
    const NoteRow& note) const {
  v1::AddNoteResponse response;
  *response.mutable_note() = ToProto(note);
  response.set_supervisor_session_id(note.supervisor_session_id);
  INTERCOM_ASSIGN_OR_RETURN(const auto run, runs_.Find(note.run));
  response.set_supervisor_name(
      run.has_value() ? run->supervisor_name
                      : headless_.NameOf(note.supervisor_session_id));
  return response;
}

void RunNotes::DrainInbox(CallerEvidence evidence,
                          v1::DrainInboxRequest request,
                          Done<v1::DrainInboxResponse> done) {
  if (!CheckEnvelopeId(request.drain_id()).ok()) {
    return done(Error(absl::StatusCode::kInvalidArgument, "DRAIN_ID_INVALID",
                      "a drain's id has 1 to 64 letters, digits and hyphens; "
                      "nothing was drained. Take a UUID"));
  }
  auto shared_done =
      std::make_shared<Done<v1::DrainInboxResponse>>(std::move(done));
  runner_.PostTask([this, shared_done, evidence = std::move(evidence),
                    drain_id = request.drain_id()] {
    const auto caller =
        workspaces_.callers().ResolveFor(Operation::kRunSupervise, evidence);
    if (!caller.ok()) return (*shared_done)(caller.status());
    runner_.PostCommand(
        {[this, shared_done, supervisor = caller->session_id,
          drain_id](Effects& effects) -> absl::Status {
           INTERCOM_ASSIGN_OR_RETURN(const auto drained,
                                     notes_.Drain(supervisor, drain_id));
           v1::DrainInboxResponse response;
           for (const NoteRow& note : drained.notes) {
             *response.add_notes() = ToProto(note);
           }
           response.set_lost(drained.lost);
           INTERCOM_ASSIGN_OR_RETURN(const auto others,
                                     notes_.OtherDrains(supervisor, drain_id));
           for (const std::string& other : others) {
             response.add_earlier_drain_ids(other);
           }
           INTERCOM_ASSIGN_OR_RETURN(const auto asks,
                                     asks_.PendingOf(supervisor));
           for (const v1::Ask& ask : asks) *response.add_asks() = ask;
           effects.AfterCommit(
               [this, supervisor] { teller_.Changed(supervisor); });
           effects.AfterSync([shared_done, response = std::move(response)] {
             (*shared_done)(response);
           });
           return absl::OkStatus();
         },
         [shared_done](const absl::Status& status) {
           (*shared_done)(status);
         }});
  });
}

void RunNotes::GetNote(CallerEvidence evidence, v1::GetNoteRequest request,
                       Done<v1::GetNoteResponse> done) {
  runner_.PostTask([this, evidence = std::move(evidence),
                    id = request.note_id(), done = std::move(done)]() mutable {
    const auto get = [&]() -> absl::StatusOr<v1::GetNoteResponse> {
      INTERCOM_ASSIGN_OR_RETURN(
          const Caller caller,
          workspaces_.callers().ResolveFor(Operation::kRunSupervise, evidence));
      INTERCOM_ASSIGN_OR_RETURN(
          const auto found,
          id.size() < kMinIdPrefix
              ? std::vector<NoteRow>()
              : notes_.FindDrained(caller.session_id, id, /*limit=*/2));
      const NoteRow* note = found.empty() ? nullptr : &found.front();
      for (const NoteRow& other : found) {
        if (other.note_id == id) note = &other;
      }
      const bool is_ambiguous = found.size() > 1 && note->note_id != id;
      if (note == nullptr || is_ambiguous) {
        return Error(absl::StatusCode::kNotFound, "UNKNOWN_NOTE",
                     is_ambiguous
                         ? "several notes have an id that begins with " +
                               QuotedLine(id) + "; give more of it"
                         : "no note of the id " + QuotedLine(id) +
                               " is kept: it may not have been drained, which "
                               "inbox does, or have given way to 200 later "
                               "ones, which its worker alone can repeat");
      }
      v1::GetNoteResponse response;
      *response.mutable_note() = ToProto(*note);
      return response;
    };
    done(get());
  });
}

}  // namespace intercom
