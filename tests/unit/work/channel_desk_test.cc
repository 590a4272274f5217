#include "broker/work/channel_desk.h"

#include <atomic>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/roster_rig.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Frame = v1::AttachResponse;

constexpr char kRoom[] = "example/v1";

class ChannelDeskTest : public RosterRig {
 protected:
  explicit ChannelDeskTest(std::unique_ptr<Database> db = OpenMemory())
      : RosterRig(std::move(db)) {
    registrar_.AddObserver(desk_);
  }
  ~ChannelDeskTest() override { runner_->Stop(); }

  TestSession AttachIn(const std::string& scope, const std::string& id) {
    v1::Hello hello = HelloOf(id);
    hello.set_scope(scope);
    auto session = TryAttach(hello);
    EXPECT_THAT(session, IsOk());
    return *session;
  }

  // Makes a request without waiting for anything.
  std::string Post(const TestSession& session, v1::ChannelRequest request) {
    request.set_request_id("r" + std::to_string(++requests_));
    if (request.namespace_().empty()) request.set_namespace_(kRoom);
    desk_.OnRequest(session.key, request);
    return request.request_id();
  }
  v1::ChannelResult ResultOf(const TestSession& session,
                             const std::string& id) {
    for (const Frame& frame : session.link->Of(Frame::kChannelResult)) {
      if (frame.channel_result().request_id() == id) {
        return frame.channel_result();
      }
    }
    ADD_FAILURE() << id << " was not answered";
    return {};
  }
  v1::ChannelResult Ask(const TestSession& session,
                        const v1::ChannelRequest& request) {
    const std::string id = Post(session, request);
    Sync();
    return ResultOf(session, id);
  }

  static v1::ChannelRequest JoinOf(bool eligible,
                                   const std::string& name = "") {
    v1::ChannelRequest request;
    request.set_namespace_(name);
    request.mutable_join()->set_owner_eligible(eligible);
    return request;
  }
  static v1::ChannelRequest LeaveOf() {
    v1::ChannelRequest request;
    request.mutable_leave();
    return request;
  }
  static v1::ChannelRequest PublishOf(const std::string& payload) {
    v1::ChannelRequest request;
    request.mutable_publish()->set_payload(payload);
    return request;
  }
  static v1::ChannelRequest OwnersPublishOf(const std::string& payload,
                                            const std::string& epoch) {
    v1::ChannelRequest request = PublishOf(payload);
    request.mutable_publish()->set_owner_only(true);
    request.mutable_publish()->set_epoch(epoch);
    return request;
  }
  static v1::ChannelRequest CommitOf(const std::string& payload,
                                     int64_t expected,
                                     const std::string& epoch) {
    v1::ChannelRequest request;
    request.mutable_commit()->set_payload(payload);
    request.mutable_commit()->set_expected_revision(expected);
    request.mutable_commit()->set_epoch(epoch);
    return request;
  }

  TestSession JoinedAs(const std::string& id, bool eligible) {
    TestSession session = Attach(id);
    EXPECT_TRUE(Ask(session, JoinOf(eligible)).ok());
    return session;
  }

  static std::vector<v1::ChannelEvent> EventsOf(
      const TestSession& session, v1::ChannelEvent::EventCase kind) {
    std::vector<v1::ChannelEvent> found;
    for (const Frame& frame : session.link->Of(Frame::kChannelEvent)) {
      if (frame.channel_event().event_case() == kind) {
        found.push_back(frame.channel_event());
      }
    }
    return found;
  }
  // The owner as the session knows it.
  static v1::ChannelOwner OwnerOf(const TestSession& session) {
    const auto events = EventsOf(session, v1::ChannelEvent::kOwner);
    return events.empty() ? v1::ChannelOwner() : events.back().owner();
  }
  static std::vector<std::string> PayloadsOf(const TestSession& session) {
    std::vector<std::string> found;
    for (const auto& event : EventsOf(session, v1::ChannelEvent::kMessage)) {
      found.push_back(event.message().payload());
    }
    return found;
  }
  // "revision:payload" of each state that the session was sent.
  static std::vector<std::string> StatesOf(const TestSession& session) {
    std::vector<std::string> found;
    for (const auto& event : EventsOf(session, v1::ChannelEvent::kState)) {
      found.push_back(std::to_string(event.state().revision()) + ":" +
                      event.state().payload());
    }
    return found;
  }
  std::vector<v1::ChannelSummary> Listed(const CallerEvidence& evidence) {
    Answer<absl::StatusOr<v1::ListChannelsResponse>> answer;
    desk_.ListChannels(evidence, {}, answer.Callback());
    const auto response = answer.Wait();
    EXPECT_THAT(response, IsOk());
    return {response->channels().begin(), response->channels().end()};
  }

