// Sessions that talk beyond a workspace, over real connections.

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/integration/broker_fixture.h"
#include "tests/integration/child_program.h"
#include "tests/support/stop_process.h"

namespace intercom {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PeersTest : public BrokerFixture {
 protected:
  PeersTest() { StartBroker(); }

  v1::Hello HelloIn(const std::string& id, const std::string& directory,
                    const std::string& name, const std::string& scope = "") {
    fs::create_directories(dir_ / directory);
    v1::Hello hello = HelloOf(id);
    hello.set_cwd(dir_ / directory);
    hello.set_session_name(name);
    hello.set_scope(scope);
    hello.set_workspace_mode(v1::WORKSPACE_MODE_EXISTING);
    hello.set_start_reason(v1::START_REASON_STARTUP);
    return hello;
  }
  std::unique_ptr<AttachClient> Come(const v1::Hello& hello) {
    auto client = std::make_unique<AttachClient>(Tcp(), InjectAtOnce);
    EXPECT_TRUE(client->SayHello(hello));
    client->StartReading();
    client->frames.WaitFor(Frame::kReconcile);
    EXPECT_TRUE(client->SayPresent({}));
    return client;
  }
  std::unique_ptr<AttachClient> ComeIn(const std::string& id,
                                       const std::string& directory,
                                       const std::string& name,
                                       const std::string& scope = "") {
    return Come(HelloIn(id, directory, name, scope));
  }
  // A connection for calls of that session.
  std::shared_ptr<BrokerClient> CallsOf(const AttachClient& session) {
    const auto client = Tcp();
    client->ActAs(session.frames.welcome().session_token());
    return client;
  }
  // Whom a message of the session went to, or the reason why nobody got it.
  std::string Reached(AttachClient& from, const std::string& to,
                      const std::string& cwd = "") {
    v1::AttachRequest frame;
    v1::Submit& submit = *frame.mutable_submit();
    *submit.mutable_envelope() = Message("e" + std::to_string(++sent_));
    submit.set_to(to);
    submit.set_cwd(cwd);
    submit.set_reach(v1::REACH_ACCOUNT);
    const size_t answered = from.frames.Of(Frame::kSubmitted).size();
    EXPECT_TRUE(from.Write(frame));
    const auto answers = from.frames.WaitFor(Frame::kSubmitted, answered + 1);
    const v1::Submitted& last = answers.back().submitted();
    return last.has_record() ? last.record().recipient_session_id()
                             : last.failure().reason();
  }
  v1::ListSessionsResponse List(const AttachClient& by,
                                bool with_away = false) {
    v1::ListSessionsRequest request;
    request.set_with_away(with_away);
    v1::ListSessionsResponse response;
    EXPECT_TRUE(CallsOf(by)->ListSessions(request, response).ok());
    return response;
  }
  std::vector<std::string> Listed(const AttachClient& by,
                                  bool with_away = false) {
    std::vector<std::string> ids;
    const v1::ListSessionsResponse list = List(by, with_away);
    for (const auto& entry : list.sessions()) {
      ids.push_back(entry.session_id());
    }
    return ids;
  }
  v1::DeliveryRecord RecordOf(const std::string& id) {
    v1::DeliveryRecord record;
    EXPECT_TRUE(Tcp()->Get(id, record).ok());
    return record;
  }

