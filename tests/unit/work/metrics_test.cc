#include "broker/work/metrics.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::SizeIs;

// How many took up to `bound`, and longer than the bound before.
int64_t CountUpTo(const v1::LatencyHistogram& histogram, absl::Duration bound) {
  for (const auto& bucket : histogram.buckets()) {
    if (bucket.has_up_to() && FromProtoDuration(bucket.up_to()) == bound) {
      return bucket.count();
    }
  }
  return -1;
}

TEST(LatencyHistogramTest, ABoundBelongsToItsBucket) {
  LatencyHistogram histogram;
  histogram.Add(absl::Milliseconds(1));
  histogram.Add(absl::Milliseconds(1) + absl::Nanoseconds(1));
  histogram.Add(absl::Milliseconds(2));
  histogram.Add(absl::Hours(1));
  histogram.Add(absl::Hours(1) + absl::Nanoseconds(1));

  const auto told = histogram.ToProto("name", "help");
  EXPECT_EQ(CountUpTo(told, absl::Milliseconds(1)), 1);
  EXPECT_EQ(CountUpTo(told, absl::Milliseconds(2)), 2);
  EXPECT_EQ(CountUpTo(told, absl::Hours(1)), 1);
  EXPECT_FALSE(told.buckets().rbegin()->has_up_to());
  EXPECT_EQ(told.buckets().rbegin()->count(), 1);
  EXPECT_EQ(told.count(), 5);
  EXPECT_EQ(FromProtoDuration(told.longest()),
            absl::Hours(1) + absl::Nanoseconds(1));
}

TEST(LatencyHistogramTest, BoundsAscend) {
  const auto told = LatencyHistogram().ToProto("", "");
  for (int i = 1; i < told.buckets_size() - 1; ++i) {
    EXPECT_LT(FromProtoDuration(told.buckets(i - 1).up_to()),
              FromProtoDuration(told.buckets(i).up_to()));
  }
}

TEST(LatencyHistogramTest, ANegativeTimeCountsAsNone) {
  LatencyHistogram histogram;
  histogram.Add(-absl::Hours(3));
  const auto told = histogram.ToProto("", "");
  EXPECT_EQ(CountUpTo(told, absl::Milliseconds(1)), 1);
  EXPECT_EQ(FromProtoDuration(told.sum()), absl::ZeroDuration());
}

class TrafficTest : public ::testing::Test {
 protected:
  std::vector<int> Messages() {
    std::vector<int> messages;
    for (const v1::TrafficMinute& minute : traffic_.Minutes()) {
      messages.push_back(minute.messages());
    }
    return messages;
  }
  v1::TrafficMinute MinutesAgo(int ago) { return traffic_.Minutes()[59 - ago]; }

  FakeClock clock_;
  Traffic traffic_{clock_};
};

TEST_F(TrafficTest, AMinuteGoesOnToTheNext) {
  traffic_.CountMessage();
  clock_.Advance(absl::Seconds(59));
  traffic_.CountMessage();
  clock_.Advance(absl::Seconds(1));
  traffic_.CountMessage();

  EXPECT_THAT(Messages(), SizeIs(60));
  EXPECT_EQ(MinutesAgo(0).messages(), 1);
  EXPECT_EQ(MinutesAgo(1).messages(), 2);
}

TEST_F(TrafficTest, MinutesPassWhileNothingHappens) {
  traffic_.CountMessage();
  clock_.Advance(absl::Minutes(59));
  EXPECT_EQ(MinutesAgo(59).messages(), 1);
  clock_.Advance(absl::Minutes(1));
  EXPECT_THAT(Messages(), AllOf(SizeIs(60), Each(0)));
  clock_.Advance(absl::Hours(1000));
  EXPECT_THAT(Messages(), AllOf(SizeIs(60), Each(0)));
}

TEST_F(TrafficTest, ADayOfTrafficLeavesItsLastHour) {
  for (int minute = 0; minute < 24 * 60; ++minute) {
    for (int i = 0; i <= minute % 7; ++i) {
      traffic_.CountMessage();
      traffic_.AddLatency(absl::Milliseconds(minute));
    }
    if (minute < 24 * 60 - 1) clock_.Advance(absl::Minutes(1));
  }
  for (int ago = 0; ago < 60; ++ago) {
    const int minute = 24 * 60 - 1 - ago;
    EXPECT_EQ(MinutesAgo(ago).messages(), minute % 7 + 1);
    EXPECT_EQ(FromProtoDuration(MinutesAgo(ago).median_latency()),
              absl::Milliseconds(minute));
  }
}

