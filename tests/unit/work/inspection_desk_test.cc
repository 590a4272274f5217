// What is listed and told of sessions, and of the store.
#include "broker/work/inspection_desk.h"

#include <fstream>

#include "tests/support/watch_rig.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class InspectionDeskTest : public WatchRig {
 protected:
  absl::StatusOr<v1::GetSessionResponse> GetSession(const std::string& id) {
    v1::GetSessionRequest request;
    request.set_session_id(id);
    return CallOn(looks_, &InspectionDesk::GetSession, Person(), request);
  }
  absl::StatusOr<v1::ListAllRunsResponse> ListRuns(
      const v1::ListAllRunsRequest& request = {}) {
    return CallOn(looks_, &InspectionDesk::ListAllRuns, Person(), request);
  }
  absl::StatusOr<v1::ListOpenAsksResponse> ListAsks(
      const std::string& directory = "") {
    v1::ListOpenAsksRequest request;
    request.set_directory(directory);
    return CallOn(looks_, &InspectionDesk::ListOpenAsks, Person(), request);
  }
  absl::StatusOr<v1::CheckStoreResponse> CheckStore(
      absl::Duration within = absl::Seconds(5)) {
    v1::CheckStoreRequest request;
    *request.mutable_within() = ToProtoDuration(within);
    return CallOn(looks_, &InspectionDesk::CheckStore, Person(), request);
  }
};

TEST_F(InspectionDeskTest, OpenAsksAreListedWithoutTheirText) {
  const TestSession coordinator = Join("c-1");
  const TestSession builder = Join("w-1");
  ASSERT_THAT(Send(CallOf(coordinator), "Builder", Question("q-1")), IsOk());
  ASSERT_THAT(Send(CallOf(builder), "Coordinator", Message("m-1")), IsOk());

  const auto asks = ListAsks();
  ASSERT_THAT(asks, IsOk());
  // The message answered it.
  EXPECT_THAT(asks->asks(), IsEmpty());
  ASSERT_THAT(Send(CallOf(coordinator), "Builder", Question("q-2")), IsOk());
  const auto open = ListAsks(root_);
  ASSERT_THAT(open, IsOk());
  ASSERT_THAT(open->asks(), SizeIs(1));
  EXPECT_EQ(open->asks(0).delivery_id(), "c-1/q-2");
  EXPECT_EQ(open->asks(0).recipient_name(), "Builder");
  EXPECT_TRUE(open->asks(0).awaited());
  EXPECT_EQ(open->asks(0).preview(), "");
  EXPECT_EQ(open->left_out(), 0);
}

TEST_F(InspectionDeskTest, ADirectoryWithoutAWorkspaceIsNotFound) {
  EXPECT_THAT(ListAsks(dir_.path()),
              FailsWith(absl::StatusCode::kNotFound, "NO_WORKSPACE"));
}

TEST_F(InspectionDeskTest, RunsAreListedTheNewestFirst) {
  const TestSession coordinator = Join("c-1");
  const TestSession builder = Join("w-1");
  const std::string first = OpenRun(coordinator, "m-1");
  SayReceipt(builder, first, v1::Receipt::EVENT_INJECTED);
  v1::RunEvent done;
  done.set_delivery_id(first);
  done.set_event(v1::RunEvent::EVENT_DONE);
  run_desk_.OnEvent(builder.key, done);
  Sync();
  const std::string second = OpenRun(coordinator, "m-2");

  const auto all = ListRuns();
  ASSERT_THAT(all, IsOk());
  ASSERT_THAT(all->runs(), SizeIs(2));
  EXPECT_EQ(all->runs(0).delivery_id(), second);
  EXPECT_EQ(all->runs(1).delivery_id(), first);
  v1::ListAllRunsRequest request;
  request.set_open(true);
  request.set_directory(root_);
  request.set_session_id("w-1");
  const auto open = ListRuns(request);
  ASSERT_THAT(open, IsOk());
  ASSERT_THAT(open->runs(), SizeIs(1));
  EXPECT_EQ(open->runs(0).delivery_id(), second);
  request = {};
  request.set_limit(1);
  EXPECT_EQ(ListRuns(request)->left_out(), 1);
  request.set_session_id("w-2");
  EXPECT_THAT(ListRuns(request)->runs(), IsEmpty());
  request.set_limit(501);
  EXPECT_THAT(ListRuns(request),
              FailsWith(absl::StatusCode::kInvalidArgument, "PAGE_SIZE"));
}

