#include "broker/config/config_lanes.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "broker/config/config_edit.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/config/manual_runner.h"
#include "tests/unit/config/sample_config.h"
#include "tests/unit/config/scripted_files.h"

namespace intercom {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Lanes over the real file system, of which opening `hung_` hangs at a gate.
class ConfigLanesTest : public ::testing::Test {
 protected:
  ConfigLanesTest() {
    for (const char* root : {"one", "two"}) {
      WriteFile(root_.path() / root / ".pi-intercom/config.json", kSample);
    }
    files_->script = [hung = hung_, gate = gate_, reads = reads_](
                         std::string_view call, const std::string& path) {
      if (call == "open" && path == hung) gate->Pass();
      if (call == "open" && path == "config.json") ++*reads;
      return 0;
    };
    // To a minute after those files were made: old enough to be trusted.
    const FileIdentity made = *ConfigFile(*files_, two_).Stat();
    clock_.Jump(made.modified + absl::Minutes(1) - clock_.Now());
    MakeLanes({});
  }
  ~ConfigLanesTest() override {
    lanes_.reset();
    gate_->Open();
  }

  void MakeLanes(LaneOptions options) {
    lanes_ = std::make_unique<ConfigLanes>(runner_, clock_, files_, options);
  }

  // Where an answer arrives; counts them.
  template <typename T>
  struct Answer {
    std::optional<absl::StatusOr<T>> value;
    int count = 0;

    ConfigLanes::Callback<T> Callback() {
      return [this](absl::StatusOr<T> result) {
        value = std::move(result);
        ++count;
      };
    }
  };
  template <typename T>
  const absl::StatusOr<T>& Wait(Answer<T>& answer) {
    runner_.RunUntil([&] { return answer.count > 0; });
    return *answer.value;
  }
  absl::StatusOr<ConfigSnapshotPtr> Snapshot(const std::string& root) {
    Answer<ConfigSnapshotPtr> answer;
    lanes_->Snapshot(root, answer.Callback());
    return Wait(answer);
  }
  absl::StatusOr<ConfigSnapshotPtr> Update(const std::string& root,
                                           ConfigLanes::Edit edit,
                                           ConfigLanes::Guard guard = nullptr) {
    Answer<ConfigSnapshotPtr> answer;
    lanes_->Update(root, std::move(edit), std::move(guard), answer.Callback());
    return Wait(answer);
  }
  absl::StatusOr<OpenedWorkspace> Open(const std::string& cwd) {
    Answer<OpenedWorkspace> answer;
    lanes_->Open({.cwd = cwd, .home = "/nowhere"}, "s-1", 4711,
                 answer.Callback());
    return Wait(answer);
  }
  static ConfigLanes::Edit Port(const std::string& session, int port) {
    return [session, port](const ReadConfig& read) {
      return SetPort(read.bytes, session, port);
    };
  }

