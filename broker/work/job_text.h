#ifndef PI_INTERCOM_BROKER_WORK_JOB_TEXT_H_
#define PI_INTERCOM_BROKER_WORK_JOB_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "broker/storage/job_store.h"
#include "intercom/v1/work.pb.h"

namespace intercom {

// Jobs in the words of programs and of people.

v1::Job ToProto(const JobRow& row);

// "close job 0123abcd (awaiting_handoff)".
std::string Describe(const JobRow& row);
// The worker's name, or what stands for it.
std::string WorkerOf(const JobRow& row);

// FAILED_PRECONDITION (WORKER_FENCED): `job` forbids it, and how that ends.
absl::Status WorkerFenced(const JobRow& job);
// NOT_FOUND (UNKNOWN_JOB).
absl::Status UnknownJob(std::string_view id);
// FAILED_PRECONDITION (JOB_ENDED).
absl::Status JobEnded(const JobRow& job);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_JOB_TEXT_H_
