#include "worker-agent/cli/doctor_bundle.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "worker-agent/cli/doctor_archive.h"
#include "worker-agent/cli/redactor.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// --- The redactor

class RedactorTest : public ::testing::Test {
 protected:
  Redactor redactor_{"/home/ada", "/home/ada/.local/state/pi-intercom"};
};

TEST_F(RedactorTest, PathsKeepOnlyWhatIsNobodysBusiness) {
  redactor_.Root("/home/ada/My Client 🛰");
  EXPECT_EQ(
      redactor_.Clean(
          "/home/ada/.local/state/pi-intercom/logs/broker.log can't be read"),
      "<state>/logs/broker.log can't be read");
  EXPECT_EQ(redactor_.Clean("in /home/ada/My Client 🛰: broken"),
            "in w1: broken");
  EXPECT_EQ(
      redactor_.Clean("in /home/ada/My Client 🛰/secret plan/x: broken"),
      "in w1/…: broken");
  EXPECT_EQ(redactor_.Clean("/home/ada/taxes/2025.ods, 3"), "~/…, 3");
  EXPECT_EQ(redactor_.Clean("(/mnt/clients/acme)"), "(/…)");
  EXPECT_EQ(redactor_.Clean("(/mnt/acme) by /usr/bin/pi, /srv/x"),
            "(/…) by /usr/bin/pi, /…");
  EXPECT_EQ(redactor_.Clean("/mnt/Acme, Inc (old)/plan: 3"), "/…: 3");
  EXPECT_EQ(redactor_.Clean("/opt/acme/pi"), "/…");
  EXPECT_EQ(redactor_.Clean("/usr/bin/node runs anthropic/claude"),
            "/usr/bin/node runs anthropic/claude");
}

TEST_F(RedactorTest, NamesAreTheSameEverywhereAndOnlyAsWords) {
  EXPECT_EQ(redactor_.Name("Builder"), "n1");
  EXPECT_EQ(redactor_.Name("Build"), "n2");
  EXPECT_EQ(redactor_.Name("Builder"), "n1");
  redactor_.Word("ada", "user");
  EXPECT_EQ(redactor_.Clean("Builder and Build of ada see Canada, Builders"),
            "n1 and n2 of user see Canada, Builders");
}

TEST_F(RedactorTest, SecretsGoLineByLineAndSoDoesWhatIsQuoted) {
  redactor_.Secret("ship it at noon\n  then tell Bob  \nok");
  EXPECT_EQ(redactor_.Clean("1 ship it at noon 2 then tell Bob. ok"),
            "1 [removed] 2 [removed]. ok");
  EXPECT_EQ(redactor_.Clean("key \"responsibility\" of \"x"),
            "key \"…\" of \"x");
}

TEST_F(RedactorTest, AFieldThatIsNotKnownIsRemoved) {
  v1::Job job;
  job.set_job_id("job-1");
  job.set_name("Builder");
  job.set_detail("said by somebody");
  job.set_workspace_root("/w");
  job.set_launcher("tmux");
  redactor_.Clean(job);
  EXPECT_EQ(job.job_id(), "job-1");
  EXPECT_EQ(job.name(), "n1");
  EXPECT_EQ(job.detail(), "[removed]");
  EXPECT_EQ(job.workspace_root(), "w1");
  EXPECT_EQ(job.launcher(), "tmux");
}

TEST_F(RedactorTest, AFieldThatIsAPathIsOneWhateverIsInIt) {
  redactor_.Root("/w/shop");
  const auto cleaned = [this](const std::string& path) {
    v1::RosterEntry entry;
    entry.set_cwd(path);
    redactor_.Clean(entry);
    return entry.cwd();
  };
  EXPECT_EQ(cleaned("/mnt/Acme, Inc (old): \"plan\"/x;y"), "/…");
  EXPECT_EQ(cleaned("/usr/local/acme"), "/…");
  EXPECT_EQ(cleaned("/w/shop"), "w1");
  EXPECT_EQ(cleaned("/w/shop/till, new"), "w1/…");
  EXPECT_EQ(cleaned("/w/shop, old"), "/…");
  EXPECT_EQ(cleaned("/home/ada"), "~");
}

// --- The archive

std::map<std::string, std::string> ReadTar(const std::string& path) {
  std::map<std::string, std::string> files;
  archive* reader = archive_read_new();
  archive_read_support_format_tar(reader);
  EXPECT_EQ(archive_read_open_filename(reader, path.c_str(), 10240),
            ARCHIVE_OK);
  archive_entry* entry;
  while (archive_read_next_header(reader, &entry) == ARCHIVE_OK) {
    std::string text(archive_entry_size(entry), '\0');
    EXPECT_EQ(archive_read_data(reader, text.data(), text.size()),
              static_cast<la_ssize_t>(text.size()));
    files[archive_entry_pathname(entry)] = text;
  }
  archive_read_free(reader);
  return files;
}

TEST(DoctorArchiveTest, IsWholePrivateAndNothingIsLeftBeside) {
  const TempDir directory;
  const std::string path = directory / "out.tar";
  ASSERT_THAT(WriteArchive(path, {{"a", "one"}, {"logs/b", ""}},
                           absl::FromUnixSeconds(1)),
              IsOk());
  EXPECT_THAT(ReadTar(path),
              ElementsAre(std::pair("intercom-doctor/a", "one"),
                          std::pair("intercom-doctor/logs/b", "")));
  struct stat facts {};
  ASSERT_EQ(stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  EXPECT_THAT(std::vector<std::filesystem::path>(
                  std::filesystem::directory_iterator(directory.path()), {}),
              SizeIs(1));
}

TEST(DoctorArchiveTest, NothingIsOverwritten) {
  const TempDir directory;
  const std::string path = directory / "out.tar";
  std::ofstream(path) << "mine";
  EXPECT_THAT(WriteArchive(path, {{"a", "one"}}, absl::UnixEpoch()),
              FailsWith(absl::StatusCode::kAlreadyExists, "FILE_EXISTS"));
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "mine");
}