TEST_F(InspectionDeskTest, ASessionIsToldWithAllThatItIsAt) {
  const TestSession coordinator = Join("c-1");
  const TestSession builder = Join("w-1");
  registrar_.SetLoaded(builder.key, "hash");
  Sync();
  ASSERT_THAT(ReportWork(builder, v1::Report::STATUS_BLOCKED, "no disk"),
              IsOk());
  HandoffIs("w-1", "half of it");
  const std::string run = OpenRun(coordinator, "m-1");
  ASSERT_THAT(Send(CallOf(coordinator), "Builder", Question("q-1")), IsOk());

  const auto session = GetSession("w-1");
  ASSERT_THAT(session, IsOk());
  EXPECT_EQ(session->entry().name(), "Builder");
  EXPECT_NE(session->entry().description(), "");
  EXPECT_EQ(session->entry().report().summary(), "no disk");
  EXPECT_EQ(session->handoff().summary(), "half of it");
  ASSERT_THAT(session->working_on(), SizeIs(1));
  EXPECT_EQ(session->working_on(0).delivery_id(), run);
  ASSERT_THAT(session->asked(), SizeIs(1));
  EXPECT_EQ(session->asked(0).preview(), "");
  ASSERT_THAT(session->deliveries(), SizeIs(3));
  EXPECT_EQ(session->deliveries(0).delivery_id(), "c-1/q-1");
  EXPECT_THAT(session->deliveries(1).run_id(), HasSubstr("run-"));
  EXPECT_EQ(session->deliveries(2).kind(), v1::ENVELOPE_KIND_REPORT);
  const auto supervisor = GetSession("c-1");
  ASSERT_THAT(supervisor, IsOk());
  EXPECT_THAT(supervisor->supervises(), SizeIs(1));
  EXPECT_THAT(supervisor->asks(), SizeIs(1));
}

TEST_F(InspectionDeskTest, AnIdIsFoundByItsBeginningWhereThatIsClear) {
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"},
                                 {"abcdef-1", "One"},
                                 {"abcdef-2", "Two"}}));
  Join("c-1");
  Detach(Join("gone-by-now"));

  EXPECT_EQ(GetSession("abcdef-1")->entry().name(), "One");
  EXPECT_THAT(GetSession("abcdef"),
              FailsWith(absl::StatusCode::kFailedPrecondition, "AMBIGUOUS_ID"));
  EXPECT_EQ(GetSession("gone-b")->entry().session_id(), "gone-by-now");
  EXPECT_THAT(GetSession("nobody"),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_SESSION"));
  EXPECT_THAT(GetSession("abc"),
              FailsWith(absl::StatusCode::kInvalidArgument, "ID_INVALID"));
}

TEST_F(InspectionDeskTest, MetricsAreToldOnceTheBrokerRuns) {
  Join("c-1");
  const auto metrics = CallOn(looks_, &InspectionDesk::GetMetrics, Person(),
                              v1::GetMetricsRequest());
  ASSERT_THAT(metrics, IsOk());
  EXPECT_GT(metrics->counters_size(), 20);
  EXPECT_EQ(metrics->latencies_size(), 4);
  EXPECT_EQ(CounterOf("sessions_attached"), 1);
}

TEST_F(InspectionDeskTest, ASoundStoreHasNoFindings) {
  const auto check = CheckStore();
  ASSERT_THAT(check, IsOk());
  EXPECT_TRUE(check->complete());
  EXPECT_THAT(check->findings(), IsEmpty());
  EXPECT_GT(check->file_bytes(), 0);
  EXPECT_GT(check->free_disk_bytes(), 0);
  EXPECT_EQ(check->schema_version(), AllMigrations().back().version);
}

TEST_F(InspectionDeskTest, ACheckTakesAMinuteAtMost) {
  EXPECT_THAT(CheckStore(absl::Seconds(61)),
              FailsWith(absl::StatusCode::kInvalidArgument, "WITHIN_INVALID"));
  EXPECT_THAT(CheckStore(-absl::Seconds(1)),
              FailsWith(absl::StatusCode::kInvalidArgument, "WITHIN_INVALID"));
}

TEST_F(InspectionDeskTest, WhatIsWrongIsTold) {
  OnState([&] {
    Database& db = runner_->database();
    EXPECT_THAT(db.Execute("CREATE TABLE broken (a INTEGER NOT NULL); "
                           "INSERT INTO broken VALUES (1), (2)"),
                IsOk());
    EXPECT_THAT(db.CheckpointPassive(), IsOk());
    return true;
  });
  // An index that lost its entries, as after a torn write.
  const std::string copy = dir_ / "copy.db";
  std::filesystem::copy_file(runner_->database().path(), copy);
  {
    auto db = Database::OpenDamaged(copy).value();
    EXPECT_THAT(db->Execute("PRAGMA query_only=OFF"), IsOk());
    EXPECT_THAT(db->Execute("CREATE UNIQUE INDEX by_a ON broken (a)"), IsOk());
    EXPECT_THAT(db->Execute("INSERT INTO meta VALUES ('k', 'v')"), IsOk());
  }
  {
    // Its last page, which is the index's root.
    std::fstream file(copy, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-4096, std::ios::end);
    const std::string zeros(4096, '\0');
    file.write(zeros.data(), static_cast<std::streamsize>(zeros.size()));
  }
  StoreChecker checker(copy, clock_);
  Answer<absl::StatusOr<StoreCheck>> answer;
  ASSERT_THAT(checker.Start(absl::Seconds(5), answer.Callback()), IsOk());
  const auto check = answer.Wait();
  ASSERT_THAT(check, IsOk());
  EXPECT_THAT(check->findings, Not(IsEmpty()));
}

}  // namespace
}  // namespace intercom
