#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_WORK_LABELS_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_WORK_LABELS_H_

#include <string_view>

#include "intercom/v1/work.pb.h"
#include "intercom/v1/workspace.pb.h"

namespace intercom {

// Values of jobs and status pages as people and programs read them; "unknown"
// for others.

// "awaiting_handoff" and so on, as the config writes it; a success is named by
// what was done: "closed", "stopped", "attached".
std::string_view JobStateLabel(const v1::Job& job);
std::string_view ObservedLabel(v1::ObservedStatus status);
std::string_view EvidenceLabel(v1::ObservationEvidence evidence);
std::string_view ConnectionLabel(v1::Connection::State state);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_WORK_LABELS_H_
