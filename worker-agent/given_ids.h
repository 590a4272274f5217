#ifndef PI_INTERCOM_WORKER_AGENT_GIVEN_IDS_H_
#define PI_INTERCOM_WORKER_AGENT_GIVEN_IDS_H_

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>

namespace intercom {

// What results of tool calls told the host: the latest, each once.
class GivenIds {
 public:
  void Add(const std::string& id) {
    if (Has(id)) return;
    ids_.push_back(id);
    if (ids_.size() > kMost) ids_.pop_front();
  }
  void Remove(const std::string& id) { std::erase(ids_, id); }
  bool Has(const std::string& id) const {
    return std::find(ids_.begin(), ids_.end(), id) != ids_.end();
  }

 private:
  // More than one session can follow at once.
  static constexpr size_t kMost = 512;

  std::deque<std::string> ids_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_GIVEN_IDS_H_
