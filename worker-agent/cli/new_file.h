#ifndef PI_INTERCOM_WORKER_AGENT_CLI_NEW_FILE_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_NEW_FILE_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace intercom {

// A file of the user's alone that is there whole or not at all: written beside
// its place and moved there by Finish; without it, nothing is left. Nothing is
// ever overwritten. Blocks.
class NewFile {
 public:
  // ALREADY_EXISTS (FILE_EXISTS); else as ErrnoError.
  static absl::StatusOr<std::unique_ptr<NewFile>> Create(
      const std::string& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  absl::Status Write(std::string_view bytes);
  // OK: it is on disk under its name. Errors as Create. Last call.
  absl::Status Finish();

 private:
  NewFile(std::string path, std::string temporary, int descriptor);

  const std::string path_;
  const std::string temporary_;
  const int descriptor_;
  bool finished_ = false;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_NEW_FILE_H_