  static ChannelRow Row(int64_t revision, const std::string& payload) {
    return {.revision = revision,
            .payload = payload,
            .committed_by = "somebody",
            .committed_at = {}};
  }

  int requests_ = 0;
  ChannelStore store_{runner_->database()};
  ChannelDesk desk_{*runner_, store_, roster_, clock_, random_};
};

TEST_F(ChannelDeskTest, TheFirstThatJoinedAndMayOwnsTheChannel) {
  const auto guest = JoinedAs("guest", false);
  EXPECT_EQ(OwnerOf(guest).session_id(), "");
  const auto first = JoinedAs("first", true);
  const auto second = JoinedAs("second", true);
  for (const auto& session : {guest, first, second}) {
    EXPECT_EQ(OwnerOf(session).session_id(), "first");
    EXPECT_NE(OwnerOf(session).epoch(), "");
    EXPECT_EQ(OwnerOf(session).epoch(), OwnerOf(first).epoch());
  }
}

TEST_F(ChannelDeskTest, ANewEpochBeginsWithEachNewOwner) {
  const auto first = JoinedAs("first", true);
  const auto second = JoinedAs("second", true);
  const std::string epoch = OwnerOf(second).epoch();
  EXPECT_TRUE(Ask(first, LeaveOf()).ok());
  EXPECT_EQ(OwnerOf(second).session_id(), "second");
  EXPECT_NE(OwnerOf(second).epoch(), epoch);
}

TEST_F(ChannelDeskTest, TheOwnerStaysWhileOthersComeAndGo) {
  const auto owner = JoinedAs("owner", true);
  const std::string epoch = OwnerOf(owner).epoch();
  const auto other = JoinedAs("other", true);
  Detach(other);
  JoinedAs("third", true);
  EXPECT_EQ(OwnerOf(owner).epoch(), epoch);
  EXPECT_THAT(EventsOf(owner, v1::ChannelEvent::kOwner), SizeIs(1));
}

TEST_F(ChannelDeskTest, AChannelWithoutAnyoneWhoMayOwnItHasNoOwner) {
  const auto guest = JoinedAs("guest", false);
  const auto owner = JoinedAs("owner", true);
  Detach(owner);
  EXPECT_EQ(OwnerOf(guest).session_id(), "");
  EXPECT_EQ(OwnerOf(guest).epoch(), "");
}

TEST_F(ChannelDeskTest, AReconnectionOfTheOwnerBeginsANewEpoch) {
  const auto before = JoinedAs("owner", true);
  const std::string epoch = OwnerOf(before).epoch();
  v1::Hello hello = HelloOf("owner");
  hello.set_previous_session_token(before.link->welcome().session_token());
  const auto after = TryAttach(hello);
  ASSERT_THAT(after, IsOk());
  EXPECT_TRUE(Ask(*after, JoinOf(true)).ok());
  EXPECT_EQ(OwnerOf(*after).session_id(), "owner");
  EXPECT_NE(OwnerOf(*after).epoch(), epoch);
  EXPECT_EQ(Ask(*after, CommitOf("1", 0, epoch)).reason(), "OLD_EPOCH");
  EXPECT_EQ(Ask(*after, OwnersPublishOf("1", epoch)).reason(), "OLD_EPOCH");
}

TEST_F(ChannelDeskTest, OwnerAndStateComeFirstAfterJoining) {
  const auto owner = JoinedAs("owner", true);
  EXPECT_TRUE(Ask(owner, CommitOf("7", 0, OwnerOf(owner).epoch())).ok());
  const auto late = JoinedAs("late", false);
  const auto events = late.link->Of(Frame::kChannelEvent);
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].channel_event().owner().session_id(), "owner");
  EXPECT_EQ(events[1].channel_event().state().payload(), "7");
  EXPECT_EQ(events[1].channel_event().state().revision(), 1);
}

