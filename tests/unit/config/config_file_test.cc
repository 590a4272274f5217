#include "broker/config/config_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/config/sample_config.h"
#include "tests/unit/config/scripted_files.h"

namespace intercom {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class ConfigFileTest : public ::testing::Test {
 protected:
  ConfigFileTest() {
    // To the time of the files that this test makes.
    struct stat made;
    files_.StatAt(AT_FDCWD, root_.path().string(), made);
    clock_.Jump(absl::TimeFromTimespec(made.st_mtim) - clock_.Now());
  }

  fs::path Directory() const { return root_.path() / ".pi-intercom"; }
  fs::path Path() const { return Directory() / "config.json"; }
  // The sample with another port.
  static std::string Edited() { return With(kSample, "4712", "4799"); }

  TempDir root_;
  ScriptedFiles files_;
  FakeClock clock_;
  ConfigFile file_{files_, root_.path().string()};
};

TEST_F(ConfigFileTest, ReadsWhatIsThere) {
  WriteFile(Path(), kSample);

  const auto read = file_.Read();

  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->bytes, kSample);
  EXPECT_EQ(read->config.agents().size(), 2u);
  EXPECT_EQ(read->identity, *file_.Stat());
  EXPECT_EQ(read->identity.size, static_cast<int64_t>(read->bytes.size()));
}

TEST_F(ConfigFileTest, OnlyWhatDoesNotExistIsAbsent) {
  EXPECT_THAT(file_.Read(),
              FailsWith(absl::StatusCode::kNotFound, "NO_CONFIG"));
  fs::create_directory(Directory());
  EXPECT_THAT(file_.Read(),
              FailsWith(absl::StatusCode::kNotFound, "NO_CONFIG"));
}

// Something in the place of the config that must never be overwritten.
struct Obstacle {
  const char* name;
  void (*put)(const fs::path& directory);
  const char* reason;
};

void PrintTo(const Obstacle& obstacle, std::ostream* out) {
  *out << obstacle.name;
}

class ObstacleTest : public ConfigFileTest,
                     public ::testing::WithParamInterface<Obstacle> {};

TEST_P(ObstacleTest, IsReportedAndLeftAlone) {
  GetParam().put(Directory());
  const auto before = fs::symlink_status(Path()).type();

  EXPECT_THAT(file_.Read(), FailsWith(absl::StatusCode::kFailedPrecondition,
                                      GetParam().reason));
  EXPECT_THAT(file_.Stat(), FailsWith(absl::StatusCode::kFailedPrecondition,
                                      GetParam().reason));
  EXPECT_FALSE(file_.Create(kSample, clock_.Now()).ok());
  EXPECT_EQ(fs::symlink_status(Path()).type(), before);
}

INSTANTIATE_TEST_SUITE_P(
    All, ObstacleTest,
    ::testing::Values(
        Obstacle{"Directory",
                 [](const fs::path& directory) {
                   fs::create_directories(directory / "config.json");
                 },
                 "CONFIG_UNREADABLE"},
        Obstacle{"Pipe",
                 [](const fs::path& directory) {
                   fs::create_directories(directory);
                   mkfifo((directory / "config.json").c_str(), 0600);
                 },
                 "CONFIG_UNREADABLE"},
        Obstacle{"Link",
                 [](const fs::path& directory) {
                   WriteFile(directory / "real.json", kSample);
                   fs::create_symlink("real.json", directory / "config.json");
                 },
                 "CONFIG_UNREADABLE"},
        Obstacle{"LinkToNowhere",
                 [](const fs::path& directory) {
                   fs::create_directories(directory);
                   fs::create_symlink("none", directory / "config.json");
                 },
                 "CONFIG_UNREADABLE"},
        Obstacle{"FileForDirectory",
                 [](const fs::path& directory) { WriteFile(directory, "x"); },
                 "CONFIG_UNREADABLE"},
        Obstacle{"DirectoryLinkToNowhere",
                 [](const fs::path& directory) {
                   fs::create_directory_symlink("none", directory);
                 },
                 "CONFIG_UNREADABLE"},
        Obstacle{"DirectoryLinkLeavingTheRoot",
                 [](const fs::path& directory) {
                   fs::create_directory_symlink("/usr", directory);
                 },
                 "CONFIG_OUTSIDE"}));

TEST_F(ConfigFileTest, ADirectoryLinkInsideTheRootIsFollowed) {
  WriteFile(root_.path() / "conf" / "config.json", kSample);
  fs::create_directory_symlink("conf", Directory());

  EXPECT_THAT(file_.Read(), IsOk());
}

