#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_INTERVIEW_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_INTERVIEW_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "worker-agent/host/json_fields.h"

namespace intercom {

// Questions that one session puts to another for answers that a program can
// read: `{title?, description?, questions: [{id, type, question, options?,
// context?}]}`, in the bounds of the tool's schema.

// INVALID_ARGUMENT (ARGUMENT_INVALID) unless ids are unique lines, `single` and
// `multi` have different options and others none, and at least one question
// wants an answer.
absl::Status CheckInterview(const Json& interview);

// The questions as an agent or a person reads them, with a fenced example of
// the answer at the end.
std::string InterviewText(const Json& interview);

// The answers in a reply: `{responses: [{id, value}]}`, from the whole text or
// from its first fenced block that holds JSON. Questions may be left out.
// INVALID_ARGUMENT (ANSWER_INVALID) says what is wrong otherwise.
absl::StatusOr<Json> ParseAnswers(const Json& interview,
                                  std::string_view reply);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_INTERVIEW_H_
