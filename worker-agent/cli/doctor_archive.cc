#include "worker-agent/cli/doctor_archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"

namespace intercom {
namespace {

absl::Status FileExists(const std::string& path) {
  return Error(absl::StatusCode::kAlreadyExists, "FILE_EXISTS",
               path +
                   " is there already; nothing was written. Name another "
                   "file, or remove it");
}

struct Closer {
  void operator()(archive* writer) const { archive_write_free(writer); }
  void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};

absl::Status Failure(archive* writer, const std::string& path) {
  return ErrnoError(archive_errno(writer), "can't write " + path);
}

absl::Status Write(int descriptor, const std::string& path,
                   const std::vector<ArchiveFile>& files, absl::Time now) {
  const std::unique_ptr<archive, Closer> writer(archive_write_new());
  if (archive_write_set_format_ustar(writer.get()) != ARCHIVE_OK ||
      archive_write_open_fd(writer.get(), descriptor) != ARCHIVE_OK) {
    return Failure(writer.get(), path);
  }
  for (const ArchiveFile& file : files) {
    const std::unique_ptr<archive_entry, Closer> entry(archive_entry_new());
    archive_entry_set_pathname(entry.get(),
                               ("intercom-doctor/" + file.name).c_str());
    archive_entry_set_size(entry.get(),
                           static_cast<la_int64_t>(file.text.size()));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0600);
    archive_entry_set_mtime(entry.get(), absl::ToUnixSeconds(now), 0);
    if (archive_write_header(writer.get(), entry.get()) != ARCHIVE_OK ||
        archive_write_data(writer.get(), file.text.data(), file.text.size()) !=
            static_cast<la_ssize_t>(file.text.size())) {
      return Failure(writer.get(), path);
    }
  }
  return archive_write_close(writer.get()) == ARCHIVE_OK
             ? absl::OkStatus()
             : Failure(writer.get(), path);
}

}  // namespace

absl::Status WriteArchive(const std::string& path,
                          const std::vector<ArchiveFile>& files,
                          absl::Time now) {
  struct stat facts {};
  if (lstat(path.c_str(), &facts) == 0) return FileExists(path);
  const std::string temporary = path + ".new-" + std::to_string(getpid());
  const int descriptor =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return ErrnoError(errno, "can't write " + path);
  absl::Status status = Write(descriptor, path, files, now);
  close(descriptor);
  // Not over what came there meanwhile.
  if (status.ok() && renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD,
                               path.c_str(), RENAME_NOREPLACE) != 0) {
    status = errno == EEXIST ? FileExists(path)
                             : ErrnoError(errno, "can't write " + path);
  }
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

}  // namespace intercom
