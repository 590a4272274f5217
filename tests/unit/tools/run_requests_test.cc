// What those who work for a supervisor, and supervisors, submit.

#include "broker/base/proto_time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "worker-agent/tools/peer_requests.h"
#include "worker-agent/tools/peer_result.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;

const Delegation kRun{.supervisor_session_id = "s-1",
                      .supervisor_name = "planner",
                      .run_id = "run-7",
                      .label = "parser"};
const Delegation kHeadless{.supervisor_session_id = "s-1",
                           .supervisor_name = "planner"};

TEST(DelegatedAskTest, IsAnAskToTheSupervisorsSession) {
  const auto submit =
      DelegatedAskOf({{"reason", "need_decision"}, {"message", "403 or 401?"}},
                     "call-1", kRun, absl::Minutes(10));
  ASSERT_THAT(submit, IsOk());
  EXPECT_EQ(submit->to(), "s-1");
  EXPECT_EQ(submit->reach(), v1::REACH_ACCOUNT);
  EXPECT_EQ(submit->envelope().kind(), v1::ENVELOPE_KIND_ASK);
  EXPECT_EQ(submit->envelope().reply_within().seconds(), 600);
  EXPECT_EQ(submit->envelope().text(),
            "The worker of run-7 needs a decision. Label: \"parser\". It waits "
            "for your answer.\n\n403 or 401?\n");
}

TEST(DelegatedAskTest, AHeadlessWorkerWithoutARunSaysSo) {
  const auto submit =
      DelegatedAskOf({{"reason", "need_decision"}, {"message", "x"}}, "call-1",
                     kHeadless, absl::Minutes(10));
  ASSERT_THAT(submit, IsOk());
  EXPECT_THAT(submit->envelope().text(),
              HasSubstr("Your headless worker needs a decision."));
}

TEST(DelegatedAskTest, AMessageOfMoreThan8000CharactersIsRefused) {
  const Json arguments = {{"reason", "need_decision"},
                          {"message", std::string(8001, 'x')}};
  const auto submit =
      DelegatedAskOf(arguments, "call-1", kRun, absl::Minutes(10));
  EXPECT_THAT(submit.status(), FailsWith(absl::StatusCode::kInvalidArgument,
                                         "ARGUMENT_INVALID"));
  EXPECT_THAT(std::string(submit.status().message()),
              HasSubstr("8001 characters"));
}

TEST(DelegatedAskTest, AnInterviewCountsAmongTheCharactersOfAMessage) {
  Json arguments = {{"reason", "interview_request"},
                    {"message", std::string(4000, 'x')},
                    {"interview",
                     {{"questions",
                       {{{"id", "q1"},
                         {"type", "text"},
                         {"question", std::string(1000, 'q')},
                         {"context", std::string(1000, 'c')}}}}}}};
  EXPECT_THAT(
      DelegatedAskOf(arguments, "call-1", kRun, absl::Minutes(10)).status(),
      IsOk());
  arguments["message"] = std::string(7000, 'x');
  EXPECT_THAT(
      DelegatedAskOf(arguments, "call-1", kRun, absl::Minutes(10)).status(),
      FailsWith(absl::StatusCode::kInvalidArgument, "ARGUMENT_INVALID"));
}

TEST(DelegatedAskTest, AMessageOfExactly8000CharactersPasses) {
  EXPECT_THAT(DelegatedAskOf({{"reason", "need_decision"},
                              {"message", std::string(8000, 'x')}},
                             "call-1", kRun, absl::Minutes(10))
                  .status(),
              IsOk());
}

TEST(NoteTest, AProgressUpdateIsANoteOfItsRun) {
  const auto note = NoteOf(
      {{"reason", "progress_update"}, {"message", "found it"}}, "call-1", kRun);
  ASSERT_THAT(note, IsOk());
  EXPECT_EQ(note->note_id(), "call-1");
  EXPECT_EQ(note->run_id(), "run-7");
  EXPECT_EQ(note->text(), "found it");
  EXPECT_THAT(
      NoteOf(
          {{"reason", "progress_update"}, {"message", std::string(8001, 'x')}},
          "call-1", kRun)
          .status(),
      FailsWith(absl::StatusCode::kInvalidArgument, "ARGUMENT_INVALID"));
  EXPECT_THAT(
      NoteOf({{"reason", "progress_update"}}, "call-1", kRun).status(),
      FailsWith(absl::StatusCode::kInvalidArgument, "ARGUMENT_INVALID"));
}

TEST(SteerTest, GoesToTheRunAndNotToAName) {
  const v1::Submit submit = SteerSubmitOf(
      {{"action", "steer"}, {"runId", "run-7"}, {"message", "left"}}, "call-1");
  EXPECT_EQ(submit.to_run(), "run-7");
  EXPECT_EQ(submit.to(), "");
  EXPECT_FALSE(submit.has_run());
  EXPECT_EQ(submit.envelope().kind(), v1::ENVELOPE_KIND_MESSAGE);
  EXPECT_EQ(submit.envelope().envelope_id(), "call-1");
}

TEST(FellowTest, IsNamedAmongTheSupervisorsWorkers) {
  const v1::Submit submit =
      FellowSubmitOf({{"to", "parser"}, {"message", "x"}}, "call-1", "boss/m1");
  EXPECT_TRUE(submit.to_fellow());
  EXPECT_EQ(submit.trigger(), "boss/m1");
  EXPECT_EQ(submit.to(), "parser");
}

TEST(PeerSubmitTest, ASendWithALabelOpensARun) {
  const v1::Submit submit = PeerSubmitOf(
      {{"action", "send"}, {"to", "B"}, {"message", "x"}, {"label", "parser"}},
      "call-1", "", "", absl::Minutes(10));
  EXPECT_EQ(submit.run().label(), "parser");
}

TEST(OpenedRunTest, TheAnswerNamesTheRun) {
  v1::DeliveryRecord record;
  record.mutable_envelope()->set_envelope_id("m-1");
  record.set_recipient_name("Builder");
  record.set_state(v1::DELIVERY_STATE_ACCEPTED);
  EXPECT_FALSE(RenderSent(record, false).details.contains("runId"));
  record.set_run_id("run-7");
  for (const ToolResult& result :
       {RenderSent(record, false), RenderSubmitted(record)}) {
    EXPECT_EQ(result.details["runId"], "run-7");
    EXPECT_THAT(result.text,
                HasSubstr("It opened run-7: its end is announced"));
    EXPECT_THAT(result.summary, HasSubstr("run-7"));
  }
}

TEST(UsageTest, IsTheSameThereAndBack) {
  const Json usage = {{"input", 3},
                      {"output", 4},
                      {"cacheRead", 5},
                      {"cacheWrite", 6},
                      {"cost", 0.5}};
  EXPECT_EQ(UsageJson(UsageOf(usage)), usage);
  EXPECT_EQ(UsageOf({{"input", -3}, {"cost", "x"}}).input_tokens(), 0);
}

}  // namespace
}  // namespace intercom
