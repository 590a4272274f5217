#ifndef PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_BROKER_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_BROKER_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "intercom/v1/inspect.pb.h"
#include "intercom/v1/message.pb.h"
#include "intercom/v1/roster.pb.h"
#include "intercom/v1/work.pb.h"
#include "intercom/v1/workspace.pb.h"
#include "worker-agent/cli/broker_client.h"
#include "worker-agent/cli/doctor_findings.h"

namespace intercom {

// What the broker said. Each part is its answer, or why there is none.
struct BrokerFacts {
  absl::StatusOr<v1::GetBrokerResponse> broker;
  // The process that holds the broker's lock; 0 if none does.
  int64_t lock_holder = 0;
  // The others are asked for only where that is OK.
  absl::StatusOr<v1::CheckStoreResponse> store;
  absl::StatusOr<v1::CheckConfigResponse> config;
  absl::StatusOr<v1::ListJobsResponse> jobs;
  absl::StatusOr<v1::ListMailboxesResponse> mailboxes;
  absl::StatusOr<v1::ListAttachmentsResponse> attachments;
  absl::StatusOr<v1::ListSessionsResponse> sessions;
  // Without what it says.
  absl::StatusOr<v1::ListInboxResponse> inbox;
};

// Starts no broker. Blocks: 10 s at most where it does not answer.
BrokerFacts AskBroker(BrokerClient& client, const std::string& home,
                      const std::string& directory);

// Pure. `version` is this program's.
void CheckBroker(const BrokerFacts& facts, const std::string& version,
                 absl::Time now, DoctorFindings& findings);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_BROKER_H_
