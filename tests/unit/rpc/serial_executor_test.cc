#include "broker/rpc/serial_executor.h"

#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/answer.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;

TEST(SerialExecutorTest, RunsTasksInOrderOnAThreadOfItsOwn) {
  std::vector<int> order;
  std::thread::id thread;
  Answer<int> done;
  SerialExecutor executor;
  executor.Post([&] { order.push_back(1); });
  executor.Post([&] { order.push_back(2); });
  executor.Post([&, put = done.Callback()] {
    thread = std::this_thread::get_id();
    put(3);
  });
  done.Wait();
  EXPECT_THAT(order, ElementsAre(1, 2));
  EXPECT_NE(thread, std::this_thread::get_id());
}

TEST(SerialExecutorTest, RunsWhatWasPostedBeforeItEnds) {
  std::vector<int> order;
  {
    SerialExecutor executor;
    executor.Post([&] {
      order.push_back(1);
      executor.Post([&] { order.push_back(2); });
    });
  }
  EXPECT_THAT(order, ElementsAre(1, 2));
}

}  // namespace
}  // namespace intercom