  TempDir root_;
  const std::string one_ = root_ / "one";
  const std::string two_ = root_ / "two";
  const std::string hung_ = root_ / "hung";
  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  // How often a config.json was opened.
  const std::shared_ptr<std::atomic<int>> reads_ =
      std::make_shared<std::atomic<int>>(0);
  FakeClock clock_;
  ManualRunner runner_{clock_};
  const std::shared_ptr<ScriptedFiles> files_ =
      std::make_shared<ScriptedFiles>();
  std::unique_ptr<ConfigLanes> lanes_;
};

TEST_F(ConfigLanesTest, ASnapshotIsWhatTheFileSays) {
  const auto snapshot = Snapshot(one_);

  ASSERT_THAT(snapshot, IsOk());
  EXPECT_EQ((*snapshot)->root, one_);
  EXPECT_EQ((*snapshot)->hash, (*snapshot)->config.hash());
  EXPECT_EQ((*snapshot)->config.agents().size(), 2u);
}

TEST_F(ConfigLanesTest, SnapshotsThatWaitTogetherAreAnsweredByOneRead) {
  // An edit holds the lane while the others queue behind it.
  Gate gate;
  Answer<ConfigSnapshotPtr> update;
  lanes_->Update(
      one_,
      [&](const ReadConfig& read) {
        gate.Pass();
        return absl::StatusOr<std::string>(read.bytes);
      },
      nullptr, update.Callback());
  gate.WaitForArrivals(1);
  std::vector<Answer<ConfigSnapshotPtr>> answers(200);
  for (auto& answer : answers) lanes_->Snapshot(one_, answer.Callback());
  *reads_ = 0;
  gate.Open();

  for (auto& answer : answers) ASSERT_THAT(Wait(answer), IsOk());

  EXPECT_LE(*reads_, 2);  // a stat, and a read if that did not do
  for (auto& answer : answers) {
    EXPECT_EQ(answer.count, 1);
    EXPECT_EQ(**answer.value, **answers[0].value);
  }
}

TEST_F(ConfigLanesTest, AnInvalidFileIsReportedAndLaterReadAgain) {
  ASSERT_THAT(Snapshot(one_), IsOk());
  const std::string path = one_ + "/.pi-intercom/config.json";
  WriteFile(path, "{");
  EXPECT_THAT(Snapshot(one_), FailsWith(absl::StatusCode::kFailedPrecondition,
                                        "CONFIG_INVALID"));
  WriteFile(path, kSample);
  EXPECT_THAT(Snapshot(one_), IsOk());
}

TEST_F(ConfigLanesTest, ABrokenYoungFileIsReadOnceMoreBeforeItIsReported) {
  const std::string path = one_ + "/.pi-intercom/config.json";
  WriteFile(path, "{");
  FileSystem files;
  clock_.Jump(ConfigFile(files, one_).Stat()->modified - clock_.Now());
  Answer<ConfigSnapshotPtr> answer;
  lanes_->Snapshot(one_, answer.Callback());
  runner_.WaitForDelayed(absl::Milliseconds(500));
  WriteFile(path, kSample);

  runner_.Advance(absl::Milliseconds(500));

  EXPECT_THAT(Wait(answer), IsOk());
}

TEST_F(ConfigLanesTest, AHungFileSystemTimesOutWhileAnotherRootWorks) {
  Answer<ConfigSnapshotPtr> hung;
  lanes_->Snapshot(hung_, hung.Callback());
  gate_->WaitForArrivals(1);
  EXPECT_THAT(Snapshot(one_), IsOk());

  runner_.Advance(absl::Milliseconds(1999));
  EXPECT_EQ(hung.count, 0);
  runner_.Advance(absl::Milliseconds(1));

  ASSERT_EQ(hung.count, 1);
  EXPECT_THAT(*hung.value,
              FailsWith(absl::StatusCode::kDeadlineExceeded, "CONFIG_TIMEOUT"));
  EXPECT_EQ(MessageOf(hung.value->status()),
            "the file system of " + hung_ + " did not answer within 2 s");
  EXPECT_THAT(Snapshot(two_), IsOk());
}

TEST_F(ConfigLanesTest, ALateResultIsDropped) {
  WriteFile(hung_ + "/.pi-intercom/config.json", kSample);
  Answer<ConfigSnapshotPtr> hung;
  lanes_->Snapshot(hung_, hung.Callback());
  gate_->WaitForArrivals(1);
  runner_.Advance(absl::Seconds(2));
  ASSERT_EQ(hung.count, 1);

  gate_->Open();
  // The lane goes on with what came after.
  EXPECT_THAT(Snapshot(hung_), IsOk());

  EXPECT_EQ(hung.count, 1);
}

TEST_F(ConfigLanesTest, EachCallHasItsOwnDeadline) {
  Answer<ConfigSnapshotPtr> first;
  Answer<ConfigSnapshotPtr> second;
  lanes_->Snapshot(hung_, first.Callback());
  gate_->WaitForArrivals(1);
  runner_.Advance(absl::Milliseconds(1500));
  lanes_->Snapshot(hung_, second.Callback());

  runner_.Advance(absl::Milliseconds(500));
  EXPECT_EQ(first.count, 1);
  EXPECT_EQ(second.count, 0);
  runner_.Advance(absl::Milliseconds(1500));

  EXPECT_EQ(second.count, 1);
}

TEST_F(ConfigLanesTest, AnUpdateThatTimedOutSaysThatItsOutcomeIsUnknown) {
  Answer<ConfigSnapshotPtr> hung;
  lanes_->Update(hung_, Port("w-1", 5000), nullptr, hung.Callback());
  gate_->WaitForArrivals(1);

  runner_.Advance(absl::Seconds(2));

  ASSERT_EQ(hung.count, 1);
  EXPECT_THAT(MessageOf(hung.value->status()),
              HasSubstr("whether the change was published is unknown"));
}

TEST_F(ConfigLanesTest, AnUpdateThatTimedOutBeforePublishingDoesNotPublish) {
  WriteFile(hung_ + "/.pi-intercom/config.json", kSample);
  Answer<ConfigSnapshotPtr> hung;
  lanes_->Update(hung_, Port("w-1", 5000), nullptr, hung.Callback());
  gate_->WaitForArrivals(1);
  runner_.Advance(absl::Seconds(2));
  ASSERT_EQ(hung.count, 1);

  gate_->Open();
  ASSERT_THAT(Snapshot(hung_), IsOk());

  EXPECT_EQ(ReadFile(hung_ + "/.pi-intercom/config.json"), kSample);
}

TEST_F(ConfigLanesTest, DiscoveryInAHungDirectoryTimesOut) {
  fs::create_directories(hung_);
  Answer<OpenedWorkspace> hung;
  lanes_->Open({.cwd = hung_, .home = "/nowhere"}, "s-1", 1, hung.Callback());
  gate_->WaitForArrivals(1);
  EXPECT_THAT(Open(one_), IsOk());

  runner_.Advance(absl::Seconds(2));

  ASSERT_EQ(hung.count, 1);
  EXPECT_THAT(*hung.value,
              FailsWith(absl::StatusCode::kDeadlineExceeded, "CONFIG_TIMEOUT"));
}

TEST_F(ConfigLanesTest, TooManyLanesAreRefused) {
  MakeLanes({.max_lanes = 1});
  Answer<ConfigSnapshotPtr> hung;
  lanes_->Snapshot(hung_, hung.Callback());
  gate_->WaitForArrivals(1);

  EXPECT_THAT(Snapshot(one_),
              FailsWith(absl::StatusCode::kResourceExhausted, "LANES_FULL"));
  EXPECT_THAT(Open(one_),
              FailsWith(absl::StatusCode::kResourceExhausted, "LANES_FULL"));
}

TEST_F(ConfigLanesTest, AnIdleLaneMakesRoomForAnother) {
  MakeLanes({.max_lanes = 1});
  EXPECT_THAT(Snapshot(one_), IsOk());
  // The lane becomes idle a moment after its answer: let it start over until
  // it has.
  absl::StatusOr<ConfigSnapshotPtr> other = Snapshot(two_);
  while (!other.ok()) {
    ASSERT_THAT(other, HasCode(absl::StatusCode::kResourceExhausted));
    std::this_thread::yield();
    other = Snapshot(two_);
  }
}

TEST_F(ConfigLanesTest, TooManyCallsAreRefused) {
  MakeLanes({.max_calls = 1});
  Answer<ConfigSnapshotPtr> hung;
  lanes_->Snapshot(hung_, hung.Callback());
  gate_->WaitForArrivals(1);
  EXPECT_THAT(Snapshot(one_),
              FailsWith(absl::StatusCode::kResourceExhausted, "LANES_FULL"));
}

TEST_F(ConfigLanesTest, OpenCreatesWhereThereIsNothing) {
  fs::create_directories(root_ / "new");

  const auto opened = Open(root_ / "new");

  ASSERT_THAT(opened, IsOk());
  EXPECT_TRUE(opened->created);
  EXPECT_EQ(opened->discovery.kind, Discovery::Kind::kFound);
  EXPECT_EQ(opened->discovery.root, root_ / "new");
  EXPECT_EQ(opened->snapshot->config.coordinator().session_id(), "s-1");
}

TEST_F(ConfigLanesTest, OpenJoinsWhatIsThere) {
  fs::create_directories(root_ / "one/sub");

  const auto opened = Open(root_ / "one/sub");

  ASSERT_THAT(opened, IsOk());
  EXPECT_FALSE(opened->created);
  EXPECT_EQ(opened->discovery.root, one_);
  EXPECT_EQ(opened->discovery.project_directory, "sub");
  EXPECT_EQ(opened->snapshot->config.coordinator().session_id(), "c-1");
}

TEST_F(ConfigLanesTest, OpenAsAPeerHasNoSnapshot) {
  Answer<OpenedWorkspace> answer;
  lanes_->Open({.cwd = "/", .home = "/nowhere"}, "s-1", 1, answer.Callback());

  const auto& opened = Wait(answer);

  ASSERT_THAT(opened, IsOk());
  EXPECT_EQ(opened->discovery.kind, Discovery::Kind::kNone);
  EXPECT_EQ(opened->snapshot, nullptr);
}

TEST_F(ConfigLanesTest, OpenReportsAnInvalidConfigAndLeavesItAlone) {
  WriteFile(one_ + "/.pi-intercom/config.json", "{ broken");
  EXPECT_THAT(Open(one_), FailsWith(absl::StatusCode::kFailedPrecondition,
                                    "CONFIG_INVALID"));
  EXPECT_EQ(ReadFile(one_ + "/.pi-intercom/config.json"), "{ broken");
}

TEST_F(ConfigLanesTest, OfTwelveSessionsThatOpenOneCreates) {
  fs::create_directories(root_ / "new");
  // Two brokers could be at it: half of the calls go through other lanes.
  ConfigLanes others(runner_, clock_, files_);
  std::vector<Answer<OpenedWorkspace>> answers(12);
  for (size_t i = 0; i < answers.size(); ++i) {
    (i % 2 == 0 ? *lanes_ : others)
        .Open({.cwd = root_ / "new", .home = "/nowhere"},
              "s-" + std::to_string(i), 4711, answers[i].Callback());
  }
  int created = 0;
  for (size_t i = 0; i < answers.size(); ++i) {
    const auto& opened = Wait(answers[i]);
    ASSERT_THAT(opened, IsOk());
    created += opened->created;
    if (opened->created) {
      EXPECT_EQ(opened->snapshot->config.coordinator().session_id(),
                "s-" + std::to_string(i));
    }
    EXPECT_EQ(opened->snapshot->hash, answers[0].value->value().snapshot->hash);
  }
  EXPECT_EQ(created, 1);
}

TEST_F(ConfigLanesTest, AnUpdateIsPublishedAndAnswered) {
  const auto updated = Update(one_, Port("w-1", 5000));

  ASSERT_THAT(updated, IsOk());
  EXPECT_EQ((*updated)->config.agents()[1].port(), 5000);
  EXPECT_EQ(ReadFile(one_ + "/.pi-intercom/config.json"),
            With(kSample, "4712", "5000"));
  EXPECT_EQ(*Snapshot(one_), *updated);
}

TEST_F(ConfigLanesTest, EqualBytesPublishNothingAndAskNobody) {
  FileSystem files;
  const FileIdentity before = *ConfigFile(files, one_).Stat();

  EXPECT_THAT(Update(one_, Port("w-1", 4712),
                     [] { return absl::InternalError("asked"); }),
              IsOk());

  EXPECT_EQ(*ConfigFile(files, one_).Stat(), before);
}

TEST_F(ConfigLanesTest, ErrorsOfEditAndGuardArePassedOnAndPublishNothing) {
  EXPECT_THAT(Update(one_, Port("w-9", 1)),
              FailsWith(absl::StatusCode::kNotFound, "NO_ENTRY"));
  EXPECT_THAT(Update(one_, Port("w-1", 1),
                     [] { return absl::PermissionDeniedError("no longer"); }),
              HasCode(absl::StatusCode::kPermissionDenied));
  EXPECT_THAT(Update(one_,
                     [](const ReadConfig&) {
                       return absl::StatusOr<std::string>("{}");
                     }),
              FailsWith(absl::StatusCode::kInvalidArgument, "EDIT_INVALID"));
  EXPECT_EQ(ReadFile(one_ + "/.pi-intercom/config.json"), kSample);
}

TEST_F(ConfigLanesTest, AnEditOfAMissingConfigIsNotFound) {
  EXPECT_THAT(
      Update(root_ / "none", Port("w-1", 1)),
      FailsWith(absl::StatusCode::kFailedPrecondition, "CONFIG_UNREADABLE"));
  EXPECT_THAT(Update(root_.path().string(), Port("w-1", 1)),
              FailsWith(absl::StatusCode::kNotFound, "NO_CONFIG"));
}

TEST_F(ConfigLanesTest, RacingEditsOfOneBrokerAllTakeEffect) {
  std::vector<Answer<ConfigSnapshotPtr>> answers(20);
  for (size_t i = 0; i < answers.size(); ++i) {
    v1::AgentEntry agent;
    agent.set_session_id("n-" + std::to_string(i));
    agent.set_name("Worker " + std::to_string(i));
    agent.set_description("d");
    agent.set_port(1000 + static_cast<int>(i));
    agent.set_project_directory(".");
    lanes_->Update(
        one_,
        [agent](const ReadConfig& read) {
          return UpsertWorker(read.bytes, agent);
        },
        nullptr, answers[i].Callback());
  }
  for (auto& answer : answers) ASSERT_THAT(Wait(answer), IsOk());

  EXPECT_EQ((*Snapshot(one_))->config.agents().size(), 22u);
}

TEST_F(ConfigLanesTest, AnEditThatRacesWithAnEditorIsAbortedAndTheEditorWins) {
  const std::string by_hand = With(kSample, "Builds.", "Edited by hand.");
  EXPECT_THAT(Update(one_, Port("w-1", 5000),
                     [&] {
                       WriteFile(one_ + "/.pi-intercom/config.json", by_hand);
                       return absl::OkStatus();
                     }),
              FailsWith(absl::StatusCode::kAborted, "CONFIG_CHANGED"));
  EXPECT_EQ(ReadFile(one_ + "/.pi-intercom/config.json"), by_hand);
}

TEST_F(ConfigLanesTest, ASnapshotAskedForAfterAnUpdateSeesIt) {
  Gate gate;
  Answer<ConfigSnapshotPtr> before;
  Answer<ConfigSnapshotPtr> held;
  Answer<ConfigSnapshotPtr> update;
  Answer<ConfigSnapshotPtr> after;
  lanes_->Update(
      one_,
      [&](const ReadConfig& read) {
        gate.Pass();
        return absl::StatusOr<std::string>(read.bytes);
      },
      nullptr, held.Callback());
  gate.WaitForArrivals(1);
  lanes_->Snapshot(one_, before.Callback());
  lanes_->Update(one_, Port("w-1", 5000), nullptr, update.Callback());
  lanes_->Snapshot(one_, after.Callback());
  gate.Open();

  ASSERT_THAT(Wait(before), IsOk());
  ASSERT_THAT(Wait(after), IsOk());

  EXPECT_EQ((*before.value)->get()->config.agents()[1].port(), 4712);
  EXPECT_EQ((*after.value)->get()->config.agents()[1].port(), 5000);
}

TEST_F(ConfigLanesTest, ProjectDirectoriesAreCheckedInTheLane) {
  fs::create_directories(root_ / "one/apps");
  Answer<std::string> good;
  Answer<std::string> bad;
  lanes_->CheckDirectory(one_, "./apps/", good.Callback());
  lanes_->CheckDirectory(one_, "../two", bad.Callback());

  EXPECT_EQ(*Wait(good), "apps");
  EXPECT_THAT(Wait(bad), FailsWith(absl::StatusCode::kInvalidArgument,
                                   "DIRECTORY_OUTSIDE"));
}

TEST_F(ConfigLanesTest, TheEndDoesNotWaitForAHungLaneAndAnswersOnce) {
  Answer<ConfigSnapshotPtr> hung;
  Answer<ConfigSnapshotPtr> queued;
  lanes_->Snapshot(hung_, hung.Callback());
  gate_->WaitForArrivals(1);
  lanes_->Snapshot(hung_, queued.Callback());

  lanes_.reset();
  runner_.RunReady();
  EXPECT_EQ(hung.count, 1);
  EXPECT_EQ(queued.count, 1);
  EXPECT_THAT(*hung.value,
              FailsWith(absl::StatusCode::kUnavailable, "SHUTTING_DOWN"));
  gate_->Open();
  gate_->WaitForPassed(1);
  runner_.Advance(absl::Seconds(10));

  EXPECT_EQ(hung.count, 1);
  EXPECT_EQ(queued.count, 1);
}

TEST_F(ConfigLanesTest, AnIdleLaneEndsAndComesBack) {
  ASSERT_THAT(Snapshot(one_), IsOk());
  for (int i = 0; i < 10; ++i) runner_.Advance(absl::Seconds(2));
  EXPECT_THAT(Snapshot(one_), IsOk());
}

}  // namespace
}  // namespace intercom
