#include "broker/work/observations.h"

#include <string>
#include <vector>

#include "broker/base/proto_time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/work_rig.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr v1::ActivityPhase kTool = v1::ACTIVITY_PHASE_TOOL;
constexpr v1::ActivityPhase kIdle = v1::ACTIVITY_PHASE_IDLE;

class ObservationsTest : public WorkRig {
 protected:
  ObservationsTest() { WriteTeam(); }

  // Oldest first: "kind phase label outcome".
  std::vector<std::string> Lines(const std::string& session_id = "") {
    return LinesOf(Observed(session_id));
  }
  // The same without a flush.
  std::vector<std::string> StoredLines() {
    return LinesOf(
        OnState([&] { return observation_store_.List("", 1000).value(); }));
  }
  static std::vector<std::string> LinesOf(
      const std::vector<v1::Observation>& rows) {
    std::vector<std::string> lines;
    for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
      lines.push_back(row->kind() + "|" + row->phase() + "|" + row->label() +
                      "|" + row->outcome());
    }
    return lines;
  }
  void Record(int count, const std::string& kind = "job") {
    for (int i = 0; i < count; ++i) {
      observations_.Record(root_, "w-1", "Reviewer", kind, "", "");
    }
  }
  void RecordOnState(int count) {
    OnState([&] {
      Record(count);
      return 0;
    });
  }
};

TEST_F(ObservationsTest, ComingsGoingsAndActivityAreRecorded) {
  const TestSession worker = Join("w-1");
  SayActivity(worker, kTool, "Running command");
  SayActivity(worker, kIdle, "Turn settled");
  Detach(worker, v1::Goodbye::REASON_RELOAD);
  EXPECT_THAT(
      Lines("w-1"),
      ElementsAre("attached||worker|ok", "activity|tool|Running command|ok",
                  "activity|idle|Turn settled|ok", "detached||restarting|ok"));
  const v1::Observation row = Observed("w-1").front();
  EXPECT_EQ(row.workspace_root(), root_);
  EXPECT_EQ(row.name(), "Reviewer");
  EXPECT_EQ(FromProto(row.at()), clock_.Now());
}

TEST_F(ObservationsTest, OnlyWhatChangedIsRecorded) {
  const TestSession worker = Join("w-1");
  for (int turn = 0; turn < 5; ++turn) {
    v1::Activity activity;
    activity.set_phase(kTool);
    activity.set_label("Editing files");
    activity.set_tokens(turn);
    registrar_.SetActivity(worker.key, activity);
  }
  Sync();
  EXPECT_THAT(Lines("w-1"), ElementsAre("attached||worker|ok",
                                        "activity|tool|Editing files|ok"));
}

TEST_F(ObservationsTest, ReportsAndControlsAreRecorded) {
  const TestSession coordinator = Join("c-1");
  const TestSession worker = Join("w-1");
  EXPECT_THAT(ReportWork(worker, v1::Report::STATUS_BLOCKED, "secret"), IsOk());
  v1::RequestStatusRequest request;
  request.set_to("Reviewer");
  EXPECT_THAT(Call(&WorkerDesk::RequestStatus, CallOf(coordinator), request),
              IsOk());
  Advance(absl::Seconds(5));
  EXPECT_THAT(Lines("w-1"),
              ElementsAre("attached||worker|ok", "report|blocked||ok",
                          "control|report_status||OUTCOME_UNKNOWN"));
}

TEST_F(ObservationsTest, AProbeThatWasAnsweredSaysNothingNew) {
  observations_.OnControl("w-1", v1::Control::KIND_PROBE, absl::OkStatus());
  observations_.OnControl("w-1", v1::Control::KIND_STOP, absl::OkStatus());
  EXPECT_THAT(Lines(), ElementsAre("control|stop||ok"));
}

