#ifndef PI_INTERCOM_BROKER_DOMAIN_PERMISSIONS_H_
#define PI_INTERCOM_BROKER_DOMAIN_PERMISSIONS_H_

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "intercom/v1/envelope.pb.h"

namespace intercom {

// What a caller can ask for. Each has a stable name, which Welcome carries and
// which a tool of the agent names.
enum class Operation {
  kMessageSend,           // message.send
  kMessageRead,           // message.read
  kMessageWithdraw,       // message.withdraw
  kPeerList,              // peer.list
  kPeerSend,              // peer.send
  kPeerOpen,              // peer.open
  kChannelUse,            // channel.use
  kRunSupervise,          // run.supervise
  kRunWork,               // run.work
  kRosterList,            // roster.list
  kStatusRead,            // status.read
  kStatusReport,          // status.report
  kStatusRequest,         // status.request
  kWorkReport,            // work.report
  kHandoffReport,         // handoff.report
  kRegistrationRepeat,    // registration.repeat
  kWorkerCreate,          // worker.create
  kWorkerConfigure,       // worker.configure
  kWorkerReload,          // worker.reload
  kWorkerStop,            // worker.stop
  kWorkerClose,           // worker.close
  kWorkerResume,          // worker.resume
  kWorkerRemove,          // worker.remove
  kWorkspaceMultiplexer,  // workspace.multiplexer
  kWorkspaceCoordinator,  // workspace.coordinator
  kJobRead,               // job.read
  kJobResolve,            // job.resolve
  kInboxRead,             // inbox.read
  kMonitorPane,           // monitor.pane
  kInspect,               // inspect.read
};

inline constexpr std::array kAllOperations = {Operation::kMessageSend,
                                              Operation::kMessageRead,
                                              Operation::kMessageWithdraw,
                                              Operation::kPeerList,
                                              Operation::kPeerSend,
                                              Operation::kPeerOpen,
                                              Operation::kChannelUse,
                                              Operation::kRunSupervise,
                                              Operation::kRunWork,
                                              Operation::kRosterList,
                                              Operation::kStatusRead,
                                              Operation::kStatusReport,
                                              Operation::kStatusRequest,
                                              Operation::kWorkReport,
                                              Operation::kHandoffReport,
                                              Operation::kRegistrationRepeat,
                                              Operation::kWorkerCreate,
                                              Operation::kWorkerConfigure,
                                              Operation::kWorkerReload,
                                              Operation::kWorkerStop,
                                              Operation::kWorkerClose,
                                              Operation::kWorkerResume,
                                              Operation::kWorkerRemove,
                                              Operation::kWorkspaceMultiplexer,
                                              Operation::kWorkspaceCoordinator,
                                              Operation::kJobRead,
                                              Operation::kJobResolve,
                                              Operation::kInboxRead,
                                              Operation::kMonitorPane,
                                              Operation::kInspect};

std::string_view OperationName(Operation operation);

// The permission table. `role` is that of the session behind a session or shell
// caller, and ROLE_UNSPECIFIED for persons and clients.
bool IsPermitted(Operation operation, v1::Origin origin, v1::Role role);

// OK, or PERMISSION_DENIED with reason ANONYMOUS_SENDER (an anonymous session
// needs to be configured first) or NOT_PERMITTED; the message says who may.
absl::Status CheckPermitted(Operation operation, v1::Origin origin,
                            v1::Role role);

// The names of what a session of `role` may do, in the table's order.
std::vector<std::string> PermittedOperations(v1::Role role);

// "coordinator", "worker", "anonymous", "peer".
std::string_view RoleName(v1::Role role);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_DOMAIN_PERMISSIONS_H_
