#include "broker/roster/registrar.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "broker/base/error.h"
#include "broker/domain/permissions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/roster_rig.h"

namespace intercom {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class RegistrarTest : public RosterRig {
 protected:
  void WriteTeam() {
    WriteConfig(root_,
                ConfigText({{"c-1", "Coordinator"}, {"w-1", "Reviewer"}}));
  }
  v1::Role RoleNow(const std::string& id) {
    return OnState([&] { return roster_.Find(id)->role; });
  }
  bool IsAttached(const TestSession& session) {
    return OnState([&] {
      const Attachment* attachment = roster_.Find(session.key.session_id);
      return attachment != nullptr && attachment->epoch == session.key.epoch;
    });
  }
  // The lane of the directory answers in order: whoever began to attach before
  // has been looked at.
  void AwaitLane() { Detach(Attach("probe")); }
  static std::vector<std::string> Notices(const v1::Welcome& welcome) {
    return {welcome.notices().begin(), welcome.notices().end()};
  }
};

// --- Hello and Welcome

TEST_F(RegistrarTest, TheFirstSessionOfADirectoryCreatesItsWorkspace) {
  const TestSession session = Attach("c-1");
  const v1::Welcome welcome = session.link->welcome();
  EXPECT_EQ(welcome.role(), v1::ROLE_COORDINATOR);
  EXPECT_TRUE(welcome.workspace_created());
  EXPECT_EQ(welcome.workspace_root(), root_);
  EXPECT_TRUE(fs::exists(ConfigPath(root_)));
}

TEST_F(RegistrarTest, WhoComesWhileTheCoordinatorIsAwayIsToldWhereItIs) {
  const auto is_told = [](const TestSession& session) {
    const auto notices = Notices(session.link->welcome());
    return std::any_of(notices.begin(), notices.end(), [](const auto& notice) {
      return notice.find("pi --session c-1") != std::string::npos;
    });
  };
  const TestSession coordinator = Attach("c-1");
  EXPECT_FALSE(is_told(Attach("x-1")));
  Detach(coordinator);
  EXPECT_TRUE(is_told(Attach("x-2")));
  // Back after a break of its link.
  v1::Hello hello = HelloOf("x-3");
  hello.set_previous_session_token("token");
  EXPECT_FALSE(is_told(*TryAttach(hello)));
  EXPECT_FALSE(is_told(Attach("c-1")));
}

TEST_F(RegistrarTest, RolesComeFromTheConfig) {
  WriteTeam();
  EXPECT_EQ(Attach("c-1").link->welcome().role(), v1::ROLE_COORDINATOR);
  const v1::Welcome worker = Attach("w-1").link->welcome();
  EXPECT_EQ(worker.role(), v1::ROLE_WORKER);
  EXPECT_EQ(worker.agent_entry().name(), "Reviewer");
  EXPECT_FALSE(worker.agent_entry().entry_hash().empty());
  EXPECT_FALSE(worker.workspace_created());
  const v1::Welcome other = Attach("x-1").link->welcome();
  EXPECT_EQ(other.role(), v1::ROLE_ANONYMOUS);
  EXPECT_FALSE(other.has_agent_entry());
}

TEST_F(RegistrarTest, AModeWithoutWorkspaceMakesAPeer) {
  WriteTeam();
  v1::Hello hello = HelloOf("c-1");
  hello.set_workspace_mode(v1::WORKSPACE_MODE_NEVER);
  const auto session = TryAttach(hello);
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(session->link->welcome().role(), v1::ROLE_PEER);
  EXPECT_EQ(session->link->welcome().workspace_root(), "");
}

TEST_F(RegistrarTest, ModeExistingCreatesNothing) {
  v1::Hello hello = HelloOf("s-1");
  hello.set_workspace_mode(v1::WORKSPACE_MODE_EXISTING);
  EXPECT_EQ(TryAttach(hello)->link->welcome().role(), v1::ROLE_PEER);
  EXPECT_FALSE(fs::exists(ConfigPath(root_)));
}

TEST_F(RegistrarTest, WelcomeIsTheFirstFrameAndSaysWhatAnAgentNeeds) {
  WriteTeam();
  const TestSession session = Attach("w-1");
  ASSERT_THAT(session.link->frames(), Not(IsEmpty()));
  EXPECT_TRUE(session.link->frames()[0].has_welcome());
  const v1::Welcome welcome = session.link->welcome();
  EXPECT_THAT(welcome.session_token(), SizeIs(64));
  EXPECT_EQ(welcome.store_id(), "store-1");
  EXPECT_EQ(welcome.epoch(), session.key.epoch);
  EXPECT_EQ(welcome.protocol_version(), 1);
  EXPECT_EQ(welcome.port(), kTestPort);
  EXPECT_EQ(welcome.broker_pid(), 1);
  EXPECT_EQ(welcome.limits().text_characters(), 48'000);
  EXPECT_EQ(welcome.limits().window_envelopes(), 32);
  EXPECT_EQ(welcome.limits().window_bytes(), 1 << 20);
  EXPECT_THAT(std::vector<std::string>(welcome.operations().begin(),
                                       welcome.operations().end()),
              ElementsAreArray(PermittedOperations(v1::ROLE_WORKER)));
  EXPECT_THAT(Notices(welcome), ElementsAre("the store was replaced"));
}

struct BadHello {
  const char* what;
  void (*break_it)(v1::Hello&);
  const char* reason;
};
void PrintTo(const BadHello& c, std::ostream* out) { *out << c.what; }

class BadHelloTest : public RegistrarTest,
                     public ::testing::WithParamInterface<BadHello> {};

TEST_P(BadHelloTest, IsRefusedAndLeavesNothing) {
  v1::Hello hello = HelloOf("s-1");
  GetParam().break_it(hello);
  EXPECT_THAT(TryAttach(hello),
              FailsWith(absl::StatusCode::kInvalidArgument, GetParam().reason));
  EXPECT_EQ(OnState([&] { return roster_.size(); }), 0u);
  EXPECT_FALSE(fs::exists(ConfigPath(root_)));
}

INSTANTIATE_TEST_SUITE_P(
    Hellos, BadHelloTest,
    ::testing::Values(
        BadHello{"another protocol version",
                 [](v1::Hello& h) { h.set_protocol_version(2); },
                 "PROTOCOL_VERSION"},
        BadHello{"no session id", [](v1::Hello& h) { h.clear_session_id(); },
                 "SESSION_ID_INVALID"},
        BadHello{"a relative directory",
                 [](v1::Hello& h) { h.set_cwd("project"); }, "HELLO_INVALID"},
        BadHello{"no host kind", [](v1::Hello& h) { h.clear_host_kind(); },
                 "HELLO_INVALID"},
        BadHello{"no host process", [](v1::Hello& h) { h.clear_host_pid(); },
                 "HELLO_INVALID"},
        BadHello{
            "a long name",
            [](v1::Hello& h) { h.set_session_name(std::string(513, 'n')); },
            "HELLO_INVALID"},
        BadHello{"a long scope",
                 [](v1::Hello& h) { h.set_scope(std::string(65, 's')); },
                 "HELLO_INVALID"},
        BadHello{"a long directory",
                 [](v1::Hello& h) { h.set_cwd("/" + std::string(4096, 'd')); },
                 "HELLO_INVALID"}));

TEST_F(RegistrarTest, AnInvalidConfigIsRefusedNamingFileAndPlace) {
  WriteConfig(root_, "{\n  \"version\": 1,\n}");
  const auto session = TryAttach(HelloOf("c-1"));
  EXPECT_THAT(session, FailsWith(absl::StatusCode::kFailedPrecondition,
                                 "CONFIG_INVALID"));
  EXPECT_THAT(MessageOf(session.status()), HasSubstr(ConfigPath(root_)));
  EXPECT_EQ(ReadText(ConfigPath(root_)), "{\n  \"version\": 1,\n}");
}

// --- Seats

TEST_F(RegistrarTest, TheTokenOfThePreviousSessionTakesOverAtOnce) {
  const TestSession first = Attach("c-1");
  v1::Hello hello = HelloOf("c-1", 77);
  hello.set_previous_session_token(first.link->welcome().session_token());
  const auto second = TryAttach(hello);
  ASSERT_THAT(second, IsOk());
  EXPECT_GT(second->key.epoch, first.key.epoch);
  EXPECT_NE(second->link->welcome().session_token(),
            first.link->welcome().session_token());
  EXPECT_TRUE(IsAttached(*second));
  EXPECT_THAT(first.link->Of(v1::AttachResponse::kSuperseded), SizeIs(1));
  EXPECT_TRUE(first.link->frames().back().has_superseded());
  EXPECT_THAT(*first.link->closed(),
              FailsWith(absl::StatusCode::kAborted, "SUPERSEDED"));
}

TEST_F(RegistrarTest, WithoutTheTokenANewcomerWaits15SecondsAndIsRefused) {
  v1::Hello hello = HelloOf("c-1", 4242);
  const TestSession first = *TryAttach(hello);
  hello.set_previous_session_token("guess");
  const Attaching second = BeginAttach(hello);
  AwaitLane();
  Advance(absl::Seconds(15) - absl::Milliseconds(1));
  EXPECT_EQ(second.answer.count(), 0);
  Advance(absl::Milliseconds(1));
  const auto refused = second.answer.Wait();
  EXPECT_THAT(refused, FailsWith(absl::StatusCode::kFailedPrecondition,
                                 "SESSION_ALREADY_ATTACHED"));
  EXPECT_THAT(MessageOf(refused.status()), HasSubstr("process 4242"));
  EXPECT_TRUE(IsAttached(first));
  EXPECT_EQ(first.link->closed(), std::nullopt);
}

TEST_F(RegistrarTest, ANewcomerGetsTheSeatWhenTheOldOneLeaves) {
  const TestSession first = Attach("c-1");
  const Attaching second = BeginAttach(HelloOf("c-1"));
  AwaitLane();
  EXPECT_EQ(second.answer.count(), 0);
  Detach(first);
  const auto key = second.answer.Wait();
  ASSERT_THAT(key, IsOk());
  EXPECT_GT(key->epoch, first.key.epoch);
  Advance(absl::Seconds(15));  // its wait is over, and does nothing
  EXPECT_TRUE(IsAttached({*key, second.link}));
  EXPECT_EQ(second.answer.count(), 1);
}

TEST_F(RegistrarTest, ANewcomerThatWaitedIsAdmittedOnTheConfigOfThen) {
  const TestSession first = Attach("w-1");
  const Attaching waits = BeginAttach(HelloOf("w-1"));
  Sync();
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"},
                                 {"w-1", "Reviewer"},
                                 {"w-2", "Builder"}}));
  EXPECT_THAT(ReadConfigNow(), IsOk());
  Detach(first);
  EXPECT_THAT(waits.answer.Wait(), IsOk());
  EXPECT_EQ(OnState([&] { return mirror_.Find(root_)->agents.size(); }), 3u);
}