// The one thing that must never be in them: what anybody wrote, where they
// work, and what went wrong in words.
TEST_F(ObservationsTest, NoContentGetsIn) {
  const std::string secret = "SECRET";
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator", "SECRET plan"},
                                 {"w-1", "Reviewer", "SECRET duty"}}));
  const std::string directory = root_ + "/SECRET-directory";
  std::filesystem::create_directories(directory);
  const TestSession coordinator = Join("c-1");
  v1::Hello hello = HelloOf("w-1");
  hello.set_cwd(directory);
  hello.set_model("SECRET/model");
  const TestSession worker = *TryAttach(hello);
  SayPresent(worker, {});
  SayActivity(worker, kTool, "cat /SECRET/file");
  SayActivity(worker, kIdle, "SECRET words");
  EXPECT_THAT(Send(CallOf(coordinator), "Reviewer", Message("e1", "SECRET")),
              IsOk());
  EXPECT_THAT(ReportWork(worker, v1::Report::STATUS_BLOCKED, "SECRET"), IsOk());
  EXPECT_FALSE(ReportWork(worker, v1::Report::STATUS_BLOCKED, "SECRET\n").ok());
  v1::ReloadWorkerRequest reload;
  reload.set_to("Reviewer");
  Answer<absl::StatusOr<v1::ReloadWorkerResponse>> answer;
  desk_.Reload(CallOf(coordinator), reload, answer.Callback());
  v1::ControlResult result;
  result.set_control_id(worker.link->WaitFor(v1::AttachResponse::kControl)[0]
                            .control()
                            .control_id());
  result.set_error("SECRET failure");
  controls_.OnResult(worker.key, result);
  EXPECT_FALSE(answer.Wait().ok());
  Detach(worker);

  const std::vector<v1::Observation> rows = Observed();
  EXPECT_THAT(rows, SizeIs(7));
  for (const v1::Observation& row : rows) {
    EXPECT_THAT(row.ShortDebugString(), Not(HasSubstr(secret)));
  }
}

TEST_F(ObservationsTest, TheyAreStoredTogetherOnceASecond) {
  RecordOnState(3);
  EXPECT_THAT(StoredLines(), IsEmpty());
  Advance(absl::Milliseconds(999));
  EXPECT_THAT(StoredLines(), IsEmpty());
  Advance(absl::Milliseconds(1));
  EXPECT_THAT(StoredLines(), SizeIs(3));
}

TEST_F(ObservationsTest, SixtyFourDoNotWait) {
  RecordOnState(64);
  Sync();
  EXPECT_THAT(StoredLines(), SizeIs(64));
}

TEST_F(ObservationsTest, WhatOverflowsIsCountedInOneRow) {
  RecordOnState(256 + 10);
  Sync();
  const auto lines = Lines();
  EXPECT_THAT(lines, SizeIs(257));
  EXPECT_EQ(lines.back(), "dropped||10 records|BUFFER_FULL");
  RecordOnState(1);
  EXPECT_EQ(Lines().back(), "job|||ok");
}

TEST_F(ObservationsTest, AFailedFlushIsCountedAndDisturbsNothing) {
  const TestSession coordinator = Join("c-1");
  const TestSession worker = Join("w-1");
  EXPECT_THAT(Lines(), SizeIs(2));
  const auto execute = [this](const char* sql) {
    EXPECT_THAT(OnState([&] { return runner_->database().Execute(sql); }),
                IsOk());
  };
  execute(
      "CREATE TRIGGER full BEFORE INSERT ON observations BEGIN "
      "SELECT RAISE(ABORT, 'full'); END");
  RecordOnState(5);
  Advance(absl::Seconds(1));
  EXPECT_THAT(StoredLines(), SizeIs(2));
  EXPECT_THAT(Send(CallOf(coordinator), "Reviewer", Message("e1")), IsOk());
  execute("DROP TRIGGER full");
  EXPECT_EQ(Lines().back(), "dropped||5 records|NOT_STORED");
}

TEST_F(ObservationsTest, AFlushWhoseCommitFailsIsCountedToo) {
  RecordOnState(4);
  // The state's thread stands still meanwhile.
  InFailingBatch([&] { observations_.Flush(); });
  EXPECT_THAT(StoredLines(), IsEmpty());
  EXPECT_THAT(Lines(), ElementsAre("dropped||4 records|NOT_STORED"));
}

TEST_F(ObservationsTest, WeeksOldOnesArePruned) {
  RecordOnState(300);
  EXPECT_THAT(Lines(), SizeIs(256 + 1));
  Advance(absl::Hours(7 * 24));
  RecordOnState(1);
  EXPECT_THAT(Lines(), SizeIs(258));
  Advance(absl::Seconds(1));
  runner_->PostTask([this] { observations_.PruneAll(); });
  Sync();
  EXPECT_THAT(StoredLines(), ElementsAre("job|||ok"));
}