TEST_F(TrafficTest, TheClockSetBackMovesNothing) {
  traffic_.CountMessage();
  clock_.Jump(-absl::Hours(5));
  traffic_.CountMessage();
  clock_.Jump(absl::Hours(50));
  traffic_.CountMessage();
  EXPECT_EQ(MinutesAgo(0).messages(), 3);
}

TEST_F(TrafficTest, AMinuteHasItsMedianAndItsLongest) {
  for (const int ms : {5, 1, 9, 3, 700}) {
    traffic_.AddLatency(absl::Milliseconds(ms));
  }
  clock_.Advance(absl::Minutes(2));
  const auto minute = MinutesAgo(2);
  EXPECT_EQ(FromProtoDuration(minute.median_latency()), absl::Milliseconds(5));
  EXPECT_EQ(FromProtoDuration(minute.longest_latency()),
            absl::Milliseconds(700));
  EXPECT_FALSE(MinutesAgo(1).has_median_latency());
}

TEST_F(TrafficTest, ManyLatenciesKeepTheMedianAndNotTheirMemory) {
  // 1 to 100,000 in an order that no stride follows.
  constexpr int kCount = 100'003;  // a prime
  for (int64_t i = 1; i < kCount; ++i) {
    traffic_.AddLatency(absl::Microseconds(i * 40'009 % kCount));
  }
  const absl::Duration median =
      FromProtoDuration(MinutesAgo(0).median_latency());
  EXPECT_GT(median, absl::Microseconds(kCount * 45 / 100));
  EXPECT_LT(median, absl::Microseconds(kCount * 55 / 100));
}

class MetricsTest : public ::testing::Test {
 protected:
  int64_t CounterOf(const std::string& name, const std::string& label) {
    const auto told = metrics_.Describe();
    for (const v1::Counter& counter : told.counters()) {
      EXPECT_FALSE(counter.help().empty());
      if (counter.name() == name && counter.label() == label) {
        return counter.value();
      }
    }
    return -1;
  }

  FakeClock clock_;
  Metrics metrics_{clock_};
};

TEST_F(MetricsTest, CountsAreNamedAndLabelled) {
  metrics_.CountAccepted(v1::ENVELOPE_KIND_ASK);
  metrics_.CountReached(v1::DELIVERY_STATE_SEEN);
  metrics_.CountEnded(v1::DELIVERY_END_EXPIRED);
  metrics_.CountRefused("MAILBOX_FULL");
  metrics_.CountRefused("");
  metrics_.CountJob(v1::Job::KIND_CLOSE, v1::Job::STATE_FAILED);

  EXPECT_EQ(CounterOf("envelopes_accepted", "kind=ask"), 1);
  EXPECT_EQ(CounterOf("envelopes_accepted", "kind=message"), 0);
  EXPECT_EQ(CounterOf("deliveries_reached", "state=seen"), 1);
  EXPECT_EQ(CounterOf("deliveries_ended", "end=expired"), 1);
  EXPECT_EQ(CounterOf("envelopes_refused", "reason=MAILBOX_FULL"), 1);
  EXPECT_EQ(CounterOf("envelopes_refused", "reason=other"), 1);
  EXPECT_EQ(CounterOf("jobs_reached", "kind=close,state=failed"), 1);
}

TEST_F(MetricsTest, NoticesAreNoTraffic) {
  metrics_.CountAccepted(v1::ENVELOPE_KIND_NOTICE);
  metrics_.CountAccepted(v1::ENVELOPE_KIND_REPLY);
  EXPECT_EQ(metrics_.traffic().Minutes()[59].messages(), 1);
}

TEST_F(MetricsTest, ReasonsAreBounded) {
  for (int i = 0; i < 1000; ++i) {
    metrics_.CountRefused("REASON_" + std::to_string(i));
  }
  EXPECT_EQ(CounterOf("envelopes_refused", "reason=REASON_63"), 1);
  EXPECT_EQ(CounterOf("envelopes_refused", "reason=REASON_64"), -1);
  EXPECT_EQ(CounterOf("envelopes_refused", "reason=other"), 936);
}

}  // namespace
}  // namespace intercom
