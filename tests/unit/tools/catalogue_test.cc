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

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::vector<std::string> NamesOf(const Json& tools) {
  std::vector<std::string> names;
  for (const Json& tool : tools) names.push_back(tool["name"]);
  return names;
}

std::vector<std::string> NamesFor(v1::Role role) {
  return NamesOf(ToolsFor({.operations = PermittedOperations(role)}));
}

// The tool of that name as such a session sees it.
Json ToolOf(const ToolUser& user, const std::string& name) {
  for (const Json& tool : ToolsFor(user)) {
    if (tool["name"] == name) return tool;
  }
  return nullptr;
}

std::vector<std::string> PropertiesOf(const Json& tool) {
  std::vector<std::string> names;
  for (const auto& [name, unused] : tool["parameters"]["properties"].items()) {
    names.push_back(name);
  }
  return names;
}

TEST(CatalogueTest, TheListIsTheAgreedOne) {
  std::vector<std::string> lines;
  for (const Tool& tool : AllTools()) {
    lines.push_back(tool.name + " " + tool.operation + " " + tool.effect);
  }
  EXPECT_THAT(
      lines,
      ElementsAre(
          "intercom peer.send mail", "contact_supervisor peer.send mail",
          "contact_peer peer.send mail",
          "intercom_create_worker worker.create worker",
          "intercom_configure_worker worker.configure config",
          "intercom_reload_worker worker.reload worker",
          "intercom_send message.send mail",
          "intercom_list roster.list nothing",
          "intercom_worker_status status.read nothing",
          "intercom_request_status status.request worker",
          "intercom_report_status status.report mail",
          "intercom_report_work work.report mail",
          "intercom_stop_worker worker.stop worker",
          "intercom_close_worker worker.close config",
          "intercom_report_handoff handoff.report config",
          "intercom_resume_worker worker.resume worker",
          "intercom_remove_worker worker.remove config",
          "intercom_set_multiplexer workspace.multiplexer config",
          "intercom_register registration.repeat mail",
          "intercom_watch  programs", "intercom_models peer.send nothing"));
}

TEST(CatalogueTest, WhoMayRunProgramsMayWatchThem) {
  EXPECT_TRUE(ToolsFor({}).empty());
  const Json tools = ToolsFor({.operations = {}, .may_run_programs = true});
  ASSERT_EQ(tools.size(), 1);
  EXPECT_EQ(tools[0]["name"], "intercom_watch");
}

TEST(CatalogueTest, ACoordinatorLeadsAndAWorkerReports) {
  EXPECT_THAT(NamesFor(v1::ROLE_COORDINATOR),
              ElementsAre("intercom", "intercom_create_worker",
                          "intercom_configure_worker", "intercom_reload_worker",
                          "intercom_send", "intercom_list",
                          "intercom_worker_status", "intercom_request_status",
                          "intercom_stop_worker", "intercom_close_worker",
                          "intercom_resume_worker", "intercom_remove_worker",
                          "intercom_set_multiplexer", "intercom_models"));
  EXPECT_THAT(NamesFor(v1::ROLE_WORKER),
              ElementsAre("intercom", "intercom_send", "intercom_list",
                          "intercom_worker_status", "intercom_report_status",
                          "intercom_report_work", "intercom_report_handoff",
                          "intercom_models"));
  EXPECT_THAT(NamesFor(v1::ROLE_ANONYMOUS),
              ElementsAre("intercom", "intercom_report_status",
                          "intercom_register", "intercom_models"));
  EXPECT_THAT(NamesFor(v1::ROLE_PEER),
              ElementsAre("intercom", "intercom_models"));
}

TEST(CatalogueTest, WhoSupervisesNothingSeesNothingOfWhatIsForSupervisors) {
  const ToolUser plain{.operations = PermittedOperations(v1::ROLE_PEER)};
  const Json tool = ToolOf(plain, "intercom");
  EXPECT_EQ(StringsField(tool["parameters"]["properties"]["action"], "enum"),
            (std::vector<std::string>{"list", "list-cwd", "send", "ask",
                                      "reply", "pending", "status", "cancel"}));
  EXPECT_THAT(PropertiesOf(tool), Not(Contains("runId")));
  EXPECT_THAT(tool["description"].get<std::string>(), Not(HasSubstr("peek")));
}

