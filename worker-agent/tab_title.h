#ifndef PI_INTERCOM_WORKER_AGENT_TAB_TITLE_H_
#define PI_INTERCOM_WORKER_AGENT_TAB_TITLE_H_

#include <functional>
#include <string>

#include "worker-agent/background.h"
#include "worker-agent/launch_room.h"

namespace intercom {

// Keeps the tab of a worker under the worker's name. A failure is told once and
// changes nothing else: the same name is not tried again before TryAgain(). Not
// thread-safe.
class TabTitle {
 public:
  // `warn` tells a person. What is passed must outlive this object; `panes` is
  // where the multiplexer is waited for.
  TabTitle(const LaunchRoom& room, Background& panes,
           std::function<void(const std::string& text)> warn)
      : room_(room), panes_(panes), warn_(std::move(warn)) {}

  void Show(const std::string& name);
  // Lets the next Show() try a name that could not be shown, once more.
  void TryAgain();

 private:
  const LaunchRoom& room_;
  Background& panes_;
  const std::function<void(const std::string& text)> warn_;
  // The name that was asked for last, and whether that failed.
  std::string shown_;
  bool failed_ = false;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TAB_TITLE_H_
