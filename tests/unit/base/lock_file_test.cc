#include "broker/base/lock_file.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;

// A child process that holds a lock until it is killed.
class Holder {
 public:
  explicit Holder(const std::string& path) {
    int ready[2];
    if (pipe(ready) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      const auto lock = LockFile::TryAcquire(path);
      const char word = lock.ok() ? '1' : '0';
      if (write(ready[1], &word, 1) != 1) _exit(1);
      for (;;) pause();
    }
    char word = 0;
    holds_ = read(ready[0], &word, 1) == 1 && word == '1';
    close(ready[0]);
    close(ready[1]);
  }
  ~Holder() { Kill(); }

  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  bool holds() const { return holds_; }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
  bool holds_ = false;
};

class LockFileTest : public ::testing::Test {
 protected:
  TempDir dir_;
  const std::string path_ = dir_ / "broker.lock";
};

TEST_F(LockFileTest, ALockOfAnotherProcessIsRefusedNamingItsHolder) {
  const Holder holder(path_);
  ASSERT_TRUE(holder.holds());
  const auto lock = LockFile::TryAcquire(path_);
  EXPECT_THAT(lock, FailsWith(absl::StatusCode::kFailedPrecondition, "LOCKED"));
  EXPECT_THAT(MessageOf(lock.status()),
              HasSubstr("process " + std::to_string(holder.pid())));
  EXPECT_EQ(LockFile::Holder(path_), holder.pid());
}

TEST_F(LockFileTest, TheDeathOfItsHolderFreesIt) {
  Holder holder(path_);
  ASSERT_TRUE(holder.holds());
  holder.Kill();
  EXPECT_EQ(LockFile::Holder(path_), 0);
  EXPECT_THAT(LockFile::TryAcquire(path_), IsOk());
}

TEST_F(LockFileTest, DestructionFreesIt) {
  LockFile::TryAcquire(path_).value().reset();
  const Holder holder(path_);
  EXPECT_TRUE(holder.holds());
}

TEST_F(LockFileTest, AnAbsentFileHasNoHolder) {
  EXPECT_EQ(LockFile::Holder(path_), 0);
}

TEST_F(LockFileTest, NoticesThatItsFileWasReplacedOrRemoved) {
  const auto lock = LockFile::TryAcquire(path_).value();
  EXPECT_TRUE(lock->IsInPlace());
  std::filesystem::rename(path_, path_ + ".old");
  EXPECT_FALSE(lock->IsInPlace());
  std::ofstream(path_) << "";
  EXPECT_FALSE(lock->IsInPlace());
}

TEST_F(LockFileTest, DoesNotFollowASymbolicLink) {
  std::ofstream(dir_ / "victim") << "";
  std::filesystem::create_symlink(dir_ / "victim", path_);
  EXPECT_FALSE(LockFile::TryAcquire(path_).ok());
}

TEST_F(LockFileTest, AnAbsentFolderIsNotFound) {
  EXPECT_THAT(LockFile::TryAcquire(dir_ / "none/broker.lock"),
              HasCode(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace intercom
