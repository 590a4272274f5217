#ifndef PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_ARCHIVE_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_ARCHIVE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace intercom {

// A text of an archive.
struct ArchiveFile {
  // With at most one directory: "logs/broker.log".
  std::string name;
  std::string text;
};

// Writes a tar file of the directory intercom-doctor with `files`, whole or not
// at all, readable by this user alone.
//
// ALREADY_EXISTS (FILE_EXISTS): something is at `path`, which stays as it is.
// Otherwise as ErrnoError() says.
absl::Status WriteArchive(const std::string& path,
                          const std::vector<ArchiveFile>& files,
                          absl::Time now);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_ARCHIVE_H_
