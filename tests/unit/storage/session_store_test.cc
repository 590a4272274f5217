#include "broker/storage/session_store.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "broker/storage/delivery_store.h"
#include "broker/storage/meta_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/storage/storage_fixtures.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;

class SessionStoreTest : public ::testing::Test {
 protected:
  static SessionRow Row(const std::string& id, const std::string& root) {
    return {.session_id = id,
            .workspace_root = root,
            .cwd = root + "/src",
            .scope = "fleet",
            .name = "name of " + id,
            .host_kind = "pi",
            .host_version = "1.6.0",
            .role = v1::ROLE_WORKER,
            .attached_at = kNow,
            .last_seen_at = kNow,
            .host_pid = 42,
            .host_start_ticks = 420,
            .launch_job_id = "job-1"};
  }

  static std::vector<std::string> IdsOf(
      const absl::StatusOr<std::vector<SessionRow>>& rows) {
    std::vector<std::string> ids;
    for (const SessionRow& row : rows.value()) ids.push_back(row.session_id);
    return ids;
  }

  std::unique_ptr<Database> db_ = MigratedInMemory();
  SessionStore store_{*db_};
};

TEST_F(SessionStoreTest, EachAttachmentHasTheNextEpoch) {
  EXPECT_EQ(store_.Attach(Row("s1", "/a")).value(), 1);
  EXPECT_EQ(store_.Attach(Row("s1", "/b")).value(), 2);
  EXPECT_EQ(store_.Attach(Row("s2", "/a")).value(), 1);
  EXPECT_EQ(store_.Find("s1").value()->workspace_root, "/b");
  EXPECT_EQ(store_.Find("s1").value()->epoch, 2);
}

TEST_F(SessionStoreTest, ASessionComesBackAsItWasStored) {
  ASSERT_THAT(store_.Attach(Row("s1", "/a")), IsOk());
  const SessionRow row = store_.Find("s1").value().value();
  EXPECT_EQ(row.cwd, "/a/src");
  EXPECT_EQ(row.scope, "fleet");
  EXPECT_EQ(row.name, "name of s1");
  EXPECT_EQ(row.host_kind, "pi");
  EXPECT_EQ(row.host_version, "1.6.0");
  EXPECT_EQ(row.role, v1::ROLE_WORKER);
  EXPECT_EQ(row.attached_at, kNow);
  EXPECT_EQ(row.host_pid, 42);
  EXPECT_EQ(row.host_start_ticks, 420);
  EXPECT_EQ(row.launch_job_id, "job-1");
  EXPECT_EQ(store_.Find("s2").value(), std::nullopt);
}

TEST_F(SessionStoreTest, SettersChangeOneThing) {
  ASSERT_THAT(store_.Attach(Row("s1", "/a")), IsOk());
  ASSERT_THAT(store_.SetName("s1", "new"), IsOk());
  ASSERT_THAT(store_.SetLeft("s1", 1, kNow + absl::Hours(1)), IsOk());
  const SessionRow row = store_.Find("s1").value().value();
  EXPECT_EQ(row.name, "new");
  EXPECT_EQ(row.last_seen_at, kNow + absl::Hours(1));
  EXPECT_EQ(row.attached_at, kNow);
}

TEST_F(SessionStoreTest, ASessionIsFoundByItsNameRegardlessOfCase) {
  SessionRow row = Row("s1", "/a");
  row.name = " Ärger ";
  ASSERT_THAT(store_.Attach(row), IsOk());
  row = Row("s2", "/b");
  row.name = "ärger";
  row.last_seen_at = kNow + absl::Hours(1);
  ASSERT_THAT(store_.Attach(row), IsOk());
  row = Row("s3", "/c");
  row.name = "ärger";
  row.scope = "other";
  ASSERT_THAT(store_.Attach(row), IsOk());
  EXPECT_THAT(IdsOf(store_.FindNamed("fleet", "ärger", 10)),
              ElementsAre("s2", "s1"));
  ASSERT_THAT(store_.SetName("s2", "Other"), IsOk());
  EXPECT_THAT(IdsOf(store_.FindNamed("fleet", "ärger", 10)), ElementsAre("s1"));
  EXPECT_THAT(IdsOf(store_.FindNamed("fleet", "other", 10)), ElementsAre("s2"));
}

