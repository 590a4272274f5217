#ifndef PI_INTERCOM_TESTS_BENCH_MEASURE_H_
#define PI_INTERCOM_TESTS_BENCH_MEASURE_H_

#include <memory>
#include <string>
#include <vector>

#include "tests/bench/samples.h"
#include "tests/bench/session.h"

namespace intercom::bench {

// The sessions of one server, of which measurements take pairs in turn: each is
// the sender of some and the recipient of others, and none sends faster than
// the broker lets a session send. One measurement at a time.
class Fleet {
 public:
  // `ids` is an even number of sessions that work in `directory`.
  Fleet(std::string socket, std::string directory,
        const std::vector<std::string>& ids);
  ~Fleet();

  // Attaches all at once. The time until mail may flow to each of them.
  SteadyClock::duration Attach();
  void Leave();

  struct Latencies {
    // From the send call to the hand-over at the recipient.
    Samples one_way;
    // From the send call to the answer: accepted, and on disk if there is one.
    Samples accepted;
  };
  // One message at a time, the next when the previous was answered.
  Latencies OneWay(int pairs, int each);
  // From the send call to the hand-over of the reply that the recipient sends
  // as soon as it has the message.
  Samples RoundTrips(int pairs, int each);

  // Messages a second.
  struct Rates {
    // By the last answer.
    double accepted = 0;
    // By the last hand-over.
    double routed = 0;
  };
  // Each of `senders` sends `each` messages to a recipient of its own, with
  // `in_flight` of them unanswered.
  Rates Throughput(int senders, int each, int in_flight);

 private:
  struct Pair {
    Session& sender;
    Session& recipient;
  };
  Pair NextPair();
  void Quiet();

  const std::string socket_;
  const std::string directory_;
  const std::vector<std::string> ids_;
  std::vector<std::unique_ptr<Session>> sessions_;
  size_t next_ = 0;
};

}  // namespace intercom::bench

#endif  // PI_INTERCOM_TESTS_BENCH_MEASURE_H_