TEST_F(ChannelDeskTest, MembersHearWhoComesAndGoes) {
  const auto first = JoinedAs("first", true);
  const auto second = JoinedAs("second", true);
  Detach(second);
  const auto events = EventsOf(first, v1::ChannelEvent::kMembership);
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].membership().session_id(), "second");
  EXPECT_EQ(events[0].membership().name(), "name of second");
  EXPECT_TRUE(events[0].membership().joined());
  EXPECT_FALSE(events[1].membership().joined());
}

TEST_F(ChannelDeskTest, JoiningAgainChangesOnlyWhetherOneMayOwn) {
  const auto first = JoinedAs("first", true);
  const auto second = JoinedAs("second", true);
  EXPECT_TRUE(Ask(first, JoinOf(false)).ok());
  EXPECT_EQ(OwnerOf(second).session_id(), "second");
  EXPECT_THAT(EventsOf(second, v1::ChannelEvent::kMembership), IsEmpty());
}

TEST_F(ChannelDeskTest, ABroadcastReachesEveryMemberAndItsSender) {
  const auto first = JoinedAs("first", true);
  const auto second = JoinedAs("second", false);
  const auto outsider = Attach("outsider");
  EXPECT_TRUE(Ask(second, PublishOf("{\"n\":1}")).ok());
  EXPECT_THAT(PayloadsOf(first), ElementsAre("{\"n\":1}"));
  EXPECT_THAT(PayloadsOf(second), ElementsAre("{\"n\":1}"));
  EXPECT_THAT(outsider.link->Of(Frame::kChannelEvent), IsEmpty());
  const auto event = EventsOf(first, v1::ChannelEvent::kMessage).front();
  EXPECT_EQ(event.message().from_session_id(), "second");
  EXPECT_EQ(event.message().owner().session_id(), "first");
  EXPECT_EQ(event.namespace_(), kRoom);
}

TEST_F(ChannelDeskTest, WhatIsForTheOwnerReachesNobodyElse) {
  const auto owner = JoinedAs("owner", true);
  const auto second = JoinedAs("second", false);
  v1::ChannelRequest request = PublishOf("1");
  request.mutable_publish()->set_audience(
      v1::ChannelRequest::Publish::AUDIENCE_OWNER);
  EXPECT_TRUE(Ask(second, request).ok());
  EXPECT_THAT(PayloadsOf(owner), ElementsAre("1"));
  EXPECT_THAT(PayloadsOf(second), IsEmpty());
  Detach(owner);
  EXPECT_EQ(Ask(second, request).reason(), "NO_OWNER");
}

TEST_F(ChannelDeskTest, OnlyMembersUseAChannel) {
  const auto owner = JoinedAs("owner", true);
  const auto outsider = Attach("outsider");
  EXPECT_EQ(Ask(outsider, PublishOf("1")).reason(), "NOT_JOINED");
  EXPECT_EQ(Ask(outsider, CommitOf("1", 0, OwnerOf(owner).epoch())).reason(),
            "NOT_JOINED");
  EXPECT_TRUE(Ask(outsider, LeaveOf()).ok());  // It is out.
  EXPECT_THAT(PayloadsOf(owner), IsEmpty());
}

TEST_F(ChannelDeskTest, OnlyTheOwnerWritesWhatOnlyTheOwnerMay) {
  const auto owner = JoinedAs("owner", true);
  const auto second = JoinedAs("second", true);
  const std::string epoch = OwnerOf(owner).epoch();
  EXPECT_EQ(Ask(second, OwnersPublishOf("1", epoch)).reason(), "NOT_OWNER");
  EXPECT_EQ(Ask(second, CommitOf("1", 0, epoch)).reason(), "NOT_OWNER");
  EXPECT_EQ(Ask(owner, OwnersPublishOf("1", "e")).reason(), "OLD_EPOCH");
  EXPECT_EQ(Ask(owner, CommitOf("1", 0, "")).reason(), "OLD_EPOCH");
  EXPECT_THAT(PayloadsOf(second), IsEmpty());
  EXPECT_THAT(StatesOf(second), IsEmpty());
  EXPECT_TRUE(Ask(owner, OwnersPublishOf("2", epoch)).ok());
  EXPECT_THAT(PayloadsOf(second), ElementsAre("2"));
}