TEST_F(ConfigFileTest, AFaultInReadingIsNoAbsence) {
  WriteFile(Path(), kSample);
  files_.script = [](std::string_view call, const std::string& path) {
    return call == "open" && path == "config.json" ? -EACCES : 0;
  };
  EXPECT_THAT(file_.Read(), FailsWith(absl::StatusCode::kFailedPrecondition,
                                      "CONFIG_UNREADABLE"));
  files_.FailOnce("read", EIO);
  EXPECT_THAT(file_.Read(),
              FailsWith(absl::StatusCode::kUnavailable, "CONFIG_UNREADABLE"));
}

TEST_F(ConfigFileTest, TooLargeIsInvalid) {
  WriteFile(Path(), std::string((4 << 20) + 1, ' '));
  EXPECT_THAT(
      file_.ReadBytes(),
      FailsWith(absl::StatusCode::kFailedPrecondition, "CONFIG_INVALID"));
}

TEST_F(ConfigFileTest,
       A100MegabyteFileIsReadNoFurtherThanTheLimitAndLeftAlone) {
  constexpr uintmax_t kSize = 100 << 20;
  WriteFile(Path(), kSample);
  fs::resize_file(Path(), kSize);
  int reads = 0;
  files_.script = [&reads](std::string_view call, const std::string&) {
    reads += call == "read";
    return 0;
  };

  const auto read = file_.Read();

  EXPECT_THAT(
      read, FailsWith(absl::StatusCode::kFailedPrecondition, "CONFIG_INVALID"));
  EXPECT_THAT(MessageOf(read.status()), HasSubstr("4 MiB"));
  EXPECT_LE(reads, (4 << 20) / 16384 + 1);
  EXPECT_FALSE(file_.Create(kSample, clock_.Now()).ok());
  EXPECT_EQ(fs::file_size(Path()), kSize);
}

TEST_F(ConfigFileTest, CreatesAWholeFileAndNothingElse) {
  ASSERT_THAT(file_.Create(kSample, clock_.Now()), IsOk());

  EXPECT_EQ(ReadFile(Path()), kSample);
  EXPECT_THAT(NamesIn(Directory()), ElementsAre("config.json"));
}

TEST_F(ConfigFileTest, NeverReplacesOnCreation) {
  WriteFile(Path(), "mine");

  EXPECT_THAT(file_.Create(kSample, clock_.Now()),
              FailsWith(absl::StatusCode::kAlreadyExists, "CONFIG_EXISTS"));

  EXPECT_EQ(ReadFile(Path()), "mine");
  EXPECT_THAT(NamesIn(Directory()), ElementsAre("config.json"));
}

TEST_F(ConfigFileTest, OfTwelveContendersOneWinsAndAllReadItsWholeFile) {
  constexpr int kContenders = 12;
  FileSystem files;
  std::vector<absl::Status> created(kContenders);
  std::vector<absl::StatusOr<ReadConfig>> read(kContenders,
                                               absl::UnknownError(""));
  std::vector<std::thread> threads;
  Gate start;
  for (int i = 0; i < kContenders; ++i) {
    threads.emplace_back([&, i] {
      const ConfigFile file(files, root_.path().string());
      start.Pass();
      created[i] = file.Create(
          With(kSample, "Leads.", "Leads " + std::to_string(i)), clock_.Now());
      read[i] = file.Read();
    });
  }
  start.WaitForArrivals(kContenders);
  start.Open();
  for (std::thread& thread : threads) thread.join();

  int winner = -1;
  int winners = 0;
  for (int i = 0; i < kContenders; ++i) {
    if (created[i].ok()) {
      winner = i;
      ++winners;
    } else {
      EXPECT_THAT(created[i],
                  FailsWith(absl::StatusCode::kAlreadyExists, "CONFIG_EXISTS"));
    }
  }
  ASSERT_EQ(winners, 1);
  for (const auto& one : read) {
    ASSERT_THAT(one, IsOk());
    EXPECT_EQ(one->bytes,
              With(kSample, "Leads.", "Leads " + std::to_string(winner)));
  }
  EXPECT_THAT(NamesIn(Directory()), ElementsAre("config.json"));
}

TEST_F(ConfigFileTest, ADirectoryThatIsMadeInThisMomentIsNoDanglingLink) {
  ASSERT_THAT(file_.Create(kSample, clock_.Now()), IsOk());
  files_.script = [this](std::string_view call, const std::string& path) {
    return call == "open" && path == ".pi-intercom" && files_.failures++ == 0
               ? -ENOENT
               : 0;
  };
  EXPECT_THAT(file_.Read(), IsOk());
  EXPECT_EQ(files_.failures, 2);
}

