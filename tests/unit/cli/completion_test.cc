#include <sys/wait.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/cli/fake_work_services.h"
#include "worker-agent/cli/arguments.h"
#include "worker-agent/cli/command_table.h"
#include "worker-agent/cli/commands.h"
#include "worker-agent/cli/completion_scripts.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

struct Ran {
  int code = -1;
  std::string output;
};

Ran RunShell(const std::string& command) {
  Ran ran;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    ran.output.append(buffer, n);
  }
  ran.code = WEXITSTATUS(pclose(pipe));
  return ran;
}

// Completes in bash what a test has typed, with sessions of its choice.
class CompletionTest : public ::testing::Test {
 protected:
  CompletionTest() {
    Arguments unused;
    const auto parser = MakeParser(unused);
    Write("bash", BashCompletion(*parser));
    Write("zsh", ZshCompletion(*parser));
    Write("fish", FishCompletion(*parser));
    std::filesystem::create_directory(dir_ / "bin");
    SetSessions("Builder\nBuild Docs\nTester\n");
  }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(dir_ / name) << text;
  }
  void SetSessions(const std::string& names) {
    Write("names", names);
    Write("bin/intercom", "#!/bin/sh\n[ \"$*\" = complete-sessions ] && cat '" +
                              (dir_ / "names") + "'\n");
    std::filesystem::permissions(dir_ / "bin/intercom",
                                 std::filesystem::perms::owner_all);
  }

  // What is offered for the last of `words`, as it would be put on the line.
  std::vector<std::string> Offered(const std::vector<std::string>& words) {
    std::string line = "COMP_WORDS=(intercom";
    for (const std::string& word : words) line += " '" + word + "'";
    Write("try", "PATH='" + (dir_ / "bin") + "':$PATH\nsource '" +
                     (dir_ / "bash") + "'\ncd '" + dir_.path().string() +
                     "'\n" + line +
                     ")\nCOMP_CWORD=" + std::to_string(words.size()) +
                     "\n_intercom intercom\nif (( ${#COMPREPLY[@]} )); then "
                     "printf '%s\\n' \"${COMPREPLY[@]}\"; fi\n");
    const Ran ran = RunShell("bash --norc '" + (dir_ / "try") + "'");
    EXPECT_EQ(ran.code, 0) << ran.output;
    return absl::StrSplit(ran.output, '\n', absl::SkipEmpty());
  }

  TempDir dir_;
};

TEST_F(CompletionTest, BashReadsItsScript) {
  const Ran ran = RunShell("bash -n '" + (dir_ / "bash") + "'");
  EXPECT_EQ(ran.code, 0) << ran.output;
  EXPECT_EQ(ran.output, "");
}

TEST_F(CompletionTest, OtherShellsReadTheirScripts) {
  for (const char* shell : {"zsh", "fish"}) {
    const Ran ran =
        RunShell(std::string(shell) + " -n '" + (dir_ / shell) + "'");
    EXPECT_EQ(ran.code, 0) << shell << ": " << ran.output;
  }
}

TEST_F(CompletionTest, FishOffersCommandsOptionsValuesAndSessions) {
  SetSessions("Builder\nBuild Docs\nit's; $(touch pwned)\n");
  const auto offered = [this](const std::string& line) {
    const Ran ran = RunShell(
        "cd '" + dir_.path().string() + "' && HOME='" + dir_.path().string() +
        "' PATH='" + (dir_ / "bin") + "':$PATH fish --no-config -c \"source '" +
        (dir_ / "fish") + "'; complete -C '" + line + "'\"");
    EXPECT_EQ(ran.code, 0) << ran.output;
    // What is put on the line, without what it means.
    std::vector<std::string> words;
    for (const auto one : absl::StrSplit(ran.output, '\n', absl::SkipEmpty())) {
      words.emplace_back(one.substr(0, one.find('\t')));
    }
    return words;
  };
  EXPECT_THAT(offered("intercom mon"), ElementsAre("monitor"));
  EXPECT_THAT(offered("intercom job "), ElementsAre("resolve", "show"));
  EXPECT_THAT(offered("intercom inbox --pe"), ElementsAre("--peek"));
  EXPECT_THAT(offered("intercom history --state inj"), ElementsAre("injected"));
  EXPECT_THAT(offered("intercom send Bu"),
              ElementsAre("Build Docs", "Builder"));
  EXPECT_THAT(offered("intercom view "), Contains("it's; $(touch pwned)"));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "pwned"));
}

