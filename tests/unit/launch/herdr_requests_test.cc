#include "worker-agent/launch/herdr_requests.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace intercom::herdr {
namespace {

using ::testing::ElementsAre;
using Json = nlohmann::json;

TEST(HerdrRequestsTest, ALayoutIsOnePaneWithItsArguments) {
  const Request request =
      ApplyLayout("w1", "/a b", "x;", {"/agent", "--launch", "/f"});
  EXPECT_EQ(request.method, "layout.apply");
  EXPECT_EQ(request.params, Json::parse(R"({
    "workspace_id": "w1", "tab_label": "x;", "focus": false,
    "root": {"type": "pane", "cwd": "/a b",
             "command": ["/agent", "--launch", "/f"]}})"));
  EXPECT_TRUE(request.words.empty());
}

TEST(HerdrRequestsTest, CommandsTakeValuesAsWordsOfTheirOwn) {
  EXPECT_THAT(CreateTab("w1", "/a b", "my tab").words,
              ElementsAre("tab", "create", "--workspace", "w1", "--cwd", "/a b",
                          "--label", "my tab", "--no-focus"));
  EXPECT_THAT(RunLine("w1:p2", "exec /x").words,
              ElementsAre("pane", "run", "w1:p2", "exec /x"));
}

TEST(HerdrRequestsTest, ATabStaysBehindUnlessItIsToBeInFront) {
  EXPECT_EQ(
      ApplyLayout("w1", "/", "x", {"y", "z"}, /*focus=*/true).params["focus"],
      true);
  const Request tab = CreateTab("w1", "/", "x", /*focus=*/true);
  EXPECT_EQ(tab.params["focus"], true);
  EXPECT_EQ(tab.words.back(), "x");
}

TEST(HerdrRequestsTest, ALabelIsNeverTakenForAnOption) {
  EXPECT_EQ(CreateTab("w1", "/", "--help").words[7], " --help");
  EXPECT_EQ(RenameTab("w1:t1", "-h").words[3], " -h");
  EXPECT_EQ(RenameTab("w1:t1", "-h").params["label"], "-h");
}

TEST(HerdrRequestsTest, ReadsTheNewPaneOfBothAnswers) {
  const auto layout = ParseNewPane(Json::parse(R"({"type": "layout_apply",
    "layout": {"workspace_id": "w1", "tab_id": "w1:t2", "zoomed": false,
      "focused_pane_id": "w1:p3", "root": {"type": "pane", "pane_id": "w1:p3",
      "cwd": "/", "command": ["a"]}}})"));
  ASSERT_THAT(layout, IsOk());
  EXPECT_EQ(layout->workspace(), "w1");
  EXPECT_EQ(layout->tab(), "w1:t2");
  EXPECT_EQ(layout->pane(), "w1:p3");
  const auto tab = ParseNewPane(Json::parse(R"({"type": "tab_created",
    "tab": {"tab_id": "w1:t2"}, "root_pane": {"pane_id": "w1:p3",
    "terminal_id": "term_1", "workspace_id": "w1", "tab_id": "w1:t2"}})"));
  ASSERT_THAT(tab, IsOk());
  EXPECT_EQ(tab->pane(), "w1:p3");
  EXPECT_EQ(tab->terminal(), "term_1");
}

TEST(HerdrRequestsTest, RefusesAnswersThatLackSomething) {
  for (const char* result :
       {"{}", R"({"layout": {"workspace_id": "w1", "tab_id": "t"}})",
        R"({"layout": {"workspace_id": "w1", "tab_id": "t",
            "root": {"type": "split", "pane_id": "p"}}})",
        R"({"tab": {"tab_id": "t"}})", R"({"tab": 1, "root_pane": []})",
        R"({"tab": {"tab_id": 7}, "root_pane": {"pane_id": "p",
            "workspace_id": "w"}})"}) {
    EXPECT_THAT(ParseNewPane(Json::parse(result)),
                FailsWith(absl::StatusCode::kUnavailable, "HERDR_UNREADABLE"))
        << result;
  }
}