TEST_F(ConfigFileTest, ATemporaryFileThatVanishedIsARaceAndNoAbsence) {
  files_.FailOnce("link", ENOENT);
  EXPECT_THAT(file_.Create(kSample, clock_.Now()),
              FailsWith(absl::StatusCode::kAborted, "CONFIG_CHANGED"));
}

TEST_F(ConfigFileTest, AFileSystemWithoutHardLinksFailsInWords) {
  files_.FailOnce("link", EPERM);

  const absl::Status status = file_.Create(kSample, clock_.Now());

  EXPECT_THAT(status, FailsWith(absl::StatusCode::kFailedPrecondition,
                                "NO_HARD_LINKS"));
  EXPECT_THAT(MessageOf(status), HasSubstr("has no hard links"));
  EXPECT_TRUE(fs::is_empty(Directory()));
}

// As the kernel answers on a file system that is mounted read-only, and in a
// directory without the right to write.
TEST_F(ConfigFileTest, AReadOnlyDirectoryIsAnErrorInWordsAndNothingIsChanged) {
  for (const int error : {EROFS, EACCES}) {
    files_.script = [error](std::string_view call, const std::string& path) {
      const bool makes = call == "mkdir" || call == "link" ||
                         call == "exchange" ||
                         path.find(".tmp") != std::string::npos;
      return makes ? -error : 0;
    };
    const absl::Status created = file_.Create(kSample, clock_.Now());
    EXPECT_THAT(created, HasCode(absl::StatusCode::kPermissionDenied));
    EXPECT_THAT(MessageOf(created), HasSubstr(".pi-intercom"));
    EXPECT_FALSE(fs::exists(Path()));

    WriteFile(Path(), kSample);
    const auto read = file_.Read();
    const absl::Status replaced = file_.Replace(*read, Edited(), clock_.Now());
    EXPECT_THAT(replaced, HasCode(absl::StatusCode::kPermissionDenied));
    EXPECT_THAT(MessageOf(replaced), HasSubstr(".pi-intercom"));
    EXPECT_EQ(ReadFile(Path()), kSample);
    EXPECT_THAT(NamesIn(Directory()), ElementsAre("config.json"));
    fs::remove_all(Directory());
  }
}

TEST_F(ConfigFileTest, WhatTookItsPlaceAfterTheReadIsNotReplaced) {
  const std::vector<void (*)(const fs::path&)> obstacles = {
      [](const fs::path& path) { fs::create_directory(path); },
      [](const fs::path& path) { mkfifo(path.c_str(), 0600); },
      [](const fs::path& path) {
        WriteFile(path.parent_path() / "real.json", kSample);
        fs::create_symlink("real.json", path);
      }};
  for (const auto put : obstacles) {
    fs::remove_all(Directory());
    WriteFile(Path(), kSample);
    const auto read = file_.Read();
    fs::remove(Path());
    put(Path());
    const auto before = fs::symlink_status(Path()).type();

    EXPECT_FALSE(file_.Replace(*read, Edited(), clock_.Now()).ok());

    EXPECT_EQ(fs::symlink_status(Path()).type(), before);
    EXPECT_THAT(NamesIn(Directory()), Not(Contains(HasSubstr(".tmp"))));
  }
}

TEST_F(ConfigFileTest, AFileSystemWithoutExchangeFailsInWords) {
  WriteFile(Path(), kSample);
  const auto read = file_.Read();
  files_.FailOnce("exchange", EINVAL);

  EXPECT_THAT(file_.Replace(*read, Edited(), clock_.Now()),
              FailsWith(absl::StatusCode::kFailedPrecondition, "NO_EXCHANGE"));
  EXPECT_EQ(ReadFile(Path()), kSample);
  EXPECT_THAT(NamesIn(Directory()), ElementsAre("config.json"));
}

// A step of a publication that fails, and how its error looks.
struct Fault {
  const char* call;
  int error;
  absl::StatusCode code;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.call; }

class FaultTest : public ConfigFileTest,
                  public ::testing::WithParamInterface<Fault> {
 protected:
  // Fails the step, and every clean-up after it with another error.
  void Arm() {
    files_.script = [this](std::string_view call, const std::string& path) {
      if (!failed_ && call == GetParam().call && temporary_) {
        failed_ = true;
        return -GetParam().error;
      }
      if (call == "open" && path.find(".tmp") != std::string::npos) {
        temporary_ = true;
      }
      return failed_ && call == "close" ? -EBADF : 0;
    };
  }

  bool temporary_ = false;
  bool failed_ = false;
};