TEST(CatalogueTest, ASupervisorSeesEachActionAndParameterOfRuns) {
  const ToolUser supervisor{.operations = PermittedOperations(v1::ROLE_PEER),
                            .supervises = true};
  const Json tool = ToolOf(supervisor, "intercom");
  EXPECT_EQ(
      StringsField(tool["parameters"]["properties"]["action"], "enum"),
      (std::vector<std::string>{"list", "list-cwd", "send", "ask", "reply",
                                "pending", "status", "cancel", "peek", "result",
                                "wait", "steer", "stop", "inbox", "message"}));
  EXPECT_THAT(PropertiesOf(tool),
              IsSupersetOf({"runId", "label", "run", "idleMs", "maxMs", "askId",
                            "timeoutMs", "messageId"}));
  EXPECT_THAT(tool["description"].get<std::string>(),
              HasSubstr("captured only for runs"));
}

TEST(CatalogueTest, OnlyASupervisorSendsRunsWithinTheWorkspace) {
  ToolUser user{.operations = PermittedOperations(v1::ROLE_WORKER)};
  EXPECT_THAT(PropertiesOf(ToolOf(user, "intercom_send")),
              ElementsAre("message", "to"));
  user.supervises = true;
  EXPECT_THAT(PropertiesOf(ToolOf(user, "intercom_send")),
              ElementsAre("label", "message", "run", "to"));
}

TEST(CatalogueTest, ThoseOfAnotherHaveTheToolsThatReachThem) {
  ToolUser user{.operations = PermittedOperations(v1::ROLE_PEER)};
  user.has_supervisor = true;
  EXPECT_THAT(NamesOf(ToolsFor(user)),
              ElementsAre("intercom", "contact_supervisor", "intercom_models"));
  user.has_fellows = true;
  EXPECT_THAT(NamesOf(ToolsFor(user)),
              ElementsAre("intercom", "contact_supervisor", "contact_peer",
                          "intercom_models"));
}

TEST(CatalogueTest, TheHostAnswersForItsModels) {
  const ToolUser user{.operations = PermittedOperations(v1::ROLE_PEER)};
  EXPECT_EQ(ToolOf(user, "intercom_models")["host"], true);
  EXPECT_FALSE(ToolOf(user, "intercom").contains("host"));
}

TEST(CatalogueTest, AToolTellsTheHostWhatItsCallsChange) {
  const Json tools = ToolsFor({.operations = {"worker.remove", "roster.list"}});
  ASSERT_EQ(tools.size(), 2);
  EXPECT_EQ(tools[0]["effect"], "nothing");
  EXPECT_EQ(tools[1]["effect"], "config");
}

void ExpectClosedObject(const Json& schema);

void ExpectKnownType(const Json& schema) {
  const std::string type = schema["type"];
  if (type == "object") return ExpectClosedObject(schema);
  if (type == "array") {
    EXPECT_TRUE(schema["maxItems"].is_number());
    return ExpectKnownType(schema["items"]);
  }
  EXPECT_TRUE(type == "string" || type == "integer" || type == "boolean");
}

void ExpectClosedObject(const Json& schema) {
  EXPECT_EQ(schema["type"], "object");
  EXPECT_EQ(schema["additionalProperties"], false);
  for (const auto& [key, member] : schema["properties"].items()) {
    SCOPED_TRACE(key);
    EXPECT_TRUE(member["description"].is_string());
    ExpectKnownType(member);
  }
  for (const std::string& key : StringsField(schema, "required")) {
    EXPECT_TRUE(schema["properties"].contains(key)) << key;
  }
}