  int sent_ = 0;
};

TEST_F(PeersTest, ThreeSessionsInThreeDirectoriesTalkWithoutAnyConfig) {
  const auto a = ComeIn("a-1", "one", "planner");
  const auto b = ComeIn("b-1", "two", "worker");
  const auto c = ComeIn("c-9", "three", "");
  EXPECT_EQ(a->frames.welcome().role(), v1::ROLE_PEER);
  EXPECT_THAT(Listed(*a), ElementsAre("c-9", "b-1"));
  EXPECT_EQ(Reached(*a, "worker"), "b-1");
  EXPECT_EQ(Reached(*b, "Planner"), "a-1");
  EXPECT_EQ(Reached(*b, "session-c-9"), "c-9");
  EXPECT_EQ(Reached(*c, "worker@two"), "b-1");
  EXPECT_EQ(Reached(*c, "", dir_ / "one"), "a-1");
  b->frames.WaitFor(Frame::kDelivery, 2);
  EXPECT_THAT(b->frames.texts(), ElementsAre("text of e1", "text of e4"));
  const auto delivered = a->frames.WaitFor(Frame::kDelivery, 2);
  EXPECT_EQ(delivered[0].delivery().sender().session_id(), "b-1");
  EXPECT_EQ(delivered[0].delivery().sender().role(), v1::ROLE_PEER);
}

TEST_F(PeersTest, SuccessIsNeverSaidForASessionThatDoesNotExist) {
  const auto a = ComeIn("a-1", "one", "planner");
  EXPECT_EQ(Reached(*a, "wroker"), "UNKNOWN_RECIPIENT");
  EXPECT_EQ(Reached(*a, "00000000-0000-4000-8000-000000000000"),
            "UNKNOWN_RECIPIENT");
  EXPECT_EQ(Reached(*a, ""), "TARGET_EMPTY");
  EXPECT_EQ(Reached(*a, "a"), "UNKNOWN_RECIPIENT");
  EXPECT_EQ(Reached(*a, "planner"), "SELF_TARGET");
  v1::ListMailboxesResponse mailboxes;
  const auto client = Tcp();
  EXPECT_TRUE(client
                  ->Call(*client->inspection,
                         &v1::InspectionService::Stub::ListMailboxes,
                         v1::ListMailboxesRequest(), mailboxes)
                  .ok());
  EXPECT_THAT(mailboxes.mailboxes(), IsEmpty());
}

TEST_F(PeersTest, AnAnonymousSessionReachesTheTeamOfAnotherWorkspace) {
  WriteConfig(dir_ / "other", ConfigText({{"c-2", "Coordinator"}}));
  const auto coordinator = Attach("c-1");
  const auto worker = Attach("w-1");
  const auto anonymous = ComeIn("x-1", "other", "visitor");
  EXPECT_EQ(anonymous->frames.welcome().role(), v1::ROLE_ANONYMOUS);
  EXPECT_EQ(Reached(*anonymous, "Reviewer"), "w-1");
  EXPECT_EQ(Reached(*anonymous, "Coordinator@project"), "c-1");
  EXPECT_EQ(Reached(*anonymous, "Coordinator"), "c-2");
  EXPECT_EQ(Reached(*worker, "visitor"), "x-1");
  EXPECT_EQ(Reached(*coordinator, "visitor@other"), "x-1");
}

TEST_F(PeersTest, ScopesSeparateListRoutingAndMailboxes) {
  const auto red = ComeIn("r-1", "one", "planner", "red");
  const auto blue = ComeIn("b-1", "one", "worker", "blue");
  EXPECT_THAT(Listed(*red), IsEmpty());
  EXPECT_EQ(Reached(*red, "worker"), "UNKNOWN_RECIPIENT");
  EXPECT_EQ(Reached(*red, "b-1"), "UNKNOWN_RECIPIENT");
  Leave(*red);
  EXPECT_EQ(Reached(*blue, "planner"), "UNKNOWN_RECIPIENT");
  const auto other = ComeIn("r-2", "two", "other", "red");
  EXPECT_EQ(Reached(*other, "planner"), "r-1");
  const auto heir = ComeIn("b-2", "one", "planner", "blue");
  EXPECT_EQ(RecordOf("r-2/e4").recipient_session_id(), "r-1");
}

TEST_F(PeersTest, MailToANameThatIsAwayIsThereAfterARestart) {
  const auto a = ComeIn("a-1", "one", "planner");
  auto b = ComeIn("b-1", "two", "worker");
  Leave(*b);
  EXPECT_EQ(Reached(*a, "worker"), "b-1");
  EXPECT_EQ(RecordOf("a-1/e1").wait_reason(), v1::WAIT_REASON_AWAY);
  EXPECT_TRUE(RecordOf("a-1/e1").has_expires_at());
  RestartBroker();
  b = ComeIn("b-1", "two", "worker");
  b->frames.WaitFor(Frame::kDelivery);
  EXPECT_THAT(b->frames.texts(), ElementsAre("text of e1"));
}

TEST_F(PeersTest, AReturnUnderTheSameNameAndDirectoryGetsTheMailOnce) {
  const auto a = ComeIn("a-1", "one", "planner");
  auto gone = ComeIn("b-1", "two", "worker");
  Leave(*gone);
  EXPECT_EQ(Reached(*a, "worker"), "b-1");
  // Whatever the broker, and though everything is of an earlier one.
  RestartBroker();
  const auto stranger = ComeIn("b-2", "three", "worker");
  const auto unnamed = ComeIn("b-3", "two", "");
  EXPECT_EQ(RecordOf("a-1/e1").recipient_session_id(), "b-1");
  const auto heir = ComeIn("b-4", "two", "worker");
  heir->frames.WaitFor(Frame::kDelivery);
  EXPECT_THAT(heir->frames.texts(), ElementsAre("text of e1"));
  const v1::DeliveryRecord record = RecordOf("a-1/e1");
  EXPECT_EQ(record.recipient_session_id(), "b-4");
  EXPECT_EQ(record.addressed_session_id(), "b-1");
  gone = ComeIn("b-1", "two", "worker");
  EXPECT_THAT(
      gone->frames.WaitFor(Frame::kReconcile)[0].reconcile().delivery_ids(),
      IsEmpty());
  EXPECT_THAT(stranger->frames.deliveries(), IsEmpty());
  EXPECT_THAT(unnamed->frames.deliveries(), IsEmpty());
}

TEST_F(PeersTest, MailIsNeverReturnedToItsOwnSender) {
  const auto gone = ComeIn("b-1", "two", "worker");
  Leave(*gone);
  const auto sender = ComeIn("a-1", "two", "");
  EXPECT_EQ(Reached(*sender, "worker"), "b-1");
  v1::AttachRequest frame;
  frame.mutable_renamed()->set_name("worker");
  sender->Write(frame);
  // A later frame of the stream is answered after it was stored.
  EXPECT_EQ(Reached(*sender, "worker"), "SELF_TARGET");
  EXPECT_EQ(RecordOf("a-1/e1").recipient_session_id(), "b-1");
}

TEST_F(PeersTest, ARenameWhileIdleIsSeenAtOnce) {
  const auto a = ComeIn("a-1", "one", "planner");
  const auto b = ComeIn("b-1", "two", "worker");
  v1::AttachRequest frame;
  frame.mutable_renamed()->set_name("builder");
  b->Write(frame);
  EXPECT_EQ(Reached(*b, "planner"), "a-1");  // its frames are in order
  EXPECT_EQ(Reached(*a, "builder"), "b-1");
  EXPECT_EQ(Reached(*a, "worker"), "UNKNOWN_RECIPIENT");
  EXPECT_EQ(List(*a).sessions(0).name(), "builder");
}

TEST_F(PeersTest, AStableIdClaimedTwiceStaysWithTheFirstAndBothAreTold) {
  v1::Hello hello = HelloIn("b-1", "two", "");
  hello.set_stable_id("desk");
  auto first = Come(hello);
  hello = HelloIn("b-2", "three", "");
  hello.set_stable_id("desk");
  const auto second = Come(hello);
  EXPECT_EQ(first->frames.welcome().stable_id(), "desk");
  EXPECT_EQ(second->frames.welcome().stable_id(), "");
  EXPECT_THAT(second->frames.welcome().notices(), Contains(HasSubstr("desk")));
  const auto told = first->frames.WaitFor(Frame::kDelivery);
  EXPECT_EQ(told[0].delivery().envelope().topic(), "STABLE_ID");
  const auto a = ComeIn("a-1", "one", "planner");
  EXPECT_EQ(Reached(*a, "desk"), "b-1");
  EXPECT_EQ(Reached(*a, "b-2"), "b-2");
  Leave(*first);
  RestartBroker();
  const auto later = ComeIn("a-2", "one", "planner");
  EXPECT_EQ(Reached(*later, "desk"), "b-1");
}

class ManyPeersTest : public PeersTest,
                      public ::testing::WithParamInterface<int> {};

INSTANTIATE_TEST_SUITE_P(Sessions, ManyPeersTest,
                         ::testing::Values(2, 10, 50, 200));

TEST_P(ManyPeersTest, AllAreListedAndFoundByNameAndByShortId) {
  const int kSessions = GetParam();
  std::vector<std::unique_ptr<AttachClient>> sessions;
  for (int i = 0; i < kSessions; ++i) {
    // Time-ordered ids share prefixes.
    const std::string id =
        "0198a7c2-7f00-7" + std::to_string(100 + i) + "-8000-000000000000";
    sessions.push_back(std::make_unique<AttachClient>(Tcp(), InjectAtOnce));
    sessions.back()->SayHello(
        HelloIn(id, i % 2 == 0 ? "one" : "two",
                i % 3 == 0 ? "" : "s" + std::to_string(i)));
    sessions.back()->StartReading();
  }
  for (const auto& session : sessions) {
    session->frames.WaitFor(Frame::kReconcile);
    session->SayPresent({});
  }
  // Two that send: each within its burst.
  AttachClient& self = *sessions.back();
  AttachClient& other = *sessions.front();
  const auto list = List(self);
  ASSERT_THAT(list.sessions(), SizeIs(kSessions - 1));
  const std::string other_id = List(other).self().session_id();
  for (const v1::RosterEntry& entry : list.sessions()) {
    const std::string& name =
        entry.name().empty() ? entry.runtime_name() : entry.name();
    EXPECT_EQ(Reached(self, name), entry.session_id());
    EXPECT_EQ(Reached(other, entry.short_id()), entry.session_id() == other_id
                                                    ? "SELF_TARGET"
                                                    : entry.session_id());
  }
}

// --- Presence

// An agent's process in the workspace, whose coordinator is shown that it came
// and that it left.
class PresenceTest : public PeersTest {
 protected:
  PresenceTest() {
    EXPECT_EQ(agent_.ReadLine(), "attached");
    AwaitChanges(1);
    EXPECT_THAT(Listed(*coordinator_), ElementsAre("x-1"));
    EXPECT_EQ(Reached(*coordinator_, "session-x-1"), "x-1");
  }
  // Until the coordinator was told of so many changes of a session. A hint
  // names none.
  void AwaitChanges(int count) {
    for (int wanted = count;; ++wanted) {
      int named = 0;
      for (const v1::AttachResponse& frame :
           coordinator_->frames.WaitFor(Frame::kRosterChanged, wanted)) {
        named += frame.roster_changed().entries_size() > 0;
      }
      if (named >= count) return;
    }
  }
  // How long after `since` it left; neither list nor send finds it then.
  steady_clock::duration GoneAfter(steady_clock::time_point since) {
    AwaitChanges(2);
    const auto took = steady_clock::now() - since;
    EXPECT_THAT(Listed(*coordinator_), IsEmpty());
    EXPECT_EQ(Reached(*coordinator_, "session-x-1"), "UNKNOWN_RECIPIENT");
    return took;
  }

  std::unique_ptr<AttachClient> coordinator_ = Attach("c-1");
  ChildProgram agent_{{"--attach", home_, "x-1", root_}};
};

TEST_F(PresenceTest, ASessionIsGoneWithinASecondOfItsAgentsDeath) {
  const auto died = steady_clock::now();
  kill(agent_.pid(), SIGKILL);
  EXPECT_LT(GoneAfter(died), std::chrono::seconds(1));
}

TEST_F(PresenceTest, ASessionIsGoneWithinTenSecondsOfItsAgentsFreeze) {
  const auto froze = steady_clock::now();
  ASSERT_TRUE(StopProcess(agent_.pid()));
  EXPECT_LT(GoneAfter(froze), std::chrono::seconds(10));
  kill(agent_.pid(), SIGKILL);
}

}  // namespace
}  // namespace intercom