using CreateFaultTest = FaultTest;
using ReplaceFaultTest = FaultTest;

TEST_P(CreateFaultTest, KeepsTheFirstErrorAndLeavesNothing) {
  Arm();

  const absl::Status status = file_.Create(kSample, clock_.Now());

  EXPECT_TRUE(failed_);
  EXPECT_THAT(status, HasCode(GetParam().code));
  EXPECT_TRUE(fs::is_empty(Directory()));
}

TEST_P(ReplaceFaultTest, KeepsTheFirstErrorAndTheOldFile) {
  WriteFile(Path(), kSample);
  const auto read = file_.Read();
  Arm();

  const absl::Status status = file_.Replace(*read, Edited(), clock_.Now());

  EXPECT_TRUE(failed_);
  EXPECT_THAT(status, HasCode(GetParam().code));
  EXPECT_EQ(ReadFile(Path()), kSample);
  EXPECT_THAT(NamesIn(Directory()), ElementsAre("config.json"));
}

constexpr Fault kFaults[] = {
    {"write", ENOSPC, absl::StatusCode::kResourceExhausted},
    {"write", EIO, absl::StatusCode::kUnavailable},
    {"sync", EIO, absl::StatusCode::kUnavailable},
    {"close", EDQUOT, absl::StatusCode::kResourceExhausted}};

INSTANTIATE_TEST_SUITE_P(Steps, CreateFaultTest, ::testing::ValuesIn(kFaults));
INSTANTIATE_TEST_SUITE_P(Publication, CreateFaultTest,
                         ::testing::Values(Fault{
                             "link", EROFS,
                             absl::StatusCode::kPermissionDenied}));
INSTANTIATE_TEST_SUITE_P(Steps, ReplaceFaultTest, ::testing::ValuesIn(kFaults));
INSTANTIATE_TEST_SUITE_P(
    Publication, ReplaceFaultTest,
    ::testing::Values(
        Fault{"chmod", EROFS, absl::StatusCode::kPermissionDenied},
        Fault{"exchange", EROFS, absl::StatusCode::kPermissionDenied}));

TEST_F(ConfigFileTest, ReplacesWhatWasReadAndKeepsTheMode) {
  WriteFile(Path(), kSample);
  chmod(Path().c_str(), 0640);
  const auto read = file_.Read();

  ASSERT_THAT(file_.Replace(*read, Edited(), clock_.Now()), IsOk());

  EXPECT_EQ(ReadFile(Path()), Edited());
  EXPECT_EQ(fs::status(Path()).permissions(), static_cast<fs::perms>(0640));
  EXPECT_THAT(NamesIn(Directory()), ElementsAre("config.json"));
}

TEST_F(ConfigFileTest, DoesNotReplaceWhatChangedBefore) {
  WriteFile(Path(), kSample);
  const auto read = file_.Read();
  WriteFile(Path(), "by hand");

  const absl::Status changed = file_.Replace(*read, Edited(), clock_.Now());
  EXPECT_THAT(changed, FailsWith(absl::StatusCode::kAborted, "CONFIG_CHANGED"));
  EXPECT_THAT(std::string(changed.message()), HasSubstr("repeat the call"));

  EXPECT_EQ(ReadFile(Path()), "by hand");
  EXPECT_THAT(NamesIn(Directory()), ElementsAre("config.json"));
}

TEST_F(ConfigFileTest, DoesNotBringBackWhatWasRemoved) {
  WriteFile(Path(), kSample);
  const auto read = file_.Read();
  fs::remove(Path());

  EXPECT_THAT(file_.Replace(*read, Edited(), clock_.Now()),
              FailsWith(absl::StatusCode::kAborted, "CONFIG_CHANGED"));

  EXPECT_TRUE(fs::is_empty(Directory()));
}

TEST_F(ConfigFileTest, UndoesTheExchangeWhenAnEditorSavedInBetween) {
  WriteFile(Path(), kSample);
  const auto read = file_.Read();
  int exchanges = 0;
  files_.script = [&](std::string_view call, const std::string&) {
    if (call == "exchange" && exchanges++ == 0) WriteFile(Path(), "by hand");
    return 0;
  };

  EXPECT_THAT(file_.Replace(*read, Edited(), clock_.Now()),
              FailsWith(absl::StatusCode::kAborted, "CONFIG_CHANGED"));

  EXPECT_EQ(ReadFile(Path()), "by hand");
  EXPECT_THAT(NamesIn(Directory()), ElementsAre("config.json"));
}