TEST_F(ChannelDeskTest, AFormerOwnersWritesAreRefused) {
  const auto former = JoinedAs("former", true);
  const auto present = JoinedAs("present", true);
  const std::string epoch = OwnerOf(former).epoch();
  EXPECT_TRUE(Ask(former, JoinOf(false)).ok());
  EXPECT_TRUE(Ask(former, JoinOf(true)).ok());
  EXPECT_EQ(OwnerOf(former).session_id(), "present");
  EXPECT_EQ(Ask(former, CommitOf("1", 0, epoch)).reason(), "NOT_OWNER");
  EXPECT_EQ(Ask(present, CommitOf("1", 0, epoch)).reason(), "OLD_EPOCH");
}

TEST_F(ChannelDeskTest, ACommitReplacesTheRevisionThatItNames) {
  const auto owner = JoinedAs("owner", true);
  const auto second = JoinedAs("second", false);
  const std::string epoch = OwnerOf(owner).epoch();
  EXPECT_EQ(Ask(owner, CommitOf("\"a\"", 0, epoch)).revision(), 1);
  EXPECT_EQ(Ask(owner, CommitOf("\"b\"", 1, epoch)).revision(), 2);
  for (const int64_t stale : {0, 1, 3}) {
    const auto refused = Ask(owner, CommitOf("\"c\"", stale, epoch));
    EXPECT_FALSE(refused.ok());
    EXPECT_EQ(refused.reason(), "REVISION_CONFLICT");
    EXPECT_EQ(refused.revision(), 2);
  }
  for (const auto& session : {owner, second}) {
    EXPECT_THAT(StatesOf(session), ElementsAre("1:\"a\"", "2:\"b\""));
  }
}

TEST_F(ChannelDeskTest, OfTwoCommitsAtTheSameMomentOneWins) {
  const auto owner = JoinedAs("owner", true);
  const std::string epoch = OwnerOf(owner).epoch();
  std::promise<void> held, release;
  runner_->PostTask([&] {
    held.set_value();
    release.get_future().wait();
  });
  held.get_future().wait();
  const std::string one = Post(owner, CommitOf("1", 0, epoch));
  const std::string two = Post(owner, CommitOf("2", 0, epoch));
  release.set_value();
  Sync();
  EXPECT_TRUE(ResultOf(owner, one).ok());
  EXPECT_EQ(ResultOf(owner, two).reason(), "REVISION_CONFLICT");
  EXPECT_EQ(ResultOf(owner, two).revision(), 1);
  EXPECT_THAT(StatesOf(owner), ElementsAre("1:1"));
}

TEST_F(ChannelDeskTest, EventsComeInTheOrderOfTheirRequests) {
  const auto owner = JoinedAs("owner", true);
  const std::string epoch = OwnerOf(owner).epoch();
  Post(owner, PublishOf("\"before\""));
  Post(owner, CommitOf("1", 0, epoch));
  Post(owner, PublishOf("\"after\""));
  Sync();
  std::vector<v1::ChannelEvent::EventCase> order;
  for (const Frame& frame : owner.link->Of(Frame::kChannelEvent)) {
    order.push_back(frame.channel_event().event_case());
  }
  EXPECT_THAT(
      order, ElementsAre(v1::ChannelEvent::kOwner, v1::ChannelEvent::kMessage,
                         v1::ChannelEvent::kState, v1::ChannelEvent::kMessage));
}

TEST_F(ChannelDeskTest, AStateOutlivesItsMembers) {
  auto owner = JoinedAs("owner", true);
  EXPECT_TRUE(Ask(owner, CommitOf("7", 0, OwnerOf(owner).epoch())).ok());
  Detach(owner);
  EXPECT_THAT(StatesOf(JoinedAs("other", false)), ElementsAre("1:7"));
}

