#include "tests/bench/measure.h"

#include <atomic>
#include <utility>

namespace intercom::bench {
namespace {

const std::string& Text() {
  static const auto* const text = new std::string(256, 'm');
  return *text;
}

}  // namespace

Fleet::Fleet(std::string socket, std::string directory,
             const std::vector<std::string>& ids)
    : socket_(std::move(socket)), directory_(std::move(directory)), ids_(ids) {}

Fleet::~Fleet() { Leave(); }

SteadyClock::duration Fleet::Attach() {
  Progress ready;
  for (const std::string& id : ids_) {
    sessions_.push_back(std::make_unique<Session>(socket_, id, directory_));
  }
  const TimePoint start = SteadyClock::now();
  for (const auto& session : sessions_) session->Attach(ready);
  return ready.WaitFor(static_cast<int>(sessions_.size()), "attached session") -
         start;
}

void Fleet::Leave() {
  for (const auto& session : sessions_) session->Leave();
  sessions_.clear();
}

Fleet::Pair Fleet::NextPair() {
  const size_t count = sessions_.size();
  const size_t sender = next_++ % count;
  return {*sessions_[sender], *sessions_[(sender + count / 2) % count]};
}

void Fleet::Quiet() {
  for (const auto& session : sessions_) session->SetEvents({});
}

Fleet::Latencies Fleet::OneWay(int pairs, int each) {
  Latencies latencies;
  for (int i = 0; i < pairs; ++i) {
    const Pair pair = NextPair();
    pair.sender.WaitForAllowance(each);
    Progress delivered;
    Progress accepted;
    pair.sender.SetEvents({{}, [&] { accepted.Count(); }});
    pair.recipient.SetEvents(
        {[&](const v1::Delivery&) { delivered.Count(); }, {}});
    for (int n = 1; n <= each; ++n) {
      const TimePoint start = SteadyClock::now();
      pair.sender.Submit(pair.recipient.id(), Text());
      latencies.one_way.Add(delivered.WaitFor(n, "delivery") - start);
      latencies.accepted.Add(accepted.WaitFor(n, "answer") - start);
    }
    Quiet();
  }
  return latencies;
}

Samples Fleet::RoundTrips(int pairs, int each) {
  Samples samples;
  for (int i = 0; i < pairs; ++i) {
    const Pair pair = NextPair();
    pair.sender.WaitForAllowance(each);
    pair.recipient.WaitForAllowance(each);
    Progress back;
    Progress accepted;
    pair.sender.SetEvents({[&](const v1::Delivery&) { back.Count(); },
                           [&] { accepted.Count(); }});
    pair.recipient.SetEvents({[pair](const v1::Delivery&) {
                                pair.recipient.Submit(pair.sender.id(), Text());
                              },
                              [&] { accepted.Count(); }});
    for (int n = 1; n <= each; ++n) {
      const TimePoint start = SteadyClock::now();
      pair.sender.Submit(pair.recipient.id(), Text());
      samples.Add(back.WaitFor(n, "reply") - start);
    }
    accepted.WaitFor(2 * each, "answer");
    Quiet();
  }
  return samples;
}

Fleet::Rates Fleet::Throughput(int senders, int each, int in_flight) {
  std::vector<Pair> pairs;
  for (int i = 0; i < senders; ++i) pairs.push_back(NextPair());
  std::vector<std::atomic<int>> left(senders);
  Progress delivered;
  Progress accepted;
  for (int i = 0; i < senders; ++i) {
    const Pair pair = pairs[i];
    pair.sender.WaitForAllowance(each);
    left[i] = each - in_flight;
    // Counts last: the last count ends the measurement and all it refers to.
    pair.sender.SetEvents({{}, [pair, &accepted, &left = left[i]] {
                             if (left.fetch_sub(1) > 0) {
                               pair.sender.Submit(pair.recipient.id(), Text());
                             }
                             accepted.Count();
                           }});
    pair.recipient.SetEvents(
        {[&delivered](const v1::Delivery&) { delivered.Count(); }, {}});
  }
  const TimePoint start = SteadyClock::now();
  for (int n = 0; n < in_flight; ++n) {
    for (const Pair& pair : pairs) {
      pair.sender.Submit(pair.recipient.id(), Text());
    }
  }
  const int total = senders * each;
  const double accepted_us =
      Microseconds(accepted.WaitFor(total, "answer") - start);
  const double routed_us =
      Microseconds(delivered.WaitFor(total, "delivery") - start);
  Quiet();
  return {total / accepted_us * 1e6, total / routed_us * 1e6};
}

}  // namespace intercom::bench
