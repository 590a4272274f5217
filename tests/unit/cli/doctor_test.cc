#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "broker/base/clock.h"
#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temp_dir.h"
#include "worker-agent/cli/arguments.h"
#include "worker-agent/cli/doctor_broker.h"
#include "worker-agent/cli/doctor_findings.h"
#include "worker-agent/cli/doctor_install.h"
#include "worker-agent/cli/doctor_sockets.h"
#include "worker-agent/cli/doctor_state.h"
#include "worker-agent/cli/verified_hosts.h"

namespace intercom {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

// Whether a remedy that names a command begins with one that there is, with
// the options that it names.
bool IsTypable(const std::string& remedy) {
  std::vector<std::string> words =
      absl::StrSplit(remedy, ' ', absl::SkipEmpty());
  for (std::string& word : words) {
    if (word.ends_with(',') || word.ends_with(';')) word.pop_back();
  }
  std::vector<std::string> rest;
  for (words.erase(words.begin()); !words.empty(); words.pop_back()) {
    if (ParseArguments(words).arguments.has_value()) break;
    rest.push_back(words.back());
  }
  return !words.empty() &&
         std::none_of(rest.begin(), rest.end(), [](const std::string& word) {
           return word.starts_with("-");
         });
}

// "error: what | remedy" of all that is no OK.
std::vector<std::string> Troubles(const DoctorFindings& findings) {
  std::vector<std::string> lines;
  const v1::DoctorReport report = findings.Report();
  for (const v1::Finding& one : report.findings()) {
    if (one.severity() == v1::Finding::SEVERITY_OK) continue;
    const char* word = one.severity() == v1::Finding::SEVERITY_ERROR ? "error"
                       : one.severity() == v1::Finding::SEVERITY_WARNING
                           ? "warning"
                           : "note";
    lines.push_back(std::string(word) + ": " + one.what() + " | " +
                    one.remedy());
    if (one.remedy().starts_with("intercom ")) {
      EXPECT_TRUE(IsTypable(one.remedy())) << one.remedy();
    }
  }
  return lines;
}

TEST(DoctorFindingsTest, TheWorstComesFirstAndRemediesAreIndented) {
  DoctorFindings findings;
  findings.Ok("a", "fine");
  findings.Note("b", "by the way");
  findings.Warning("c", "not good", "do it");
  findings.Error("d", "broken\nby two lines", "repair it");
  EXPECT_EQ(DoctorText(findings.Report(), Terminal(false)),
            "error   broken by two lines\n"
            "          repair it\n"
            "warning not good\n"
            "          do it\n"
            "note    by the way\n"
            "ok      fine\n"
            "1 error, 1 warning.\n");
  EXPECT_EQ(ErrorsIn(findings.Report()), 1);
}

TEST(VerifiedHostsTest, AreThoseOfTheExtension) {
  EXPECT_THAT(VerifiedPiVersions(), Contains("1.6.0"));
  EXPECT_THAT(VerifiedVersionsIn("{}"), IsEmpty());
  EXPECT_THAT(VerifiedVersionsIn("no"), IsEmpty());
}

// --- The state directory

class DoctorStateTest : public ::testing::Test {
 protected:
  DoctorStateTest() {
    chmod(home_.path().c_str(), 0700);
    Write("token", std::string(64, 'a') + "\n");
    Write("state.db", "x");
    Write("endpoint.json", "{\"port\": 7}");
  }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(home_ / name) << text;
    chmod((home_ / name).c_str(), 0600);
  }
  std::vector<std::string> Look() {
    DoctorFindings findings;
    StateFacts facts = ReadState(home_.path().string());
    facts.free_bytes = int64_t{1} << 40;
    CheckState(facts, findings);
    return Troubles(findings);
  }

  TempDir home_;
};

TEST_F(DoctorStateTest, AWholeOneHasNothingWrong) {
  EXPECT_THAT(Look(), IsEmpty());
}

