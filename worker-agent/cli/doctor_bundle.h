#ifndef PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_BUNDLE_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_BUNDLE_H_

#include <memory>
#include <string>
#include <vector>

#include "google/protobuf/message.h"
#include "intercom/v1/doctor.pb.h"
#include "worker-agent/cli/broker_client.h"
#include "worker-agent/cli/doctor_archive.h"

namespace intercom {

// What a bundle is made of, as it is: with everything that must not be in it.
struct BundleParts {
  // An answer of the broker, and the name of its file.
  struct Answer {
    std::string file;
    std::unique_ptr<google::protobuf::Message> message;
  };
  v1::DoctorReport report;
  std::string home;
  std::string state;
  std::string account;
  std::string machine;
  // The token, and the latest messages' texts.
  std::vector<std::string> secrets;
  std::vector<Answer> answers;
  // Ends of logs.
  std::vector<ArchiveFile> logs;
};

// Asks the broker, unless `is_running` is false, and reads the logs. What
// can't be had is left out.
BundleParts GatherBundle(BrokerClient& client, const std::string& state,
                         const std::string& directory, bool is_running,
                         v1::DoctorReport report);

// The files of the bundle: no bodies, no tokens, no names, no private paths.
// Pure.
std::vector<ArchiveFile> MakeBundle(BundleParts parts);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_BUNDLE_H_