// --- The bundle

// Everything that must not be told, planted wherever something could hold it.
class DoctorBundleTest : public ::testing::Test {
 protected:
  static constexpr char kHome[] = "/home/ada";
  static constexpr char kState[] = "/home/ada/.local/state/pi-intercom";
  static constexpr char kRoot[] = "/home/ada/AcmeClient";
  static constexpr char kToken[] = "t0k3nt0k3nt0k3n";
  static constexpr char kBody[] = "the password is swordfish";
  static constexpr char kName[] = "Zebedee";

  // Fills every text of `message`.
  static void Plant(google::protobuf::Message& message, int depth = 0) {
    using google::protobuf::FieldDescriptor;
    const auto* type = message.GetDescriptor();
    const auto& reflection = *message.GetReflection();
    for (int i = 0; i < type->field_count(); ++i) {
      const FieldDescriptor& field = *type->field(i);
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        if (depth > 4) continue;
        Plant(field.is_repeated()
                  ? *reflection.AddMessage(&message, &field)
                  : *reflection.MutableMessage(&message, &field),
              depth + 1);
      } else if (field.type() == FieldDescriptor::TYPE_STRING) {
        const std::string& name = field.name();
        const std::string text =
            name.ends_with("_id") || name.ends_with("_ids") ? "0123-id"
            : name.ends_with("name")                        ? kName
            : name.ends_with("root")
                ? kRoot
                : std::string(kBody) + " for " + kName + " of ada, " + kToken +
                      " in " + kRoot + "/hidden plan, " + kHome + "/taxes";
        if (field.is_repeated()) {
          reflection.AddString(&message, &field, text);
        } else {
          reflection.SetString(&message, &field, text);
        }
      }
    }
  }
  template <typename Response>
  void Answer(const std::string& file) {
    auto response = std::make_unique<Response>();
    Plant(*response);
    parts_.answers.push_back({file, std::move(response)});
  }

  DoctorBundleTest() {
    parts_.home = kHome;
    parts_.state = kState;
    parts_.account = "ada";
    parts_.machine = "lovelace";
    parts_.secrets = {kToken, kBody};
    Answer<v1::GetBrokerResponse>("broker.json");
    Answer<v1::ListSessionsResponse>("sessions.json");
    Answer<v1::ListAttachmentsResponse>("attachments.json");
    Answer<v1::ListWorkspacesResponse>("workspaces.json");
    Answer<v1::GetWorkspaceResponse>("workspace.json");
    Answer<v1::ListMailboxesResponse>("mailboxes.json");
    Answer<v1::ListJobsResponse>("jobs.json");
    Answer<v1::ListAllRunsResponse>("runs.json");
    Answer<v1::ListOpenAsksResponse>("asks.json");
    v1::Finding& finding = *parts_.report.add_findings();
    finding.set_what(std::string(kRoot) + "/.pi-intercom/config.json: \"" +
                     kBody + "\" of Zebedee on lovelace, " + kToken);
    finding.set_remedy("see /home/ada/taxes");
    parts_.logs.push_back(
        {"broker.log",
         "2026-12-01T03:00:00.000 I attached Zebedee in /home/ada/AcmeClient\n"
         "2026-12-01T03:00:01.000 W got the password is swordfish and "
         "t0k3nt0k3nt0k3n\n"
         "a second line of something private\n"});
  }

  BundleParts parts_;
};

TEST_F(DoctorBundleTest, NothingPrivateIsInTheArchive) {
  const TempDir directory;
  const std::string path = directory / "out.tar";
  ASSERT_THAT(
      WriteArchive(path, MakeBundle(std::move(parts_)), absl::UnixEpoch()),
      IsOk());
  const auto files = ReadTar(path);
  EXPECT_THAT(files, SizeIs(12));
  for (const auto& [name, text] : files) {
    if (name == "intercom-doctor/README.txt") continue;
    EXPECT_NE(text, "{}\n") << name;
    for (const char* secret :
         {"swordfish", kToken, kHome, "AcmeClient", kName, "ada", "lovelace",
          "taxes", "hidden plan", "second line"}) {
      EXPECT_THAT(text, Not(HasSubstr(secret))) << name;
    }
  }
  std::ifstream file(path, std::ios::binary);
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(file), {}),
              AllOf(Not(HasSubstr("swordfish")), Not(HasSubstr(kName)),
                    Not(HasSubstr(kToken))));
}

TEST_F(DoctorBundleTest, WhatRemainsCanBeFollowed) {
  std::map<std::string, std::string> files;
  for (const ArchiveFile& file : MakeBundle(std::move(parts_))) {
    files[file.name] = file.text;
  }
  EXPECT_THAT(files["sessions.json"],
              AllOf(HasSubstr("\"sessionId\": \"0123-id\""),
                    HasSubstr("\"name\": \"n1\""),
                    HasSubstr("\"workspaceRoot\": \"w1\"")));
  EXPECT_THAT(files["report.txt"], HasSubstr("w1/…: \"…\" of n1 on machine"));
  EXPECT_EQ(files["logs/broker.log"],
            "2026-12-01T03:00:00.000 I attached n1 in w1\n"
            "2026-12-01T03:00:01.000 W got [removed] and [removed]\n"
            "[a line that is no log's]\n");
}

}  // namespace
}  // namespace intercom
