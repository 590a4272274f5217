// What outlives a broker: restarts, drains, damage and full disks.

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/broker_fixture.h"

namespace intercom {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LifecycleTest : public BrokerFixture {
 protected:
  LifecycleTest() { StartBroker(); }
};

TEST_F(LifecycleTest, ARestartKeepsTheMailboxAndDeliversOnce) {
  auto coordinator = Attach("c-1");
  auto worker = Attach("w-1");
  coordinator->Submit("Reviewer", Message("e1"));
  const auto first = worker->frames.WaitFor(Frame::kDelivery);
  worker->SayReceipt("c-1/e1", v1::Receipt::EVENT_DELIVERED);
  coordinator->frames.WaitFor(Frame::kSubmitted);
  const std::string store = worker->frames.welcome().store_id();
  Leave(*worker);
  RestartBroker();

  worker = Attach("w-1", InjectAtOnce);
  const auto again = worker->frames.WaitFor(Frame::kDelivery);
  EXPECT_EQ(again[0].delivery().delivery_id(), "c-1/e1");
  EXPECT_EQ(again[0].delivery().sequence(), first[0].delivery().sequence());
  EXPECT_TRUE(again[0].delivery().redelivered());
  EXPECT_EQ(worker->frames.welcome().store_id(), store);
  Leave(*worker);
  RestartBroker();

  // It has it now: it says so, and gets nothing.
  worker = Attach("w-1", nullptr, {"c-1/e1"});
  const auto named = worker->frames.WaitFor(Frame::kReconcile);
  EXPECT_THAT(named[0].reconcile().delivery_ids(), ElementsAre("c-1/e1"));
  Leave(*worker);
  EXPECT_THAT(worker->frames.deliveries(), IsEmpty());
}

TEST_F(LifecycleTest, EpochsGoOnOverARestart) {
  auto worker = Attach("w-1");
  const int64_t epoch = worker->frames.welcome().epoch();
  Leave(*worker);
  RestartBroker();
  EXPECT_EQ(Attach("w-1")->frames.welcome().epoch(), epoch + 1);
}

TEST_F(LifecycleTest, ADrainTellsSessionsAndEndsTheirStreams) {
  auto worker = Attach("w-1");
  broker_->BeginStop();
  worker->frames.WaitFor(Frame::kDraining);
  EXPECT_THAT(worker->End(),
              EndsWithReason(grpc::StatusCode::UNAVAILABLE, "DRAINING"));
  broker_->Stop();
  EXPECT_FALSE(fs::exists(SocketPath(home_)));
}

TEST_F(LifecycleTest, ADrainEndsASessionThatWaitsForASeat) {
  auto first = Attach("w-1");
  AttachClient second(Tcp());
  second.SayHello(HelloOf("w-1"));
  second.StartReading();
  const auto after = Attach("w-2");  // answered later than the second
  broker_->Stop();
  EXPECT_THAT(second.End(),
              EndsWithReason(grpc::StatusCode::UNAVAILABLE, "DRAINING"));
}

TEST_F(LifecycleTest, WhatWasAcceptedDuringADrainIsThereAfterwards) {
  auto coordinator = Attach("c-1");
  std::thread sender([&] {
    for (int i = 0; i < 200; ++i) {
      if (!coordinator->Submit("Reviewer", Message("e" + std::to_string(i)))) {
        return;
      }
    }
  });
  coordinator->frames.WaitFor(Frame::kSubmitted, 5);
  broker_->Stop();
  sender.join();
  coordinator->End();
  StartBroker();
  const auto answers = coordinator->frames.Of(Frame::kSubmitted);
  EXPECT_GE(answers.size(), 5u);
  const auto client = Tcp();
  for (const auto& frame : answers) {
    if (!frame.submitted().has_record()) continue;
    v1::DeliveryRecord record;
    EXPECT_TRUE(
        client->Get("c-1/" + frame.submitted().envelope_id(), record).ok());
  }
}

TEST_F(LifecycleTest, ANewerDatabaseIsRefusedAndStaysAsItIs) {
  broker_->Stop();
  {
    auto db = Database::Open(DatabasePath(home_)).value();
    ASSERT_THAT(db->Execute("PRAGMA user_version = 9999"), IsOk());
  }
  EXPECT_THAT(RunningBroker::Start(Options(), clock_),
              FailsWith(absl::StatusCode::kFailedPrecondition, "STORE_NEWER"));
  EXPECT_THAT(RunningBroker::Start(Options(), clock_),
              FailsWith(absl::StatusCode::kFailedPrecondition, "STORE_NEWER"));
}

TEST_F(LifecycleTest, ADamagedDatabaseIsReplacedAndPeopleAreTold) {
  EXPECT_TRUE(Unix()->Send("Reviewer", Message("e1"), root_, nullptr).ok());
  v1::GetBrokerResponse before;
  EXPECT_TRUE(Unix()->GetBroker(before).ok());
  EXPECT_THAT(before.notices(), IsEmpty());
  broker_->Stop();
  const std::string path = DatabasePath(home_);
  fs::remove(path + "-wal");
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file << std::string(8192, 'x');
  file.close();

  StartBroker();
  v1::GetBrokerResponse after;
  EXPECT_TRUE(Unix()->GetBroker(after).ok());
  EXPECT_NE(after.store_id(), before.store_id());
  EXPECT_THAT(after.notices(), Contains(HasSubstr(".corrupt-")));
  EXPECT_THAT(Attach("w-1")->frames.welcome().notices(),
              Contains(HasSubstr(".corrupt-")));
}

// A home on a file system of its own, which ends with this thread's mount
// namespace; where mounting is forbidden, files may grow no further instead.
class FullDiskTest : public BrokerFixture {
 protected:
  FullDiskTest() {
    fs::create_directories(home_);
    mounted_ =
        unshare(CLONE_NEWNS) == 0 &&
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
        mount("tmpfs", home_.c_str(), "tmpfs", 0, "size=1m,mode=700") == 0;
    StartBroker();
  }
  ~FullDiskTest() override {
    Free();
    broker_.reset();
    if (mounted_) umount2(home_.c_str(), MNT_DETACH);
  }

