#include "broker/storage/store_opening.h"

#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "broker/base/clock.h"
#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/storage/ask_store.h"
#include "broker/storage/channel_store.h"
#include "broker/storage/job_store.h"
#include "broker/storage/mailbox_store.h"
#include "broker/storage/note_store.h"
#include "broker/storage/report_store.h"
#include "broker/storage/run_store.h"
#include "broker/storage/session_store.h"
#include "broker/storage/store_checker.h"
#include "broker/storage/transaction.h"
#include "broker/storage/workspace_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/answer.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/storage/storage_fixtures.h"

namespace intercom {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kPageBytes = 4096;
constexpr int kOpen = 300;
constexpr int kSettled = 300;

class StoreOpeningTest : public ::testing::Test {
 protected:
  absl::StatusOr<OpenedStore> Open() { return OpenStore(path_, kNow, random_); }

  // Open and settled deliveries in turn, every third open one DELIVERED, a
  // session, a pinned coordinator, two reports, and a channel's state.
  void Fill() {
    OpenedStore opened = Open().value();
    first_id_ = opened.store_id;
    auto transaction = Transaction::Begin(*opened.db);
    DeliveryStore store(*opened.db);
    for (int i = 0; i < kOpen; ++i) {
      const auto settled =
          store.Insert(MessageTo("bob", absl::StrCat("settled-", i)));
      ASSERT_THAT(settled, IsOk());
      ASSERT_THAT(store.Mark(settled->record.sequence(),
                             v1::DELIVERY_STATE_INJECTED, kNow, "seen there"),
                  IsOk());
      NewDelivery open = MessageTo("bob", absl::StrCat("open-", i));
      open.accepted_at = kNow + absl::Seconds(i);
      const auto inserted = store.Insert(open);
      ASSERT_THAT(inserted, IsOk());
      if (i % 3 == 0) {
        ASSERT_THAT(store.Mark(inserted->record.sequence(),
                               v1::DELIVERY_STATE_DELIVERED, kNow, "agent"),
                    IsOk());
      }
    }
    SessionRow session;
    session.session_id = "bob";
    session.workspace_root = "/project";
    ASSERT_THAT(SessionStore(*opened.db).Attach(session), IsOk());
    ASSERT_THAT(WorkspaceStore(*opened.db).PinCoordinator("/project", "carol"),
                IsOk());
    JobRow job;
    job.job_id = "job-1";
    job.kind = v1::Job::KIND_CLOSE;
    job.root = "/project";
    job.session_id = "bob";
    job.state = v1::Job::STATE_UNCERTAIN;
    job.created_at = job.updated_at = kNow;
    job.identity.set_host_pid(42);
    ASSERT_THAT(JobStore(*opened.db).Put(job), IsOk());
    v1::Handoff handoff;
    handoff.set_job_id("job-1");
    handoff.set_summary("done");
    ASSERT_THAT(HandoffStore(*opened.db).Put("/project", "bob", handoff),
                IsOk());
    v1::Report report;
    report.set_status(v1::Report::STATUS_NEEDS_DECISION);
    report.set_summary("left or right?");
    *report.mutable_reported_at() = ToProto(kNow);
    *report.mutable_answered_at() = ToProto(kNow + absl::Seconds(1));
    ASSERT_THAT(ReportStore(*opened.db).Save("/project", "bob", report),
                IsOk());
    report.set_status(static_cast<v1::Report::Status>(99));  // Damage.
    ASSERT_THAT(ReportStore(*opened.db).Save("/project", "dave", report),
                IsOk());
    AskRow ask;
    ask.delivery_id = "alice/open-3";
    ask.sequence = 4'000;
    ask.asker_session_id = "alice";
    ask.recipient_session_id = "bob";
    ask.asked_at = kNow;
    ask.deadline_at = kNow + absl::Minutes(10);
    ASSERT_THAT(AskStore(*opened.db).Add(ask), IsOk());
    ask.delivery_id = "alice/injected-long-ago";
    ASSERT_THAT(AskStore(*opened.db).Add(ask), IsOk());
    ask.delivery_id = "alice/damaged";
    ask.state = static_cast<v1::Ask::State>(99);
    ASSERT_THAT(AskStore(*opened.db).Add(ask), IsOk());
    ASSERT_THAT(ChannelStore(*opened.db)
                    .Save({"fleet", "example/v1"}, {.revision = 7,
                                                    .payload = "{\"a\":1}",
                                                    .committed_by = "bob",
                                                    .committed_at = kNow}),
                IsOk());
    RunRow run;
    run.delivery_id = "alice/open-6";
    run.supervisor_session_id = "alice";
    run.worker_session_id = "bob";
    run.root = "/project";
    run.opened_at = kNow;
    RunStore runs(*opened.db);
    ASSERT_THAT(runs.Add(4'000, run), IsOk());
    v1::RunResult result;
    result.set_text("half of it");
    ASSERT_THAT(runs.SetResult(run.number, result), IsOk());
    ASSERT_THAT(runs.AddDropped("alice", 12), IsOk());
    ASSERT_THAT(runs.AddToTotals(run), IsOk());
    NoteRow note;
    note.supervisor_session_id = "alice";
    note.worker_session_id = "bob";
    note.note_id = "note-1";
    note.text = "so far so good";
    note.at = kNow;
    ASSERT_THAT(NoteStore(*opened.db).Add(note), IsOk());
    ASSERT_THAT(transaction->Commit(), IsOk());
  }

  // The pages of a table or index, of a kind.
  std::vector<int64_t> Pages(const std::string& name, const std::string& kind) {
    const auto db = Database::OpenReadOnly(path_).value();
    auto pages = db->Prepare(
        "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = ? "
        "ORDER BY path");
    EXPECT_THAT(pages, IsOk());
    pages->Bind(name, kind);
    std::vector<int64_t> numbers;
    while (pages->Step().value()) numbers.push_back(pages->Int64(0));
    return numbers;
  }

  void Overwrite(int64_t page) {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp((page - 1) * kPageBytes);
    file << std::string(kPageBytes, '\xa5');
  }

  // What is to be delivered, as envelope ids by sequence.
  static std::vector<std::string> OpenIds(Database& db) {
    std::vector<std::string> ids;
    const auto records = DeliveryStore(db).NextOpen("bob", 0, 10'000).value();
    for (const v1::DeliveryRecord& record : records) {
      ids.push_back(record.envelope().envelope_id());
    }
    return ids;
  }
  static std::vector<std::string> AllOpenIds() {
    std::vector<std::string> ids;
    for (int i = 0; i < kOpen; ++i) ids.push_back(absl::StrCat("open-", i));
    return ids;
  }

  std::vector<std::string> Files() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  TempDir dir_;
  const std::string path_ = dir_ / "state.db";
  CountingRandom random_;
  std::string first_id_;
};

TEST_F(StoreOpeningTest, AStoreKeepsItsIdAndItsMail) {
  Fill();
  const auto again = Open();
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->store_id, first_id_);
  EXPECT_THAT(again->notices, IsEmpty());
  EXPECT_EQ(OpenIds(*again->db), AllOpenIds());
}

TEST_F(StoreOpeningTest, AStoreWhoseTablesAreOfAnotherBuildIsRefusedInWords) {
  {
    const auto db = Database::Open(path_).value();
    ASSERT_THAT(db->Execute("CREATE TABLE meta (key TEXT) STRICT; "
                            "PRAGMA user_version = 1"),
                IsOk());
  }
  for (int i = 0; i < 2; ++i) {
    const auto opened = Open();
    EXPECT_THAT(opened, FailsWith(StatusCode::kFailedPrecondition,
                                  "STORE_OF_OTHER_BUILD"));
    EXPECT_THAT(MessageOf(opened.status()), HasSubstr("move that file away"));
  }
}

TEST_F(StoreOpeningTest, ACopyTakenWhileOpenHasEveryCommitAndNothingElse) {
  OpenedStore opened = Open().value();
  DeliveryStore store(*opened.db);
  ASSERT_THAT(store.Insert(MessageTo("bob", "committed")), IsOk());
  auto transaction = Transaction::Begin(*opened.db);
  ASSERT_THAT(store.Insert(MessageTo("bob", "not committed")), IsOk());
  // By another process: closing the file in this one would drop its locks.
  const std::string copy =
      absl::StrCat("mkdir '", dir_ / "crash", "' && cp '", path_, "' '", path_,
                   "-wal' '", dir_ / "crash", "'");
  ASSERT_EQ(std::system(copy.c_str()), 0);

  const auto crashed = OpenStore(dir_ / "crash/state.db", kNow, random_);

  ASSERT_THAT(crashed, IsOk());
  EXPECT_EQ(crashed->store_id, opened.store_id);
  EXPECT_THAT(OpenIds(*crashed->db), ElementsAre("committed"));
}

TEST_F(StoreOpeningTest, ADamagedStoreIsMovedAsideAndItsMailSaved) {
  Fill();
  // The states are damaged, the envelopes are whole.
  Overwrite(Pages("deliveries", "leaf").at(1));

  const auto opened = Open();

  ASSERT_THAT(opened, IsOk());
  EXPECT_NE(opened->store_id, first_id_);
  EXPECT_EQ(OpenIds(*opened->db), AllOpenIds());
  EXPECT_EQ(MailboxStore(*opened->db).Find("bob").value().envelopes, kOpen);
  const auto record = DeliveryStore(*opened->db).Find("alice/open-299").value();
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->marks(0).at().seconds(), absl::ToUnixSeconds(kNow) + 299);
  EXPECT_EQ(record->sender().name(), "Alice");
  EXPECT_EQ(record->wait_reason(), v1::WAIT_REASON_AWAY);

  ASSERT_EQ(opened->notices.size(), 1u);
  EXPECT_THAT(opened->notices[0], HasSubstr("300 undelivered envelopes"));
  EXPECT_THAT(opened->notices[0],
              HasSubstr("state.db.corrupt-20270115T080000Z"));
  EXPECT_THAT(Files(),
              ::testing::Contains("state.db.corrupt-20270115T080000Z"));
}

TEST_F(StoreOpeningTest, AsksAreSavedSoThatWhoWaitsGetsItsReply) {
  Fill();
  Overwrite(Pages("envelopes_by_sender", "leaf").at(0));

  const auto opened = Open();

  ASSERT_THAT(opened, IsOk());
  AskStore asks(*opened->db);
  const auto open = asks.OpenOf("alice");
  ASSERT_THAT(open, IsOk());
  ASSERT_EQ(open->size(), 2u);
  for (const AskRow& ask : *open) {
    EXPECT_EQ(ask.recipient_session_id, "bob");
    EXPECT_EQ(ask.deadline_at, kNow + absl::Minutes(10));
    // Sequences are those of the new store.
    const auto record = DeliveryStore(*opened->db).Find(ask.delivery_id);
    EXPECT_EQ(ask.sequence, record->has_value() ? (*record)->sequence() : 0);
  }
}

TEST_F(StoreOpeningTest, DeliveredStatesSessionsAndPinsAreSavedToo) {
  Fill();
  Overwrite(Pages("envelopes_by_sender", "leaf").at(0));

  const auto opened = Open();

  ASSERT_THAT(opened, IsOk());
  DeliveryStore store(*opened->db);
  EXPECT_EQ(store.Find("alice/open-3").value()->state(),
            v1::DELIVERY_STATE_DELIVERED);
  EXPECT_EQ(store.Find("alice/open-4").value()->state(),
            v1::DELIVERY_STATE_ACCEPTED);
  EXPECT_EQ(SessionStore(*opened->db).Find("bob").value()->workspace_root,
            "/project");
  EXPECT_EQ(WorkspaceStore(*opened->db)
                .Find("/project")
                .value()
                ->coordinator_session_id,
            "carol");
}

TEST_F(StoreOpeningTest, JobsFencesHandoffsAndReportsAreSavedToo) {
  Fill();
  Overwrite(Pages("envelopes_by_sender", "leaf").at(0));

  const auto opened = Open();

  ASSERT_THAT(opened, IsOk());
  const auto open = JobStore(*opened->db).OpenOf("/project", "bob").value();
  ASSERT_EQ(open.size(), 1u);
  EXPECT_EQ(open[0].state, v1::Job::STATE_UNCERTAIN);
  EXPECT_EQ(open[0].identity.host_pid(), 42);
  EXPECT_EQ(
      HandoffStore(*opened->db).Find("/project", "bob").value()->summary(),
      "done");
  ReportStore store(*opened->db);
  const auto saved = store.Find("/project", "bob").value();
  ASSERT_TRUE(saved.has_value());
  EXPECT_EQ(saved->summary(), "left or right?");
  EXPECT_TRUE(saved->has_answered_at());
  EXPECT_EQ(store.Find("/project", "dave").value(), std::nullopt);
}

TEST_F(StoreOpeningTest, StatesOfChannelsAreSavedToo) {
  Fill();
  Overwrite(Pages("envelopes_by_sender", "leaf").at(0));

  const auto opened = Open();

  ASSERT_THAT(opened, IsOk());
  const auto state =
      ChannelStore(*opened->db).Find({"fleet", "example/v1"}).value();
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(state->revision, 7);
  EXPECT_EQ(state->payload, "{\"a\":1}");
  EXPECT_EQ(state->committed_by, "bob");
}

TEST_F(StoreOpeningTest, RunsUnderTheirNumbersAndNotesAreSavedToo) {
  Fill();
  Overwrite(Pages("envelopes_by_sender", "leaf").at(0));

  const auto opened = Open();

  ASSERT_THAT(opened, IsOk());
  RunStore runs(*opened->db);
  const auto run = runs.FindByDelivery("alice/open-6").value();
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->number, 4'000);
  EXPECT_EQ(run->worker_session_id, "bob");
  EXPECT_EQ(runs.Result(4'000)->text(), "half of it");
  EXPECT_TRUE(runs.IsDropped("alice", 12).value());
  EXPECT_EQ(runs.TotalsIn("/project")->runs, 1);
  EXPECT_EQ(NoteStore(*opened->db).Find("bob", "note-1").value()->text,
            "so far so good");
}

TEST_F(StoreOpeningTest, UnreadableEnvelopesAreCountedAsLost) {
  Fill();
  Overwrite(Pages("envelopes", "leaf").at(2));

  const auto opened = Open();

  ASSERT_THAT(opened, IsOk());
  const size_t saved = OpenIds(*opened->db).size();
  EXPECT_LT(saved, static_cast<size_t>(kOpen));
  EXPECT_GT(saved, static_cast<size_t>(kOpen) - 50);
  EXPECT_THAT(opened->notices.at(0),
              HasSubstr(absl::StrCat("; ", kOpen - saved, " more")));
}

TEST_F(StoreOpeningTest, EnvelopesOfUnknownStateAreRatherRepeatedThanLost) {
  Fill();
  for (const char* name : {"deliveries", "deliveries_open"}) {
    for (const char* kind : {"internal", "leaf"}) {
      for (const int64_t page : Pages(name, kind)) Overwrite(page);
    }
  }

  const auto opened = Open();

  ASSERT_THAT(opened, IsOk());
  EXPECT_EQ(OpenIds(*opened->db).size(), static_cast<size_t>(kOpen + kSettled));
  EXPECT_THAT(opened->notices.at(0),
              HasSubstr("600 may have been delivered before"));
}

TEST_F(StoreOpeningTest, AFileOfGarbageIsReplacedByAnEmptyStore) {
  std::ofstream(path_) << std::string(5 * kPageBytes, '\xa5');

  const auto opened = Open();

  ASSERT_THAT(opened, IsOk());
  EXPECT_THAT(OpenIds(*opened->db), IsEmpty());
  EXPECT_EQ(opened->notices.size(), 1u);
}

TEST_F(StoreOpeningTest, TheNoticeIsRepeatedForAWeek) {
  std::ofstream(path_) << std::string(kPageBytes, '\xa5');
  ASSERT_THAT(Open(), IsOk());
  const auto at = [this](absl::Duration later) {
    return OpenStore(path_, kNow + later, random_).value().notices.size();
  };
  EXPECT_EQ(at(absl::Hours(24)), 1u);
  EXPECT_EQ(at(absl::Hours(24 * 8)), 0u);
}

TEST_F(StoreOpeningTest, AReplacementThatWasCutOffIsFinished) {
  Fill();
  std::filesystem::rename(path_, path_ + ".new");

  const auto opened = Open();

  ASSERT_THAT(opened, IsOk());
  EXPECT_EQ(opened->store_id, first_id_);
  EXPECT_EQ(OpenIds(*opened->db), AllOpenIds());
}

TEST_F(StoreOpeningTest, ANewerStoreIsRefusedAndLeftAlone) {
  Fill();
  {
    const auto db = Database::Open(path_).value();
    ASSERT_THAT(db->Execute("PRAGMA user_version=999"), IsOk());
  }
  EXPECT_THAT(Open(),
              FailsWith(StatusCode::kFailedPrecondition, "STORE_NEWER"));
  EXPECT_THAT(Files(), ElementsAre("state.db"));
}

TEST_F(StoreOpeningTest, AStoreThatCannotBeWrittenIsAnErrorAndLeftAlone) {
  const std::string folder = dir_.path();
  if (unshare(CLONE_NEWNS) != 0 ||
      mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=4m") != 0) {
    GTEST_SKIP() << "mounting takes root";
  }
  Fill();
  const auto before = Files();
  ASSERT_EQ(
      mount(nullptr, folder.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr),
      0);
  EXPECT_THAT(Open(),
              FailsWith(StatusCode::kPermissionDenied, "STORAGE_NOT_WRITABLE"));
  EXPECT_EQ(Files(), before);
  umount2(folder.c_str(), MNT_DETACH);
}

// Damage that is in no page.
class StoreSuspectTest : public StoreOpeningTest {
 protected:
  // Without the guard that the broker's connections have.
  void Damage(const std::string& sql) {
    sqlite3* raw = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &raw), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(raw,
                           ("PRAGMA writable_schema = ON; "
                            "CREATE TEMP TABLE kept AS "
                            "  SELECT rowid AS id, * FROM sqlite_master; " +
                            sql +
                            "; PRAGMA writable_schema = ON; "
                            "DELETE FROM sqlite_master; "
                            "INSERT INTO sqlite_master "
                            "  SELECT type, name, tbl_name, rootpage, sql "
                            "  FROM kept ORDER BY id; "
                            "PRAGMA writable_schema = RESET")
                               .c_str(),
                           nullptr, nullptr, nullptr),
              SQLITE_OK)
        << sqlite3_errmsg(raw);
    sqlite3_close(raw);
  }
  std::vector<std::string> Check() {
    const SystemClock clock;
    StoreChecker checker(path_, clock);
    Answer<absl::StatusOr<StoreCheck>> answer;
    EXPECT_THAT(checker.Start(absl::Seconds(60), answer.Callback()), IsOk());
    return answer.Wait().value().findings;
  }
  bool IsSuspect() { return std::filesystem::exists(SuspectPath(path_)); }
};

TEST_F(StoreSuspectTest, IndexesThatACheckFoundDamagedAreMadeAnew) {
  Fill();
  Damage(
      "DELETE FROM sqlite_master WHERE name = 'sessions_by_root'; "
      "PRAGMA writable_schema = RESET; "
      "UPDATE sessions SET workspace_root = '/elsewhere'");
  // Opening alone does not see it.
  EXPECT_EQ(Open().value().store_id, first_id_);
  EXPECT_THAT(Check(), ::testing::Not(IsEmpty()));
  EXPECT_TRUE(IsSuspect());

  const auto repaired = Open();
  ASSERT_THAT(repaired, IsOk());
  EXPECT_EQ(repaired->store_id, first_id_);
  EXPECT_THAT(repaired->notices, IsEmpty());
  EXPECT_FALSE(IsSuspect());
  EXPECT_THAT(Check(), IsEmpty());
}

TEST_F(StoreSuspectTest, WhatNoIndexCanHoldIsReplaced) {
  Fill();
  Damage(
      "DELETE FROM sqlite_master WHERE name = 'sqlite_autoindex_envelopes_1'; "
      "UPDATE sqlite_master SET sql = replace(sql, "
      "  'UNIQUE (envelope_id, sender_session_id)', 'CHECK (1)') "
      "  WHERE name = 'envelopes'; "
      "PRAGMA writable_schema = RESET; "
      "UPDATE envelopes SET envelope_id = 'open-0' "
      "  WHERE envelope_id = 'open-1'");
  EXPECT_EQ(Open().value().store_id, first_id_);
  EXPECT_THAT(Check(), ::testing::Not(IsEmpty()));

  const auto replaced = Open();
  ASSERT_THAT(replaced, IsOk());
  EXPECT_NE(replaced->store_id, first_id_);
  EXPECT_THAT(replaced->notices, ElementsAre(HasSubstr("was damaged")));
  EXPECT_FALSE(IsSuspect());
  EXPECT_THAT(Check(), IsEmpty());
}

}  // namespace
}  // namespace intercom
