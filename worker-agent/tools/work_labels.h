#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_WORK_LABELS_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_WORK_LABELS_H_

#include <string_view>

#include "intercom/v1/work.pb.h"
#include "intercom/v1/workspace.pb.h"

namespace intercom {

// Values of jobs, reports and status pages as people and programs read them;
// "unknown" for others.

// "stop", "close", "create", "resume".
std::string_view JobKindLabel(v1::Job::Kind kind);
// "awaiting_handoff" and so on, as the config writes it; a success is named by
// what was done: "closed", "stopped", "attached".
std::string_view JobStateLabel(const v1::Job& job);
// "needs_decision".
std::string_view ReportLabel(v1::Report::Status status);
std::string_view ObservedLabel(v1::ObservedStatus status);
std::string_view EvidenceLabel(v1::ObservationEvidence evidence);
std::string_view ConnectionLabel(v1::Connection::State state);

// Whether it has not ended.
bool IsPending(v1::Job::State state);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_WORK_LABELS_H_
