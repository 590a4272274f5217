#ifndef PI_INTERCOM_TESTS_SUPPORT_ROSTER_RIG_H_
#define PI_INTERCOM_TESTS_SUPPORT_ROSTER_RIG_H_

#include <sys/stat.h>

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "broker/base/random.h"
#include "broker/config/config_lanes.h"
#include "broker/roster/registrar.h"
#include "broker/roster/roster.h"
#include "broker/roster/workspace_gate.h"
#include "broker/roster/workspace_mirror.h"
#include "broker/storage/database.h"
#include "broker/storage/migrator.h"
#include "broker/storage/session_store.h"
#include "broker/storage/state_runner.h"
#include "broker/storage/workspace_store.h"
#include "gtest/gtest.h"
#include "tests/support/answer.h"
#include "tests/support/fake_clock.h"
#include "tests/support/recording_link.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/workspace_files.h"

namespace intercom {

// Counts instead of surprising. Used on the state's thread only.
class NumberedRandom : public Random {
 public:
  uint64_t Next() override { return ++count_; }

 private:
  uint64_t count_ = 0;
};

// One agent's attachment, as a test made it.
struct TestSession {
  SessionKey key;
  std::shared_ptr<RecordingLink> link;
};

// The roster over a real database, real config files and a clock that stands
// still. Nothing waits for time: Sync waits for the state's thread, answers and
// frames are waited for.
class RosterRig : public ::testing::Test {
 protected:
  using AttachAnswer = Answer<absl::StatusOr<SessionKey>>;

  explicit RosterRig(std::unique_ptr<Database> db = OpenMemory())
      : runner_(MakeRunner(std::move(db))) {
    // To an hour after the files of this test are made, so that they count as
    // old enough to be trusted.
    struct stat made {};
    EXPECT_EQ(stat(dir_.path().c_str(), &made), 0);
    clock_.Jump(absl::FromTimeT(made.st_mtim.tv_sec) + absl::Hours(1) -
                clock_.Now());
    root_ = dir_ / "project";
    std::filesystem::create_directories(root_);
  }
  ~RosterRig() override { runner_->Stop(); }

  static std::unique_ptr<Database> OpenMemory() {
    auto db = Database::OpenInMemory().value();
    EXPECT_THAT(Migrate(*db, AllMigrations()), IsOk());
    return db;
  }

  std::unique_ptr<StateRunner> MakeRunner(std::unique_ptr<Database> db) {
    StateRunner::Options options;
    options.on_commit_failed = [this](const absl::Status&) {
      EXPECT_THAT(mirror_.Load(), IsOk());
    };
    if (!db->in_memory()) options.sync = [this] { return disk_sync_(); };
    return StateRunner::Create(std::move(db), clock_, std::move(options))
        .value();
  }

  Registrar::Facts Facts() {
    Registrar::Facts facts;
    facts.store_id = "store-1";
    facts.version = "0.0.0";
    facts.account_home = "/home/of-nobody";
    facts.pid = 1;
    facts.port = kTestPort;
    facts.notices = {"the store was replaced"};
    return facts;
  }

  void Sync() { runner_->Drain(); }
  void Advance(absl::Duration by) {
    clock_.Advance(by);
    Sync();
  }
  // Runs `look` on the state's thread and returns what it returns.
  template <typename Look>
  auto OnState(Look look) -> decltype(look()) {
    Answer<decltype(look())> answer;
    runner_->PostTask([&look, put = answer.Callback()] { put(look()); });
    return answer.Wait();
  }
  // Makes every command up to the next Sync fail at COMMIT: as on a full disk,
  // the transaction can't be written.
  void FailNextCommit() {
    runner_->PostCommand({[this](Effects&) {
                            return runner_->database().Execute(
                                "PRAGMA defer_foreign_keys = ON; "
                                "INSERT INTO agents VALUES ('/none', 1, 's', "
                                "'n', 0, 'd', 1, '.', 'h')");
                          },
                          nullptr});
  }
  // Runs `post` so that all it posts is one batch that fails at COMMIT.
  void InFailingBatch(const std::function<void()>& post) {
    std::promise<void> held, release;
    runner_->PostTask([&] {
      held.set_value();
      release.get_future().wait();
    });
    held.get_future().wait();
    FailNextCommit();
    post();
    release.set_value();
    Sync();
  }

  // A session whose host is process `pid`.
  v1::Hello HelloOf(const std::string& session_id, int64_t pid = 0) {
    v1::Hello hello;
    hello.set_protocol_version(1);
    hello.set_session_id(session_id);
    hello.set_host_kind("test");
    hello.set_host_pid(pid == 0 ? next_pid_++ : pid);
    hello.set_cwd(root_);
    hello.set_session_name("name of " + session_id);
    hello.set_start_reason(v1::START_REASON_STARTUP);
    return hello;
  }

  struct Attaching {
    AttachAnswer answer;
    std::shared_ptr<RecordingLink> link = std::make_shared<RecordingLink>();
  };
  Attaching BeginAttach(v1::Hello hello, std::vector<int64_t> ancestry = {}) {
    Attaching attaching;
    registrar_.Attach(std::move(hello), {std::move(ancestry)}, attaching.link,
                      attaching.answer.Callback());
    return attaching;
  }
  absl::StatusOr<TestSession> TryAttach(v1::Hello hello,
                                        std::vector<int64_t> ancestry = {}) {
    Attaching attaching = BeginAttach(std::move(hello), std::move(ancestry));
    auto key = attaching.answer.Wait();
    if (!key.ok()) return key.status();
    Sync();
    return TestSession{*std::move(key), attaching.link};
  }
  TestSession Attach(const std::string& session_id) {
    auto session = TryAttach(HelloOf(session_id));
    EXPECT_THAT(session, IsOk());
    return session.ok() ? *session
                        : TestSession{{}, std::make_shared<RecordingLink>()};
  }
  void Detach(const TestSession& session,
              v1::Goodbye::Reason reason = v1::Goodbye::REASON_UNSPECIFIED) {
    registrar_.Detach(session.key, reason);
    Sync();
  }
  // Reads the config as a call would.
  absl::Status ReadConfigNow() {
    Answer<absl::Status> read;
    runner_->PostTask([this, put = read.Callback()] {
      auto shared = std::make_shared<decltype(put)>(put);
      gate_.WithPresent(
          root_,
          [shared](const auto&, Effects& effects) {
            effects.AfterCommit([shared] { (*shared)(absl::OkStatus()); });
            return absl::OkStatus();
          },
          [shared](const absl::Status& status) { (*shared)(status); });
    });
    const absl::Status status = read.Wait();
    Sync();
    return status;
  }

  // What the sync thread does for a database in a file. Set before the first
  // command.
  std::function<absl::Status()> disk_sync_ = [] { return absl::OkStatus(); };
  TempDir dir_;
  std::string root_;
  FakeClock clock_;
  NumberedRandom random_;
  int64_t next_pid_ = 1'000'001;
  std::unique_ptr<StateRunner> runner_;
  ConfigLanes lanes_{*runner_, clock_, std::make_shared<FileSystem>()};
  WorkspaceStore workspace_store_{runner_->database()};
  SessionStore session_store_{runner_->database()};
  WorkspaceMirror mirror_{workspace_store_, clock_};
  WorkspaceGate gate_{lanes_, *runner_, mirror_};
  Roster roster_{clock_};
  Registrar registrar_{*runner_,       lanes_, mirror_, roster_,
                       session_store_, clock_, random_, Facts()};
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_SUPPORT_ROSTER_RIG_H_
