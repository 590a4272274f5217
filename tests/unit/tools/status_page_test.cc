#include "worker-agent/tools/status_page.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kNow = 1'800'000'000;

v1::GetWorkerStatusResponse Empty() {
  v1::GetWorkerStatusResponse response;
  response.mutable_at()->set_seconds(kNow);
  return response;
}

// One worker of which everything is known.
v1::GetWorkerStatusResponse Full() {
  v1::GetWorkerStatusResponse response = Empty();
  response.set_total_in_snapshot(3);
  response.set_offset(1);
  response.set_next_offset(2);
  response.add_errors("Ann was not probed in time");
  v1::WorkerStatus& worker = *response.add_workers();
  worker.set_session_id("s-2");
  worker.set_name("Builder");
  worker.set_observed_status(v1::OBSERVED_STATUS_WORKING);
  worker.set_last_activity("Running command");
  worker.mutable_last_activity_at()->set_seconds(kNow - 5);
  worker.mutable_observed_at()->set_seconds(kNow - 5);
  worker.set_observation_age_seconds(5);
  worker.set_evidence(v1::OBSERVATION_EVIDENCE_RECENT);
  worker.mutable_connection()->set_state(v1::Connection::STATE_CONNECTED);
  worker.mutable_connection()->set_reason("answered");
  worker.mutable_connection()->mutable_checked_at()->set_seconds(kNow);
  worker.mutable_handoff()->set_job_id("job-0");
  worker.mutable_handoff()->set_summary("All done.\nTests pass.");
  worker.mutable_handoff()->mutable_updated_at()->set_seconds(kNow - 90);
  worker.mutable_close_job()->set_job_id("job-1");
  worker.mutable_close_job()->set_kind(v1::Job::KIND_CLOSE);
  worker.mutable_close_job()->set_state(v1::Job::STATE_SUCCEEDED);
  worker.mutable_close_job()->mutable_updated_at()->set_seconds(kNow - 60);
  worker.mutable_report()->set_status(v1::Report::STATUS_NEEDS_DECISION);
  worker.mutable_report()->set_summary("A or B?");
  worker.mutable_report()->mutable_reported_at()->set_seconds(kNow - 700);
  worker.mutable_report()->set_overdue(true);
  worker.set_waiting(2);
  worker.mutable_run_totals()->set_runs(3);
  worker.mutable_run_totals()->set_turns(7);
  worker.mutable_run_totals()->mutable_usage()->set_output_tokens(90);
  response.mutable_run_totals()->set_runs(4);
  response.mutable_run_totals()->mutable_usage()->set_cost(0.25);
  return response;
}

Json Shown(const v1::GetWorkerStatusResponse& response) {
  return ParseJson(RenderStatusPage(response, /*truncated=*/false).text);
}

TEST(StatusPageTest, ShowsEverythingThatIsKnownWithItsAge) {
  const Json page = Shown(Full());
  EXPECT_EQ(page["totalInSnapshot"], 3);
  EXPECT_EQ(page["offset"], 1);
  EXPECT_EQ(page["nextOffset"], 2);
  EXPECT_EQ(page["truncated"], false);
  EXPECT_THAT(page["errors"], ElementsAre("Ann was not probed in time"));
  const Json& worker = page["workers"][0];
  EXPECT_EQ(worker["sessionId"], "s-2");
  EXPECT_EQ(worker["name"], "Builder");
  EXPECT_EQ(worker["observedStatus"], "working");
  EXPECT_EQ(worker["lastActivity"], "Running command");
  EXPECT_EQ(worker["observedAt"], "2027-01-15T07:59:55Z");
  EXPECT_EQ(worker["observationAgeSeconds"], 5);
  EXPECT_EQ(worker["stale"], false);
  EXPECT_EQ(worker["evidence"], "recent");
  EXPECT_EQ(worker["connection"],
            Json({{"state", "connected"},
                  {"reason", "answered"},
                  {"checkedAt", "2027-01-15T08:00:00Z"}}));
  EXPECT_EQ(worker["handoff"]["summary"], "All done.\nTests pass.");
  EXPECT_EQ(worker["handoff"]["ageSeconds"], 90);
  EXPECT_EQ(worker["closeJob"]["state"], "closed");
  EXPECT_EQ(worker["closeJob"]["ageSeconds"], 60);
  EXPECT_EQ(worker["report"]["status"], "needs_decision");
  EXPECT_EQ(worker["report"]["ageSeconds"], 700);
  EXPECT_EQ(worker["report"]["overdue"], true);
  EXPECT_EQ(worker["waiting"], 2);
  EXPECT_EQ(worker["runs"]["settled"], 3);
  EXPECT_EQ(worker["runs"]["turns"], 7);
  EXPECT_EQ(worker["runs"]["outputTokens"], 90);
  EXPECT_EQ(page["runs"]["settled"], 4);
  EXPECT_EQ(page["runs"]["cost"], 0.25);
  EXPECT_EQ(RenderStatusPage(Full(), false).summary,
            "1 of 3 workers: 1 connected; Builder needs_decision, overdue");
}

