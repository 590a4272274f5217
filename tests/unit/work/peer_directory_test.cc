#include "broker/work/peer_directory.h"

#include <map>
#include <random>
#include <string>
#include <vector>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "tests/support/work_rig.h"

namespace intercom {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Property;
using ::testing::SizeIs;
using ::testing::StartsWith;

// Sessions in directories of their own, without configs unless a test writes
// one.
class PeerDirectoryTest : public WorkRig {
 protected:
  v1::Hello HelloIn(const std::string& id, const std::string& directory,
                    const std::string& name, const std::string& scope = "") {
    const std::string path = dir_ / directory;
    fs::create_directories(path);
    v1::Hello hello = HelloOf(id);
    hello.set_cwd(path);
    hello.set_session_name(name);
    hello.set_scope(scope);
    hello.set_workspace_mode(v1::WORKSPACE_MODE_EXISTING);
    return hello;
  }
  TestSession Come(const v1::Hello& hello) {
    auto session = TryAttach(hello);
    EXPECT_THAT(session, IsOk());
    SayPresent(*session, {});
    return *session;
  }
  TestSession ComeIn(const std::string& id, const std::string& directory,
                     const std::string& name, const std::string& scope = "") {
    return Come(HelloIn(id, directory, name, scope));
  }

  absl::StatusOr<v1::DeliveryRecord> SendAnywhere(
      const CallerEvidence& evidence, const std::string& to,
      const std::string& cwd = "", const std::string& scope = "") {
    v1::SendRequest request;
    *request.mutable_envelope() = Message("e" + std::to_string(++sent_));
    request.set_to(to);
    request.set_cwd(cwd);
    request.set_scope(scope);
    request.set_reach(v1::REACH_ACCOUNT);
    RecordAnswer answer;
    mail_.Send(evidence, request, answer.Callback());
    auto record = answer.Wait();
    Sync();
    return record;
  }
  // Whom a message went to, or the reason why nobody got it.
  std::string Reached(const TestSession& from, const std::string& to,
                      const std::string& cwd = "") {
    const auto record = SendAnywhere(CallOf(from), to, cwd);
    return record.ok() ? record->recipient_session_id()
                       : ReasonOf(record.status());
  }
  v1::ListSessionsResponse List(const CallerEvidence& evidence,
                                bool with_away = false,
                                const std::string& cwd = "",
                                const std::string& scope = "") {
    v1::ListSessionsRequest request;
    request.set_with_away(with_away);
    request.set_cwd(cwd);
    request.set_scope(scope);
    auto response =
        CallOn(peers_, &PeerDirectory::ListSessions, evidence, request);
    EXPECT_THAT(response, IsOk());
    return response.value_or(v1::ListSessionsResponse());
  }
  static std::vector<std::string> IdsOf(const v1::ListSessionsResponse& list) {
    std::vector<std::string> ids;
    for (const auto& entry : list.sessions()) ids.push_back(entry.session_id());
    return ids;
  }
  std::vector<std::string> Listed(const TestSession& by,
                                  bool with_away = false) {
    return IdsOf(List(CallOf(by), with_away));
  }
  void Rename(const TestSession& session, const std::string& name) {
    registrar_.Rename(session.key, name);
    Sync();
  }