TEST(CatalogueTest, EverySchemaIsAClosedObjectOfKnownTypes) {
  std::set<std::string> operations;
  for (const Operation operation : kAllOperations) {
    operations.emplace(OperationName(operation));
  }
  for (const Tool& tool : AllTools()) {
    SCOPED_TRACE(tool.name);
    // What never leaves the agent needs none.
    EXPECT_TRUE(operations.contains(tool.operation) ||
                (tool.operation.empty() && tool.need == ToolNeed::kPrograms));
    EXPECT_FALSE(tool.description.empty());
    EXPECT_FALSE(tool.prompt_snippet.empty());
    // Pi shows guidelines without the tool that they belong to.
    EXPECT_FALSE(tool.prompt_guidelines.empty());
    for (const std::string& line : tool.prompt_guidelines) {
      EXPECT_FALSE(line.empty());
    }
    ExpectClosedObject(tool.parameters);
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
                     "port must"},
        BadArguments{"intercom_create_worker",
                     {{"launcher", "none"}},
                     "launcher must be herdr, tmux or headless"},
        BadArguments{
            "intercom_create_worker", {{"launcher", 1}}, "launcher must"},
        BadArguments{"intercom_report_work",
                     {{"status", "done"}},
                     "blocked, needs_decision, ready_for_review or clear"},
        BadArguments{
            "intercom_report_work",
            {{"status", "blocked"}, {"summary", std::string(2001, 'x')}},
            "0 to 2000"},
        BadArguments{"intercom_worker_status", {{"limit", 21}}, "1 to 20"},
        BadArguments{"intercom_worker_status", {{"limit", 0}}, "1 to 20"},
        BadArguments{"intercom_worker_status", {{"offset", -1}}, "offset must"},
        BadArguments{"intercom_worker_status",
                     {{"probe", "yes"}},
                     "probe must be true or false"},
        BadArguments{"intercom_resume_worker",
                     {{"to", "B"}},
                     "confirmClosed is missing"},
        BadArguments{"intercom_resume_worker",
                     {{"to", "B"}, {"confirmClosed", false}},
                     "confirmClosed must be true"},
        BadArguments{"intercom_resume_worker",
                     {{"to", "B"}, {"confirmClosed", 1}},
                     "confirmClosed must be true"},
        BadArguments{"intercom_report_handoff",
                     {{"jobId", "j"}, {"summary", std::string(4001, 'x')}},
                     "1 to 4000"},
        BadArguments{"intercom_set_multiplexer",
                     {{"multiplexer", "screen"}},
                     "herdr, tmux, none or headless"},
        BadArguments{"intercom_register", {{"to", "B"}}, "no argument to"},
        BadArguments{"intercom", {{"to", "B"}}, "action is missing"},
        BadArguments{"intercom", {{"action", "shout"}}, "inbox or message"},
        BadArguments{"intercom",
                     {{"action", "peek"}, {"runId", std::string(161, 'x')}},
                     "runId has 161 characters; it may have 0 to 160"},
        BadArguments{"intercom",
                     {{"action", "send"}, {"label", std::string(81, 'x')}},
                     "label has 81 characters"},
        BadArguments{"contact_peer",
                     {{"to", "B"}, {"message", std::string(8001, 'x')}},
                     "message has 8001 characters; it may have 1 to 8000"},
        BadArguments{"intercom_models", {{"query", 1}}, "query must"},
        BadArguments{"intercom",
                     {{"action", "send"}, {"to", std::string(5000, 'x')}},
                     "to has 5000 characters; it may have 0 to 4352"},
        BadArguments{"intercom",
                     {{"action", "ask"}, {"timeoutMs", -1}},
                     "timeoutMs must be a whole number, 0 to"},
        BadArguments{"intercom",
                     {{"action", "send"}, {"attachments", "a.ts"}},
                     "attachments must be an array"},
        BadArguments{"intercom",
                     {{"action", "send"}, {"attachments", {"a.ts"}}},
                     "attachments[0] must be an object"},
        BadArguments{"intercom",
                     {{"action", "send"},
                      {"attachments", {{{"type", "file"}, {"content", "x"}}}}},
                     "attachments[0].name is missing"},
        BadArguments{"intercom",
                     {{"action", "send"},
                      {"attachments",
                       {{{"type", "file"},
                         {"name", "a"},
                         {"content", "x"},
                         {"path", "b"}}}}},
                     "attachments[0] has no argument path; it takes content, "
                     "language, name or type"},
        BadArguments{"intercom",
                     {{"action", "send"},
                      {"attachments", std::vector<Json>(17, Json::object())}},
                     "attachments has 17 entries; it may have 0 to 16"},
        BadArguments{"contact_supervisor",
                     {{"reason", "interview_request"},
                      {"interview", {{"questions", Json::array()}}}},
                     "interview.questions has 0 entries"}));