TEST_F(ConfigFileTest, ALaterSaveDuringTheUndoStays) {
  WriteFile(Path(), kSample);
  const auto read = file_.Read();
  int exchanges = 0;
  files_.script = [&](std::string_view call, const std::string&) {
    if (call == "exchange") {
      WriteFile(Path(), "by hand " + std::to_string(++exchanges % 3));
    }
    return 0;
  };
  // The third exchange is the one that puts the later version back.
  files_.script = [&, save = files_.script](std::string_view call,
                                            const std::string& path) {
    return exchanges < 2 ? save(call, path) : 0;
  };

  EXPECT_THAT(file_.Replace(*read, Edited(), clock_.Now()),
              FailsWith(absl::StatusCode::kAborted, "CONFIG_CHANGED"));

  EXPECT_EQ(ReadFile(Path()), "by hand 2");
  EXPECT_THAT(NamesIn(Directory()), ElementsAre("config.json"));
}

TEST_F(ConfigFileTest, AnUndoThatFailsKeepsTheEditorsVersion) {
  WriteFile(Path(), kSample);
  const auto read = file_.Read();
  int exchanges = 0;
  files_.script = [&](std::string_view call, const std::string&) {
    if (call != "exchange") return 0;
    if (exchanges++ > 0) return -EIO;
    WriteFile(Path(), "by hand");
    return 0;
  };

  EXPECT_THAT(file_.Replace(*read, Edited(), clock_.Now()),
              FailsWith(absl::StatusCode::kUnavailable, "CONFIG_UNDO_FAILED"));

  EXPECT_EQ(ReadFile(Directory() / "config.json.rescued"), "by hand");
}

TEST_F(ConfigFileTest, AGuardThatRefusesPublishesNothing) {
  WriteFile(Path(), kSample);
  const auto read = file_.Read();

  EXPECT_THAT(file_.Replace(*read, Edited(), clock_.Now(),
                            [&] {
                              // Asked when the new file is complete.
                              EXPECT_EQ(NamesIn(Directory()).size(), 2u);
                              return absl::PermissionDeniedError("no longer");
                            }),
              HasCode(absl::StatusCode::kPermissionDenied));

  EXPECT_EQ(ReadFile(Path()), kSample);
  EXPECT_THAT(NamesIn(Directory()), ElementsAre("config.json"));
}

TEST_F(ConfigFileTest, AnUnsyncedDirectoryIsReportedWithTheFilePublished) {
  WriteFile(Path(), kSample);
  const auto read = file_.Read();
  int syncs = 0;
  files_.script = [&](std::string_view call, const std::string&) {
    return call == "sync" && ++syncs == 2 ? -EIO : 0;
  };

  EXPECT_THAT(file_.Replace(*read, Edited(), clock_.Now()),
              FailsWith(absl::StatusCode::kUnavailable, "CONFIG_NOT_DURABLE"));

  EXPECT_EQ(ReadFile(Path()), Edited());
}

TEST_F(ConfigFileTest, RemovesOldLeftoversOfCrashesAndNothingElse) {
  WriteFile(Path(), kSample);
  WriteFile(Directory() / ".config.json.intercom-1-2-0.tmp", "old");
  WriteFile(Directory() / ".config.json.intercom-1-2-1.tmp", "new");
  WriteFile(Directory() / ".config.json.swp", "editor");
  const absl::Time now = clock_.Now();
  const timespec old = absl::ToTimespec(now - absl::Minutes(61));
  const timespec young = absl::ToTimespec(now - absl::Minutes(59));
  const timespec at_old[] = {old, old};
  const timespec at_young[] = {young, young};
  utimensat(AT_FDCWD, (Directory() / ".config.json.intercom-1-2-0.tmp").c_str(),
            at_old, 0);
  utimensat(AT_FDCWD, (Directory() / ".config.json.intercom-1-2-1.tmp").c_str(),
            at_young, 0);
  utimensat(AT_FDCWD, (Directory() / ".config.json.swp").c_str(), at_old, 0);
  const auto read = file_.Read();

  ASSERT_THAT(file_.Replace(*read, Edited(), now), IsOk());

  EXPECT_THAT(NamesIn(Directory()),
              UnorderedElementsAre("config.json", ".config.json.swp",
                                   ".config.json.intercom-1-2-1.tmp"));
}

}  // namespace
}  // namespace intercom