  int sent_ = 0;
};

TEST_F(PeerDirectoryTest, SessionsInThreeDirectoriesReachEachOtherByName) {
  const auto a = ComeIn("a-1", "one", "planner");
  const auto b = ComeIn("b-1", "two", "worker");
  const auto c = ComeIn("c-1", "three", "");
  EXPECT_EQ(Reached(a, "Worker"), "b-1");
  EXPECT_EQ(Reached(b, "planner"), "a-1");
  EXPECT_EQ(Reached(c, "planner@one"), "a-1");
  EXPECT_EQ(Reached(a, "session-c-1"), "c-1");
  EXPECT_EQ(Reached(a, "", dir_ / "two"), "b-1");
  EXPECT_EQ(Reached(a, "worker", dir_ / "one"), "NOT_IN_DIRECTORY");
  EXPECT_EQ(Reached(a, "planner"), "SELF_TARGET");
  EXPECT_EQ(Reached(a, ""), "TARGET_EMPTY");
  EXPECT_EQ(Reached(a, "ghost"), "UNKNOWN_RECIPIENT");
  EXPECT_THAT(b.link->texts(), SizeIs(2));
}

TEST_F(PeerDirectoryTest, ADirectoryIsComparedByItsRealPath) {
  const auto a = ComeIn("a-1", "one", "planner");
  fs::create_directory_symlink(dir_ / "one", dir_ / "link");
  v1::Hello hello = HelloIn("b-1", "one", "worker");
  hello.set_cwd(dir_ / "link");
  const auto b = Come(hello);
  EXPECT_EQ(Reached(a, "", dir_ / "one"), "b-1");
  EXPECT_EQ(List(CallOf(a)).sessions(0).cwd(), dir_ / "one");
  EXPECT_TRUE(List(CallOf(a)).sessions(0).same_directory());
}

TEST_F(PeerDirectoryTest, AListShowsWhatTellsSessionsApart) {
  const auto self = ComeIn("0198a7c2-7f00-7111", "one", " planner ");
  const auto near = ComeIn("0198a7c2-7f00-7222", "one", "worker");
  const auto far = ComeIn("0298a7c2-7f00-7333", "two", "");
  SayActivity(near, v1::ACTIVITY_PHASE_THINKING);
  const auto list = List(CallOf(self));
  EXPECT_EQ(list.self().session_id(), "0198a7c2-7f00-7111");
  EXPECT_EQ(list.self().name(), "planner");
  EXPECT_EQ(list.self().short_id(), "0198a7c2-7f00-71");
  ASSERT_THAT(list.sessions(), SizeIs(2));
  const v1::RosterEntry& first = list.sessions(0);
  EXPECT_EQ(first.name(), "worker");
  EXPECT_EQ(first.short_id(), "0198a7c2-7f00-72");
  EXPECT_EQ(first.runtime_name(), "");
  EXPECT_EQ(first.presence(), v1::PRESENCE_ATTACHED);
  EXPECT_EQ(first.role(), v1::ROLE_PEER);
  EXPECT_EQ(first.activity().phase(), v1::ACTIVITY_PHASE_THINKING);
  EXPECT_TRUE(first.same_directory());
  const v1::RosterEntry& second = list.sessions(1);
  EXPECT_EQ(second.name(), "");
  EXPECT_EQ(second.runtime_name(), "session-0298a7c2");
  EXPECT_EQ(second.cwd(), dir_ / "two");
  EXPECT_FALSE(second.same_directory());
  EXPECT_EQ(Reached(self, second.runtime_name()), far.key.session_id);
}

TEST_F(PeerDirectoryTest, AListOfADirectoryHasOnlyThoseThere) {
  const auto a = ComeIn("a-1", "one", "planner");
  const auto b = ComeIn("b-1", "one", "worker");
  const auto c = ComeIn("c-1", "two", "other");
  EXPECT_THAT(IdsOf(List(CallOf(c), false, dir_ / "one" + "/")),
              ElementsAre("a-1", "b-1"));
  v1::ListSessionsRequest request;
  request.set_cwd("one");
  EXPECT_THAT(
      CallOn(peers_, &PeerDirectory::ListSessions, CallOf(a), request),
      FailsWith(absl::StatusCode::kInvalidArgument, "DIRECTORY_INVALID"));
}

TEST_F(PeerDirectoryTest, WhoWaitsOnWhomIsShown) {
  const auto a = ComeIn("a-1", "one", "planner");
  const auto b = ComeIn("b-1", "one", "worker");
  peers_.SetWaitsFor([](std::string_view id) {
    return id == "b-1" ? std::vector<std::string>{"a-1"}
                       : std::vector<std::string>();
  });
  EXPECT_THAT(List(CallOf(a)).sessions(0).waits_for(), ElementsAre("a-1"));
  EXPECT_THAT(List(CallOf(a)).self().waits_for(), IsEmpty());
}

TEST_F(PeerDirectoryTest, ToolAndNoteOfAnActivityAreBoundedAndPlain) {
  const auto a = ComeIn("a-1", "one", "planner");
  v1::Activity activity;
  activity.set_phase(v1::ACTIVITY_PHASE_TOOL);
  activity.set_tool("ba\x1b[31msh" + std::string(100, 'x'));
  activity.set_note("re\nsearching" + std::string(100, 'x'));
  registrar_.SetActivity(a.key, activity);
  const v1::Activity shown = List(CallOf(a)).self().activity();
  EXPECT_EQ(shown.tool().substr(0, 4), "bash");
  EXPECT_LE(shown.tool().size(), 66u);
  EXPECT_EQ(shown.note().substr(0, 12), "re searching");
  EXPECT_LE(shown.note().size(), 82u);
}

// --- Scopes and workspaces

TEST_F(PeerDirectoryTest, UnrelatedFleetsDoNotSeeEachOther) {
  const auto a = ComeIn("a-1", "one", "planner", "red");
  const auto b = ComeIn("b-1", "one", "worker", "red");
  const auto c = ComeIn("c-1", "one", "worker", "blue");
  EXPECT_THAT(Listed(a), ElementsAre("b-1"));
  EXPECT_THAT(Listed(c), IsEmpty());
  EXPECT_EQ(Reached(a, "worker"), "b-1");
  EXPECT_EQ(Reached(c, "planner"), "UNKNOWN_RECIPIENT");
  EXPECT_EQ(Reached(c, "a-1"), "UNKNOWN_RECIPIENT");
  EXPECT_EQ(Reached(c, "", dir_ / "one"), "NOBODY_THERE");
  Detach(a);
  EXPECT_EQ(Reached(c, "planner"), "UNKNOWN_RECIPIENT");
  EXPECT_EQ(Reached(c, "a-1"), "UNKNOWN_RECIPIENT");
  EXPECT_EQ(Reached(b, "planner"), "a-1");
}

TEST_F(PeerDirectoryTest, APersonSaysInWhichScope) {
  ComeIn("a-1", "one", "planner", "red");
  ComeIn("b-1", "one", "planner");
  EXPECT_THAT(IdsOf(List(Person())), ElementsAre("b-1"));
  EXPECT_THAT(IdsOf(List(Person(), false, "", "red")), ElementsAre("a-1"));
  EXPECT_FALSE(List(Person()).has_self());
  EXPECT_EQ(
      SendAnywhere(Person(), "planner", "", "red")->recipient_session_id(),
      "a-1");
}

TEST_F(PeerDirectoryTest, ATeamSeesEachOtherWhateverItsScopes) {
  WriteTeam();
  v1::Hello hello = HelloOf("w-1");
  hello.set_scope("red");
  const auto worker = Come(hello);
  const auto coordinator = Join("c-1");
  EXPECT_EQ(Reached(coordinator, "reviewer"), "w-1");
  EXPECT_EQ(Reached(worker, "Coordinator"), "c-1");
  EXPECT_THAT(Listed(coordinator), ElementsAre("w-1"));
  const auto outsider = ComeIn("p-1", "elsewhere", "peer");
  EXPECT_EQ(Reached(outsider, "reviewer"), "UNKNOWN_RECIPIENT");
  EXPECT_EQ(Reached(outsider, "Coordinator@project"), "c-1");
}

TEST_F(PeerDirectoryTest, AnAnonymousSessionReachesAWorkerOfAnotherWorkspace) {
  WriteTeam();
  const std::string other = dir_ / "other";
  WriteConfig(other, ConfigText({{"c-2", "Coordinator"}, {"w-2", "Builder"}}));
  const auto worker = Join("w-1");
  v1::Hello hello = HelloIn("x-1", "other", "");
  const auto anonymous = Come(hello);
  EXPECT_EQ(anonymous.link->welcome().role(), v1::ROLE_ANONYMOUS);
  EXPECT_EQ(Reached(anonymous, "Reviewer"), "w-1");
  EXPECT_EQ(Reached(anonymous, "Reviewer@project"), "w-1");
  EXPECT_EQ(Reached(anonymous, "w-1"), "w-1");
  EXPECT_EQ(Reached(worker, "session-x-1"), "x-1");
  // Members of its own workspace come first, there or not.
  EXPECT_EQ(Reached(anonymous, "Coordinator"), "c-2");
  EXPECT_EQ(Reached(worker, "Coordinator"), "c-1");
}

TEST_F(PeerDirectoryTest, ACoordinatorIsFoundByItsDirectoryThereOrAway) {
  WriteTeam();
  const std::string other = dir_ / "other";
  WriteConfig(other, ConfigText({{"c-2", "Coordinator"}}));
  const auto near = Join("c-1");
  v1::Hello hello = HelloOf("c-2");
  hello.set_cwd(other);
  const auto far = Come(hello);
  const auto peer = ComeIn("p-1", "elsewhere", "peer");
  EXPECT_EQ(Reached(peer, "Coordinator"), "AMBIGUOUS_RECIPIENT");
  EXPECT_EQ(Reached(peer, "Coordinator@project"), "c-1");
  EXPECT_EQ(Reached(peer, "coordinator@" + other), "c-2");
  Detach(far);
  EXPECT_EQ(Reached(peer, "Coordinator"), "c-1");
  EXPECT_EQ(Reached(peer, "Coordinator@other"), "c-2");
}

TEST_F(PeerDirectoryTest, AConfiguredNameCountsMoreThanItsSessionsOwn) {
  WriteTeam();
  const auto worker = Join("w-1");  // "name of w-1" to its host
  const auto peer = ComeIn("p-1", "elsewhere", "peer");
  EXPECT_EQ(Reached(peer, "name of w-1"), "UNKNOWN_RECIPIENT");
  Detach(worker);
  EXPECT_EQ(Reached(peer, "name of w-1"), "UNKNOWN_RECIPIENT");
  EXPECT_EQ(Reached(peer, "reviewer"), "w-1");
}

TEST_F(PeerDirectoryTest,
       AnAnonymousSessionOfAnotherScopeIsNotTheCoordinators) {
  WriteTeam();
  const auto coordinator = Join("c-1");
  v1::Hello hello = HelloOf("x-1");
  hello.set_scope("red");
  const auto stranger = Come(hello);
  EXPECT_THAT(NoticesOf(coordinator, "REGISTRATION"), IsEmpty());
  EXPECT_THAT(coordinator.link->Of(v1::AttachResponse::kRosterChanged),
              IsEmpty());
  const auto entries = OnState(
      [&] { return view_.Describe(*mirror_.Find(root_)).entries_size(); });
  EXPECT_EQ(entries, 2);
  EXPECT_EQ(Reached(stranger, "Coordinator"), "UNKNOWN_RECIPIENT");
  const auto refused = CallOn(report_desk_, &ReportDesk::Register,
                              CallOf(stranger), v1::RegisterRequest());
  EXPECT_THAT(refused,
              FailsWith(absl::StatusCode::kFailedPrecondition, "OTHER_SCOPE"));
  const auto friendly = Join("x-2");
  EXPECT_THAT(NoticesOf(coordinator, "REGISTRATION"), SizeIs(1));
}

// --- Those that are away

TEST_F(PeerDirectoryTest, MailWaitsForASessionThatIsAwayByItsName) {
  const auto a = ComeIn("a-1", "one", "planner");
  const auto b = ComeIn("b-1", "two", "worker");
  Detach(b);
  const auto record = SendAnywhere(CallOf(a), "worker").value();
  EXPECT_EQ(record.recipient_session_id(), "b-1");
  EXPECT_EQ(record.wait_reason(), v1::WAIT_REASON_AWAY);
  const auto back = ComeIn("b-1", "two", "worker");
  EXPECT_THAT(back.link->texts(), ElementsAre("text of e1"));
}

TEST_F(PeerDirectoryTest, ARecipientIsShownWhereItsSenderIsOrWasLast) {
  const auto a = ComeIn("a-1", "one", "planner");
  Detach(ComeIn("b-1", "two", "worker"));
  EXPECT_EQ(Reached(a, "worker"), "b-1");
  Detach(a);
  const auto back = ComeIn("b-1", "two", "worker");
  EXPECT_EQ(back.link->deliveries()[0].sender_directory(), dir_ / "one");
  SendAnywhere(Person(), "worker").status().IgnoreError();
  EXPECT_EQ(back.link->deliveries()[1].sender_directory(), "");
}

TEST_F(PeerDirectoryTest, ARuntimeNameIsNothingOnceItsSessionLeft) {
  const auto a = ComeIn("a-1", "one", "planner");
  const auto b = ComeIn("b-1", "two", "");
  EXPECT_EQ(Reached(a, "session-b-1"), "b-1");
  Detach(b);
  EXPECT_EQ(Reached(a, "session-b-1"), "UNKNOWN_RECIPIENT");
  EXPECT_EQ(Reached(a, "b-1"), "b-1");
}

TEST_F(PeerDirectoryTest, ASessionAwayIsListedAsFarAsItsNameFindsIt) {
  const auto a = ComeIn("a-1", "one", "planner");
  const auto ghost = [&](const std::string& id, const std::string& directory,
                         const std::string& name) {
    Detach(ComeIn(id, directory, name));
    Advance(absl::Seconds(1));
  };
  ghost("b-1", "two", "worker");
  ghost("b-2", "two", "Worker");    // takes the place of b-1
  ghost("b-3", "three", "worker");  // told apart by its directory
  ghost("b-4", "two", "");
  ghost("b-5", "one", "planner");  // the live one has its name there
  EXPECT_THAT(Listed(a), IsEmpty());
  EXPECT_THAT(Listed(a, /*with_away=*/true), ElementsAre("b-2", "b-3"));
  EXPECT_EQ(Reached(a, "worker"), "AMBIGUOUS_RECIPIENT");
  EXPECT_EQ(Reached(a, "worker@two"), "b-2");
  EXPECT_EQ(Reached(a, "worker@three"), "b-3");
}

TEST_F(PeerDirectoryTest, TheFiftyThatLeftLastAreListed) {
  const auto a = ComeIn("a-1", "one", "planner");
  for (int i = 100; i < 155; ++i) {
    Detach(ComeIn("b-" + std::to_string(i), "two", "w" + std::to_string(i)));
    Advance(absl::Seconds(1));
  }
  const auto listed = Listed(a, /*with_away=*/true);
  ASSERT_THAT(listed, SizeIs(PeerDirectory::kMaxAwayListed));
  EXPECT_EQ(listed.front(), "b-105");
  EXPECT_EQ(listed.back(), "b-154");
}

TEST_F(PeerDirectoryTest, MailExpiresAfterADayUnlessItsSessionIsConfigured) {
  WriteTeam();
  const auto a = ComeIn("a-1", "one", "planner");
  Detach(ComeIn("b-1", "two", "worker"));
  Detach(Join("w-1"));
  const auto kept = [&](const std::string& to) {
    const auto record = SendAnywhere(CallOf(a), to).value();
    return record.has_expires_at()
               ? FromProto(record.expires_at()) - clock_.Now()
               : absl::InfiniteDuration();
  };
  EXPECT_EQ(kept("worker"), absl::Hours(24));
  EXPECT_EQ(kept("reviewer"), absl::InfiniteDuration());
  Advance(absl::Hours(25));
  dispatcher_.ExpireDue();
  Sync();
  EXPECT_EQ(RecordOf("a-1/e1").end(), v1::DELIVERY_END_EXPIRED);
  EXPECT_THAT(NoticesOf(a, "EXPIRED"), SizeIs(1));
  EXPECT_EQ(RecordOf("a-1/e2").end(), v1::DELIVERY_END_UNSPECIFIED);
}

TEST_F(PeerDirectoryTest, ARenameIsSeenAtOnceThereAndAway) {
  const auto a = ComeIn("a-1", "one", "planner");
  const auto b = ComeIn("b-1", "two", "worker");
  Rename(b, "builder");
  EXPECT_EQ(Reached(a, "builder"), "b-1");
  EXPECT_EQ(Reached(a, "worker"), "UNKNOWN_RECIPIENT");
  EXPECT_EQ(List(CallOf(a)).sessions(0).name(), "builder");
  Detach(b);
  EXPECT_EQ(Reached(a, "worker"), "UNKNOWN_RECIPIENT");
  EXPECT_EQ(Reached(a, "builder"), "b-1");
}

TEST_F(PeerDirectoryTest, AFailedCommitLosesNoArrival) {
  const auto a = ComeIn("a-1", "one", "planner");
  Attaching failed;
  InFailingBatch([&] { failed = BeginAttach(HelloIn("b-1", "two", "w")); });
  // The lanes answer later than the batch; whatever came of it, it is not held
  // for arriving for ever.
  failed.answer.Wait().status().IgnoreError();
  Sync();
  EXPECT_FALSE(OnState([&] { return roster_.IsArriving("b-1"); }));
}

// --- Stable ids

TEST_F(PeerDirectoryTest, AStableIdIsAnAddressOverSessions) {
  const auto a = ComeIn("a-1", "one", "planner");
  v1::Hello hello = HelloIn("b-1", "two", "");
  hello.set_stable_id("desk");
  const auto first = Come(hello);
  EXPECT_EQ(first.link->welcome().stable_id(), "desk");
  EXPECT_EQ(List(CallOf(a)).sessions(0).stable_id(), "desk");
  EXPECT_EQ(Reached(a, "desk"), "b-1");
  Detach(first);
  EXPECT_EQ(Reached(a, "desk"), "b-1");
  hello.set_session_id("b-2");
  const auto second = Come(hello);
  EXPECT_EQ(second.link->welcome().stable_id(), "desk");
  EXPECT_EQ(Reached(a, "desk"), "b-2");
  Detach(second);
  EXPECT_EQ(Reached(a, "desk"), "b-2");
}

TEST_F(PeerDirectoryTest, ASecondClaimantOfAStableIdIsToldAndSoIsTheHolder) {
  v1::Hello hello = HelloIn("b-1", "two", "");
  hello.set_stable_id("desk");
  const auto holder = Come(hello);
  hello = HelloIn("b-2", "three", "");
  hello.set_stable_id("desk");
  const auto second = Come(hello);
  EXPECT_EQ(second.link->welcome().stable_id(), "");
  EXPECT_THAT(second.link->welcome().notices(),
              Contains(HasSubstr("the stable id desk is that of "
                                 "session b-1")));
  const auto told = NoticesOf(holder, "STABLE_ID");
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_TRUE(told[0].envelope().quiet());
  EXPECT_THAT(told[0].envelope().text(), HasSubstr("Session b-2"));
  const auto a = ComeIn("a-1", "one", "planner");
  EXPECT_EQ(Reached(a, "desk"), "b-1");
  EXPECT_EQ(Reached(a, "b-2"), "b-2");
  // It comes again: the holder knows.
  Detach(second);
  hello.set_start_reason(v1::START_REASON_RECONNECT);
  Come(hello);
  EXPECT_THAT(NoticesOf(holder, "STABLE_ID"), SizeIs(1));
}

TEST_F(PeerDirectoryTest, TwoThatClaimAStableIdAtOnceDoNotBothGetIt) {
  v1::Hello one = HelloIn("b-1", "two", "");
  one.set_stable_id("desk");
  v1::Hello two = HelloIn("b-2", "three", "");
  two.set_stable_id("desk");
  const auto first = BeginAttach(one);
  const auto second = BeginAttach(two);
  first.answer.Wait().status().IgnoreError();
  second.answer.Wait().status().IgnoreError();
  Sync();
  const std::string all =
      first.link->welcome().stable_id() + second.link->welcome().stable_id();
  EXPECT_EQ(all, "desk");
  const auto rows = OnState([&] {
    return session_store_.Find("b-1").value()->stable_id +
           session_store_.Find("b-2").value()->stable_id;
  });
  EXPECT_EQ(rows, "desk");
}

TEST_F(PeerDirectoryTest, AScopeHasItsOwnStableIds) {
  for (const char* scope : {"red", "blue"}) {
    v1::Hello hello = HelloIn(std::string("b-") + scope, "two", "", scope);
    hello.set_stable_id("desk");
    EXPECT_EQ(Come(hello).link->welcome().stable_id(), "desk");
  }
}

TEST_F(PeerDirectoryTest, AStableIdIsNeverAnotherSessionsId) {
  Detach(ComeIn("b-1", "one", ""));
  v1::Hello hello = HelloIn("b-2", "two", "");
  hello.set_stable_id("b-1");
  EXPECT_EQ(Come(hello).link->welcome().stable_id(), "");
  hello = HelloIn("b-3", "two", "");
  hello.set_stable_id("b-3");
  EXPECT_EQ(Come(hello).link->welcome().stable_id(), "b-3");
}

TEST_F(PeerDirectoryTest, AnInvalidStableIdRefusesTheSession) {
  v1::Hello hello = HelloIn("b-1", "two", "");
  hello.set_stable_id("my desk");
  EXPECT_THAT(TryAttach(hello), FailsWith(absl::StatusCode::kInvalidArgument,
                                          "STABLE_ID_INVALID"));
}

TEST_F(PeerDirectoryTest, ATakeoverKeepsTheStableId) {
  v1::Hello hello = HelloIn("b-1", "two", "");
  hello.set_stable_id("desk");
  const auto first = Come(hello);
  hello.set_previous_session_token(first.link->welcome().session_token());
  EXPECT_EQ(Come(hello).link->welcome().stable_id(), "desk");
}

// --- List and send never disagree

// Sessions of a small world that come, leave, and change names and scopes at
// random.
class RandomRosterTest : public PeerDirectoryTest,
                         public ::testing::WithParamInterface<int> {};

TEST_P(RandomRosterTest, WhatIsListedIsFoundAndWhatIsFoundIsListed) {
  WriteTeam();
  std::mt19937 random(GetParam());
  const auto pick = [&](const std::vector<std::string>& from) {
    return from[random() % from.size()];
  };
  const std::vector<std::string> ids = {
      "c-1", "w-1", "aaaa-bbbb-1", "aaaa-bbbb-2", "aaaa-cccc-3", "x-6"};
  const std::vector<std::string> names = {"", "worker", "Worker", "planner"};
  std::map<std::string, TestSession> attached;
  for (int step = 0; step < 40; ++step) {
    const std::string id = pick(ids);
    if (!attached.contains(id)) {
      const bool is_of_team = id == "c-1" || id == "w-1";
      v1::Hello hello =
          HelloIn(id, is_of_team ? "project" : pick({"project", "one", "two"}),
                  pick(names), pick({"", "red"}));
      attached[id] = Come(hello);
    } else if (random() % 2 == 0) {
      Rename(attached[id], pick(names));
    } else {
      Detach(attached[id]);
      attached.erase(id);
    }
    for (const auto& [self, session] : attached) {
      const auto list = List(CallOf(session), /*with_away=*/true);
      const auto here = List(CallOf(session), false, list.self().cwd());
      for (const v1::RosterEntry& there : here.sessions()) {
        // A shorter list shows the same of those in it.
        EXPECT_THAT(list.sessions(),
                    Contains(Property(&v1::RosterEntry::short_id,
                                      StartsWith(there.short_id()))));
        if (there.short_id().size() < 6) continue;
        EXPECT_EQ(Reached(session, there.short_id()), there.session_id());
      }
      std::map<std::string, bool> listed;
      for (const v1::RosterEntry& entry : list.sessions()) {
        SCOPED_TRACE(self + " to " + entry.ShortDebugString());
        listed[entry.session_id()] = true;
        const bool is_there = entry.presence() == v1::PRESENCE_ATTACHED;
        EXPECT_EQ(is_there, attached.contains(entry.session_id()));
        const auto target = [&](const std::string& to) {
          return OnState([&]() -> std::string {
            DecidedCall call;
            const Attachment* attachment = roster_.Find(self);
            call.caller = {v1::ORIGIN_SESSION, self, self, attachment->epoch};
            call.role = attachment->role;
            call.workspace = mirror_.Find(attachment->root);
            call.scope = attachment->hello.scope();
            const auto found = peers_.Resolve(call, to, "");
            return found.ok() ? found->session_id : ReasonOf(found.status());
          });
        };
        EXPECT_EQ(target(entry.session_id()), entry.session_id());
        if (entry.short_id().size() >= 6) {
          EXPECT_EQ(target(entry.short_id()), entry.session_id());
        }
        if (!entry.runtime_name().empty()) {
          EXPECT_EQ(target(entry.runtime_name()), entry.session_id());
        }
        if (!entry.name().empty() && !entry.cwd().empty()) {
          const std::string at = target(entry.name() + "@" + entry.cwd());
          EXPECT_TRUE(at == entry.session_id() || at == "AMBIGUOUS_RECIPIENT")
              << at;
          const std::string by_name = target(entry.name());
          EXPECT_TRUE(by_name == entry.session_id() ||
                      by_name == "AMBIGUOUS_RECIPIENT" || !is_there ||
                      // A team member of the name is meant before.
                      by_name == "w-1" || by_name == "c-1")
              << by_name;
        }
      }
      // Nobody who can be reached by id and is attached is left out.
      for (const auto& [other, its] : attached) {
        if (other == self) continue;
        const bool found = Reached(session, other) == other;
        EXPECT_EQ(found, listed.contains(other)) << self << " to " << other;
      }
    }
    // Sending costs: everybody starts anew with a full burst.
    Advance(absl::Minutes(1));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomRosterTest, ::testing::Range(1, 6));

}  // namespace
}  // namespace intercom
