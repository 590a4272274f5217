#ifndef PI_INTERCOM_BROKER_WORK_FENCES_H_
#define PI_INTERCOM_BROKER_WORK_FENCES_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "broker/storage/job_store.h"

namespace intercom {

// The open jobs, and so who is fenced by what: what calls ask that must not
// wait for the disk. Shows what is committed.
//
// Not thread-safe: everything is called on the state's thread.
class Fences {
 public:
  // Reads the open jobs anew.
  absl::Status Load(JobStore& jobs);
  // Takes in how a job is now.
  void Keep(const JobRow& row);

  // OK, or FAILED_PRECONDITION (WORKER_FENCED) while a close or resume of the
  // session is open.
  absl::Status Check(std::string_view root, std::string_view session_id) const;

  // The open job of a session: the one that fences it, else another. nullptr
  // without one. Pointers are valid until the next Keep or Load.
  const JobRow* JobOf(std::string_view root, std::string_view session_id) const;
  // The open job of one kind.
  const JobRow* JobOf(std::string_view root, std::string_view session_id,
                      v1::Job::Kind kind) const;
  const JobRow* Find(std::string_view job_id) const;
  // By id.
  std::vector<JobRow> All() const;

 private:
  std::map<std::string, JobRow, std::less<>> open_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_FENCES_H_
