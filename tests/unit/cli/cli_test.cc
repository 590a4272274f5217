#include <fstream>
#include <sstream>
#include <string>

#include "broker/base/error.h"
#include "broker/base/home.h"
#include "broker/base/lock_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/support/status_matchers.h"
#include "tests/support/stop_process.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/link/fake_broker.h"
#include "worker-agent/cli/arguments.h"
#include "worker-agent/cli/broker_control.h"
#include "worker-agent/cli/command_table.h"
#include "worker-agent/cli/commands.h"
#include "worker-agent/cli/report.h"
#include "worker-agent/link/broker_starter.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

TEST(ArgumentsTest, ReadsASend) {
  const ParsedArguments parsed =
      ParseArguments({"send", "Builder", "do it", "--id", "e-1", "--json"});
  ASSERT_TRUE(parsed.arguments.has_value()) << parsed.error;
  EXPECT_EQ(parsed.arguments->command, "send");
  EXPECT_EQ(parsed.arguments->to, "Builder");
  EXPECT_EQ(parsed.arguments->text, "do it");
  EXPECT_EQ(parsed.arguments->id, "e-1");
  EXPECT_TRUE(parsed.arguments->json);
}

TEST(ArgumentsTest, ReadsBrokerCommands) {
  const ParsedArguments parsed =
      ParseArguments({"--home", "/h", "broker", "start", "--workspace", "/w"});
  ASSERT_TRUE(parsed.arguments.has_value()) << parsed.error;
  EXPECT_EQ(parsed.arguments->command, "broker start");
  EXPECT_EQ(parsed.arguments->home, "/h");
  EXPECT_EQ(parsed.arguments->directory, "/w");
}

TEST(ArgumentsTest, ADashIsAText) {
  const ParsedArguments parsed = ParseArguments({"send", "Builder", "-"});
  ASSERT_TRUE(parsed.arguments.has_value()) << parsed.error;
  EXPECT_EQ(parsed.arguments->text, "-");
}

TEST(ArgumentsTest, MisuseIsExitCodeTwo) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{},
                                             {"send", "Builder"},
                                             {"nonsense"},
                                             {"history", "--limit", "0"},
                                             {"--home", "relative", "list"}}) {
    const ParsedArguments parsed = ParseArguments(words);
    EXPECT_FALSE(parsed.arguments.has_value());
    EXPECT_EQ(parsed.exit_code, kExitUsage);
    EXPECT_FALSE(parsed.error.empty());
  }
}

TEST(ArgumentsTest, ACommandThatThereIsNotIsNamed) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"frob"},
                                             {"--json", "frob"},
                                             {"--home", "/state", "frob"},
                                             {"broker", "frob"}}) {
    const ParsedArguments parsed = ParseArguments(words);
    EXPECT_EQ(parsed.exit_code, kExitUsage);
    EXPECT_THAT(parsed.error,
                AllOf(HasSubstr("There is no command"), HasSubstr("frob")));
  }
  EXPECT_THAT(ParseArguments({"broker"}).error, Not(HasSubstr("no command")));
  EXPECT_THAT(ParseArguments({"--home", "/state", "broker"}).error,
              Not(HasSubstr("no command")));
}

TEST(ArgumentsTest, MisuseUnderJsonIsOneLineOfJson) {
  const ParsedArguments parsed =
      ParseArguments({"history", "--json", "--limit", "no\nmany"});
  EXPECT_EQ(parsed.exit_code, kExitUsage);
  EXPECT_EQ(parsed.output, "");
  const auto failure = nlohmann::json::parse(parsed.error);
  EXPECT_EQ(failure["code"], "INVALID_ARGUMENT");
  EXPECT_EQ(failure["reason"], "USAGE");
  EXPECT_NE(failure["message"], "");
  EXPECT_EQ(parsed.error.find('\n'), parsed.error.size() - 1);
}

TEST(ArgumentsTest, HelpSaysTheExitCodes) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--help"}, {"list", "--help"}}) {
    EXPECT_THAT(ParseArguments(words).output,
                HasSubstr("Exit codes: 0 done, 1 refused or failed, 2 misuse"));
  }
}

TEST(ArgumentsTest, HelpIsNoError) {
  const ParsedArguments parsed = ParseArguments({"--help"});
  EXPECT_EQ(parsed.exit_code, kExitOk);
  EXPECT_THAT(parsed.output, HasSubstr("history"));
}

