#ifndef PI_INTERCOM_WORKER_AGENT_INBOX_CALLS_H_
#define PI_INTERCOM_WORKER_AGENT_INBOX_CALLS_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "broker/base/clock.h"
#include "worker-agent/given_ids.h"
#include "worker-agent/link/broker_link.h"
#include "worker-agent/tools/tool_result.h"

namespace intercom {

// The action `inbox` of `intercom`. A drain is known to the session by an id in
// the call's result: notes of one that is no entry there, whatever ended its
// call, agent or host, come again with the next look, and that says so. Not
// thread-safe: on the runner of the link.
class InboxCalls {
 public:
  // Answers a call once. False if it was open no more: then the host has got
  // nothing.
  using Answer =
      std::function<bool(const std::string& call_id, const ToolResult&)>;
  // Which of `ids` entries of the session tell.
  using Told = std::function<void(
      const std::vector<std::string>& ids,
      std::function<void(const std::vector<std::string>& told)>)>;

  // What is passed must outlive this object.
  InboxCalls(BrokerLink& link, const Clock& clock, Told told, Answer answer);

  void Call(const std::string& call_id);

  // What the host says of an id that a result brought: it is in the session's
  // entries, or never will be. False for what is no drain's.
  bool Settled(const std::string& id);

 private:
  // A call on its way.
  struct Look {
    std::string call_id;
    // What the call's own drain took.
    v1::DrainInboxResponse own;
    // Earlier drains to repeat, and how many are left for later looks.
    std::vector<std::string> again;
    int left = 0;
    // The notes of those that were repeated, and their drains.
    v1::DrainInboxResponse earlier;
    std::vector<std::string> brought;
  };

  // Finds out which earlier drains nobody has seen.
  void FindUnseen(Look look);
  void Repeat(Look look, size_t next);
  void Finish(Look look);
  void GiveUp(const Look& look, const absl::Status& why);
  // Nothing of the look is on its way any more.
  void Close(const Look& look);

  BrokerLink& link_;
  const Clock& clock_;
  const Told told_;
  const Answer answer_;
  // Drains of calls on their way, and those whose results the host has and has
  // not settled: nobody repeats them meanwhile.
  std::set<std::string> open_;
  GivenIds given_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_INBOX_CALLS_H_