TEST_F(SessionStoreTest, UnnamedSessionsAreNotFoundByAnyName) {
  SessionRow row = Row("s1", "/a");
  row.name = "  ";
  ASSERT_THAT(store_.Attach(row), IsOk());
  EXPECT_THAT(IdsOf(store_.FindNamed("fleet", "", 10)), ElementsAre());
}

TEST_F(SessionStoreTest, AStableIdIsOfWhoHadItLast) {
  SessionRow row = Row("s1", "/a");
  row.stable_id = "desk";
  ASSERT_THAT(store_.Attach(row), IsOk());
  row = Row("s2", "/a");
  row.stable_id = "desk";
  row.last_seen_at = kNow + absl::Hours(1);
  ASSERT_THAT(store_.Attach(row), IsOk());
  EXPECT_EQ(store_.FindByStableId("fleet", "desk").value()->session_id, "s2");
  EXPECT_EQ(store_.FindByStableId("other", "desk").value(), std::nullopt);
  ASSERT_THAT(store_.SetStableId("s2", ""), IsOk());
  EXPECT_EQ(store_.FindByStableId("fleet", "desk").value()->session_id, "s1");
}

TEST_F(SessionStoreTest, APrefixFindsTheSessionsOfOneScope) {
  for (const char* id : {"ab", "abc", "abé", "ac"}) {
    ASSERT_THAT(store_.Attach(Row(id, "/a")), IsOk());
  }
  SessionRow row = Row("abd", "/a");
  row.scope = "other";
  ASSERT_THAT(store_.Attach(row), IsOk());
  EXPECT_THAT(IdsOf(store_.FindByPrefix("fleet", "ab", 10)),
              ElementsAre("ab", "abc", "abé"));
  EXPECT_THAT(IdsOf(store_.FindByPrefix("fleet", "ab", 1)), ElementsAre("ab"));
}

TEST_F(SessionStoreTest, TheLastSeenAreTheFirstThatAreTaken) {
  for (int i = 1; i <= 5; ++i) {
    SessionRow row = Row("s" + std::to_string(i), "/a");
    row.last_seen_at = kNow + absl::Hours(i);
    ASSERT_THAT(store_.Attach(row), IsOk());
  }
  const auto not_s4 = [](const SessionRow& row) {
    return row.session_id != "s4";
  };
  EXPECT_THAT(IdsOf(store_.LastSeen("fleet", 2, not_s4)),
              ElementsAre("s5", "s3"));
}

TEST_F(SessionStoreTest, WhatIsAcceptedAfterItLeftIsLaterThanItsLast) {
  ASSERT_THAT(store_.Attach(Row("s1", "/a")), IsOk());
  EXPECT_EQ(store_.Find("s1").value()->left_sequence,
            std::numeric_limits<int64_t>::max());
  DeliveryStore deliveries(*db_);
  const int64_t before =
      deliveries.Insert(MessageTo("s1", "e1")).value().record.sequence();
  ASSERT_THAT(store_.SetLeft("s1", 1, kNow), IsOk());
  const int64_t after =
      deliveries.Insert(MessageTo("s1", "e2")).value().record.sequence();
  const int64_t left = store_.Find("s1").value()->left_sequence;
  EXPECT_GE(left, before);
  EXPECT_LT(left, after);
  ASSERT_THAT(store_.Attach(Row("s1", "/a")), IsOk());
  EXPECT_GT(store_.Find("s1").value()->left_sequence, after);
}

