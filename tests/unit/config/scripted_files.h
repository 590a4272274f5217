#ifndef PI_INTERCOM_TESTS_UNIT_CONFIG_SCRIPTED_FILES_H_
#define PI_INTERCOM_TESTS_UNIT_CONFIG_SCRIPTED_FILES_H_

#include <functional>
#include <string>
#include <string_view>

#include "broker/base/mutex.h"
#include "broker/config/file_system.h"

namespace intercom {

// The real file system, with a script that is asked before each call and may
// fail it, do something first, or hang.
class ScriptedFiles : public FileSystem {
 public:
  // Gets the call's name and its path ("" for calls on a descriptor); returns 0
  // or the negative errno with which to fail. Set before any thread runs.
  std::function<int(std::string_view call, const std::string& path)> script =
      [](std::string_view, const std::string&) { return 0; };

  // Fails the first `call` from now on.
  void FailOnce(std::string_view call, int error) {
    script = [this, call = std::string(call), error](std::string_view made,
                                                     const std::string&) {
      return made == call && failures++ == 0 ? -error : 0;
    };
  }
  int failures = 0;

  int Open(int directory, const std::string& path, int flags,
           mode_t mode) override {
    const int fault = script("open", path);
    return fault != 0 ? fault : FileSystem::Open(directory, path, flags, mode);
  }
  int Close(int fd) override {
    const int fault = script("close", "");
    const int result = FileSystem::Close(fd);
    return fault != 0 ? fault : result;
  }
  int Stat(int fd, struct stat& out) override {
    const int fault = script("stat", "");
    return fault != 0 ? fault : FileSystem::Stat(fd, out);
  }
  ssize_t Read(int fd, char* buffer, size_t size) override {
    const int fault = script("read", "");
    return fault != 0 ? fault : FileSystem::Read(fd, buffer, size);
  }
  ssize_t Write(int fd, const char* bytes, size_t size) override {
    const int fault = script("write", "");
    // Short writes must be continued.
    return fault != 0 ? fault
                      : FileSystem::Write(fd, bytes, size < 7 ? size : 7);
  }
  int ChangeMode(int fd, mode_t mode) override {
    const int fault = script("chmod", "");
    return fault != 0 ? fault : FileSystem::ChangeMode(fd, mode);
  }
  int Sync(int fd) override {
    const int fault = script("sync", "");
    return fault != 0 ? fault : FileSystem::Sync(fd);
  }
  int MakeDirectory(int directory, const std::string& name) override {
    const int fault = script("mkdir", name);
    return fault != 0 ? fault : FileSystem::MakeDirectory(directory, name);
  }
  int Link(int directory, const std::string& from,
           const std::string& to) override {
    const int fault = script("link", from);
    return fault != 0 ? fault : FileSystem::Link(directory, from, to);
  }
  int Exchange(int directory, const std::string& a,
               const std::string& b) override {
    const int fault = script("exchange", a);
    return fault != 0 ? fault : FileSystem::Exchange(directory, a, b);
  }
  int Unlink(int directory, const std::string& name) override {
    const int fault = script("unlink", name);
    return fault != 0 ? fault : FileSystem::Unlink(directory, name);
  }
};

// Holds back those who come to it until it is opened.
class Gate {
 public:
  void Pass() {
    MutexLock lock(mu_);
    ++arrivals_;
    changed_.NotifyAll();
    while (!open_) changed_.Wait(mu_);
    ++passed_;
    changed_.NotifyAll();
  }
  void Open() {
    MutexLock lock(mu_);
    open_ = true;
    changed_.NotifyAll();
  }
  void WaitForArrivals(int count) {
    MutexLock lock(mu_);
    while (arrivals_ < count) changed_.Wait(mu_);
  }
  void WaitForPassed(int count) {
    MutexLock lock(mu_);
    while (passed_ < count) changed_.Wait(mu_);
  }

 private:
  Mutex mu_;
  CondVar changed_;
  bool open_ ABSL_GUARDED_BY(mu_) = false;
  int arrivals_ ABSL_GUARDED_BY(mu_) = 0;
  int passed_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_UNIT_CONFIG_SCRIPTED_FILES_H_