TEST_F(DoctorStateTest, ADirectoryThatOthersEnterIsAnError) {
  chmod(home_.path().c_str(), 0755);
  EXPECT_THAT(
      Look(),
      ElementsAre(HasSubstr("can be entered by others: its mode is 0755")));
}

TEST_F(DoctorStateTest, ATokenThatOthersReadIsAnErrorWithItsRemedy) {
  chmod((home_ / "token").c_str(), 0644);
  EXPECT_THAT(Look(), ElementsAre(::testing::AllOf(
                          HasSubstr("has mode 0644: others may have read it"),
                          HasSubstr("intercom broker restart"))));
}

TEST_F(DoctorStateTest, AnEndpointWithoutPortIsAWarning) {
  Write("endpoint.json", "{");
  EXPECT_THAT(Look(), ElementsAre(HasSubstr("endpoint.json names no port")));
}

TEST_F(DoctorStateTest, ADamagedStoreThatIsKeptIsToldOnce) {
  Write("state.db.corrupt-20261201T000000Z", "");
  Write("state.db.corrupt-20261201T000000Z-wal", "");
  EXPECT_THAT(Look(), ElementsAre(HasSubstr(
                          "kept aside: state.db.corrupt-20261201T000000Z |")));
}

TEST_F(DoctorStateTest, NothingYetIsNoError) {
  std::filesystem::remove_all(home_.path());
  EXPECT_THAT(Look(), ElementsAre(HasSubstr("note: there is no state "
                                            "directory")));
}

TEST_F(DoctorStateTest, LittleSpaceANetworkAndALongPathAreTold) {
  StateFacts facts = ReadState(home_.path().string());
  facts.free_bytes = 50 << 20;
  facts.foreign_file_system = "NFS";
  facts.socket_path_problem = "too long";
  facts.log_bytes = 100 << 20;
  DoctorFindings findings;
  CheckState(facts, findings);
  EXPECT_THAT(Troubles(findings),
              ElementsAre(HasSubstr("error: too long"),
                          HasSubstr("is on NFS, where locks"),
                          HasSubstr("warning: 50 MiB are free"),
                          HasSubstr("warning: the logs take 100 MiB")));
}

// --- Sockets