TEST_F(SessionStoreTest, AlikeIsWhoHadNameAndPlaceOrStableIdAndHasMail) {
  DeliveryStore deliveries(*db_);
  const auto add = [&](const std::string& id, auto change) {
    SessionRow row = Row(id, "/a");
    row.name = "Planner";
    change(row);
    ASSERT_THAT(store_.Attach(row), IsOk());
    ASSERT_THAT(deliveries.Insert(MessageTo(id, "to-" + id)), IsOk());
  };
  add("same", [](SessionRow& row) { row.name = "planner"; });
  add("elsewhere", [](SessionRow& row) { row.cwd = "/a/other"; });
  add("other-root", [](SessionRow& row) { row.workspace_root = ""; });
  add("other-scope", [](SessionRow& row) { row.scope = ""; });
  add("other-name", [](SessionRow& row) { row.name = "x"; });
  add("stable", [](SessionRow& row) {
    row.name = "";
    row.stable_id = "desk";
  });
  add("stable-elsewhere", [](SessionRow& row) {
    row.name = "";
    row.cwd = "/z";
    row.stable_id = "desk";
  });
  SessionRow empty = Row("no-mail", "/a");
  empty.name = "Planner";
  ASSERT_THAT(store_.Attach(empty), IsOk());
  SessionRow newcomer = Row("new", "/a");
  newcomer.name = "PLANNER";
  EXPECT_THAT(IdsOf(store_.AlikeWithMail(newcomer, 10)), ElementsAre("same"));
  newcomer.stable_id = "desk";
  EXPECT_THAT(IdsOf(store_.AlikeWithMail(newcomer, 10)),
              ElementsAre("same", "stable"));
  newcomer.session_id = "same";
  EXPECT_THAT(IdsOf(store_.AlikeWithMail(newcomer, 10)), ElementsAre("stable"));
}

TEST_F(SessionStoreTest, TheLongestAwayAreForgottenInSteps) {
  for (int i = 1; i <= 3; ++i) {
    SessionRow row = Row("s" + std::to_string(i), "/a");
    row.last_seen_at = kNow + absl::Seconds(i);
    ASSERT_THAT(store_.Attach(row), IsOk());
  }
  const auto nobody = [](std::string_view) { return false; };
  const absl::Time before = kNow + absl::Seconds(3);
  EXPECT_EQ(store_.Forget(before, 1, nobody).value(), 1);
  EXPECT_EQ(store_.Find("s1").value(), std::nullopt);
  EXPECT_NE(store_.Find("s2").value(), std::nullopt);
  EXPECT_EQ(store_.Forget(before, 5, nobody).value(), 1);
  EXPECT_NE(store_.Find("s3").value(), std::nullopt);
  EXPECT_EQ(store_.Forget(before, 5, nobody).value(), 0);
}

TEST_F(SessionStoreTest, AnAttachedSessionIsKeptWhateverTheClockSays) {
  ASSERT_THAT(store_.Attach(Row("away", "/a")), IsOk());
  ASSERT_THAT(store_.Attach(Row("here", "/a")), IsOk());
  const auto here = [](std::string_view id) { return id == "here"; };
  const absl::Time years_on = kNow + absl::Hours(24 * 365 * 30);
  EXPECT_EQ(store_.Forget(kNow - absl::Hours(1), 1, here).value(), 0);
  EXPECT_EQ(store_.Forget(years_on, 1, here).value(), 1);
  EXPECT_EQ(store_.Forget(years_on, 1, here).value(), 0);
  EXPECT_NE(store_.Find("here").value(), std::nullopt);
}

TEST_F(SessionStoreTest, WhatIsKeptOfASessionGoesWithIt) {
  ASSERT_THAT(store_.Attach(Row("s1", "/a")), IsOk());
  ASSERT_THAT(store_.Attach(Row("s2", "/a")), IsOk());
  ASSERT_THAT(
      db_->Execute("INSERT INTO reports VALUES ('/a', 's1', 1, 'one', 0, 0), "
                   "  ('/a', 's2', 1, 'two', 0, 0); "
                   "INSERT INTO handoffs VALUES ('/a', 's1', 'j', '', 0); "
                   "INSERT INTO run_totals VALUES ('/a', 's1', 1, 1, x''); "
                   "INSERT INTO dropped_runs VALUES ('s1', 1); "
                   "INSERT INTO lost_notes VALUES ('s1', 1, '', 0)"),
      IsOk());
  const auto here = [](std::string_view id) { return id == "s2"; };
  ASSERT_EQ(store_.Forget(kNow + absl::Hours(1), 5, here).value(), 1);
  for (const char* table : {"reports", "handoffs", "run_totals", "dropped_runs",
                            "lost_notes", "sessions"}) {
    auto count =
        db_->Prepare(absl::StrCat("SELECT count(*) FROM ", table)).value();
    count.Bind();
    ASSERT_TRUE(count.Step().value());
    const bool shared = std::string_view(table) == "reports" ||
                        std::string_view(table) == "sessions";
    EXPECT_EQ(count.Int(0), shared ? 1 : 0) << table;
  }
}