TEST_F(ObservationsTest, AStepOfPruningIsSmall) {
  RecordOnState(250);
  EXPECT_THAT(Lines(), SizeIs(250));
  Advance(absl::Hours(8 * 24));
  EXPECT_TRUE(*OnState([&] { return observations_.PruneStep(); }));
  EXPECT_THAT(StoredLines(), SizeIs(50));
  EXPECT_FALSE(*OnState([&] { return observations_.PruneStep(); }));
  EXPECT_THAT(StoredLines(), IsEmpty());
}

TEST_F(ObservationsTest, WhatACrashLeftBeyond32MiBIsPrunedTheOldestFirst) {
  // As an earlier broker stored them; recent, but 34 MiB.
  OnState([&] {
    v1::Observation row;
    *row.mutable_at() = ToProto(clock_.Now());
    row.set_kind("job");
    row.set_name(std::string(340 << 10, 'n'));
    for (int i = 0; i < 100; ++i) {
      row.set_outcome("number-" + std::to_string(i));
      EXPECT_THAT(observation_store_.Add(row), IsOk());
    }
    return 0;
  });
  runner_->PostTask([this] { observations_.PruneAll(); });
  Sync();
  const int64_t bytes =
      OnState([&] { return observation_store_.Bytes().value(); });
  EXPECT_LE(bytes, 32 << 20);
  EXPECT_GT(bytes, 31 << 20);
  EXPECT_EQ(OnState([&] {
              return observation_store_.List("", 1).value()[0].outcome();
            }),
            "number-99");
}

TEST_F(ObservationsTest, TheSumFollowsWhatIsAddedAndPruned) {
  const auto prune = [this] {
    return *OnState([&] { return observations_.PruneStep(); });
  };
  EXPECT_FALSE(prune());  // Measures nothing.
  for (int burst = 0; burst < 4; ++burst) {
    OnState([&] {
      observations_.Record("", "", std::string(9 << 20, 'n'), "job", "", "");
      return 0;
    });
    Observed();
  }
  EXPECT_FALSE(prune());  // 36 MiB: one goes.
  EXPECT_THAT(StoredLines(), SizeIs(3));
  EXPECT_FALSE(prune());
  EXPECT_THAT(StoredLines(), SizeIs(3));
}

TEST_F(ObservationsTest, TheLastActivityIsKnownBeforeItIsStored) {
  const TestSession worker = Join("w-1");
  const auto last = [this] {
    return OnState([&] { return observations_.LastActivity("w-1").value(); });
  };
  EXPECT_EQ(last(), std::nullopt);
  SayActivity(worker, kTool, "Running command");
  EXPECT_EQ(last()->phase(), "tool");
  EXPECT_THAT(StoredLines(), IsEmpty());
  Observed();
  EXPECT_EQ(last()->phase(), "tool");
}

// --- ListObservations

class ListObservationsTest : public ObservationsTest {
 protected:
  absl::StatusOr<v1::ListObservationsResponse> List(
      const std::string& session_id = "", int limit = 0) {
    v1::ListObservationsRequest request;
    request.set_session_id(session_id);
    request.set_limit(limit);
    return CallOn(inspection_, &Inspection::ListObservations, Person(),
                  request);
  }
  Inspection inspection_{
      *runner_, roster_,  mirror_,       mailboxes_,
      view_,    *reader_, observations_, v1::GetBrokerResponse()};
};

TEST_F(ListObservationsTest, ShowsTheNewestFirstUpToThisMoment) {
  Join("c-1");
  Join("w-1");
  const auto all = List();
  ASSERT_THAT(all, IsOk());
  ASSERT_EQ(all->observations_size(), 2);
  EXPECT_EQ(all->observations(0).session_id(), "w-1");
  EXPECT_EQ(List("c-1")->observations_size(), 1);
  EXPECT_EQ(List("", 1)->observations_size(), 1);
  EXPECT_EQ(List("nobody")->observations_size(), 0);
}

TEST_F(ListObservationsTest, APageHasOneTo500AndFiftyIfNothingIsSaid) {
  RecordOnState(60);
  EXPECT_EQ(List()->observations_size(), 50);
  EXPECT_EQ(List("", 500)->observations_size(), 60);
  for (const int limit : {-1, 501}) {
    EXPECT_THAT(List("", limit),
                FailsWith(absl::StatusCode::kInvalidArgument, "PAGE_SIZE"));
  }
}

}  // namespace
}  // namespace intercom