TEST_F(CompletionTest, OffersCommandsAndThoseOfAGroup) {
  EXPECT_THAT(Offered({""}),
              AllOf(IsSupersetOf({"list", "send", "job", "schema"}),
                    Not(Contains("complete-sessions"))));
  EXPECT_THAT(Offered({"mon"}), ElementsAre("monitor"));
  EXPECT_THAT(Offered({"job", ""}), ElementsAre("show", "resolve"));
  EXPECT_THAT(Offered({"--home", "job", "re"}),
              ElementsAre("reports", "reply"));
}

TEST_F(CompletionTest, EveryCommandIsOfferedWhereItIsTyped) {
  for (const CommandSpec& command : AllCommands()) {
    if (command.hidden) continue;
    const std::vector<std::string> words = absl::StrSplit(command.name, ' ');
    EXPECT_THAT(Offered(words), Contains(words.back())) << command.name;
  }
}

TEST_F(CompletionTest, OffersTheOptionsOfACommandAndOfAll) {
  EXPECT_THAT(Offered({"inbox", "-"}),
              AllOf(IsSupersetOf({"--peek", "--all", "--limit", "--json",
                                  "--home", "--help"}),
                    Not(Contains("--state"))));
  EXPECT_THAT(Offered({"inbox", "--pe"}), ElementsAre("--peek"));
}

TEST_F(CompletionTest, OffersWhatAValueCanBe) {
  EXPECT_THAT(Offered({"history", "--state", "se"}), ElementsAre("seen"));
  EXPECT_THAT(Offered({"history", "--state", "=", "se"}), ElementsAre("seen"));
  EXPECT_THAT(Offered({"history", "--state", "seen,re"}),
              Contains("seen,replied"));
  EXPECT_THAT(Offered({"completion", ""}), ElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(Offered({"history", "--limit", ""}), IsEmpty());
  std::filesystem::create_directory(dir_ / "some where");
  EXPECT_THAT(Offered({"list", "-w", "so"}), ElementsAre("some where"));
}

TEST_F(CompletionTest, OffersSessionsWhereOneIsNamed) {
  const auto all = ElementsAre("Builder", "Build\\ Docs", "Tester");
  EXPECT_THAT(Offered({"send", ""}), all);
  EXPECT_THAT(Offered({"ask", "--timeout", "5m", ""}), all);
  EXPECT_THAT(Offered({"history", "--session", "B"}),
              ElementsAre("Builder", "Build\\ Docs"));
  EXPECT_THAT(Offered({"view", "Build\\ D"}), ElementsAre("Build\\ Docs"));
  EXPECT_THAT(Offered({"send", "Builder", ""}), IsEmpty());
  EXPECT_THAT(Offered({"inbox", ""}), IsEmpty());
}

TEST_F(CompletionTest, ANameIsNeverRun) {
  SetSessions("$(touch pwned)\n`touch pwned`\n*\na;touch pwned\n");
  EXPECT_THAT(Offered({"send", ""}),
              ElementsAre("\\$\\(touch\\ pwned\\)", "\\`touch\\ pwned\\`",
                          "\\*", "a\\;touch\\ pwned"));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "pwned"));
}

// --- complete-sessions

int PrintSessions(const std::string& home, std::ostream& out,
                  std::ostream& err) {
  const ParsedArguments parsed =
      ParseArguments({"--home", home, "complete-sessions"});
  std::istringstream in;
  return RunCommand(*parsed.arguments, in, out, err, Terminal(false));
}

TEST(CompleteSessionsTest, NamesThemALineEach) {
  const TempDir home;
  FakeWorkServices broker(home.path().string());
  for (const char* name :
       {"Far", "Build Docs", "--json", "two\nlines", "Far"}) {
    v1::RosterEntry& entry = *broker.sessions.add_sessions();
    entry.set_session_id("session-" + std::to_string(strlen(name)));
    entry.set_name(name);
  }
  std::ostringstream out, err;
  EXPECT_EQ(PrintSessions(home.path().string(), out, err), kExitOk);
  EXPECT_EQ(out.str(), "Build Docs\nFar\nsession-6\nsession-9\n");
  EXPECT_EQ(err.str(), "");
}

TEST(CompleteSessionsTest, SaysNothingAndStartsNothingWithoutABroker) {
  const TempDir dir;
  const std::string home = dir / "none";
  std::ostringstream out, err;
  EXPECT_EQ(PrintSessions(home, out, err), kExitOk);
  EXPECT_EQ(out.str(), "");
  EXPECT_EQ(err.str(), "");
  EXPECT_FALSE(std::filesystem::exists(home));
}

TEST(CompleteSessionsTest, IsNotInTheHelp) {
  EXPECT_THAT(
      ParseArguments({"--help"}).output,
      AllOf(HasSubstr("completion"), Not(HasSubstr("complete-sessions"))));
}

}  // namespace
}  // namespace intercom
