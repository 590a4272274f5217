#include "worker-agent/tools/catalogue.h"

#include <set>
#include <string>

#include "broker/domain/permissions.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "worker-agent/tools/requests.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> NamesFor(v1::Role role) {
  std::vector<std::string> names;
  for (const Json& tool : ToolsFor(PermittedOperations(role))) {
    names.push_back(tool["name"]);
  }
  return names;
}

TEST(CatalogueTest, TheListIsTheAgreedOne) {
  std::vector<std::string> lines;
  for (const Tool& tool : AllTools()) {
    lines.push_back(tool.name + " " + tool.operation + " " + tool.effect);
  }
  EXPECT_THAT(lines,
              ElementsAre("intercom_configure_worker worker.configure config",
                          "intercom_reload_worker worker.reload worker",
                          "intercom_send message.send mail",
                          "intercom_list roster.list nothing",
                          "intercom_report_status status.report mail",
                          "intercom_request_status status.request worker"));
}

TEST(CatalogueTest, ACoordinatorConfiguresAndAWorkerReports) {
  EXPECT_THAT(
      NamesFor(v1::ROLE_COORDINATOR),
      ElementsAre("intercom_configure_worker", "intercom_reload_worker",
                  "intercom_send", "intercom_list", "intercom_request_status"));
  EXPECT_THAT(
      NamesFor(v1::ROLE_WORKER),
      ElementsAre("intercom_send", "intercom_list", "intercom_report_status"));
  EXPECT_THAT(NamesFor(v1::ROLE_ANONYMOUS),
              ElementsAre("intercom_report_status"));
  EXPECT_THAT(NamesFor(v1::ROLE_PEER), IsEmpty());
}

TEST(CatalogueTest, EverySchemaIsAClosedObjectOfKnownTypes) {
  std::set<std::string> operations;
  for (const Operation operation : kAllOperations) {
    operations.emplace(OperationName(operation));
  }
  for (const Tool& tool : AllTools()) {
    SCOPED_TRACE(tool.name);
    EXPECT_TRUE(operations.contains(tool.operation));
    EXPECT_FALSE(tool.description.empty());
    EXPECT_EQ(tool.parameters["type"], "object");
    EXPECT_EQ(tool.parameters["additionalProperties"], false);
    for (const auto& [key, schema] : tool.parameters["properties"].items()) {
      EXPECT_TRUE(schema["type"] == "string" || schema["type"] == "integer");
      EXPECT_TRUE(schema["description"].is_string());
    }
    for (const std::string& key : StringsField(tool.parameters, "required")) {
      EXPECT_TRUE(tool.parameters["properties"].contains(key)) << key;
    }
  }
}

struct BadArguments {
  const char* tool;
  Json arguments;
  const char* named;
};
void PrintTo(const BadArguments& bad, std::ostream* out) { *out << bad.named; }

class BadArgumentsTest : public ::testing::TestWithParam<BadArguments> {};

TEST_P(BadArgumentsTest, AreRefusedNamingTheArgument) {
  const absl::Status status =
      CheckArguments(*FindTool(GetParam().tool), GetParam().arguments);
  EXPECT_THAT(status, FailsWith(absl::StatusCode::kInvalidArgument,
                                "ARGUMENT_INVALID"));
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().named));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadArgumentsTest,
    ::testing::Values(
        BadArguments{"intercom_send", Json::array(), "object"},
        BadArguments{"intercom_send", {{"to", "B"}}, "message is missing"},
        BadArguments{
            "intercom_send", {{"to", "B"}, {"message", ""}}, "1 to 48000"},
        BadArguments{"intercom_send", {{"to", 1}, {"message", "x"}}, "to must"},
        BadArguments{"intercom_send",
                     {{"to", "B"}, {"message", std::string(48001, 'x')}},
                     "48001"},
        BadArguments{"intercom_list", {{"x", 1}}, "no argument x"},
        BadArguments{"intercom_configure_worker",
                     {{"sessionId", "s"},
                      {"name", "n"},
                      {"description", "d"},
                      {"port", 70000}},
                     "port must"},
        BadArguments{"intercom_configure_worker",
                     {{"sessionId", "s"},
                      {"name", "n"},
                      {"description", "d"},
                      {"port", 1.5}},
                     "port must"}));

TEST(CheckArgumentsTest, CountsCharactersNotBytes) {
  std::string text;
  for (int i = 0; i < 48000; ++i) text += "ü";
  EXPECT_THAT(CheckArguments(*FindTool("intercom_send"),
                             {{"to", "B"}, {"message", text}}),
              IsOk());
}

TEST(RequestsTest, TheCallIdBecomesTheEnvelopeId) {
  const v1::Submit submit =
      SubmitOf({{"to", "Builder"}, {"message", "go"}}, "call-1");
  EXPECT_EQ(submit.envelope().envelope_id(), "call-1");
  EXPECT_EQ(submit.envelope().text(), "go");
  EXPECT_EQ(submit.to(), "Builder");
}

}  // namespace
}  // namespace intercom
