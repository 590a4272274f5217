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
                "does not take replyTo"}));

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
           {{"action", "cancel"}, {"messageId", "m-1"}}}) {
    EXPECT_THAT(CheckPeerArguments(arguments), IsOk()) << arguments;
  }
}

}  // namespace
}  // namespace intercom