TEST_F(RegistrarTest, ASecondNewcomerIsRefusedAtOnce) {
  Attach("c-1");
  const Attaching second = BeginAttach(HelloOf("c-1"));
  AwaitLane();
  EXPECT_THAT(TryAttach(HelloOf("c-1")),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        "SESSION_ALREADY_ATTACHED"));
  EXPECT_EQ(second.answer.count(), 0);
}

TEST_F(RegistrarTest, ANewcomerThatDiedWhileItWaitedKeepsNobodyOut) {
  const TestSession first = Attach("c-1");
  const Attaching dead = BeginAttach(HelloOf("c-1"));
  AwaitLane();
  dead.link->Vanish();
  const Attaching third = BeginAttach(HelloOf("c-1"));
  AwaitLane();
  EXPECT_EQ(third.answer.count(), 0);
  Detach(first);
  EXPECT_THAT(third.answer.Wait(), IsOk());
  EXPECT_THAT(dead.answer.Wait(),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        "SESSION_ALREADY_ATTACHED"));
}

TEST_F(RegistrarTest, EpochsGoOnAfterASessionHasLeft) {
  const TestSession first = Attach("c-1");
  Detach(first);
  EXPECT_EQ(Attach("c-1").key.epoch, first.key.epoch + 1);
}

