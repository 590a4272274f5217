#include "broker/storage/job_store.h"

#include <string>
#include <vector>

#include "broker/storage/session_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/storage/storage_fixtures.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> IdsOf(const std::vector<JobRow>& rows) {
  std::vector<std::string> ids;
  for (const JobRow& row : rows) ids.push_back(row.job_id);
  return ids;
}

class JobStoreTest : public ::testing::Test {
 protected:
  static JobRow Row(const std::string& id,
                    v1::Job::State state = v1::Job::STATE_REQUESTED) {
    JobRow row{.job_id = id,
               .kind = v1::Job::KIND_CLOSE,
               .root = "/a",
               .session_id = "w-1",
               .name = "Reviewer",
               .requested_by = "c-1",
               .state = state,
               .reason = "why",
               .detail = "what",
               .created_at = kNow,
               .updated_at = kNow + absl::Seconds(1),
               .deadline_at = kNow + absl::Seconds(120),
               .launcher = "tmux",
               .launch_token_hash = "hash of " + id,
               .identity = {},
               .told = Told::kOpen};
    row.identity.set_host_pid(42);
    row.identity.mutable_pane()->set_pane(std::string("%1\0x", 4));
    return row;
  }

  std::unique_ptr<Database> db_ = MigratedInMemory();
  JobStore store_{*db_};
};

TEST_F(JobStoreTest, WhatWasToldStaysTold) {
  ASSERT_THAT(store_.Put(Row("j-1")), IsOk());
  JobRow untold = Row("j-1");
  untold.told = Told::kNothing;
  ASSERT_THAT(store_.Put(untold), IsOk());
  EXPECT_EQ(store_.Find("j-1").value()->told, Told::kOpen);
}

TEST_F(JobStoreTest, AJobComesBackAsItWasStored) {
  ASSERT_THAT(store_.Put(Row("j-1")), IsOk());
  const auto found = store_.Find("j-1").value();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->kind, v1::Job::KIND_CLOSE);
  EXPECT_EQ(found->root, "/a");
  EXPECT_EQ(found->session_id, "w-1");
  EXPECT_EQ(found->name, "Reviewer");
  EXPECT_EQ(found->requested_by, "c-1");
  EXPECT_EQ(found->state, v1::Job::STATE_REQUESTED);
  EXPECT_EQ(found->told, Told::kOpen);
  EXPECT_EQ(found->reason, "why");
  EXPECT_EQ(found->detail, "what");
  EXPECT_EQ(found->created_at, kNow);
  EXPECT_EQ(found->updated_at, kNow + absl::Seconds(1));
  EXPECT_EQ(found->deadline_at, kNow + absl::Seconds(120));
  EXPECT_EQ(found->launcher, "tmux");
  EXPECT_EQ(found->launch_token_hash, "hash of j-1");
  EXPECT_EQ(found->identity.host_pid(), 42);
  EXPECT_EQ(found->identity.pane().pane(), std::string("%1\0x", 4));
  EXPECT_EQ(store_.Find("j-2").value(), std::nullopt);
}

TEST_F(JobStoreTest, AChangeKeepsWhoAskedAndWhen) {
  ASSERT_THAT(store_.Put(Row("j-1")), IsOk());
  JobRow changed = Row("j-1", v1::Job::STATE_UNCERTAIN);
  changed.session_id = "w-2";
  changed.created_at = kNow + absl::Hours(1);
  changed.requested_by = "somebody";
  ASSERT_THAT(store_.Put(changed), IsOk());
  const auto found = store_.Find("j-1").value();
  EXPECT_EQ(found->state, v1::Job::STATE_UNCERTAIN);
  EXPECT_EQ(found->session_id, "w-2");
  EXPECT_EQ(found->created_at, kNow);
  EXPECT_EQ(found->requested_by, "c-1");
}

TEST_F(JobStoreTest, PendingAndUncertainJobsAreOpenAndNoOthers) {
  for (int state = v1::Job::STATE_REQUESTED; state <= v1::Job::STATE_UNCERTAIN;
       ++state) {
    ASSERT_THAT(store_.Put(Row("j-" + std::to_string(100 + state),
                               static_cast<v1::Job::State>(state))),
                IsOk());
  }
  EXPECT_THAT(IdsOf(store_.Open().value()),
              ElementsAre("j-101", "j-102", "j-103", "j-104", "j-105", "j-106",
                          "j-107", "j-112"));
  EXPECT_THAT(IdsOf(store_.OpenOf("/a", "w-1").value()), testing::SizeIs(8));
  EXPECT_THAT(store_.OpenOf("/b", "w-1").value(), IsEmpty());
  EXPECT_THAT(store_.OpenOf("/a", "w-2").value(), IsEmpty());
  EXPECT_EQ(store_.CountPending("/a", v1::Job::KIND_CLOSE).value(), 7);
  EXPECT_EQ(store_.CountPending("/a", v1::Job::KIND_STOP).value(), 0);
  EXPECT_EQ(store_.CountPending("/b", v1::Job::KIND_CLOSE).value(), 0);
}

