#include "worker-agent/watch/watch_order.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "worker-agent/tools/catalogue.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;

absl::Status Check(const Json& arguments) {
  const absl::Status schema =
      CheckArguments(*FindTool("intercom_watch"), arguments);
  return schema.ok() ? WatchOrderOf(arguments).status() : schema;
}

MATCHER_P(IsRefusedFor, text, "is refused, naming that") {
  *result_listener << arg.ToString();
  return ReasonOf(arg) == "ARGUMENT_INVALID" &&
         MessageOf(arg).find(text) != std::string::npos;
}

Json Arm(Json more) {
  Json arguments = {{"action", "arm"}, {"command", "make"}};
  arguments.update(more);
  return arguments;
}

TEST(WatchOrderTest, WhatIsLeftOutHasItsDefault) {
  const auto order = WatchOrderOf(Arm(Json::object()));
  ASSERT_THAT(order, IsOk());
  EXPECT_EQ(order->mode, WatchOrder::Mode::kOutput);
  EXPECT_EQ(order->deadline, absl::Minutes(10));
  EXPECT_EQ(order->max_events, 1);
  EXPECT_EQ(order->label, "make");
}

TEST(WatchOrderTest, BoundsAreRefusedInWords) {
  const auto a = [](size_t count) { return std::string(count, 'a'); };
  EXPECT_THAT(Check(Arm({{"command", a(4096)}})), IsOk());
  EXPECT_THAT(Check(Arm({{"command", a(4097)}})), IsRefusedFor("4096"));
  EXPECT_THAT(Check(Arm({{"command", ""}})), IsRefusedFor("command"));
  EXPECT_THAT(Check(Arm({{"command", "  "}})), IsRefusedFor("command"));
  EXPECT_THAT(Check({{"action", "arm"}}), IsRefusedFor("command"));
  EXPECT_THAT(Check(Arm({{"args", Json::array({a(8192), a(8192), a(7616)})}})),
              IsOk());
  EXPECT_THAT(Check(Arm({{"args", Json::array({a(8193)})}})),
              IsRefusedFor("8192"));
  EXPECT_THAT(Check(Arm({{"args", Json::array({a(8192), a(8192), a(7617)})}})),
              IsRefusedFor("24000"));
  EXPECT_THAT(Check(Arm({{"args", Json(65, "a")}})), IsRefusedFor("64"));
  EXPECT_THAT(Check(Arm({{"label", a(121)}})), IsRefusedFor("120"));
  for (const int seconds : {0, 86401}) {
    EXPECT_THAT(Check(Arm({{"timeoutSeconds", seconds}})),
                IsRefusedFor("1 to 86400"));
  }
  for (const int events : {0, 21}) {
    EXPECT_THAT(Check(Arm({{"maxEvents", events}})), IsRefusedFor("1 to 20"));
  }
  EXPECT_THAT(Check(Arm({{"mode", "forever"}})),
              IsRefusedFor("output or exit"));
}

TEST(WatchOrderTest, ZeroBytesAreRefused) {
  EXPECT_THAT(Check(Arm({{"command", std::string("ma\0ke", 5)}})),
              IsRefusedFor("zero byte"));
  EXPECT_THAT(Check(Arm({{"args", Json::array({std::string("\0", 1)})}})),
              IsRefusedFor("zero byte"));
}

}  // namespace
}  // namespace intercom