// Each statement leaves something behind by which "s1" is still known; the
// second takes it away again.
struct Tie {
  const char* what;
  const char* tie;
  const char* untie;
};

class SessionTieTest : public ::testing::TestWithParam<Tie> {
 protected:
  void Run(const char* sql) {
    absl::StatusOr<Statement> statement = db_->Prepare(sql);
    ASSERT_THAT(statement, IsOk());
    statement->Bind();
    ASSERT_THAT(statement->Run(), IsOk());
  }

  std::unique_ptr<Database> db_ = MigratedInMemory();
  SessionStore store_{*db_};
};

TEST_P(SessionTieTest, ASessionIsKeptWhileItIsKnownAndForgottenAfterwards) {
  const auto nobody = [](std::string_view) { return false; };
  SessionRow row;
  row.session_id = "s1";
  row.scope = "fleet";
  row.attached_at = row.last_seen_at = kNow;
  ASSERT_THAT(store_.Attach(row), IsOk());
  Run(GetParam().tie);
  const absl::Time later = kNow + absl::Hours(1);
  EXPECT_EQ(store_.Forget(later, 5, nobody).value(), 0);
  EXPECT_NE(store_.Find("s1").value(), std::nullopt);
  Run(GetParam().untie);
  EXPECT_EQ(store_.Forget(later, 5, nobody).value(), 1);
  EXPECT_EQ(store_.Find("s1").value(), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(
    All, SessionTieTest,
    ::testing::Values(
        Tie{"Coordinator",
            "INSERT INTO workspaces VALUES ('/a', 's1', 1, '', '', 0, '')",
            "UPDATE workspaces SET coordinator_session_id = ''"},
        Tie{"Mailbox", "INSERT INTO mailboxes VALUES ('s1', 1, 10)",
            "UPDATE mailboxes SET envelopes = 0"},
        Tie{"Asker",
            "INSERT INTO asks VALUES ('d', 1, '', 's1', 'x', 1, 0, 0, 0, '')",
            "UPDATE asks SET state = 2"},
        Tie{"Asked",
            "INSERT INTO asks VALUES ('d', 1, '', 'x', 's1', 1, 0, 0, 0, '')",
            "UPDATE asks SET state = 2"},
        Tie{"UncertainJob",
            "INSERT INTO jobs VALUES ('j', 1, '/a', 's1', '', 'x', 12, '', '', "
            "0, 0, 0, '', '', x'', 0)",
            "UPDATE jobs SET state = 8"},
        Tie{"RequestedJob",
            "INSERT INTO jobs VALUES ('j', 1, '/a', 'x', '', 's1', 1, '', '', "
            "0, 0, 0, '', '', x'', 0)",
            "UPDATE jobs SET state = 8"},
        Tie{"Note",
            "INSERT INTO notes VALUES (1, 's1', 'w', 'n', '', 0, '', 0, '')",
            "DELETE FROM notes"}),
    [](const auto& info) { return std::string(info.param.what); });

TEST(MetaStoreTest, TheStoreIdIsMadeOnce) {
  const auto db = MigratedInMemory();
  CountingRandom random;
  MetaStore store(*db);
  const std::string id = store.StoreId(random).value();
  EXPECT_EQ(id.size(), 36u);
  EXPECT_EQ(store.StoreId(random).value(), id);
}

TEST(MetaStoreTest, ALaterValueReplacesAnEarlierOne) {
  const auto db = MigratedInMemory();
  MetaStore store(*db);
  EXPECT_EQ(store.Get("key").value(), std::nullopt);
  ASSERT_THAT(store.Set("key", "one"), IsOk());
  ASSERT_THAT(store.Set("key", "two"), IsOk());
  EXPECT_EQ(store.Get("key").value(), "two");
}

}  // namespace
}  // namespace intercom
