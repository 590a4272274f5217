#include "broker/work/run_notes.h"

#include <string>
#include <vector>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/run_rig.h"

namespace intercom {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RunNotesTest : public RunRig {
 protected:
  absl::StatusOr<v1::AddNoteResponse> Note(const TestSession& worker,
                                           const std::string& id,
                                           const std::string& text,
                                           const std::string& run_id = "") {
    v1::AddNoteRequest request;
    request.set_note_id(id);
    request.set_text(text);
    request.set_run_id(run_id);
    return CallOn(run_notes_, &RunNotes::AddNote, CallOf(worker), request);
  }
  absl::StatusOr<v1::DrainInboxResponse> Drain(const TestSession& session,
                                               const std::string& drain_id) {
    v1::DrainInboxRequest request;
    request.set_drain_id(drain_id);
    return CallOn(run_notes_, &RunNotes::DrainInbox, CallOf(session), request);
  }
  absl::StatusOr<v1::GetNoteResponse> Get(const std::string& id) {
    v1::GetNoteRequest request;
    request.set_note_id(id);
    return CallOn(run_notes_, &RunNotes::GetNote, CallOf(coordinator_),
                  request);
  }
};

TEST_F(RunNotesTest, ANoteWaitsInTheInboxOfTheRunsSupervisorAndWakesNobody) {
  OpenRunning("e-1");
  const size_t before = coordinator_.link->deliveries().size();
  const auto note = Note(worker_, "note-1", "half way");
  ASSERT_THAT(note, IsOk());
  EXPECT_EQ(note->supervisor_session_id(), "c-1");
  EXPECT_EQ(note->supervisor_name(), "name of c-1");
  EXPECT_EQ(note->note().run_id(), run_id_);
  EXPECT_EQ(NewsOf(coordinator_).notes(), 1);
  EXPECT_THAT(coordinator_.link->deliveries(), SizeIs(before));

  const auto drained = Drain(coordinator_, "d-1");
  ASSERT_THAT(drained, IsOk());
  ASSERT_THAT(drained->notes(), SizeIs(1));
  EXPECT_EQ(drained->notes(0).text(), "half way");
  EXPECT_EQ(drained->notes(0).worker_session_id(), "w-1");
  EXPECT_EQ(NewsOf(coordinator_).notes(), 0);
  EXPECT_EQ(Get("note-1")->note().text(), "half way");
}

TEST_F(RunNotesTest, ARepeatedNoteIsTheSameNoteAlsoAfterItsRun) {
  const std::string id = OpenRunning("e-1");
  ASSERT_THAT(Note(worker_, "note-1", "x"), IsOk());
  SayDone(id);
  EXPECT_THAT(Note(worker_, "note-1", "x"), IsOk());
  EXPECT_THAT(Note(worker_, "note-1", "y"),
              FailsWith(StatusCode::kAlreadyExists, "NOTE_ID_REUSED"));
  EXPECT_THAT(Drain(coordinator_, "d-1")->notes(), SizeIs(1));
}

TEST_F(RunNotesTest, ARepeatedDrainGivesTheSameNotes) {
  OpenRunning("e-1");
  Note(worker_, "note-1", "x").IgnoreError();
  EXPECT_THAT(Drain(coordinator_, "d-1")->notes(), SizeIs(1));
  Note(worker_, "note-2", "y").IgnoreError();
  const auto again = Drain(coordinator_, "d-1");
  ASSERT_THAT(again->notes(), SizeIs(1));
  EXPECT_EQ(again->notes(0).note_id(), "note-1");
}

TEST_F(RunNotesTest, ADrainNamesTheEarlierOnesWhoseNotesAreKept) {
  OpenRunning("e-1");
  for (const char* id : {"1", "2"}) {
    ASSERT_THAT(Note(worker_, std::string("note-") + id, "x"), IsOk());
    EXPECT_THAT(Drain(coordinator_, std::string("d-") + id)->notes(),
                SizeIs(1));
  }
  EXPECT_THAT(Drain(coordinator_, "d-3")->earlier_drain_ids(),
              ElementsAre("d-1", "d-2"));
  EXPECT_THAT(Drain(coordinator_, "d-1")->earlier_drain_ids(),
              ElementsAre("d-2"));
}

TEST_F(RunNotesTest, OnlyWorkersLeaveNotes) {
  const auto refused = Note(worker_, "note-1", "x");
  EXPECT_THAT(refused, FailsWith(StatusCode::kNotFound, "NO_SUPERVISOR"));
  EXPECT_THAT(
      MessageOf(refused.status()),
      HasSubstr("intercom, action send, reaches a session by its name"));
  const TestSession headless = JoinHeadless("h-1", "c-1");
  const auto note = Note(headless, "note-1", "x");
  ASSERT_THAT(note, IsOk());
  EXPECT_EQ(note->note().run_id(), "");
  EXPECT_EQ(note->supervisor_session_id(), "c-1");
  OpenRunning("e-1");
  EXPECT_THAT(Note(other_, "note-2", "x", run_id_),
              FailsWith(StatusCode::kNotFound, "UNKNOWN_RUN"));
  EXPECT_THAT(Note(worker_, "note-2", std::string(8'001, 'x')),
              FailsWith(StatusCode::kInvalidArgument, "NOTE_INVALID"));
  EXPECT_THAT(Note(worker_, "note-2", " \n"),
              FailsWith(StatusCode::kInvalidArgument, "NOTE_INVALID"));
  EXPECT_THAT(Note(worker_, "no id!", "x"),
              FailsWith(StatusCode::kInvalidArgument, "NOTE_INVALID"));
}

TEST_F(RunNotesTest, ANoteOfOneWhoWorksForSeveralSaysWhichRunItIsAbout) {
  const TestSession headless = JoinHeadless("h-1", "w-2");
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"},
                                 {"w-1", "Builder"},
                                 {"w-2", "Tester"},
                                 {"h-1", "Both"}}));
  ASSERT_THAT(ReadConfigNow(), IsOk());
  ASSERT_THAT(Send(other_, Opening("h-1", "e-1")), IsOk());
  const auto mine = Send(coordinator_, Opening("h-1", "e-2"));
  ASSERT_THAT(mine, IsOk());
  EXPECT_THAT(Note(headless, "note-1", "x"),
              FailsWith(StatusCode::kFailedPrecondition, "AMBIGUOUS_RUN"));
  EXPECT_EQ(
      Note(headless, "note-1", "x", mine->run_id())->supervisor_session_id(),
      "c-1");
}