TEST(DoctorSocketsTest, AreTriedAndLeaveNothingBehind) {
  const TempDir directory;
  const SocketFacts facts = TrySockets(directory.path().string());
  EXPECT_EQ(facts.unix_problem, "");
  EXPECT_EQ(facts.tcp_problem, "");
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(DoctorSocketsTest, ASandboxThatForbidsThemIsAnError) {
  DoctorFindings findings;
  CheckSockets({.unix_problem = "bind: Operation not permitted",
                .tcp_problem = "socket: Permission denied"},
               findings);
  EXPECT_THAT(Troubles(findings),
              ElementsAre(HasSubstr("bind: Operation not permitted | a "
                                    "sandbox"),
                          HasSubstr("socket: Permission denied | a sandbox")));
}

// --- The installation

class DoctorInstallTest : public ::testing::Test {
 protected:
  DoctorInstallTest() {
    Program("bin/intercom-agent", "0.0.1");
    Program("bin/intercom-broker", INTERCOM_VERSION);
    Program("path/node", "v24.1.0");
    Write("pi/package.json",
          "{\"name\": \"@earendil-works/pi-coding-agent\", \"version\": "
          "\"9.9.9\", \"engines\": {\"node\": \">=25.0.0\"}}");
    Program("pi/dist/cli.js", "unused");
    std::filesystem::create_symlink(root_ / "pi/dist/cli.js",
                                    root_ / "path/pi");
    Write("ext/package.json",
          "{\"name\": \"pi-intercom\", \"version\": \"" INTERCOM_VERSION "\"}");
    Write("ext/src/index.ts", "");
    Write("agent/settings.json",
          "{\"packages\": [\"npm:other\", {\"source\": \"../ext\"}]}");
  }
  void Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = root_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void Program(const std::string& name, const std::string& version) {
    Write(name, "#!/bin/sh\necho " + version + "\n");
    chmod((root_ / name).c_str(), 0755);
  }
  InstallFacts Read() {
    return ReadInstall(
        {.environment = {{"PATH", root_ / "path"},
                         {"HOME", root_.path().string()},
                         {"PI_CODING_AGENT_DIR", root_ / "agent"}},
         .program_directory = root_ / "bin",
         .account_home = "/nowhere",
         .directory = root_ / "project"},
        clock_);
  }

  TempDir root_;
  SystemClock clock_;
};

TEST_F(DoctorInstallTest, VersionsThatDifferAreTold) {
  DoctorFindings findings;
  CheckInstall(Read(), findings);
  EXPECT_THAT(
      Troubles(findings),
      ElementsAre(HasSubstr("intercom-agent is version 0.0.1, this program"),
                  HasSubstr("Node v24.1.0 is too old for Pi, which wants "
                            ">=25.0.0"),
                  HasSubstr("Pi 9.9.9 is not known to stop and close sessions "
                            "safely"),
                  HasSubstr("note: neither tmux nor herdr")));
}

TEST_F(DoctorInstallTest, TheExtensionIsFoundWhereverPiLoadsItFrom) {
  EXPECT_EQ(Read().extension, root_ / "ext");
  Write("agent/settings.json", "{\"extensions\": [\"../ext/src/index.ts\"]}");
  EXPECT_EQ(Read().extension, root_ / "ext");
  Write("agent/settings.json", "{\"packages\": [\"npm:pi-intercom@1\"]}");
  EXPECT_EQ(Read().extension, "npm:pi-intercom@1");
  Write("agent/settings.json", "{}");
  EXPECT_EQ(Read().extension, "");
  std::filesystem::create_directories(root_ / "agent/extensions");
  std::filesystem::create_directory_symlink(root_ / "ext",
                                            root_ / "agent/extensions/i");
  EXPECT_EQ(Read().extension, root_ / "ext");
}

TEST_F(DoctorInstallTest, SettingsThatAreNoJsonAreAnError) {
  Write("agent/intercom/config.json", "{\"enabled\": }");
  DoctorFindings findings;
  CheckInstall(Read(), findings);
  EXPECT_THAT(Troubles(findings),
              Contains(HasSubstr("config.json does not hold one JSON object | "
                                 "repair it")));
  Write("agent/intercom/config.json", "{\"enabled\": true}");
  EXPECT_EQ(Read().settings_problem, "");
}

TEST_F(DoctorInstallTest, WhatIsNotThereIsToldWithoutBeingRun) {
  std::filesystem::remove_all(root_ / "bin");
  std::filesystem::remove_all(root_ / "path");
  DoctorFindings findings;
  CheckInstall(Read(), findings);
  EXPECT_THAT(
      absl::StrJoin(Troubles(findings), "\n"),
      ::testing::AllOf(HasSubstr("error: intercom-agent is not beside"),
                       HasSubstr("error: intercom-broker is not beside"),
                       HasSubstr("warning: there is no pi on PATH"),
                       HasSubstr("warning: there is no node on PATH")));
}

TEST(NodeRangeTest, IsReadAsFarAsItIsALeast) {
  EXPECT_EQ(IsInRange("v22.19.0", ">=22.19.0"), true);
  EXPECT_EQ(IsInRange("v22.18.9", ">=22.19.0"), false);
  EXPECT_EQ(IsInRange("v24.0.0", ">=22.19.0"), true);
  EXPECT_EQ(IsInRange("v24.0.0", "^22"), std::nullopt);
  EXPECT_EQ(IsInRange("nightly", ">=22.19.0"), std::nullopt);
}

// --- The broker

TEST(DoctorMultiplexerTest, AWorkspacesLauncherThatIsNotThereIsNoted) {
  const auto look = [](bool has_herdr, const std::string& multiplexer) {
    InstallFacts facts;
    facts.has_tmux = true;
    facts.has_herdr = has_herdr;
    DoctorFindings findings;
    CheckMultiplexer(facts, multiplexer, findings);
    return Troubles(findings);
  };
  EXPECT_THAT(look(false, "herdr"),
              ElementsAre(HasSubstr("open in herdr, which is not on PATH")));
  EXPECT_THAT(look(true, "herdr"), IsEmpty());
  EXPECT_THAT(look(false, "tmux"), IsEmpty());
  EXPECT_THAT(look(false, "headless"), IsEmpty());
}

class DoctorBrokerTest : public ::testing::Test {
 protected:
  DoctorBrokerTest() {
    v1::GetBrokerResponse broker;
    broker.set_version("1.0.0");
    facts_.broker = broker;
    v1::CheckStoreResponse store;
    store.set_complete(true);
    facts_.store = store;
    facts_.config = v1::CheckConfigResponse();
    facts_.jobs = v1::ListJobsResponse();
    facts_.mailboxes = v1::ListMailboxesResponse();
    v1::ListAttachmentsResponse attachments;
    v1::RosterEntry& entry = *attachments.add_entries();
    entry.set_session_id("s-1");
    entry.set_name("Builder");
    v1::AttachedHost& host = *attachments.add_hosts();
    host.set_session_id("s-1");
    host.set_kind("pi");
    host.set_version("1.6.0");
    host.add_capabilities("stop");
    host.add_capabilities("close");
    host.set_agent_version("1.0.0");
    facts_.attachments = attachments;
    facts_.sessions = v1::ListSessionsResponse();
    facts_.inbox = v1::ListInboxResponse();
  }
  std::vector<std::string> Look() {
    DoctorFindings findings;
    CheckBroker(facts_, "1.0.0", kNow, findings);
    return Troubles(findings);
  }

  BrokerFacts facts_;
};

TEST_F(DoctorBrokerTest, AHealthyOneHasNothingWrong) {
  EXPECT_THAT(Look(), IsEmpty());
}

TEST_F(DoctorBrokerTest, NoneIsANoteAndAHungOneIsAnError) {
  facts_.broker =
      Error(absl::StatusCode::kUnavailable, "BROKER_NOT_RUNNING", "none");
  EXPECT_THAT(Look(), ElementsAre(HasSubstr("note: no broker runs")));
  // In a sandbox there seems to be none.
  facts_.lock_holder = 77;
  EXPECT_THAT(Look(), ElementsAre(::testing::AllOf(
                          HasSubstr("error: a broker runs (process 77)"),
                          HasSubstr("sandbox"))));
  facts_.broker =
      Error(absl::StatusCode::kDeadlineExceeded, "BROKER_HUNG", "it hangs");
  EXPECT_THAT(Look(), ElementsAre("error: it hangs | intercom broker restart"));
}

TEST_F(DoctorBrokerTest, AnotherVersionAndNoticesAreWarnings) {
  facts_.broker->set_version("0.9.0");
  facts_.broker->add_notices("the store was replaced");
  EXPECT_THAT(Look(),
              ElementsAre(HasSubstr("is version 0.9.0, this program 1.0.0"),
                          HasSubstr("warning: the store was replaced")));
}

TEST_F(DoctorBrokerTest, ADamagedStoreIsAnErrorAndAPartlyCheckedOneANote) {
  facts_.store->set_complete(false);
  EXPECT_THAT(Look(), ElementsAre(HasSubstr("note: SQLite found nothing")));
  facts_.store->add_findings("row 7 is missing");
  EXPECT_THAT(Look(), ElementsAre(HasSubstr("damaged: row 7 is missing | "
                                            "intercom broker restart")));
}

TEST_F(DoctorBrokerTest, TheConfigsFindingsAreTold) {
  v1::ConfigFinding& finding = *facts_.config->add_findings();
  finding.set_severity(v1::ConfigFinding::SEVERITY_ERROR);
  finding.set_message("/w/config.json: line 3: no JSON");
  finding.set_remedy("repair it");
  facts_.config->set_file("/w/config.json");
  EXPECT_THAT(Look(),
              ElementsAre("error: /w/config.json: line 3: no JSON | repair "
                          "it"));
  facts_.config =
      Error(absl::StatusCode::kNotFound, "NO_WORKSPACE", "none here");
  EXPECT_THAT(Look(), ElementsAre(HasSubstr("note: none here")));
}

TEST_F(DoctorBrokerTest, UncertainAndOverdueJobsNameTheWayOut) {
  v1::Job& uncertain = *facts_.jobs->add_jobs();
  uncertain.set_job_id("job-a");
  uncertain.set_kind(v1::Job::KIND_CLOSE);
  uncertain.set_state(v1::Job::STATE_UNCERTAIN);
  uncertain.set_name("Builder");
  uncertain.set_fences(true);
  v1::Job& late = *facts_.jobs->add_jobs();
  late.set_job_id("job-b");
  late.set_kind(v1::Job::KIND_CREATE);
  late.set_state(v1::Job::STATE_SUBMITTED);
  late.mutable_created_at()->set_seconds(1'800'000'000 - 3600);
  v1::Job& young = *facts_.jobs->add_jobs();
  young = late;
  young.mutable_created_at()->set_seconds(1'800'000'000 - 60);
  v1::Job& past = *facts_.jobs->add_jobs();
  past = young;
  past.set_job_id("job-c");
  past.mutable_deadline_at()->set_seconds(1'800'000'000 - 70);
  EXPECT_THAT(
      Look(),
      ElementsAre(
          ::testing::AllOf(HasSubstr("error: the job job-a, to close Builder, "
                                     "is uncertain and fences its worker"),
                           HasSubstr("intercom job resolve job-a")),
          HasSubstr("warning: the job job-b, to create a new session, has "
                    "been pending for 1h (submitted)"),
          HasSubstr("warning: the job job-c")));
}

TEST_F(DoctorBrokerTest, MailboxesThatFillUpOrWaitLongAreTold) {
  const auto add = [this](int64_t envelopes, int64_t bytes, int64_t age) {
    v1::MailboxSummary& box = *facts_.mailboxes->add_mailboxes();
    box.set_recipient_session_id("s-1");
    box.set_envelopes(envelopes);
    box.set_bytes(bytes);
    box.mutable_oldest_at()->set_seconds(1'800'000'000 - age);
  };
  add(10'000, 0, 0);
  add(1, 60 << 20, 0);
  add(2, 2, 2 * 24 * 3600);
  add(7'999, 0, 3600);
  EXPECT_THAT(Look(),
              ElementsAre(HasSubstr("error: the mailbox of Builder holds 10000 "
                                    "envelopes"),
                          HasSubstr("warning: the mailbox of Builder holds 1 "
                                    "envelope, 60 MiB"),
                          HasSubstr("the oldest has waited for 2d")));
}

TEST_F(DoctorBrokerTest, AHostThatCantBeStoppedOrClosedIsAWarning) {
  v1::AttachedHost& host = *facts_.attachments->mutable_hosts(0);
  host.clear_capabilities();
  host.set_version("1.7.0");
  host.set_agent_version("0.9.0");
  EXPECT_THAT(Look(),
              ElementsAre(HasSubstr("Builder runs in pi 1.7.0, which is not "
                                    "known to stop and close safely"),
                          HasSubstr("the agent of Builder is version 0.9.0")));
}

TEST_F(DoctorBrokerTest, UnreadMailIsANoteAndARefusalNoSilence) {
  facts_.inbox->set_left_out(3);
  facts_.jobs = Error(absl::StatusCode::kPermissionDenied, "CALLER", "no");
  EXPECT_THAT(Look(),
              ElementsAre(HasSubstr("warning: the broker did not tell: no"),
                          "note: 3 unread for you | intercom inbox"));
}

}  // namespace
}  // namespace intercom