TEST_F(ChannelDeskTest, ACommitThatCouldNotBeStoredChangedNothing) {
  const auto owner = JoinedAs("owner", true);
  const std::string epoch = OwnerOf(owner).epoch();
  EXPECT_TRUE(Ask(owner, CommitOf("1", 0, epoch)).ok());
  std::string id;
  InFailingBatch([&] { id = Post(owner, CommitOf("2", 1, epoch)); });
  EXPECT_EQ(ResultOf(owner, id).reason(), "STORAGE_FAILED");
  EXPECT_EQ(ResultOf(owner, id).revision(), 1);
  EXPECT_THAT(StatesOf(owner), ElementsAre("1:1"));
  EXPECT_TRUE(Ask(owner, CommitOf("3", 1, epoch)).ok());
}

TEST_F(ChannelDeskTest, PayloadsAndStatesHaveTheirLimits) {
  const auto owner = JoinedAs("owner", true);
  const std::string epoch = OwnerOf(owner).epoch();
  const std::string largest(ChannelDesk::kMaxPayloadBytes, 'x');
  EXPECT_TRUE(Ask(owner, PublishOf(largest)).ok());
  EXPECT_EQ(Ask(owner, PublishOf(largest + "x")).reason(), "PAYLOAD_TOO_LARGE");
  const std::string state(ChannelDesk::kMaxStateBytes, 'x');
  EXPECT_TRUE(Ask(owner, CommitOf(state, 0, epoch)).ok());
  EXPECT_EQ(Ask(owner, CommitOf(state + "x", 1, epoch)).reason(),
            "PAYLOAD_TOO_LARGE");
  EXPECT_THAT(PayloadsOf(owner), SizeIs(1));
  EXPECT_THAT(StatesOf(owner), SizeIs(1));
}

TEST_F(ChannelDeskTest, ANamespaceIsVisibleAscii) {
  const auto session = Attach("s");
  EXPECT_TRUE(Ask(session, JoinOf(true, std::string(64, '!'))).ok());
  for (const std::string& name :
       {std::string(65, 'a'), std::string("a b"), std::string("\x7f"),
        std::string("caf\xc3\xa9"), std::string("a\n")}) {
    EXPECT_EQ(Ask(session, JoinOf(true, name)).reason(), "NAMESPACE_INVALID");
  }
  v1::ChannelRequest nameless = JoinOf(true);
  nameless.set_request_id("nameless");
  desk_.OnRequest(session.key, nameless);
  Sync();
  EXPECT_EQ(ResultOf(session, "nameless").reason(), "NAMESPACE_INVALID");
}

TEST_F(ChannelDeskTest, ASessionIsInThirtyTwoChannelsAtMost) {
  const auto session = Attach("s");
  for (int i = 0; i < 32; ++i) {
    EXPECT_TRUE(Ask(session, JoinOf(true, "n" + std::to_string(i))).ok());
  }
  EXPECT_EQ(Ask(session, JoinOf(true, "n32")).reason(), "CHANNELS_FULL");
  EXPECT_TRUE(Ask(session, JoinOf(false, "n31")).ok());
  v1::ChannelRequest leave = LeaveOf();
  leave.set_namespace_("n0");
  EXPECT_TRUE(Ask(session, leave).ok());
  EXPECT_TRUE(Ask(session, JoinOf(true, "n32")).ok());
}

TEST_F(ChannelDeskTest, StatesAreKeptUpToALimitAndNoneIsDropped) {
  OnState([&] {
    for (int64_t i = 0; i < ChannelDesk::kMaxStates; ++i) {
      EXPECT_THAT(store_.Save({"", "old" + std::to_string(i)}, Row(1, "")),
                  IsOk());
    }
    return true;
  });
  const auto owner = JoinedAs("owner", true);
  EXPECT_EQ(Ask(owner, CommitOf("1", 0, OwnerOf(owner).epoch())).reason(),
            "CHANNELS_FULL");
  EXPECT_TRUE(Ask(owner, JoinOf(true, "old0")).ok());
  v1::ChannelRequest commit = CommitOf("1", 1, OwnerOf(owner).epoch());
  commit.set_namespace_("old0");
  EXPECT_EQ(Ask(owner, commit).revision(), 2);
}

