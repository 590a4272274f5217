#include "broker/work/worker_observation.h"

#include "broker/base/proto_time.h"
#include "gtest/gtest.h"

namespace intercom {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

v1::WorkerStatus Judged(const Sighting& sighting) {
  v1::WorkerStatus worker;
  Judge(sighting, kNow, worker);
  return worker;
}

// Last seen `ago`, after it had done `phase` for a second.
Sighting Absent(v1::ActivityPhase phase,
                absl::Duration ago = absl::Seconds(10)) {
  Sighting sighting;
  sighting.attached_at = kNow - absl::Hours(2);
  sighting.last_seen_at = kNow - ago;
  sighting.activity = {phase, "", kNow - ago - absl::Seconds(1)};
  return sighting;
}

TEST(WorkerObservationTest, AnAttachedSessionIsAsItSays) {
  struct Case {
    v1::ActivityPhase phase;
    v1::ObservedStatus status;
  };
  for (const Case& c :
       {Case{v1::ACTIVITY_PHASE_IDLE, v1::OBSERVED_STATUS_IDLE},
        {v1::ACTIVITY_PHASE_THINKING, v1::OBSERVED_STATUS_THINKING},
        {v1::ACTIVITY_PHASE_WORKING, v1::OBSERVED_STATUS_WORKING},
        {v1::ACTIVITY_PHASE_RESPONDING, v1::OBSERVED_STATUS_WORKING},
        {v1::ACTIVITY_PHASE_TOOL, v1::OBSERVED_STATUS_WORKING}}) {
    Sighting sighting;
    sighting.attached = true;
    // However long it has been so.
    sighting.activity = {c.phase, "Running command", kNow - absl::Hours(3)};
    const v1::WorkerStatus worker = Judged(sighting);
    EXPECT_EQ(worker.observed_status(), c.status);
    EXPECT_EQ(worker.evidence(), v1::OBSERVATION_EVIDENCE_RECENT);
    EXPECT_EQ(FromProto(worker.observed_at()), kNow);
    EXPECT_EQ(worker.observation_age_seconds(), 0);
    EXPECT_FALSE(worker.stale());
    EXPECT_EQ(worker.last_activity(), "Running command");
    EXPECT_EQ(FromProto(worker.last_activity_at()), kNow - absl::Hours(3));
  }
}

TEST(WorkerObservationTest, AnAttachedSessionThatSaidNothingIsSeenAndNoMore) {
  Sighting sighting;
  sighting.attached = true;
  const v1::WorkerStatus worker = Judged(sighting);
  EXPECT_EQ(worker.observed_status(), v1::OBSERVED_STATUS_UNSPECIFIED);
  EXPECT_EQ(worker.evidence(), v1::OBSERVATION_EVIDENCE_RECENT);
  EXPECT_FALSE(worker.has_last_activity_at());
}

TEST(WorkerObservationTest, AProbeThatContradictsMakesItUnknown) {
  Sighting sighting;
  sighting.attached = true;
  sighting.contradicted = true;
  sighting.activity = {v1::ACTIVITY_PHASE_IDLE, "", kNow};
  const v1::WorkerStatus worker = Judged(sighting);
  EXPECT_EQ(worker.observed_status(), v1::OBSERVED_STATUS_UNSPECIFIED);
  EXPECT_EQ(worker.evidence(), v1::OBSERVATION_EVIDENCE_CONFLICTING);
}

TEST(WorkerObservationTest, WhoNeverCameIsMissing) {
  const v1::WorkerStatus worker = Judged({});
  EXPECT_EQ(worker.evidence(), v1::OBSERVATION_EVIDENCE_MISSING);
  EXPECT_EQ(worker.observed_status(), v1::OBSERVED_STATUS_UNSPECIFIED);
  EXPECT_FALSE(worker.has_observed_at());
  EXPECT_FALSE(worker.has_observation_age_seconds());
}

TEST(WorkerObservationTest, WhoLeftIdleWasIdleWhenLastSeen) {
  const v1::WorkerStatus worker = Judged(Absent(v1::ACTIVITY_PHASE_IDLE));
  EXPECT_EQ(worker.observed_status(), v1::OBSERVED_STATUS_IDLE);
  EXPECT_EQ(worker.evidence(), v1::OBSERVATION_EVIDENCE_RECENT);
  EXPECT_EQ(worker.observation_age_seconds(), 10);
  EXPECT_EQ(worker.last_activity(), "idle");
}

TEST(WorkerObservationTest, OverAMinuteIsStale) {
  EXPECT_FALSE(
      Judged(Absent(v1::ACTIVITY_PHASE_IDLE, absl::Seconds(60))).stale());
  const v1::WorkerStatus worker =
      Judged(Absent(v1::ACTIVITY_PHASE_IDLE, absl::Seconds(61)));
  EXPECT_TRUE(worker.stale());
  EXPECT_EQ(worker.evidence(), v1::OBSERVATION_EVIDENCE_STALE);
  EXPECT_EQ(worker.observed_status(), v1::OBSERVED_STATUS_IDLE);
}

TEST(WorkerObservationTest, BusyAndThenGoneIsAContradiction) {
  for (const absl::Duration ago : {absl::Seconds(10), absl::Hours(1)}) {
    const v1::WorkerStatus worker =
        Judged(Absent(v1::ACTIVITY_PHASE_TOOL, ago));
    EXPECT_EQ(worker.observed_status(), v1::OBSERVED_STATUS_UNSPECIFIED);
    EXPECT_EQ(worker.evidence(), v1::OBSERVATION_EVIDENCE_CONFLICTING);
  }
}

TEST(WorkerObservationTest, BusyAndPerhapsOnItsWayBackIsNone) {
  Sighting sighting = Absent(v1::ACTIVITY_PHASE_TOOL);
  sighting.may_be_back = true;
  const v1::WorkerStatus worker = Judged(sighting);
  EXPECT_EQ(worker.observed_status(), v1::OBSERVED_STATUS_WORKING);
  EXPECT_EQ(worker.evidence(), v1::OBSERVATION_EVIDENCE_RECENT);
}

TEST(WorkerObservationTest, AnEarlierAttachmentSaysNothingOfTheLast) {
  Sighting sighting = Absent(v1::ACTIVITY_PHASE_TOOL);
  sighting.attached_at = kNow - absl::Seconds(11) + absl::Milliseconds(1);
  const v1::WorkerStatus worker = Judged(sighting);
  EXPECT_EQ(worker.observed_status(), v1::OBSERVED_STATUS_UNSPECIFIED);
  EXPECT_EQ(worker.evidence(), v1::OBSERVATION_EVIDENCE_RECENT);
  EXPECT_EQ(worker.last_activity(), "tool");
}

TEST(WorkerObservationTest, ActivityAfterTheLastSightIsALaterSight) {
  // The broker crashed, so that nobody noted when it was last seen.
  Sighting sighting = Absent(v1::ACTIVITY_PHASE_IDLE, absl::Hours(1));
  sighting.activity->at = kNow - absl::Seconds(5);
  EXPECT_EQ(Judged(sighting).observation_age_seconds(), 5);
}

TEST(WorkerObservationTest, AClockThatWasSetBackLeavesNothingCertain) {
  const v1::WorkerStatus worker =
      Judged(Absent(v1::ACTIVITY_PHASE_IDLE, -absl::Seconds(5)));
  EXPECT_EQ(worker.evidence(), v1::OBSERVATION_EVIDENCE_CLOCK_UNCERTAIN);
  EXPECT_EQ(worker.observed_status(), v1::OBSERVED_STATUS_UNSPECIFIED);
  EXPECT_FALSE(worker.has_observation_age_seconds());
  EXPECT_TRUE(worker.has_observed_at());
}

TEST(WorkerObservationTest, AClosedWorkerIsClosedUntilItAttachesAgain) {
  Sighting sighting = Absent(v1::ACTIVITY_PHASE_TOOL);
  sighting.closed_at = kNow - absl::Seconds(10);
  EXPECT_EQ(Judged(sighting).observed_status(), v1::OBSERVED_STATUS_CLOSED);
  EXPECT_EQ(Judged(sighting).evidence(), v1::OBSERVATION_EVIDENCE_RECENT);
  sighting.attached_at = kNow - absl::Seconds(5);
  EXPECT_NE(Judged(sighting).observed_status(), v1::OBSERVED_STATUS_CLOSED);
  sighting.attached = true;
  EXPECT_NE(Judged(sighting).observed_status(), v1::OBSERVED_STATUS_CLOSED);
}

}  // namespace
}  // namespace intercom
