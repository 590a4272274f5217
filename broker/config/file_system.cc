#include "broker/config/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

namespace intercom {
namespace {

template <typename T>
T OrErrno(T result) {
  return result < 0 ? -errno : result;
}

}  // namespace

int FileSystem::Open(int directory, const std::string& path, int flags,
                     mode_t mode) {
  int fd;
  do {
    fd = openat(directory, path.c_str(), flags | O_CLOEXEC | O_NOCTTY, mode);
  } while (fd < 0 && errno == EINTR);
  return OrErrno(fd);
}

int FileSystem::Close(int fd) { return OrErrno(close(fd)); }

int FileSystem::Stat(int fd, struct stat& out) {
  return OrErrno(fstat(fd, &out));
}

int FileSystem::StatAt(int directory, const std::string& path,
                       struct stat& out) {
  return OrErrno(fstatat(directory, path.c_str(), &out, AT_SYMLINK_NOFOLLOW));
}

ssize_t FileSystem::Read(int fd, char* buffer, size_t size) {
  ssize_t done;
  do {
    done = read(fd, buffer, size);
  } while (done < 0 && errno == EINTR);
  return OrErrno(done);
}

ssize_t FileSystem::Write(int fd, const char* bytes, size_t size) {
  ssize_t done;
  do {
    done = write(fd, bytes, size);
  } while (done < 0 && errno == EINTR);
  return OrErrno(done);
}

int FileSystem::ChangeMode(int fd, mode_t mode) {
  return OrErrno(fchmod(fd, mode));
}

int FileSystem::Sync(int fd) { return OrErrno(fsync(fd)); }

int FileSystem::MakeDirectory(int directory, const std::string& name) {
  return OrErrno(mkdirat(directory, name.c_str(), 0777));
}

int FileSystem::Link(int directory, const std::string& from,
                     const std::string& to) {
  return OrErrno(linkat(directory, from.c_str(), directory, to.c_str(), 0));
}

int FileSystem::Exchange(int directory, const std::string& a,
                         const std::string& b) {
  return OrErrno(
      renameat2(directory, a.c_str(), directory, b.c_str(), RENAME_EXCHANGE));
}

int FileSystem::Rename(int directory, const std::string& from,
                       const std::string& to) {
  return OrErrno(renameat2(directory, from.c_str(), directory, to.c_str(),
                           RENAME_NOREPLACE));
}

int FileSystem::Unlink(int directory, const std::string& name) {
  return OrErrno(unlinkat(directory, name.c_str(), 0));
}

int FileSystem::List(int fd, std::vector<std::string>& names) {
  const int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return -errno;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(fdopendir(copy), closedir);
  if (stream == nullptr) {
    const int error = errno;
    close(copy);
    return -error;
  }
  for (;;) {
    errno = 0;
    const dirent* entry = readdir(stream.get());
    if (entry == nullptr) return -errno;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
}

int FileSystem::RealPath(const std::string& path, std::string& out) {
  const std::unique_ptr<char, void (*)(void*)> real(
      realpath(path.c_str(), nullptr), free);
  if (real == nullptr) return -errno;
  out = real.get();
  return 0;
}

int FileSystem::PathOf(int fd, std::string& out) {
  char path[PATH_MAX];
  const ssize_t size = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(),
                                path, sizeof(path));
  if (size < 0) return -errno;
  out.assign(path, static_cast<size_t>(size));
  return 0;
}

}  // namespace intercom