TEST_F(ChannelDeskTest, OnePeerThatFloodsIsSlowedDownAlone) {
  const auto loud = JoinedAs("loud", true);
  const auto calm = JoinedAs("calm", true);
  for (int i = 1; i < 240; ++i) EXPECT_TRUE(Ask(loud, PublishOf("1")).ok());
  EXPECT_EQ(Ask(loud, PublishOf("1")).reason(), "CHANNEL_RATE");
  EXPECT_EQ(Ask(loud, CommitOf("1", 0, "")).reason(), "CHANNEL_RATE");
  EXPECT_TRUE(Ask(calm, PublishOf("1")).ok());
  Advance(absl::Seconds(1));
  for (int i = 0; i < 120; ++i) EXPECT_TRUE(Ask(loud, PublishOf("1")).ok());
  EXPECT_EQ(Ask(loud, PublishOf("1")).reason(), "CHANNEL_RATE");
  EXPECT_TRUE(Ask(loud, LeaveOf()).ok());  // One may always go.
}

TEST_F(ChannelDeskTest, ScopesAreSeparate) {
  const auto red = AttachIn("red", "r");
  const auto blue = AttachIn("blue", "b");
  EXPECT_TRUE(Ask(red, JoinOf(true)).ok());
  EXPECT_TRUE(Ask(blue, JoinOf(true)).ok());
  EXPECT_EQ(OwnerOf(red).session_id(), "r");
  EXPECT_EQ(OwnerOf(blue).session_id(), "b");
  EXPECT_TRUE(Ask(red, PublishOf("1")).ok());
  EXPECT_TRUE(Ask(red, CommitOf("1", 0, OwnerOf(red).epoch())).ok());
  EXPECT_THAT(PayloadsOf(blue), IsEmpty());
  EXPECT_THAT(StatesOf(blue), IsEmpty());
  EXPECT_EQ(Ask(blue, CommitOf("2", 0, OwnerOf(blue).epoch())).revision(), 1);
  CallerEvidence evidence;
  evidence.stream = red.key;
  EXPECT_THAT(Listed(evidence), SizeIs(1));
  EXPECT_THAT(Listed({}), SizeIs(2));
}

TEST_F(ChannelDeskTest, AForgedSenderInAPayloadIsOnlyAPayload) {
  const auto owner = JoinedAs("owner", true);
  const auto other = JoinedAs("other", false);
  const std::string forged =
      "{\"fromSessionId\":\"owner\",\"owner\":{\"sessionId\":\"other\"}}";
  EXPECT_TRUE(Ask(other, PublishOf(forged)).ok());
  const auto event = EventsOf(owner, v1::ChannelEvent::kMessage).front();
  EXPECT_EQ(event.message().from_session_id(), "other");
  EXPECT_EQ(event.message().owner().session_id(), "owner");
}

TEST_F(ChannelDeskTest, NobodySpeaksForASessionThatWasTakenOver) {
  const auto before = JoinedAs("s", true);
  v1::Hello hello = HelloOf("s");
  hello.set_previous_session_token(before.link->welcome().session_token());
  const auto after = TryAttach(hello);
  ASSERT_THAT(after, IsOk());
  EXPECT_TRUE(Ask(*after, JoinOf(true)).ok());
  const std::string epoch = OwnerOf(*after).epoch();
  Post(before, PublishOf("1"));
  Post(before, CommitOf("1", 0, epoch));
  Post(before, LeaveOf());
  Sync();
  EXPECT_THAT(PayloadsOf(*after), IsEmpty());
  EXPECT_THAT(StatesOf(*after), IsEmpty());
  EXPECT_TRUE(Ask(*after, PublishOf("2")).ok());
}

TEST_F(ChannelDeskTest, AnUnknownActionIsRefusedInWords) {
  const auto session = Attach("s");
  EXPECT_EQ(Ask(session, {}).reason(), "UNKNOWN_ACTION");
}

