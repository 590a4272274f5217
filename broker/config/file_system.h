#ifndef PI_INTERCOM_BROKER_CONFIG_FILE_SYSTEM_H_
#define PI_INTERCOM_BROKER_CONFIG_FILE_SYSTEM_H_

#include <sys/stat.h>
#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace intercom {

// The file system as this room uses it: thin system calls that return a value
// or a negative errno. A test overrides some to make them fail or hang. Every
// call may block. Thread-safe.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // A descriptor, always close-on-exec. `path` is relative to `directory` (or
  // AT_FDCWD).
  virtual int Open(int directory, const std::string& path, int flags,
                   mode_t mode);
  virtual int Close(int fd);
  virtual int Stat(int fd, struct stat& out);
  // Does not follow a symbolic link at the end of `path`.
  virtual int StatAt(int directory, const std::string& path, struct stat& out);
  virtual ssize_t Read(int fd, char* buffer, size_t size);
  virtual ssize_t Write(int fd, const char* bytes, size_t size);
  virtual int ChangeMode(int fd, mode_t mode);
  virtual int Sync(int fd);
  virtual int MakeDirectory(int directory, const std::string& name);
  // Never replaces `to`.
  virtual int Link(int directory, const std::string& from,
                   const std::string& to);
  virtual int Exchange(int directory, const std::string& a,
                       const std::string& b);
  // Never replaces `to`.
  virtual int Rename(int directory, const std::string& from,
                     const std::string& to);
  virtual int Unlink(int directory, const std::string& name);
  // The names in the directory `fd`, but not `.` and `..`.
  virtual int List(int fd, std::vector<std::string>& names);
  // The path without symbolic links: of an existing path, and of a descriptor.
  virtual int RealPath(const std::string& path, std::string& out);
  virtual int PathOf(int fd, std::string& out);
};

// Owns a descriptor.
class OpenFile {
 public:
  OpenFile(FileSystem& files, int fd) : files_(&files), fd_(fd) {}
  ~OpenFile() {
    if (fd_ >= 0) files_->Close(fd_);
  }
  OpenFile(OpenFile&& other) noexcept
      : files_(other.files_), fd_(std::exchange(other.fd_, -1)) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(files_, other.files_);
    std::swap(fd_, other.fd_);
    return *this;
  }

  int fd() const { return fd_; }

  // Closes now, for the sake of its errors: 0 or a negative errno.
  int Close() { return files_->Close(std::exchange(fd_, -1)); }

 private:
  FileSystem* files_;
  int fd_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_CONFIG_FILE_SYSTEM_H_