TEST_F(RegistrarTest, LateCallsOfASupersededEpochChangeNothing) {
  const TestSession first = Attach("c-1");
  v1::Hello hello = HelloOf("c-1");
  hello.set_previous_session_token(first.link->welcome().session_token());
  const TestSession second = *TryAttach(hello);

  registrar_.Rename(first.key, "late");
  v1::Activity activity;
  activity.set_phase(v1::ACTIVITY_PHASE_TOOL);
  registrar_.SetActivity(first.key, activity);
  registrar_.SetLoaded(first.key, "late");
  Detach(first);

  EXPECT_TRUE(IsAttached(second));
  OnState([&] {
    const Attachment* attachment = roster_.Find("c-1");
    EXPECT_EQ(attachment->session_name, "name of c-1");
    EXPECT_FALSE(attachment->activity.has_at());
    EXPECT_EQ(attachment->loaded_hash, "");
    return 0;
  });
}

TEST_F(RegistrarTest, AFailedCommitRefusesTheNewcomerAndSeatsNobody) {
  WriteTeam();
  EXPECT_THAT(ReadConfigNow(), IsOk());
  EXPECT_THAT(OnState([&] {
                return runner_->database().Execute("PRAGMA max_page_count = 1");
              }),
              IsOk());
  v1::Hello hello = HelloOf("w-1");
  hello.set_host_version(std::string(1 << 20, 'v'));
  const Attaching attaching = BeginAttach(hello);
  EXPECT_THAT(attaching.answer.Wait(),
              FailsWith(absl::StatusCode::kResourceExhausted, "STORAGE_FULL"));
  EXPECT_EQ(OnState([&] { return roster_.size(); }), 0u);
  EXPECT_THAT(attaching.link->frames(), IsEmpty());
}