// What a publication costs is as large as the channel and no larger, and who
// joins costs each of the others one event.
TEST_F(ChannelDeskTest, TwoHundredMembersAreNoQuadraticCost) {
  std::vector<TestSession> members;
  for (int i = 0; i < 200; ++i) {
    members.push_back(JoinedAs("s" + std::to_string(i), true));
  }
  const auto events = [&] {
    size_t count = 0;
    for (const auto& member : members) {
      count += member.link->Of(Frame::kChannelEvent).size();
    }
    return count;
  };
  const size_t before = events();
  EXPECT_EQ(before, 200u + 199u * 200u / 2u);
  EXPECT_TRUE(Ask(members[77], PublishOf("1")).ok());
  EXPECT_EQ(events() - before, 200u);
  v1::Activity activity;
  activity.set_phase(v1::ACTIVITY_PHASE_THINKING);
  for (const auto& member : members) {
    registrar_.SetActivity(member.key, activity);
  }
  Sync();
  EXPECT_EQ(events() - before, 200u);
  for (const auto& member : members) {
    EXPECT_EQ(OwnerOf(member).session_id(), "s0");
  }
}

TEST_F(ChannelDeskTest, AListTellsMembersOwnersAndRevisionsWithoutPayloads) {
  const auto owner = JoinedAs("owner", true);
  JoinedAs("second", false);
  EXPECT_TRUE(Ask(owner, CommitOf("12345", 0, OwnerOf(owner).epoch())).ok());
  OnState([&] {
    EXPECT_THAT(store_.Save({"", "empty"}, Row(3, "1")), IsOk());
    return true;
  });
  const auto listed = Listed({});
  ASSERT_THAT(listed, SizeIs(2));
  EXPECT_EQ(listed[0].namespace_(), "empty");
  EXPECT_EQ(listed[0].revision(), 3);
  EXPECT_THAT(listed[0].member_session_ids(), IsEmpty());
  EXPECT_FALSE(listed[0].has_owner());
  EXPECT_EQ(listed[1].namespace_(), kRoom);
  EXPECT_THAT(listed[1].member_session_ids(), ElementsAre("owner", "second"));
  EXPECT_EQ(listed[1].owner().session_id(), "owner");
  EXPECT_EQ(listed[1].state_bytes(), 5);
}

// Over a database in a file, whose sync waits for a word.
class ChannelOnDiskTest : public ChannelDeskTest {
 protected:
  ChannelOnDiskTest() : ChannelOnDiskTest(std::make_unique<TempDir>()) {}
  ~ChannelOnDiskTest() override { runner_->Stop(); }

  std::unique_ptr<TempDir> store_dir_;

 private:
  explicit ChannelOnDiskTest(std::unique_ptr<TempDir> dir)
      : ChannelDeskTest(OpenAt(*dir / "state.db")),
        store_dir_(std::move(dir)) {}
  static std::unique_ptr<Database> OpenAt(const std::string& path) {
    auto db = Database::Open(path).value();
    EXPECT_THAT(Migrate(*db, AllMigrations()), IsOk());
    return db;
  }
};

TEST_F(ChannelOnDiskTest, AStateCommitDoesNotSyncTheDiskInTheLoopOfOthers) {
  std::promise<void> syncing, release;
  std::atomic<bool> hold = false;
  disk_sync_ = [&] {
    if (hold.exchange(false)) {
      syncing.set_value();
      release.get_future().wait();
    }
    return absl::OkStatus();
  };
  const auto owner = JoinedAs("owner", true);
  const auto other = JoinedAs("other", false);
  hold = true;
  const std::string commit =
      Post(owner, CommitOf("1", 0, OwnerOf(owner).epoch()));
  syncing.get_future().wait();
  // The disk is busy: others go on, members have the state, the owner waits
  // for its word.
  const std::string publication = Post(other, PublishOf("2"));
  OnState([] { return true; });
  EXPECT_TRUE(ResultOf(other, publication).ok());
  EXPECT_THAT(PayloadsOf(owner), ElementsAre("2"));
  EXPECT_THAT(StatesOf(other), ElementsAre("1:1"));
  for (const Frame& frame : owner.link->Of(Frame::kChannelResult)) {
    EXPECT_THAT(frame.channel_result().request_id(), Not(commit));
  }
  release.set_value();
  Sync();
  EXPECT_EQ(ResultOf(owner, commit).revision(), 1);
}

}  // namespace
}  // namespace intercom
