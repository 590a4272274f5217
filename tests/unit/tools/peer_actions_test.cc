#include "worker-agent/tools/peer_actions.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "worker-agent/tools/catalogue.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;

struct BadCall {
  Json arguments;
  const char* said;
};
void PrintTo(const BadCall& bad, std::ostream* out) { *out << bad.said; }

class BadCallTest : public ::testing::TestWithParam<BadCall> {};

TEST_P(BadCallTest, IsRefusedInWords) {
  ASSERT_THAT(CheckArguments(*FindTool("intercom"), GetParam().arguments),
              IsOk());
  const absl::Status status = CheckPeerArguments(GetParam().arguments);
  EXPECT_THAT(status, FailsWith(absl::StatusCode::kInvalidArgument,
                                "ARGUMENT_INVALID"));
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().said));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadCallTest,
    ::testing::Values(
        BadCall{{{"action", "send"}, {"to", "B"}}, "action send needs message"},
        BadCall{{{"action", "send"}, {"message", "x"}},
                "send needs to, the session; or cwd"},
        BadCall{{{"action", "list"}, {"to", "B"}},
                "action list does not take to; it takes cwd"},
        BadCall{{{"action", "send"},
                 {"to", "B"},
                 {"message", "x"},
                 {"timeoutMs", 5000}},
                "action send does not take timeoutMs"},
        BadCall{{{"action", "ask"},
                 {"to", "B"},
                 {"message", "x"},
                 {"replyTo", "m-1"}},
                "action ask does not take replyTo; it takes message, to, "
                "attachments"},
        BadCall{{{"action", "reply"}, {"message", "x"}, {"cwd", "/w"}},
                "action reply does not take cwd"},
        BadCall{{{"action", "cancel"}}, "action cancel needs messageId"},
        BadCall{{{"action", "cancel"}, {"messageId", "s-1/m-1"}},
                "messageId must be 1 to 64 letters"},
        BadCall{{{"action", "send"},
                 {"to", "B"},
                 {"message", "x"},
                 {"supersedes", "a b"}},
                "supersedes must be 1 to 64 letters"},
        BadCall{{{"action", "send"},
                 {"to", "B"},
                 {"message", "x"},
                 {"openProjectPaneIfMissing", true}},
                "needs cwd"},
        BadCall{{{"action", "ask"}, {"message", "x"}, {"replyTo", "m-1"}},
                "does not take replyTo"},
        BadCall{{{"action", "ask"},
                 {"to", "B"},
                 {"message", "x"},
                 {"timeoutMs", 999}},
                "timeoutMs of action ask must be 1000 to 86400000"},
        BadCall{{{"action", "result"}}, "action result needs runId"},
        BadCall{{{"action", "stop"}}, "action stop needs runId"},
        BadCall{{{"action", "steer"}, {"runId", "run-1"}},
                "action steer needs message"},
        BadCall{{{"action", "steer"}, {"runId", "run-1"}, {"message", " \n"}},
                "action steer needs message"},
        BadCall{{{"action", "steer"},
                 {"runId", "run-1"},
                 {"message", std::string(8001, 'x')}},
                "message has 8001 characters; it may have at most 8000"},
        BadCall{{{"action", "message"}}, "action message needs messageId"},
        BadCall{{{"action", "message"}, {"messageId", std::string(161, 'x')}},
                "messageId has 161 characters; it may have at most 160"},
        BadCall{{{"action", "inbox"}, {"runId", "run-1"}},
                "action inbox does not take runId; it takes nothing else"},
        BadCall{{{"action", "peek"}, {"runId", "run-1"}, {"to", "run-2"}},
                "action peek does not take to"},
        BadCall{
            {{"action", "ask"}, {"to", "B"}, {"message", "x"}, {"run", true}},
            "action ask does not take run"},
        BadCall{{{"action", "send"},
                 {"to", "B"},
                 {"message", "x"},
                 {"maxMs", 5000}},
                "maxMs goes with run"}));

TEST(PeerActionsTest, ARunMayBeNamedAsTheRecipientOfWhatIsAboutIt) {
  for (const char* action : {"peek", "result", "wait", "steer", "stop"}) {
    EXPECT_EQ(WithoutAliases({{"action", action}, {"to", "run-3"}}),
              Json({{"action", action}, {"runId", "run-3"}}))
        << action;
  }
  const Json send = {{"action", "send"}, {"to", "B"}};
  EXPECT_EQ(WithoutAliases(send), send);
}