// --- The host's process

TEST_F(RegistrarTest, AHostIsWhatTheKernelConfirms) {
  TryAttach(HelloOf("a", 30), {50, 30, 20}).value();
  EXPECT_EQ(OnState([&] { return roster_.Find("a")->host_pid; }), 30);
}

TEST_F(RegistrarTest, AForeignHostIsReplacedByTheParentOfTheAgent) {
  TryAttach(HelloOf("a", 666), {50, 30, 20}).value();
  EXPECT_EQ(OnState([&] { return roster_.Find("a")->host_pid; }), 30);
}

TEST_F(RegistrarTest, WithoutTheKernelsWordTheClientsIsTaken) {
  TryAttach(HelloOf("a", 666)).value();
  EXPECT_EQ(OnState([&] { return roster_.Find("a")->host_pid; }), 666);
}

// --- Copies of workspaces

TEST_F(RegistrarTest, ACopyThatNamesTheSessionIsRefusedNamingBothRoots) {
  WriteTeam();
  const TestSession session = Attach("c-1");
  fs::copy(root_, dir_ / "copy", fs::copy_options::recursive);
  v1::Hello hello = HelloOf("c-1");
  hello.set_cwd(dir_ / "copy");
  for (const bool live : {true, false}) {
    if (!live) Detach(session);
    const auto refused = TryAttach(hello);
    EXPECT_THAT(refused, FailsWith(absl::StatusCode::kFailedPrecondition,
                                   "SESSION_BELONGS_ELSEWHERE"));
    EXPECT_THAT(MessageOf(refused.status()), HasSubstr(root_));
    EXPECT_THAT(MessageOf(refused.status()), HasSubstr(dir_ / "copy"));
  }
}

TEST_F(RegistrarTest, TheSessionMovesOnceTheOldRootsConfigIsGone) {
  WriteTeam();
  Detach(Attach("c-1"));
  fs::copy(root_, dir_ / "copy", fs::copy_options::recursive);
  fs::remove(ConfigPath(root_));
  v1::Hello hello = HelloOf("c-1");
  hello.set_cwd(dir_ / "copy");
  const auto moved = TryAttach(hello);
  ASSERT_THAT(moved, IsOk());
  EXPECT_EQ(moved->link->welcome().workspace_root(), dir_ / "copy");
  EXPECT_EQ(moved->link->welcome().role(), v1::ROLE_COORDINATOR);
}

TEST_F(RegistrarTest, TheSessionMovesOnceTheOldRootIsGoneAltogether) {
  WriteTeam();
  Detach(Attach("c-1"));
  fs::rename(root_, dir_ / "moved");
  v1::Hello hello = HelloOf("c-1");
  hello.set_cwd(dir_ / "moved");
  EXPECT_THAT(TryAttach(hello), IsOk());
}

TEST_F(RegistrarTest, TheSessionMovesWhenTheOldRootNoLongerNamesIt) {
  WriteTeam();
  Detach(Attach("w-1"));
  fs::copy(root_, dir_ / "copy", fs::copy_options::recursive);
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"}}));
  v1::Hello hello = HelloOf("w-1");
  hello.set_cwd(dir_ / "copy");
  EXPECT_THAT(TryAttach(hello), IsOk());
}

