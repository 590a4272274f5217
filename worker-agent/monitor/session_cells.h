#ifndef PI_INTERCOM_WORKER_AGENT_MONITOR_SESSION_CELLS_H_
#define PI_INTERCOM_WORKER_AGENT_MONITOR_SESSION_CELLS_H_

#include <string>

#include "intercom/v1/inspect.pb.h"
#include "worker-agent/monitor/ages.h"
#include "worker-agent/monitor/line.h"

namespace intercom {

// What one cell of the table says, and what that means.
struct StyledText {
  std::string text;
  Style style = Style::kPlain;
};

// The facts of one session, in a few words each. Pure; names and labels of
// others are made safe. Empty where there is nothing to say.

// The configured name, else what it is found by, else its id.
std::string SessionName(const v1::RosterEntry& entry);
StyledText ConnectionText(const v1::RosterEntry& entry, Ages& ages);
StyledText MailText(const v1::RosterEntry& entry);
// "! " stands before one that is overdue.
StyledText ReportText(const v1::Report& report);
// `says_away`: for a table that has no column for it.
StyledText ActivityText(const v1::SessionOverview& session, bool says_away,
                        const Ages& ages);
// "12s ago", "4m ago (old)".
StyledText SeenText(const v1::SessionOverview& session, Ages& ages);
// "run-12 parser 4m".
StyledText RunText(const v1::SessionOverview& session, Ages& ages);
StyledText ContextText(const v1::Activity& activity);
StyledText LastActivityText(const v1::SessionOverview& session,
                            const Ages& ages);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_MONITOR_SESSION_CELLS_H_