TEST(HerdrRequestsTest, AnAbsentProcessIsNoneAndAWrongOneIsRefused) {
  const auto none =
      ParseProcesses(Json::parse(R"({"process_info": {"pane_id": "p"}})"));
  ASSERT_THAT(none, IsOk());
  EXPECT_EQ(none->shell_pid, 0);
  for (const char* result :
       {R"({"process_info": {"pane_id": "p", "shell_pid": -4}})",
        R"({"process_info": {"pane_id": "p", "shell_pid": "4"}})",
        R"({"process_info": {"shell_pid": 4}})", "{}"}) {
    EXPECT_THAT(ParseProcesses(Json::parse(result)),
                HasCode(absl::StatusCode::kUnavailable))
        << result;
  }
}

TEST(HerdrRequestsTest, AnErrorOfHerdrKeepsItsCode) {
  EXPECT_THAT(
      ParseAnswer(
          R"({"id":"a","error":{"code":"pane_not_found","message":"m"}})", "a",
          "ok"),
      FailsWith(absl::StatusCode::kFailedPrecondition, "HERDR_PANE_NOT_FOUND"));
}

TEST(HerdrRequestsTest, AnErrorThatMayComeAfterTheDeedIsNoRefusal) {
  for (const char* code : {"server_unavailable", "layout_apply_failed"}) {
    EXPECT_THAT(ParseAnswer(R"({"id":"a","error":{"code":")" +
                                std::string(code) + R"(","message":"m"}})",
                            "a", "ok"),
                HasCode(absl::StatusCode::kUnavailable));
  }
}

TEST(HerdrRequestsTest, WhatHerdrCannotReadIsAnsweredWithoutAnId) {
  EXPECT_THAT(
      ParseAnswer(
          R"({"id":"","error":{"code":"invalid_request","message":"m"}})", "a",
          "ok"),
      FailsWith(absl::StatusCode::kFailedPrecondition,
                "HERDR_INVALID_REQUEST"));
}

TEST(HerdrRequestsTest, RefusesAnswersToOthersAndOfOtherTypes) {
  for (const char* line :
       {"", "nonsense", "[]", R"({"id":"b","result":{"type":"ok"}})",
        R"({"id":"","result":{"type":"ok"}})",
        R"({"id":"a","result":{"type":"pane_info"}})", R"({"id":"a"})",
        R"({"id":"a","result":7})", R"({"id":"a","error":{}})"}) {
    EXPECT_THAT(ParseAnswer(line, "a", "ok"),
                FailsWith(absl::StatusCode::kUnavailable, "HERDR_UNREADABLE"))
        << line;
  }
  EXPECT_THAT(ParseAnswer(R"({"id":"a","result":{"type":"ok"}})", "a", "ok"),
              IsOk());
}

TEST(HerdrRequestsTest, FindsTheSocketAsHerdrDoes) {
  EXPECT_EQ(SocketPath({{"HERDR_SOCKET_PATH", "/s"}, {"HOME", "/h"}}), "/s");
  EXPECT_EQ(SocketPath({{"HOME", "/h"}}), "/h/.config/herdr/herdr.sock");
  EXPECT_EQ(SocketPath({{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/c"}}),
            "/c/herdr/herdr.sock");
  EXPECT_EQ(SocketPath({{"HOME", "/h"}, {"HERDR_SESSION", "work"}}),
            "/h/.config/herdr/sessions/work/herdr.sock");
  EXPECT_EQ(SocketPath({{"HOME", "/h"}, {"HERDR_SESSION", "default"}}),
            "/h/.config/herdr/herdr.sock");
  EXPECT_EQ(SocketPath({}), "");
}

}  // namespace
}  // namespace intercom::herdr