TEST_F(JobStoreTest, AJobIsFoundByTheBeginningOfItsIdAndByItsToken) {
  for (const std::string id : {"aa-1", "aa-2", "ab-1"}) {
    ASSERT_THAT(store_.Put(Row(id)), IsOk());
  }
  EXPECT_THAT(IdsOf(store_.FindByPrefix("aa", 9).value()),
              ElementsAre("aa-1", "aa-2"));
  EXPECT_THAT(IdsOf(store_.FindByPrefix("aa", 1).value()), ElementsAre("aa-1"));
  EXPECT_THAT(store_.FindByPrefix("b", 9).value(), IsEmpty());
  EXPECT_EQ(store_.FindByToken("hash of aa-2").value()->job_id, "aa-2");
  EXPECT_EQ(store_.FindByToken("").value(), std::nullopt);
}

TEST_F(JobStoreTest, ThoseWithoutATokenAreFoundByNone) {
  JobRow row = Row("j-1");
  row.launch_token_hash.clear();
  ASSERT_THAT(store_.Put(row), IsOk());
  EXPECT_EQ(store_.FindByToken("").value(), std::nullopt);
}

TEST_F(JobStoreTest, ListsTheNewestFirst) {
  for (int i = 0; i < 3; ++i) {
    JobRow row = Row("j-" + std::to_string(i));
    row.root = i == 1 ? "/b" : "/a";
    row.created_at = kNow + absl::Seconds(i);
    ASSERT_THAT(store_.Put(row), IsOk());
  }
  EXPECT_THAT(IdsOf(store_.Latest("", 2).value()), ElementsAre("j-2", "j-1"));
  EXPECT_THAT(IdsOf(store_.Latest("/a", 9).value()), ElementsAre("j-2", "j-0"));
  EXPECT_EQ(store_.LatestOf("/a", "w-1", v1::Job::KIND_CLOSE).value()->job_id,
            "j-2");
  EXPECT_EQ(store_.LatestOf("/a", "w-1", v1::Job::KIND_STOP).value(),
            std::nullopt);
}

TEST_F(JobStoreTest, WhatIsOpenIsListedBeforeWhatEndedSince) {
  ASSERT_THAT(store_.Put(Row("stuck", v1::Job::STATE_UNCERTAIN)), IsOk());
  for (int i = 1; i <= 3; ++i) {
    JobRow later = Row("j-" + std::to_string(i), v1::Job::STATE_SUCCEEDED);
    later.created_at = kNow + absl::Minutes(i);
    ASSERT_THAT(store_.Put(later), IsOk());
  }
  EXPECT_THAT(IdsOf(store_.Latest("", 2).value()), ElementsAre("stuck", "j-3"));
  EXPECT_THAT(IdsOf(store_.Latest("/a", 2).value()),
              ElementsAre("stuck", "j-3"));
}

TEST_F(JobStoreTest, OnlyJobsThatEndedLongAgoAreForgotten) {
  ASSERT_THAT(store_.Put(Row("open")), IsOk());
  ASSERT_THAT(store_.Put(Row("uncertain", v1::Job::STATE_UNCERTAIN)), IsOk());
  ASSERT_THAT(store_.Put(Row("old", v1::Job::STATE_FAILED)), IsOk());
  JobRow late = Row("late", v1::Job::STATE_SUCCEEDED);
  late.updated_at = kNow + absl::Hours(1);
  ASSERT_THAT(store_.Put(late), IsOk());
  EXPECT_EQ(store_.Prune(kNow + absl::Minutes(1), 9).value(), 1);
  EXPECT_EQ(store_.Find("old").value(), std::nullopt);
  EXPECT_EQ(store_.Prune(kNow + absl::Minutes(1), 9).value(), 0);
}

TEST_F(JobStoreTest, KeepsTheLaunchOfAHeadlessWorkerThatIsKnown) {
  for (const std::string id : {"of-known", "of-nobody", "in-a-pane"}) {
    JobRow job = Row(id, v1::Job::STATE_SUCCEEDED);
    job.launcher = id == "in-a-pane" ? "tmux" : "headless";
    ASSERT_THAT(store_.Put(job), IsOk());
  }
  SessionStore sessions(*db_);
  for (const std::string job_id : {"of-known", "in-a-pane"}) {
    SessionRow session;
    session.session_id = "of " + job_id;
    session.launch_job_id = job_id;
    ASSERT_THAT(sessions.Attach(session), IsOk());
  }
  EXPECT_EQ(store_.Prune(kNow + absl::Hours(1), 9).value(), 2);
  EXPECT_NE(store_.Find("of-known").value(), std::nullopt);
}

TEST(HandoffStoreTest, KeepsTheLatestOfEachWorker) {
  const auto db = MigratedInMemory();
  HandoffStore store(*db);
  v1::Handoff handoff;
  handoff.set_job_id("j-1");
  handoff.set_summary("first");
  handoff.mutable_updated_at()->set_seconds(1'800'000'000);
  ASSERT_THAT(store.Put("/a", "w-1", handoff), IsOk());
  handoff.set_job_id("j-2");
  handoff.set_summary("second");
  ASSERT_THAT(store.Put("/a", "w-1", handoff), IsOk());
  const auto found = store.Find("/a", "w-1").value();
  EXPECT_EQ(found->job_id(), "j-2");
  EXPECT_EQ(found->summary(), "second");
  EXPECT_EQ(found->updated_at().seconds(), 1'800'000'000);
  EXPECT_EQ(store.Find("/b", "w-1").value(), std::nullopt);
}

}  // namespace
}  // namespace intercom