struct GoodArguments {
  const char* tool;
  Json arguments;
};
void PrintTo(const GoodArguments& good, std::ostream* out) {
  *out << good.tool << " " << good.arguments;
}

class GoodArgumentsTest : public ::testing::TestWithParam<GoodArguments> {};

TEST_P(GoodArgumentsTest, AreTaken) {
  EXPECT_THAT(CheckArguments(*FindTool(GetParam().tool), GetParam().arguments),
              IsOk());
}

INSTANTIATE_TEST_SUITE_P(
    All, GoodArgumentsTest,
    ::testing::Values(
        GoodArguments{"intercom_create_worker", Json::object()},
        GoodArguments{"intercom_create_worker",
                      {{"projectDirectory", "a"}, {"launcher", "herdr"}}},
        GoodArguments{"intercom_worker_status",
                      {{"offset", 0}, {"limit", 20}, {"probe", false}}},
        GoodArguments{"intercom_report_work", {{"status", "clear"}}},
        GoodArguments{"intercom_report_work",
                      {{"status", "clear"}, {"summary", ""}}},
        GoodArguments{"intercom_resume_worker",
                      {{"to", "B"}, {"confirmClosed", true}}},
        GoodArguments{"intercom_set_multiplexer",
                      {{"multiplexer", "headless"}}}));

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

TEST(RequestsTest, ARunIsOpenedByTheFlagOrByALabel) {
  EXPECT_FALSE(SubmitOf({{"to", "B"}, {"message", "go"}}, "c").has_run());
  EXPECT_FALSE(SubmitOf({{"to", "B"}, {"message", "go"}, {"run", false}}, "c")
                   .has_run());
  EXPECT_TRUE(
      SubmitOf({{"to", "B"}, {"message", "go"}, {"run", true}}, "c").has_run());
  const v1::Submit labelled = SubmitOf({{"to", "B"},
                                        {"message", "go"},
                                        {"label", "parser"},
                                        {"idleMs", 1500},
                                        {"maxMs", 60000}},
                                       "c");
  EXPECT_EQ(labelled.run().label(), "parser");
  EXPECT_EQ(labelled.run().stop_when_idle().seconds(), 1);
  EXPECT_EQ(labelled.run().stop_when_idle().nanos(), 500'000'000);
  EXPECT_EQ(labelled.run().stop_after().seconds(), 60);
}

TEST(RequestsTest, TheCallIdBecomesTheJobId) {
  const v1::BeginLaunchRequest create = CreateRequestOf(
      {{"projectDirectory", "part"}, {"launcher", "tmux"}}, "call-1");
  EXPECT_EQ(create.job_id(), "call-1");
  EXPECT_EQ(create.project_directory(), "part");
  EXPECT_EQ(create.launcher(), "tmux");
  EXPECT_EQ(create.resume(), "");
  const v1::BeginLaunchRequest resume =
      ResumeRequestOf({{"to", "Builder"}, {"confirmClosed", true}}, "call-2");
  EXPECT_EQ(resume.job_id(), "call-2");
  EXPECT_EQ(resume.resume(), "Builder");
  EXPECT_TRUE(resume.confirm_closed());
}

TEST(RequestsTest, EveryReportStatusHasItsWord) {
  const auto status_of = [](const char* word) {
    return ReportWorkRequestOf({{"status", word}}).status();
  };
  EXPECT_EQ(status_of("blocked"), v1::Report::STATUS_BLOCKED);
  EXPECT_EQ(status_of("needs_decision"), v1::Report::STATUS_NEEDS_DECISION);
  EXPECT_EQ(status_of("ready_for_review"), v1::Report::STATUS_READY_FOR_REVIEW);
  EXPECT_EQ(status_of("clear"), v1::Report::STATUS_CLEAR);
}

}  // namespace
}  // namespace intercom
