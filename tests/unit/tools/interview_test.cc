#include "worker-agent/tools/interview.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Json Question(const char* id, const char* type, Json more = Json::object()) {
  Json question = {{"id", id}, {"type", type}, {"question", "What?"}};
  question.update(more);
  return question;
}

Json InterviewOf(std::vector<Json> questions) {
  return {{"questions", std::move(questions)}};
}

Json Sample() {
  return InterviewOf(
      {Question("api", "single", {{"options", {"Stable", "Next"}}}),
       Question("areas", "multi", {{"options", {"docs", "code"}}}),
       Question("why", "text", {{"context", "It is public."}}),
       Question("shot", "image"), Question("note", "info")});
}

struct BadInterview {
  Json interview;
  const char* said;
};
void PrintTo(const BadInterview& bad, std::ostream* out) { *out << bad.said; }

class BadInterviewTest : public ::testing::TestWithParam<BadInterview> {};

TEST_P(BadInterviewTest, IsRefusedNamingTheQuestion) {
  const absl::Status status = CheckInterview(GetParam().interview);
  EXPECT_THAT(status, FailsWith(absl::StatusCode::kInvalidArgument,
                                "ARGUMENT_INVALID"));
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().said));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadInterviewTest,
    ::testing::Values(
        BadInterview{
            InterviewOf({Question("a", "text"), Question("a", "text")}),
            "two questions have the id \"a\""},
        BadInterview{InterviewOf({Question(" a\n", "text")}), "plain line"},
        BadInterview{InterviewOf({Question("a", "single")}),
                     "\"a\" is of the type single, which needs options"},
        BadInterview{
            InterviewOf({Question("a", "multi", {{"options", Json::array()}})}),
            "which needs options"},
        BadInterview{
            InterviewOf({Question("a", "multi", {{"options", {"x", "x"}}})}),
            "the same option twice"},
        BadInterview{InterviewOf({Question("a", "text", {{"options", {"x"}}})}),
                     "which has no options"},
        BadInterview{InterviewOf({Question("a", "info")}),
                     "no question wants an answer"}));

TEST(InterviewTest, ReadsWellAndEndsWithAnExampleThatAnswersIt) {
  ASSERT_THAT(CheckInterview(Sample()), IsOk());
  const std::string text = InterviewText(Sample());
  EXPECT_THAT(text,
              AllOf(HasSubstr("1. What?\n   id \"api\", choose one\n"
                              "   - Stable\n   - Next\n"),
                    HasSubstr("   Context: It is public.\n"),
                    HasSubstr("id \"note\", for information, no answer")));
  // What is shown as an example is a valid answer itself.
  const auto answers = ParseAnswers(Sample(), text);
  ASSERT_THAT(answers, IsOk());
  EXPECT_EQ((*answers)["responses"].size(), 4u);
}

TEST(AnswersTest, ArePlainOrFencedAndMayBePartial) {
  const std::string json = R"({"responses":[{"id":"why","value":"so"}]})";
  for (const std::string& reply :
       {json, "\n " + json + "\n", "Sure:\n```json\n" + json + "\n```\nBye",
        "```\nno json\n```\n```json\n" + json + "\n```"}) {
    const auto answers = ParseAnswers(Sample(), reply);
    ASSERT_THAT(answers, IsOk()) << reply;
    EXPECT_EQ(*answers, ParseJson(json));
  }
}

TEST(AnswersTest, OneChoiceOfSeveralNeedsNoList) {
  const auto answers = ParseAnswers(
      Sample(), R"({"responses":[{"id":"areas","value":"docs"}]})");
  ASSERT_THAT(answers, IsOk());
  EXPECT_EQ((*answers)["responses"][0]["value"], Json::array({"docs"}));
}

struct BadAnswer {
  const char* reply;
  const char* said;
};
void PrintTo(const BadAnswer& bad, std::ostream* out) { *out << bad.said; }

class BadAnswerTest : public ::testing::TestWithParam<BadAnswer> {};

TEST_P(BadAnswerTest, SaysWhy) {
  const auto answers = ParseAnswers(Sample(), GetParam().reply);
  EXPECT_THAT(answers,
              FailsWith(absl::StatusCode::kInvalidArgument, "ANSWER_INVALID"));
  EXPECT_THAT(std::string(answers.status().message()),
              HasSubstr(GetParam().said));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadAnswerTest,
    ::testing::Values(
        BadAnswer{"I like Stable.", "no JSON object"},
        BadAnswer{"```json\n{\"responses\":", "no JSON object"},
        BadAnswer{"{}", "no list \"responses\""},
        BadAnswer{R"({"responses":[]})", "no list \"responses\""},
        BadAnswer{R"({"responses":[{"id":"nope","value":"x"}]})", "\"nope\""},
        BadAnswer{R"({"responses":[7]})", "no question"},
        BadAnswer{R"({"responses":[{"id":"note","value":"x"}]})", "\"note\""},
        BadAnswer{R"({"responses":[{"id":"api","value":"Old"}]})",
                  "none of its options"},
        BadAnswer{R"({"responses":[{"id":"areas","value":["docs",1]}]})",
                  "none of its options"},
        BadAnswer{R"({"responses":[{"id":"why","value":{"a":3}}]})",
                  "must be a string"},
        BadAnswer{R"({"responses":[{"id":"why"}]})", "must be a string"},
        BadAnswer{
            R"({"responses":[{"id":"why","value":"a"},{"id":"why","value":"b"}]})",
            "twice"}));

}  // namespace
}  // namespace intercom