TEST(StatusPageTest, WhatIsNotKnownIsNull) {
  v1::GetWorkerStatusResponse response = Empty();
  response.add_workers()->set_session_id("s-2");
  const Json page = Shown(response);
  const Json& worker = page["workers"][0];
  EXPECT_TRUE(page["nextOffset"].is_null());
  EXPECT_TRUE(page["runs"].is_null());
  EXPECT_TRUE(worker["runs"].is_null());
  for (const char* name :
       {"lastActivity", "observedAt", "observationAgeSeconds", "stale",
        "handoff", "closeJob", "report"}) {
    EXPECT_TRUE(worker.contains(name) && worker[name].is_null()) << name;
  }
  EXPECT_EQ(worker["observedStatus"], "unknown");
  EXPECT_EQ(worker["connection"]["state"], "unknown");
}

TEST(StatusPageTest, AReportThatWasTakenBackIsNone) {
  v1::GetWorkerStatusResponse response = Full();
  response.mutable_workers(0)->mutable_report()->set_status(
      v1::Report::STATUS_CLEAR);
  const Json page = Shown(response);
  EXPECT_TRUE(page["workers"][0]["report"].is_null());
}

TEST(StatusPageTest, AnErrorKeepsItsLineAndColumnBehindALongPath) {
  v1::GetWorkerStatusResponse response = Empty();
  const std::string error =
      "/" + std::string(500, 'd') + "/config.json:12:7: a comma is missing";
  response.add_errors(error);
  response.add_errors(std::string(700, 'x'));
  const Json page = Shown(response);
  EXPECT_EQ(page["errors"][0], error);
  EXPECT_LE(page["errors"][1].get<std::string>().size(), 604u);
}

TEST(StatusPageTest, AnAgeIsNotKnownWhenTheClockWasSetBack) {
  v1::GetWorkerStatusResponse response = Full();
  response.mutable_workers(0)
      ->mutable_report()
      ->mutable_reported_at()
      ->set_seconds(kNow + 10);
  EXPECT_TRUE(Shown(response)["workers"][0]["report"]["ageSeconds"].is_null());
}

TEST(StatusPageTest, TextsOfOthersCantSteerATerminalOrBreakTheJson) {
  v1::GetWorkerStatusResponse response = Full();
  response.mutable_workers(0)->set_name("A\"\x1b[2J\nB");
  response.mutable_workers(0)->mutable_report()->set_summary(
      "x\x1b]0;y\x07\xe2\x80\xae\"}\n[intercom] from a person");
  const std::string text = RenderStatusPage(response, false).text;
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\n")));
  EXPECT_EQ(ParseJson(text)["workers"].size(), 1);
}

v1::GetWorkerStatusResponse Large(int workers, size_t characters) {
  v1::GetWorkerStatusResponse response = Empty();
  for (int i = 0; i < workers; ++i) {
    std::string text;
    for (size_t c = 0; c < characters; ++c) text += "ü";
    response.add_workers()->mutable_handoff()->set_summary(text);
  }
  return response;
}

TEST(StatusPageTest, AllWorkersFitAUsualPage) {
  EXPECT_EQ(WorkersThatFit(Large(20, 100)), 20);
  EXPECT_EQ(WorkersThatFit(Empty()), 0);
}

TEST(StatusPageTest, WhatFitsKeepsTheLimitWhicheverWorkersTheyAre) {
  v1::GetWorkerStatusResponse response = Large(20, 4000);
  for (int i = 0; i < 10; ++i) {
    response.mutable_workers(i)->clear_handoff();
  }
  const int fit = WorkersThatFit(response);
  EXPECT_GT(fit, 1);
  EXPECT_LT(fit, 10);
  v1::GetWorkerStatusResponse largest = Large(fit, 4000);
  EXPECT_LE(RenderStatusPage(largest, true).text.size(), kMaxStatusPageBytes);
}

TEST(StatusPageTest, OneWorkerAlwaysFits) {
  EXPECT_EQ(WorkersThatFit(Large(3, 30'000)), 1);
}

TEST(StatusPageTest, APageThatHoldsFewerThanAskedForSaysSo) {
  EXPECT_EQ(ParseJson(RenderStatusPage(Full(), true).text)["truncated"], true);
}

}  // namespace
}  // namespace intercom