TEST(PeerActionsTest, ATooLongRunIdIsRefusedUnderItsOtherName) {
  const absl::Status status = CheckPeerArguments(
      WithoutAliases({{"action", "result"}, {"to", std::string(161, 'x')}}));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("runId has 161 characters"));
}

TEST(PeerActionsTest, AnAskIdIsWhatAReplyAnswers) {
  EXPECT_EQ(
      WithoutAliases({{"action", "reply"}, {"askId", "m-1"}, {"message", "x"}}),
      Json({{"action", "reply"}, {"replyTo", "m-1"}, {"message", "x"}}));
  // Both together are too much.
  EXPECT_THAT(
      CheckPeerArguments(WithoutAliases({{"action", "reply"},
                                         {"askId", "m-1"},
                                         {"replyTo", "m-2"},
                                         {"message", "x"}})),
      FailsWith(absl::StatusCode::kInvalidArgument, "ARGUMENT_INVALID"));
}

TEST(PeerActionsTest, AWaitTakesEveryTimeAndKeepsItsBounds) {
  EXPECT_EQ(WaitTimeOf({{"action", "wait"}}), absl::Minutes(10));
  EXPECT_EQ(WaitTimeOf({{"timeoutMs", 0}}), absl::Seconds(1));
  EXPECT_EQ(WaitTimeOf({{"timeoutMs", 2500}}), absl::Milliseconds(2500));
  EXPECT_EQ(WaitTimeOf({{"timeoutMs", 2'000'000'000}}), absl::Minutes(10));
}

TEST(PeerActionsTest, AModelThatGivesEachArgumentThatThereIsIsUnderstood) {
  const Json given = {{"action", "list"}, {"to", ""},
                      {"message", ""},    {"attachments", Json::array()},
                      {"replyTo", ""},    {"messageId", ""},
                      {"supersedes", ""}, {"retryOf", ""},
                      {"cwd", ""},        {"openProjectPaneIfMissing", false},
                      {"focus", true}};
  const Json arguments = WithoutEmpty(given);
  EXPECT_EQ(arguments, Json({{"action", "list"}, {"focus", true}}));
  EXPECT_THAT(CheckPeerArguments(arguments), IsOk());
}

TEST(PeerActionsTest, WhatEachActionTakesIsTaken) {
  for (const Json& arguments : std::vector<Json>{
           {{"action", "list"}},
           {{"action", "list"}, {"cwd", "/w"}},
           {{"action", "list-cwd"}, {"cwd", "x"}},
           {{"action", "send"}, {"cwd", "x"}, {"message", "x"}},
           {{"action", "send"}, {"replyTo", "m-1"}, {"message", "x"}},
           {{"action", "ask"},
            {"to", "B"},
            {"message", "x"},
            {"cwd", "/w"},
            {"openProjectPaneIfMissing", true},
            {"focus", false},
            {"launcher", "tmux"},
            {"timeoutMs", 5000}},
           {{"action", "reply"}, {"message", "x"}},
           {{"action", "pending"}},
           {{"action", "status"}},
           {{"action", "status"}, {"messageId", "s-1/m-1"}},
           {{"action", "cancel"}, {"messageId", "m-1"}},
           {{"action", "send"},
            {"to", "B"},
            {"message", "x"},
            {"run", true},
            {"label", "parser"},
            {"idleMs", 5000},
            {"maxMs", 5000}},
           {{"action", "send"},
            {"cwd", "/w"},
            {"message", "x"},
            {"openProjectPaneIfMissing", true},
            {"launcher", "headless"},
            {"label", "parser"}},
           {{"action", "peek"}},
           {{"action", "peek"}, {"runId", "run-1"}},
           {{"action", "wait"}, {"timeoutMs", 1}},
           {{"action", "steer"}, {"runId", "run-1"}, {"message", "left"}},
           {{"action", "stop"}, {"runId", "run-1"}},
           {{"action", "inbox"}},
           {{"action", "message"}, {"messageId", "s-1/m-1"}}}) {
    EXPECT_THAT(CheckPeerArguments(arguments), IsOk()) << arguments;
  }
}

}  // namespace
}  // namespace intercom