TEST(ReportTest, ARecordShowsEachStateWithTimeAndEvidence) {
  v1::DeliveryRecord record;
  record.mutable_envelope()->set_envelope_id("3f2c9a10");
  record.mutable_envelope()->set_kind(v1::ENVELOPE_KIND_MESSAGE);
  record.mutable_sender()->set_name("Coordinator");
  record.mutable_sender()->set_origin(v1::ORIGIN_SESSION);
  record.set_recipient_name("Builder");
  for (const auto state :
       {v1::DELIVERY_STATE_ACCEPTED, v1::DELIVERY_STATE_DELIVERED}) {
    v1::DeliveryMark& mark = *record.add_marks();
    mark.set_state(state);
    mark.mutable_at()->set_seconds(1'800'000'000);
    mark.set_evidence("proof");
  }
  record.set_wait_reason(v1::WAIT_REASON_BUSY);
  record.mutable_waiting_since()->set_seconds(1'800'000'000);
  EXPECT_EQ(
      RecordReport(record, absl::FromUnixSeconds(1'800'000'090),
                   Terminal(/*colour=*/false)),
      "3f2c9a10 message from Coordinator to Builder\n"
      "STATE      AT                    EVIDENCE\n"
      "accepted   2027-01-15 08:00:00Z  proof\n"
      "delivered  2027-01-15 08:00:00Z  proof\n"
      "Waiting since 2027-01-15 08:00:00Z (1m), held: Builder is in a turn; "
      "it is handed over at the turn's next boundary\n");
}

TEST(ReportTest, ColourIsOnlyForTerminals) {
  EXPECT_EQ(Terminal(false).Bold("x"), "x");
  EXPECT_EQ(Terminal(true).Bold("x"), "\x1b[1mx\x1b[0m");
}

// The commands over a fake broker.
class CommandsTest : public ::testing::Test {
 protected:
  int Run(std::vector<std::string> words, const std::string& input = "") {
    words.insert(words.begin(), {"--home", home_.path().string()});
    const ParsedArguments parsed = ParseArguments(words);
    if (!parsed.arguments.has_value()) return parsed.exit_code;
    std::istringstream in(input);
    out_.str("");
    err_.str("");
    return RunCommand(*parsed.arguments, in, out_, err_, Terminal(false));
  }

  TempDir home_;
  FakeBroker broker_{FakeBroker::Options{.home = home_.path()}};
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(CommandsTest, ListsTheWorkspaceOfADirectory) {
  EXPECT_EQ(Run({"list", "-C", "/home/ada/space/"}), kExitOk);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("/home/ada/space\n"),
                                HasSubstr("Builder  worker  attached")));
  EXPECT_THAT(broker_.seen().calls,
              Contains("GetWorkspace /home/ada/space by "));
}

TEST_F(CommandsTest, SendsWhatStandardInputSays) {
  EXPECT_EQ(Run({"send", "Builder", "-"}, "two\nlines\n"), kExitOk);
  EXPECT_THAT(broker_.seen().calls, Contains("Send Builder two\nlines"));
  EXPECT_THAT(out_.str(), HasSubstr("Message to Builder: accepted, id "));
}

TEST_F(CommandsTest, ASentMessageCanBeLookedUp) {
  ASSERT_EQ(Run({"send", "Builder", "x", "--id", "abcdef-1"}), kExitOk);
  EXPECT_EQ(Run({"status", "abcdef"}), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("on disk"));
  EXPECT_EQ(Run({"history"}), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("abcdef-1"));
}

TEST_F(CommandsTest, ASendWhoseConnectionBreaksIsRepeatedUnderItsId) {
  broker_.BreakCalls(1);
  EXPECT_EQ(Run({"send", "Builder", "go"}), kExitOk);
  EXPECT_THAT(broker_.accepted(), SizeIs(1));
}

TEST_F(CommandsTest, ASendThatMayHaveHappenedIsNeverCalledImpossible) {
  broker_.BreakCalls(1000);
  EXPECT_EQ(Run({"send", "Builder", "go", "--id", "my-id-1"}), kExitFailed);
  EXPECT_THAT(err_.str(),
              AllOf(HasSubstr("unknown"), HasSubstr("--id my-id-1")));
}

TEST_F(CommandsTest, HistoryIsOfTheWorkspaceAndFollowsItsPages) {
  for (const char* text : {"one", "two", "three", "four"}) {
    EXPECT_EQ(Run({"send", "Builder", text}), kExitOk);
  }
  EXPECT_EQ(Run({"history", "--limit", "3", "-C", "/home/ada/space"}), kExitOk);
  EXPECT_THAT(broker_.seen().calls,
              IsSupersetOf({"ListMessages /home/ada/space 3",
                            "ListMessages /home/ada/space 1"}));
  EXPECT_EQ(Run({"history", "--all"}), kExitOk);
  EXPECT_THAT(broker_.seen().calls,
              IsSupersetOf({"ListMessages  20", "ListMessages  18"}));
}

TEST_F(CommandsTest, ARefusalIsExitCodeOneInWords) {
  EXPECT_EQ(Run({"status", "nothing"}), kExitFailed);
  EXPECT_EQ(err_.str(), "intercom: no such message\n");
  EXPECT_THAT(out_.str(), IsEmpty());
}

TEST_F(CommandsTest, JsonIsTheProtobufs) {
  EXPECT_EQ(Run({"--json", "list", "--all"}), kExitOk);
  EXPECT_THAT(out_.str(), HasSubstr("\"sessionId\": \"session-1\""));
}

TEST_F(CommandsTest, AFailureUnderJsonIsOneLineOfJson) {
  EXPECT_EQ(Run({"--json", "status", "nothing"}), kExitFailed);
  EXPECT_EQ(out_.str(), "");
  const auto failure = nlohmann::json::parse(err_.str());
  EXPECT_EQ(failure.size(), 3u);
  EXPECT_EQ(failure["code"], "NOT_FOUND");
  EXPECT_TRUE(failure.contains("reason"));
  EXPECT_EQ(failure["message"], "no such message");
  EXPECT_EQ(err_.str().find('\n'), err_.str().size() - 1);
}

TEST_F(CommandsTest, WhatHasNoJsonRefusesIt) {
  for (const CommandSpec& command : AllCommands()) {
    if (command.output != nullptr) continue;
    Arguments arguments;
    arguments.command = command.name;
    arguments.json = true;
    arguments.home = home_.path().string();
    std::istringstream in;
    std::ostringstream out, err;
    EXPECT_EQ(RunCommand(arguments, in, out, err, Terminal(false)),
              kExitFailed);
    EXPECT_EQ(out.str(), "") << command.name;
    EXPECT_EQ(nlohmann::json::parse(err.str())["reason"], "JSON_UNSUPPORTED");
  }
}

TEST_F(CommandsTest, WhatTheClientKnowsIsJsonToo) {
  EXPECT_EQ(Run({"--json", "broker", "path"}), kExitOk);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["path"], home_.path().string());
  EXPECT_EQ(Run({"--json", "version"}), kExitOk);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["version"], INTERCOM_VERSION);
  std::ofstream(TokenPath(home_.path().string())) << "a-token\n";
  EXPECT_EQ(Run({"--json", "token"}), kExitOk);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["token"], "a-token");
}