// --- The pinned coordinator

TEST_F(RegistrarTest, AnotherCoordinatorInTheFileTakesNoEffectAndIsTold) {
  WriteTeam();
  const TestSession coordinator = Attach("c-1");
  WriteConfig(root_, ConfigText({{"x-1", "Coordinator"}, {"w-1", "Reviewer"}}));

  const v1::Welcome newcomer = Attach("x-1").link->welcome();
  EXPECT_EQ(newcomer.role(), v1::ROLE_ANONYMOUS);
  EXPECT_THAT(Notices(newcomer), Contains(HasSubstr("x-1")));
  EXPECT_THAT(Notices(newcomer), Contains(HasSubstr("goes on doing so")));
  EXPECT_EQ(RoleNow("c-1"), v1::ROLE_COORDINATOR);
  EXPECT_THAT(coordinator.link->Of(v1::AttachResponse::kRoleChanged),
              IsEmpty());
}

TEST_F(RegistrarTest, AWorkerThatTheFileMakesCoordinatorStaysAWorker) {
  WriteTeam();
  const TestSession coordinator = Attach("c-1");
  const TestSession worker = Attach("w-1");
  // The two swapped places, the old coordinator first.
  WriteConfig(root_, ConfigText({{"c-1", "Reviewer"}, {"w-1", "Coordinator"}},
                                /*coordinator=*/"w-1"));
  EXPECT_THAT(ReadConfigNow(), IsOk());
  EXPECT_EQ(RoleNow("c-1"), v1::ROLE_COORDINATOR);
  EXPECT_EQ(RoleNow("w-1"), v1::ROLE_WORKER);
  const auto workspace = OnState([&] { return mirror_.Find(root_); });
  EXPECT_EQ(workspace->claimed_coordinator_session_id, "w-1");
}

TEST_F(RegistrarTest, ThePinOutlivesTheBroker) {
  WriteTeam();
  Detach(Attach("c-1"));
  WriteConfig(root_, ConfigText({{"x-1", "Coordinator"}, {"w-1", "Reviewer"}}));
  EXPECT_THAT(OnState([&] { return mirror_.Load(); }), IsOk());
  EXPECT_EQ(Attach("x-1").link->welcome().role(), v1::ROLE_ANONYMOUS);
  EXPECT_EQ(Attach("c-1").link->welcome().role(), v1::ROLE_COORDINATOR);
}

TEST_F(RegistrarTest, ANewWorkspaceInTheSamePlaceHasItsOwnCoordinator) {
  Detach(Attach("c-1"));
  fs::remove_all(root_ + "/.pi-intercom");
  const v1::Welcome welcome = Attach("c-2").link->welcome();
  EXPECT_TRUE(welcome.workspace_created());
  EXPECT_EQ(welcome.role(), v1::ROLE_COORDINATOR);
}

// --- Changes of the config

TEST_F(RegistrarTest, AnEditOfTheConfigReachesTheAttachedSession) {
  WriteTeam();
  const TestSession session = Attach("x-1");
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"},
                                 {"w-1", "Reviewer"},
                                 {"x-1", "Builder"}}));
  EXPECT_THAT(ReadConfigNow(), IsOk());
  const auto changes = session.link->Of(v1::AttachResponse::kRoleChanged);
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].role_changed().role(), v1::ROLE_WORKER);
  EXPECT_EQ(changes[0].role_changed().agent_entry().name(), "Builder");
  EXPECT_TRUE(OnState([&] { return roster_.Find("x-1")->awaits_reload; }));
}

TEST_F(RegistrarTest, ASessionThatLosesItsEntryIsAnonymousAgain) {
  WriteTeam();
  const TestSession session = Attach("w-1");
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"}}));
  EXPECT_THAT(ReadConfigNow(), IsOk());
  const auto changes = session.link->Of(v1::AttachResponse::kRoleChanged);
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].role_changed().role(), v1::ROLE_ANONYMOUS);
  EXPECT_FALSE(changes[0].role_changed().has_agent_entry());
}