TEST_F(RunNotesTest, TheOldestOfTwoHundredNotesGivesWayAndNoAskDoes) {
  OpenRunning("e-1");
  v1::Envelope ask = Message("a-1");
  ask.set_kind(v1::ENVELOPE_KIND_ASK);
  ASSERT_THAT(Send(CallOf(worker_), "Coordinator", ask), IsOk());
  for (int i = 0; i <= NoteStore::kMostWaiting; ++i) {
    ASSERT_THAT(Note(worker_, "note-" + std::to_string(i), "x"), IsOk());
  }
  EXPECT_EQ(NewsOf(coordinator_).notes(), NoteStore::kMostWaiting);
  const auto drained = Drain(coordinator_, "d-1");
  EXPECT_EQ(drained->notes(0).note_id(), "note-1");
  EXPECT_EQ(drained->lost(), 1);
  ASSERT_THAT(drained->asks(), SizeIs(1));
  EXPECT_EQ(drained->asks(0).delivery_id(), "w-1/a-1");
  // An ask stays until it is answered.
  EXPECT_THAT(Drain(coordinator_, "d-2")->asks(), SizeIs(1));
}

TEST_F(RunNotesTest, ANoteIsFoundByTheBeginningOfItsIdOnceItWasDrained) {
  OpenRunning("e-1");
  ASSERT_THAT(Note(worker_, "abcdef-1", "x"), IsOk());
  EXPECT_THAT(Get("abcdef"), FailsWith(StatusCode::kNotFound, "UNKNOWN_NOTE"));
  EXPECT_THAT(MessageOf(Get("abcdef").status()),
              HasSubstr("it may not have been drained, which inbox does"));
  ASSERT_THAT(Drain(coordinator_, "d-1"), IsOk());
  EXPECT_EQ(Get("abcdef")->note().note_id(), "abcdef-1");
  EXPECT_THAT(Get("abcde"), FailsWith(StatusCode::kNotFound, "UNKNOWN_NOTE"));
  EXPECT_THAT(Get("ABCDEF"), FailsWith(StatusCode::kNotFound, "UNKNOWN_NOTE"));
}

}  // namespace
}  // namespace intercom