TEST_F(CommandsTest, StatusShowsBrokerAttachmentsAndMailboxes) {
  EXPECT_EQ(Run({"status"}), kExitOk);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("0.0.0-fake"), HasSubstr("session-1"),
                                HasSubstr("session-3  7")));
}

TEST(NoBrokerTest, IsExitCodeThreeAndSaysHowToStartOne) {
  const TempDir home;
  const ParsedArguments parsed =
      ParseArguments({"--home", home.path().string(), "list"});
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(RunCommand(*parsed.arguments, in, out, err, Terminal(false)),
            kExitNotRunning);
  EXPECT_THAT(err.str(), HasSubstr("intercom broker start"));
}

TEST(EndBrokerTest, NobodyIsEndedWithoutALock) {
  const TempDir home;
  EXPECT_THAT(EndBroker(home.path(), absl::Seconds(1), absl::Seconds(2)),
              FailsWith(absl::StatusCode::kNotFound, "BROKER_NOT_RUNNING"));
}

class EndBrokerProcessTest : public ::testing::Test {
 protected:
  EndBrokerProcessTest() {
    EXPECT_THAT(
        BrokerStarter({.home = home_, .workspace = "/", .program = FAKE_BROKER})
            .Ensure(),
        IsOk());
  }
  TempDir dir_;
  const std::string home_ = dir_ / "state";
};

TEST_F(EndBrokerProcessTest, EndsTheHolderOfTheLock) {
  const auto holder =
      static_cast<pid_t>(LockFile::Holder(BrokerLockPath(home_)));
  const auto end =
      EndBroker(home_, absl::InfiniteDuration(), absl::Seconds(20));
  ASSERT_THAT(end, IsOk());
  EXPECT_EQ(end->pid, holder);
  EXPECT_FALSE(end->killed);
  EXPECT_EQ(LockFile::Holder(BrokerLockPath(home_)), 0);
}

TEST_F(EndBrokerProcessTest, StopSaysUnderJsonWhoEnded) {
  const int64_t holder = LockFile::Holder(BrokerLockPath(home_));
  const ParsedArguments parsed =
      ParseArguments({"--home", home_, "--json", "broker", "stop"});
  std::istringstream in;
  std::ostringstream out, err;
  EXPECT_EQ(RunCommand(*parsed.arguments, in, out, err, Terminal(false)),
            kExitOk);
  EXPECT_EQ(nlohmann::json::parse(out.str())["pid"], std::to_string(holder));
}

TEST_F(EndBrokerProcessTest, KillsAStoppedHolder) {
  const auto holder =
      static_cast<pid_t>(LockFile::Holder(BrokerLockPath(home_)));
  ASSERT_NE(holder, 0);
  ASSERT_TRUE(StopProcess(holder));
  const auto end = EndBroker(home_, absl::Milliseconds(100), absl::Seconds(20));
  ASSERT_THAT(end, IsOk());
  EXPECT_TRUE(end->killed);
}

}  // namespace
}  // namespace intercom
