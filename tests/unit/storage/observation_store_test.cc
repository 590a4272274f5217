#include "broker/storage/observation_store.h"

#include <string>
#include <vector>

#include "broker/base/proto_time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/storage/storage_fixtures.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;

class ObservationStoreTest : public ::testing::Test {
 protected:
  void Add(const std::string& session_id, const std::string& kind,
           const std::string& phase, absl::Time at = kNow) {
    v1::Observation observation;
    *observation.mutable_at() = ToProto(at);
    observation.set_workspace_root("/ä");
    observation.set_session_id(session_id);
    observation.set_name("name");
    observation.set_kind(kind);
    observation.set_phase(phase);
    observation.set_label("label");
    observation.set_outcome("ok");
    bytes_ += ObservationStore::BytesOf(observation);
    EXPECT_THAT(store_.Add(observation), IsOk());
  }
  std::vector<std::string> Phases(const std::string& session_id = "",
                                  int limit = 100) {
    std::vector<std::string> phases;
    const auto rows = store_.List(session_id, limit).value();
    for (const v1::Observation& row : rows) phases.push_back(row.phase());
    return phases;
  }

  std::unique_ptr<Database> db_ = MigratedInMemory();
  ObservationStore store_{*db_};
  int64_t bytes_ = 0;
};

TEST_F(ObservationStoreTest, OneComesBackAsItWasStored) {
  Add("s1", "activity", "tool");
  const v1::Observation row = store_.List("", 1).value()[0];
  EXPECT_EQ(FromProto(row.at()), kNow);
  EXPECT_EQ(row.workspace_root(), "/ä");
  EXPECT_EQ(row.session_id(), "s1");
  EXPECT_EQ(row.name(), "name");
  EXPECT_EQ(row.kind(), "activity");
  EXPECT_EQ(row.phase(), "tool");
  EXPECT_EQ(row.label(), "label");
  EXPECT_EQ(row.outcome(), "ok");
}

TEST_F(ObservationStoreTest, TheNewestComesFirst) {
  Add("s1", "job", "1");
  Add("s2", "job", "2");
  Add("s1", "job", "3");
  EXPECT_THAT(Phases(), ElementsAre("3", "2", "1"));
  EXPECT_THAT(Phases("s1"), ElementsAre("3", "1"));
  EXPECT_THAT(Phases("", 2), ElementsAre("3", "2"));
}

TEST_F(ObservationStoreTest, TheLastActivityIsTheSessionsOwn) {
  EXPECT_EQ(store_.LastActivity("s1").value(), std::nullopt);
  Add("s1", "activity", "tool");
  Add("s1", "activity", "idle");
  Add("s1", "detached", "");
  Add("s2", "activity", "thinking");
  EXPECT_EQ(store_.LastActivity("s1").value()->phase(), "idle");
}

TEST_F(ObservationStoreTest, TheSumIsThatOfTheLengths) {
  EXPECT_EQ(store_.Bytes().value(), 0);
  Add("s1", "activity", "tool");
  Add("ü", "job", "");
  EXPECT_EQ(store_.Bytes().value(), bytes_);
}

TEST_F(ObservationStoreTest, OldOnesGoFirstAndOnlySoMany) {
  Add("s1", "job", "1", kNow - absl::Hours(3));
  Add("s1", "job", "2", kNow - absl::Hours(2));
  Add("s1", "job", "3", kNow);
  const absl::Time older_than = kNow - absl::Hours(1);
  EXPECT_EQ(store_.Prune(older_than, 0, 1).value().rows, 1);
  EXPECT_THAT(Phases(), ElementsAre("3", "2"));
  EXPECT_EQ(store_.Prune(older_than, 0, 9).value().rows, 1);
  EXPECT_EQ(store_.Prune(older_than, 0, 9).value().rows, 0);
  EXPECT_THAT(Phases(), ElementsAre("3"));
}

TEST_F(ObservationStoreTest, WhatIsTooMuchGoesWhateverItsAge) {
  for (const char* phase : {"1", "2", "3", "4"}) Add("s1", "job", phase);
  const auto pruned = store_.Prune(kNow, bytes_ / 4 + 1, 9).value();
  EXPECT_EQ(pruned.rows, 2);
  EXPECT_EQ(pruned.bytes, bytes_ / 2);
  EXPECT_THAT(Phases(), ElementsAre("4", "3"));
  EXPECT_EQ(store_.Bytes().value(), bytes_ / 2);
}

}  // namespace
}  // namespace intercom
