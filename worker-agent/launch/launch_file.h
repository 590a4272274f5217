#ifndef PI_INTERCOM_WORKER_AGENT_LAUNCH_LAUNCH_FILE_H_
#define PI_INTERCOM_WORKER_AGENT_LAUNCH_LAUNCH_FILE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/base/random.h"
#include "worker-agent/launch/launch.h"

namespace intercom {

// What a launched agent becomes.
struct LaunchOrder {
  std::vector<std::string> argv;
  std::string directory;
  // Set over the pane's own variables.
  Environment environment;
  // Taken out of them first.
  std::vector<std::string> unset;
};

// A file of this user's alone, which is removed when this object goes unless
// it was kept for whoever reads it.
class LaunchFile {
 public:
  // Writes `order` to `<home>/launch/`, a directory that only this user may
  // enter. INVALID_ARGUMENT (NOT_UTF8): JSON can't hold a text of it.
  // PERMISSION_DENIED (LAUNCH_DIRECTORY_UNSAFE): others may enter it.
  static absl::StatusOr<LaunchFile> Write(const std::string& home,
                                          const LaunchOrder& order,
                                          Random& random);

  // Writes a shell script that removes itself and becomes
  // `agent_path --launch launch_file`. Its path can be typed into any shell as
  // it is: it holds letters, digits and /._- only and is short, for which it
  // may have to lie in a fresh directory below /tmp.
  static absl::StatusOr<LaunchFile> WriteScript(const std::string& home,
                                                const std::string& agent_path,
                                                const std::string& launch_file,
                                                Random& random);

  LaunchFile(LaunchFile&& other) noexcept;
  LaunchFile(const LaunchFile&) = delete;
  LaunchFile& operator=(const LaunchFile&) = delete;
  ~LaunchFile();

  // Leaves the file to its reader.
  void Keep() { kept_ = true; }

  // Takes the order back. True: nobody has followed it and nobody ever will.
  bool Withdraw();

  const std::string& path() const { return path_; }

 private:
  LaunchFile(std::string path, bool own_directory)
      : path_(std::move(path)), own_directory_(own_directory) {}

  std::string path_;
  // The directory was made for this file alone.
  bool own_directory_ = false;
  bool kept_ = false;
};

// Takes the order for good: of those who ask, and its writer who withdraws it,
// one gets it. NOT_FOUND (LAUNCH_USED): it is not there, any more.
// FAILED_PRECONDITION (LAUNCH_INVALID).
absl::StatusOr<LaunchOrder> TakeLaunchFile(const std::string& path);

// Removes files of launches that are older than an hour at `now`.
void PruneLaunchFiles(const std::string& home, absl::Time now);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LAUNCH_LAUNCH_FILE_H_
