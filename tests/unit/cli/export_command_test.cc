#include "worker-agent/cli/export_command.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/cli/command_rig.h"
#include "tests/unit/cli/fake_work_services.h"
#include "worker-agent/cli/arguments.h"
#include "worker-agent/cli/commands.h"
#include "worker-agent/cli/new_file.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string ContentOf(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A broker with three messages on two pages.
class ExportCommandTest : public CommandRig {
 protected:
  ExportCommandTest() {
    Add("", 3, "one\ntwo");
    Add("", 5, "\x1b[2J");
    broker_.history_pages[""].set_next_page_token("6");
    Add("6", 9, "last");
  }
  void Add(const std::string& token, int64_t sequence,
           const std::string& text) {
    v1::DeliveryRecord& record = *broker_.history_pages[token].add_records();
    record.set_sequence(sequence);
    record.mutable_envelope()->set_text(text);
  }
  // What the lines say, in their order.
  static std::vector<std::string> TextsOf(const std::string& lines) {
    std::vector<std::string> texts;
    std::istringstream in(lines);
    for (std::string line; std::getline(in, line);) {
      v1::DeliveryRecord record;
      EXPECT_TRUE(
          google::protobuf::util::JsonStringToMessage(line, &record).ok())
          << line;
      texts.push_back(record.envelope().text());
    }
    return texts;
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  TempDir dir_;
  const std::string file_ = dir_.path() / "mail.jsonl";
  FakeWorkServices broker_{home_.path().string()};
};

TEST_F(ExportCommandTest, EveryMessageIsALineOfTheFileOldestFirst) {
  ASSERT_EQ(Run({"history", "export", file_, "--all"}), kExitOk) << err_.str();
  EXPECT_THAT(TextsOf(ContentOf(file_)),
              ElementsAre("one\ntwo", "\x1b[2J", "last"));
  EXPECT_THAT(Names(), ElementsAre("mail.jsonl"));
  struct stat facts = {};
  ASSERT_EQ(stat(file_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  EXPECT_EQ(out_.str(), "");
  EXPECT_EQ(err_.str(), "3 messages exported, sequences 3 to 9.\n");
  EXPECT_THAT(broker_.calls(),
              ElementsAre("ListMessages page_size: 200 oldest_first: true",
                          "ListMessages page_size: 200 page_token: \"6\" "
                          "oldest_first: true"));
}

TEST_F(ExportCommandTest, ADashIsStandardOutput) {
  ASSERT_EQ(Run({"history", "export", "-", "--all"}), kExitOk) << err_.str();
  EXPECT_THAT(TextsOf(out_.str()), ElementsAre("one\ntwo", "\x1b[2J", "last"));
  EXPECT_EQ(err_.str(), "3 messages exported, sequences 3 to 9.\n");
}

TEST_F(ExportCommandTest, AnExportGoesOnAfterASequenceByTheFiltersOfHistory) {
  ASSERT_EQ(Run({"history", "export", "-", "--after", "6", "-w", "/w",
                 "--containing", "x", "--kind", "ask", "--state", "seen"}),
            kExitOk)
      << err_.str();
  EXPECT_THAT(TextsOf(out_.str()), ElementsAre("last"));
  EXPECT_THAT(
      broker_.calls(),
      ElementsAre("ListMessages directory: \"/w\" page_size: 200 page_token: "
                  "\"6\" containing: \"x\" kinds: ENVELOPE_KIND_ASK states: "
                  "DELIVERY_STATE_SEEN oldest_first: true"));
}

TEST_F(ExportCommandTest, AFileThatExistsStaysAsItIs) {
  std::ofstream(file_) << "precious";
  EXPECT_EQ(Run({"history", "export", file_, "--all"}), kExitFailed);
  EXPECT_THAT(err_.str(), HasSubstr("exists and stays as it is"));
  EXPECT_EQ(ContentOf(file_), "precious");
  EXPECT_THAT(broker_.calls(), IsEmpty());
}

TEST_F(ExportCommandTest, AnExportThatFailsLeavesNoFile) {
  broker_.refusal = Error(absl::StatusCode::kInternal, "BROKEN", "it broke");
  EXPECT_EQ(Run({"history", "export", file_, "--all"}), kExitFailed);
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(ExportCommandTest, AnOutputThatTakesNoMoreIsAFailure) {
  const ParsedArguments parsed = ParseArguments(
      {"--home", home_.path().string(), "history", "export", "-", "--all"});
  ASSERT_TRUE(parsed.arguments.has_value());
  std::istringstream in;
  std::ofstream full("/dev/full");
  EXPECT_EQ(RunCommand(*parsed.arguments, in, full, err_, Terminal(false)),
            kExitFailed);
  EXPECT_THAT(err_.str(),
              AllOf(HasSubstr("No messages exported"),
                    HasSubstr("takes no more"), Not(HasSubstr("Go on with"))));
}

TEST_F(ExportCommandTest, NothingToExportIsAnEmptyFile) {
  broker_.history_pages.clear();
  ASSERT_EQ(Run({"history", "export", file_, "--all"}), kExitOk) << err_.str();
  EXPECT_EQ(ContentOf(file_), "");
  EXPECT_THAT(Names(), SizeIs(1));
  EXPECT_EQ(err_.str(), "No messages exported.\n");
}

TEST(ExportArgumentsTest, TheListsLimitAndNoFileAreMisuse) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{
           {"history", "export"},
           {"history", "export", "f", "--limit", "3"},
           {"history", "--limit", "3", "export", "f"},
           {"history", "export", "f", "--after", "-1"},
           {"history", "export", "f", "--after", "x"}}) {
    EXPECT_EQ(ParseArguments(words).exit_code, kExitUsage) << words.size();
  }
  EXPECT_EQ(ParseArguments({"history", "--limit", "3"}).arguments->command,
            "history");
  EXPECT_EQ(ParseArguments({"history", "export", "f"}).arguments->command,
            "history export");
}

TEST(NewFileTest, WhatCameMeanwhileIsNotOverwritten) {
  TempDir dir;
  const std::string path = dir.path() / "f";
  auto file = NewFile::Create(path);
  ASSERT_THAT(file, IsOk());
  ASSERT_THAT((*file)->Write("mine"), IsOk());
  std::ofstream(path) << "precious";
  EXPECT_THAT((*file)->Finish(),
              FailsWith(absl::StatusCode::kAlreadyExists, "FILE_EXISTS"));
  EXPECT_EQ(ContentOf(path), "precious");
}

}  // namespace
}  // namespace intercom