  void Fill() {
    if (mounted_) {
      std::ofstream(filler_) << std::string(2 << 20, 'x');
      return;
    }
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit_);
    rlimit none = limit_;
    none.rlim_cur = 1;
    setrlimit(RLIMIT_FSIZE, &none);
    limited_ = true;
  }
  void Free() {
    fs::remove(filler_);
    if (limited_) setrlimit(RLIMIT_FSIZE, &limit_);
    limited_ = false;
  }

  bool mounted_ = false;
  bool limited_ = false;
  rlimit limit_{};
  const std::string filler_ = home_ + "/filler";
};

TEST_F(FullDiskTest, AFullDiskRefusesAndDeliversNothingUntilThereIsRoom) {
  auto coordinator = Attach("c-1");
  auto worker = Attach("w-1");
  Fill();
  // More than the log's last block can hold.
  coordinator->Submit("Reviewer", Message("e1", std::string(48'000, 'x')));
  const auto refused = coordinator->frames.WaitFor(Frame::kSubmitted);
  EXPECT_FALSE(refused[0].submitted().has_record());
  if (mounted_) {
    EXPECT_EQ(refused[0].submitted().failure().reason(), "STORAGE_FULL");
  }
  v1::DeliveryRecord record;
  EXPECT_THAT(Tcp()->Get("c-1/e1", record),
              EndsWithReason(grpc::StatusCode::NOT_FOUND, "UNKNOWN_ENVELOPE"));
  EXPECT_THAT(worker->frames.deliveries(), IsEmpty());

  Free();
  coordinator->Submit("Reviewer", Message("e1", "now"));
  EXPECT_TRUE(coordinator->frames.WaitFor(Frame::kSubmitted, 2)[1]
                  .submitted()
                  .has_record());
  worker->frames.WaitFor(Frame::kDelivery);
  EXPECT_THAT(worker->frames.texts(), ElementsAre("now"));
}

// --- Leaving by itself

class IdleExitTest : public BrokerFixture {
 protected:
  IdleExitTest() {
    BrokerOptions options = Options();
    options.idle_exit = absl::Hours(1);
    broker_ = RunningBroker::Start(options, clock_).value();
  }
};

TEST_F(IdleExitTest, LeavesAfterAnHourWithoutSessions) {
  auto worker = Attach("w-1");
  Leave(*worker);
  EXPECT_FALSE(broker_->left());
  // Its look once a second may find the last call only after the hours passed.
  do {
    clock_.Advance(absl::Hours(2));
  } while (!broker_->LeftWithin(std::chrono::seconds(3)));
  EXPECT_THAT(worker->frames.Of(Frame::kDraining), IsEmpty());
}

TEST_F(IdleExitTest, LeavesWhenItsSocketIsNoLongerItsOwn) {
  const auto worker = Attach("w-1");
  fs::remove(SocketPath(home_));
  broker_->WaitUntilItLeft();
  worker->frames.WaitFor(Frame::kDraining);
}

}  // namespace
}  // namespace intercom
