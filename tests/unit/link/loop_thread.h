#ifndef PI_INTERCOM_TESTS_UNIT_LINK_LOOP_THREAD_H_
#define PI_INTERCOM_TESTS_UNIT_LINK_LOOP_THREAD_H_

#include <functional>
#include <future>
#include <thread>

#include "broker/base/clock.h"
#include "worker-agent/link/event_loop.h"

namespace intercom {

// An event loop that runs until the end of a test.
class LoopThread {
 public:
  ~LoopThread() {
    loop_.Quit();
    thread_.join();
  }

  EventLoop& runner() { return loop_; }

  // Runs `task` there and waits for it.
  void Do(std::function<void()> task) {
    std::promise<void> done;
    loop_.PostTask([&] {
      task();
      done.set_value();
    });
    done.get_future().wait();
  }

 private:
  SystemClock clock_;
  EventLoop loop_{clock_};
  std::thread thread_{[this] { loop_.Run(); }};
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_UNIT_LINK_LOOP_THREAD_H_