TEST_F(RegistrarTest, AnUnchangedEntryIsNotToldAgain) {
  WriteTeam();
  const TestSession session = Attach("w-1");
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"},
                                 {"w-1", "Reviewer"},
                                 {"x-1", "Builder"}}));
  EXPECT_THAT(ReadConfigNow(), IsOk());
  EXPECT_THAT(session.link->Of(v1::AttachResponse::kRoleChanged), IsEmpty());
}

TEST_F(RegistrarTest, AWorkerThatWasAttachedWithItsEntryNeedsNoReload) {
  WriteTeam();
  Attach("w-1");
  EXPECT_FALSE(OnState([&] { return roster_.Find("w-1")->awaits_reload; }));
}

// --- Leaving

TEST_F(RegistrarTest, GoodbyeForAReloadIsRestartingAndForQuitIsAway) {
  const std::vector<std::pair<v1::Goodbye::Reason, v1::Presence>> cases = {
      {v1::Goodbye::REASON_RELOAD, v1::PRESENCE_RESTARTING},
      {v1::Goodbye::REASON_NEW, v1::PRESENCE_RESTARTING},
      {v1::Goodbye::REASON_RESUME, v1::PRESENCE_RESTARTING},
      {v1::Goodbye::REASON_FORK, v1::PRESENCE_RESTARTING},
      {v1::Goodbye::REASON_QUIT, v1::PRESENCE_AWAY},
      {v1::Goodbye::REASON_HOST_GONE, v1::PRESENCE_AWAY},
      {v1::Goodbye::REASON_UNSPECIFIED, v1::PRESENCE_AWAY}};
  for (const auto& [reason, presence] : cases) {
    Detach(Attach("c-1"), reason);
    EXPECT_EQ(OnState([&] { return roster_.PresenceOf("c-1").presence; }),
              presence)
        << v1::Goodbye::Reason_Name(reason);
  }
}

TEST_F(RegistrarTest, WhenASessionWasLastSeenIsStored) {
  const TestSession session = Attach("c-1");
  Advance(absl::Minutes(3));
  Detach(session);
  const absl::Time seen =
      OnState([&] { return session_store_.Find("c-1").value()->last_seen_at; });
  EXPECT_EQ(seen, absl::FromUnixMicros(absl::ToUnixMicros(clock_.Now())));
}

TEST_F(RegistrarTest, ActivityIsStampedAndItsWordsAreMadePlain) {
  const TestSession session = Attach("c-1");
  v1::Activity activity;
  activity.set_phase(v1::ACTIVITY_PHASE_TOOL);
  activity.set_label("Running\n\x1b[31mcommand" + std::string(100, 'x'));
  activity.set_model("a/b");
  registrar_.SetActivity(session.key, activity);
  const v1::Activity stored =
      OnState([&] { return roster_.Find("c-1")->activity; });
  EXPECT_THAT(stored.label(), HasSubstr("Running command"));
  EXPECT_THAT(stored.label(), SizeIs(64));
  EXPECT_EQ(stored.at().seconds(), absl::ToUnixSeconds(clock_.Now()));
}

TEST_F(RegistrarTest, ARenamedSessionIsStoredUnderItsNewName) {
  const TestSession session = Attach("c-1");
  registrar_.Rename(session.key, "new name");
  registrar_.Rename(session.key, std::string(513, 'n'));
  Sync();
  EXPECT_EQ(OnState([&] { return session_store_.Find("c-1").value()->name; }),
            "new name");
}

// --- Drain

TEST_F(RegistrarTest, DrainTellsSessionsAndRefusesNewcomers) {
  const TestSession session = Attach("c-1");
  const Attaching waiting = BeginAttach(HelloOf("c-1"));
  AwaitLane();
  registrar_.Drain();
  EXPECT_THAT(waiting.answer.Wait(),
              FailsWith(absl::StatusCode::kUnavailable, "DRAINING"));
  EXPECT_THAT(TryAttach(HelloOf("x-1")),
              FailsWith(absl::StatusCode::kUnavailable, "DRAINING"));
  EXPECT_THAT(session.link->Of(v1::AttachResponse::kDraining), SizeIs(1));
  EXPECT_EQ(session.link->closed(), std::nullopt);
  registrar_.CloseAll();
  Sync();
  EXPECT_THAT(*session.link->closed(),
              FailsWith(absl::StatusCode::kUnavailable, "DRAINING"));
}

}  // namespace
}  // namespace intercom
