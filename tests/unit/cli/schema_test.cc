#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "intercom/v1/cli.pb.h"
#include "intercom/v1/inspect.pb.h"
#include "nlohmann/json.hpp"
#include "tests/support/temp_dir.h"
#include "tests/unit/cli/command_rig.h"
#include "worker-agent/cli/arguments.h"
#include "worker-agent/cli/command_table.h"
#include "worker-agent/cli/commands.h"
#include "worker-agent/cli/json_schema.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

std::string GoldenName(std::string command) {
  std::replace(command.begin(), command.end(), ' ', '-');
  return command + ".json";
}

// Run with UPDATE_GOLDEN=1 to write the files anew.
TEST(JsonSchemaTest, EachCommandsIsTheGoldenOne) {
  const std::filesystem::path directory = JSON_GOLDEN;
  std::set<std::string> expected;
  for (const CommandSpec& command : AllCommands()) {
    if (command.output == nullptr) continue;
    const std::string schema = JsonSchemaOf(command);
    const std::string name = GoldenName(command.name);
    expected.insert(name);
    if (std::getenv("UPDATE_GOLDEN") != nullptr) {
      std::filesystem::create_directories(directory);
      std::ofstream(directory / name) << schema;
    }
    std::ifstream file(directory / name);
    std::stringstream golden;
    golden << file.rdbuf();
    EXPECT_EQ(schema, golden.str()) << command.name;
  }
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    found.insert(entry.path().filename());
  }
  EXPECT_EQ(found, expected);
}

TEST(JsonSchemaTest, WhatHasAnotherOutputSaysBoth) {
  for (const CommandSpec& command : AllCommands()) {
    EXPECT_EQ(command.other_output == nullptr, command.other_when.empty());
    if (command.other_output == nullptr) continue;
    ASSERT_NE(command.output, nullptr) << command.name;
    const Json schema = Json::parse(JsonSchemaOf(command));
    EXPECT_EQ(schema["anyOf"].size(), 2u) << command.name;
  }
}

TEST(JsonSchemaTest, FollowsTheRulesOfProtobufsJson) {
  CommandSpec command;
  command.name = "look";
  command.output = v1::GetSessionResponse::descriptor();
  const Json schema = Json::parse(JsonSchemaOf(command));
  EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(schema["$ref"], "#/$defs/intercom.v1.GetSessionResponse");
  for (const auto& [name, definition] : schema["$defs"].items()) {
    EXPECT_FALSE(definition.contains("required")) << name;
    if (definition["type"] != "object") continue;
    EXPECT_EQ(definition["additionalProperties"], false) << name;
  }
  const Json& entry = schema["$defs"]["intercom.v1.RosterEntry"]["properties"];
  EXPECT_EQ(entry["sessionId"], Json({{"type", "string"}}));
  EXPECT_EQ(entry["role"]["$ref"], "#/$defs/intercom.v1.Role");
  const Json& role = schema["$defs"]["intercom.v1.Role"];
  EXPECT_EQ(role["type"], "string");
  EXPECT_THAT(role["enum"].dump(), HasSubstr("\"ROLE_WORKER\""));

  command.output = v1::EndedBroker::descriptor();
  const Json ended = Json::parse(
      JsonSchemaOf(command))["$defs"]["intercom.v1.EndedBroker"]["properties"];
  EXPECT_EQ(ended["pid"],
            Json({{"type", "string"}, {"pattern", "^-?[0-9]+$"}}));
  EXPECT_EQ(ended["killed"], Json({{"type", "boolean"}}));
}

// No broker runs.
using SchemaCommandTest = CommandRig;

TEST_F(SchemaCommandTest, ListsEveryCommandThatIsShown) {
  ASSERT_EQ(Run({"schema", "--json"}), kExitOk);
  const Json listed = Json::parse(out_.str())["commands"];
  ASSERT_EQ(Run({"schema"}), kExitOk);
  size_t next = 0;
  for (const CommandSpec& command : AllCommands()) {
    if (command.hidden) continue;
    ASSERT_LT(next, listed.size());
    EXPECT_EQ(listed[next]["command"], command.name);
    EXPECT_EQ(listed[next].contains("message"), command.output != nullptr);
    EXPECT_THAT(out_.str(), HasSubstr("\n" + command.name + "  "));
    ++next;
  }
  EXPECT_EQ(next, listed.size());
}

TEST_F(SchemaCommandTest, PrintsTheSchemaOfACommandOfTwoWords) {
  ASSERT_EQ(Run({"schema", "job", "show"}), kExitOk);
  EXPECT_EQ(out_.str(), JsonSchemaOf(*FindCommand("job show")));
}

TEST_F(SchemaCommandTest, RefusesWhatHasNoSchema) {
  EXPECT_EQ(Run({"schema", "nonsense"}), kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("there is no command \"nonsense\""));
  EXPECT_EQ(Run({"--json", "schema", "monitor"}), kExitFailed);
  EXPECT_EQ(Json::parse(err_.str())["reason"], "JSON_UNSUPPORTED");
  EXPECT_EQ(out_.str(), "");
}

}  // namespace
}  // namespace intercom
