#ifndef PI_INTERCOM_BROKER_CONFIG_REGULAR_FILE_H_
#define PI_INTERCOM_BROKER_CONFIG_REGULAR_FILE_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "broker/config/config_file.h"
#include "broker/config/file_system.h"

namespace intercom {

struct OpenRegularFile {
  OpenFile file;
  FileIdentity identity;
  mode_t mode;
};

// Opens `name` in `directory` for reading, without following a link or waiting
// for a pipe. NOT_FOUND (any reason) if there is no such name;
// CONFIG_UNREADABLE naming `path` if it is no regular file or cannot be opened.
absl::StatusOr<OpenRegularFile> OpenRegular(FileSystem& files, int directory,
                                            const std::string& name,
                                            const std::string& path);

// Reads it to the end. CONFIG_INVALID if it is larger than a config may be.
absl::StatusOr<std::string> ReadAll(FileSystem& files, int fd,
                                    const std::string& path);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_CONFIG_REGULAR_FILE_H_
