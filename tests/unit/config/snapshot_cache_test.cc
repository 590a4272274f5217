#include "broker/config/snapshot_cache.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/config/sample_config.h"
#include "tests/unit/config/scripted_files.h"

namespace intercom {
namespace {

class SnapshotCacheTest : public ::testing::Test {
 protected:
  SnapshotCacheTest() {
    files_.script = [this](std::string_view call, const std::string&) {
      reads_ += call == "read";
      return 0;
    };
  }

  // Writes the config and sets the wall clock to `age` after that.
  void Write(std::string_view bytes, absl::Duration age) {
    WriteFile(root_.path() / ".pi-intercom/config.json", bytes);
    const FileIdentity identity = *file_.Stat();
    clock_.Jump(identity.modified + age - clock_.Now());
  }
  absl::StatusOr<ConfigSnapshotPtr> Refresh() {
    reads_ = 0;
    return cache_.Refresh(file_, {.now = [this] { return clock_.Now(); },
                                  .pause =
                                      [this](absl::Duration duration) {
                                        return pause_(duration);
                                      }});
  }

  TempDir root_;
  ScriptedFiles files_;
  FakeClock clock_;
  ConfigFile file_{files_, root_.path().string()};
  SnapshotCache cache_;
  int reads_ = 0;
  std::function<bool(absl::Duration)> pause_ = [](absl::Duration) {
    ADD_FAILURE() << "nothing to wait for";
    return true;
  };
};

TEST_F(SnapshotCacheTest, AnUnchangedOldFileIsReadOnce) {
  Write(kSample, absl::Milliseconds(2500));
  const auto first = Refresh();
  ASSERT_THAT(first, IsOk());
  EXPECT_GT(reads_, 0);

  const auto second = Refresh();

  EXPECT_EQ(reads_, 0);
  EXPECT_EQ(*second, *first);
}

TEST_F(SnapshotCacheTest, AYoungFileIsReadAgainButGivesTheSameSnapshot) {
  Write(kSample, absl::Milliseconds(1500));
  const auto first = Refresh();
  clock_.Advance(absl::Seconds(10));

  const auto second = Refresh();

  EXPECT_GT(reads_, 0);
  EXPECT_EQ(*second, *first);
  // That reading was late enough.
  EXPECT_THAT(Refresh(), IsOk());
  EXPECT_EQ(reads_, 0);
}

TEST_F(SnapshotCacheTest, AFileFromTheFutureIsAlwaysRead) {
  Write(kSample, absl::Hours(-1));
  EXPECT_THAT(Refresh(), IsOk());
  EXPECT_THAT(Refresh(), IsOk());
  EXPECT_GT(reads_, 0);
}

TEST_F(SnapshotCacheTest, AChangeIsSeen) {
  Write(kSample, absl::Seconds(5));
  const auto first = Refresh();
  Write(With(kSample, "4712", "4799"), absl::Seconds(5));

  const auto second = Refresh();

  ASSERT_THAT(second, IsOk());
  EXPECT_NE((*second)->hash, (*first)->hash);
  EXPECT_EQ((*second)->config.agents()[1].port(), 4799);
}

TEST_F(SnapshotCacheTest, ABrokenYoungFileIsReadOnceMore) {
  Write("{", absl::Milliseconds(300));
  pause_ = [this](absl::Duration) {
    Write(kSample, absl::Milliseconds(300));
    return true;
  };
  EXPECT_THAT(Refresh(), IsOk());
}

TEST_F(SnapshotCacheTest, AFileThatStaysBrokenIsReportedAfterOneMoreRead) {
  Write("{", absl::Milliseconds(300));
  int pauses = 0;
  pause_ = [&](absl::Duration) { return ++pauses > 0; };
  EXPECT_THAT(Refresh(), FailsWith(absl::StatusCode::kFailedPrecondition,
                                   "CONFIG_INVALID"));
  EXPECT_EQ(pauses, 1);
}

TEST_F(SnapshotCacheTest, ABrokenOldFileIsReportedAtOnce) {
  Write("{", absl::Milliseconds(1100));
  EXPECT_THAT(Refresh(), FailsWith(absl::StatusCode::kFailedPrecondition,
                                   "CONFIG_INVALID"));
}

TEST_F(SnapshotCacheTest, ARemovedFileIsNotAnsweredFromMemory) {
  Write(kSample, absl::Seconds(5));
  ASSERT_THAT(Refresh(), IsOk());
  std::filesystem::remove(root_.path() / ".pi-intercom/config.json");
  EXPECT_THAT(Refresh(), FailsWith(absl::StatusCode::kNotFound, "NO_CONFIG"));
}

}  // namespace
}  // namespace intercom
