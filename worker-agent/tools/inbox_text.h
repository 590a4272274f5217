#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_INBOX_TEXT_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_INBOX_TEXT_H_

#include "absl/time/time.h"
#include "intercom/v1/run.pb.h"
#include "worker-agent/tools/tool_result.h"

namespace intercom {

// What of an inbox was drained before, by calls whose results are not in the
// session.
struct InboxAgain {
  // That many of the notes, the first.
  int notes = 0;
  // Such drains whose notes come with later looks.
  int drains_left = 0;
};

// What the inbox has: asks, then notes, the oldest first. At most 16,000
// characters, and 2,000 of one of them; what does not fit is shared out fairly,
// so that the ids of later ones stay visible, and what is missing is said.
ToolResult RenderInbox(const v1::DrainInboxResponse& inbox, absl::Time now,
                       const InboxAgain& again = {});

// A note that was left for a supervisor.
ToolResult RenderNoted(const v1::AddNoteResponse& response);

// One note, whole.
ToolResult RenderNote(const v1::Note& note);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_INBOX_TEXT_H_
