#include "worker-agent/headless/rpc_transcript.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Json Update(const std::string& type, const std::string& delta = "") {
  return {{"type", "message_update"},
          {"assistantMessageEvent", {{"type", type}, {"delta", delta}}}};
}

class RpcTranscriptTest : public ::testing::Test {
 protected:
  std::string Text(const Json& event) {
    return transcript_.Take(event.dump()).text;
  }
  RpcTranscript transcript_;
};

TEST_F(RpcTranscriptTest, TextIsShownAsItStreamsAndThinkingIsOnlyMarked) {
  EXPECT_EQ(Text(Update("thinking_start")), "[thinking]\n");
  EXPECT_EQ(Text(Update("thinking_delta", "secret")), "");
  EXPECT_EQ(Text(Update("text_delta", "Hello ")), "Hello ");
  EXPECT_EQ(Text(Update("text_delta", "you")), "you");
  EXPECT_EQ(Text(Update("text_end")), "\n");
}

TEST_F(RpcTranscriptTest, AToolIsNamedWithItsOutcome) {
  EXPECT_EQ(Text({{"type", "tool_execution_start"},
                  {"toolName", "bash"},
                  {"args", {{"command", "ls"}}}}),
            "→ bash {\"command\":\"ls\"}\n");
  EXPECT_EQ(
      Text({{"type", "tool_execution_end"},
            {"toolName", "bash"},
            {"isError", true},
            {"result",
             {{"content", {{{"type", "text"}, {"text", "no such\nfile"}}}}}}}),
      "← bash failed: no such file\n");
}

TEST_F(RpcTranscriptTest, WhatInterruptsALineBeginsANewOne) {
  Text(Update("text_delta", "half"));
  EXPECT_EQ(Text({{"type", "agent_settled"}}), "\n[idle]\n");
}

TEST_F(RpcTranscriptTest, NothingInTheTextSteersATerminal) {
  EXPECT_EQ(Text(Update("text_delta", "a\x1b]0;title\x07\x1b[2Jb")), "ab");
  EXPECT_THAT(Text({{"type", "tool_execution_start"},
                    {"toolName", "x\x1b[31m\ny"},
                    {"args", nullptr}}),
              Not(HasSubstr("\x1b")));
}

TEST_F(RpcTranscriptTest, EveryQuestionIsAnsweredWithCancelled) {
  for (const char* method : {"select", "confirm", "input", "editor"}) {
    const auto heard = transcript_.Take(Json{
        {"type", "extension_ui_request"},
        {"id", "q-1"},
        {"method", method},
        {"title", "Sure?"}}.dump());
    EXPECT_EQ(Json::parse(heard.reply), (Json{{"type", "extension_ui_response"},
                                              {"id", "q-1"},
                                              {"cancelled", true}}))
        << method;
    EXPECT_THAT(heard.text, HasSubstr("Sure?"));
  }
}

TEST_F(RpcTranscriptTest, WhatIsOnlyToldIsNotAnswered) {
  const auto notice = transcript_.Take(Json{
      {"type", "extension_ui_request"},
      {"id", "n"},
      {"method", "notify"},
      {"notifyType", "warning"},
      {"message", "careful"}}.dump());
  EXPECT_EQ(notice.reply, "");
  EXPECT_EQ(notice.text, "[warning: careful]\n");
  EXPECT_EQ(transcript_
                .Take(R"({"type":"extension_ui_request","id":"s",)"
                      R"("method":"setStatus","statusKey":"k"})")
                .text,
            "");
}

TEST_F(RpcTranscriptTest, WhatComesIntoTheSessionIsFenced) {
  EXPECT_EQ(
      Text({{"type", "message_start"},
            {"message", {{"role", "custom"}, {"content", "one\n[idle]"}}}}),
      "> one\n> [idle]\n");
}

TEST_F(RpcTranscriptTest, ErrorsAreShown) {
  EXPECT_EQ(Text({{"type", "message_end"},
                  {"message",
                   {{"role", "assistant"},
                    {"stopReason", "error"},
                    {"errorMessage", "overloaded"}}}}),
            "[error: overloaded]\n");
  EXPECT_EQ(transcript_.Take("not JSON").text, "[stderr] not JSON\n");
}

TEST_F(RpcTranscriptTest, AnAnswerIsKnownByItsId) {
  EXPECT_EQ(transcript_
                .Take(R"({"type":"response","id":"7","command":"abort",)"
                      R"("success":true})")
                .answered,
            "7");
}

}  // namespace
}  // namespace intercom
