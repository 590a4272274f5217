#include "broker/domain/permissions.h"

#include "broker/base/error.h"

namespace intercom {
namespace {

// Columns of the table. A shell acts with the role of the session that started
// it, but never writes a config.
struct Row {
  Operation operation;
  std::string_view name;
  bool coordinator;
  bool worker;
  bool anonymous;
  bool peer;
  bool shell_too;  // Whether a shell of a permitted session may.
  bool person;
  bool client;
};

constexpr bool kYes = true;
constexpr bool kNo = false;

constexpr Row kTable[] = {
    // operation, name, coordinator, worker, anonymous, peer, shell, person,
    // client
    {Operation::kMessageSend, "message.send", kYes, kYes, kNo, kNo, kYes, kYes,
     kYes},
    {Operation::kMessageRead, "message.read", kYes, kYes, kYes, kYes, kYes,
     kYes, kYes},
    {Operation::kMessageWithdraw, "message.withdraw", kYes, kYes, kYes, kYes,
     kYes, kYes, kYes},
    {Operation::kPeerList, "peer.list", kYes, kYes, kYes, kYes, kYes, kYes,
     kYes},
    {Operation::kPeerSend, "peer.send", kYes, kYes, kYes, kYes, kYes, kYes,
     kYes},
    {Operation::kPeerOpen, "peer.open", kYes, kYes, kYes, kYes, kNo, kNo, kNo},
    {Operation::kChannelUse, "channel.use", kYes, kYes, kYes, kYes, kNo, kNo,
     kNo},
    {Operation::kRunSupervise, "run.supervise", kYes, kYes, kYes, kYes, kNo,
     kNo, kNo},
    {Operation::kRunWork, "run.work", kYes, kYes, kYes, kYes, kNo, kNo, kNo},
    {Operation::kRosterList, "roster.list", kYes, kYes, kNo, kNo, kYes, kYes,
     kYes},
    {Operation::kStatusRead, "status.read", kYes, kYes, kNo, kNo, kYes, kYes,
     kYes},
    {Operation::kStatusReport, "status.report", kNo, kYes, kYes, kNo, kNo, kNo,
     kNo},
    {Operation::kStatusRequest, "status.request", kYes, kNo, kNo, kNo, kNo, kNo,
     kNo},
    {Operation::kWorkReport, "work.report", kNo, kYes, kNo, kNo, kNo, kNo, kNo},
    {Operation::kHandoffReport, "handoff.report", kNo, kYes, kNo, kNo, kNo, kNo,
     kNo},
    {Operation::kRegistrationRepeat, "registration.repeat", kNo, kNo, kYes, kNo,
     kNo, kNo, kNo},
    {Operation::kWorkerCreate, "worker.create", kYes, kNo, kNo, kNo, kNo, kNo,
     kNo},
    {Operation::kWorkerConfigure, "worker.configure", kYes, kNo, kNo, kNo, kNo,
     kNo, kNo},
    {Operation::kWorkerReload, "worker.reload", kYes, kNo, kNo, kNo, kNo, kNo,
     kNo},
    {Operation::kWorkerStop, "worker.stop", kYes, kNo, kNo, kNo, kNo, kNo, kNo},
    {Operation::kWorkerClose, "worker.close", kYes, kNo, kNo, kNo, kNo, kNo,
     kNo},
    {Operation::kWorkerResume, "worker.resume", kYes, kNo, kNo, kNo, kNo, kNo,
     kNo},
    {Operation::kWorkerRemove, "worker.remove", kYes, kNo, kNo, kNo, kNo, kNo,
     kNo},
    {Operation::kWorkspaceMultiplexer, "workspace.multiplexer", kYes, kNo, kNo,
     kNo, kNo, kNo, kNo},
    {Operation::kWorkspaceCoordinator, "workspace.coordinator", kNo, kNo, kNo,
     kNo, kNo, kYes, kNo},
    {Operation::kJobRead, "job.read", kYes, kYes, kNo, kNo, kYes, kYes, kYes},
    {Operation::kJobResolve, "job.resolve", kNo, kNo, kNo, kNo, kNo, kYes, kNo},
    {Operation::kInboxRead, "inbox.read", kNo, kNo, kNo, kNo, kNo, kYes, kNo},
    {Operation::kMonitorPane, "monitor.pane", kYes, kNo, kNo, kNo, kNo, kNo,
     kNo},
    {Operation::kInspect, "inspect.read", kYes, kYes, kYes, kYes, kYes, kYes,
     kYes},
};

const Row& RowOf(Operation operation) {
  for (const Row& row : kTable) {
    if (row.operation == operation) return row;
  }
  return kTable[0];  // Unreachable: a test walks all operations.
}

// Who may, for one who may not.
std::string_view WhoMay(const Row& row) {
  if (row.peer) return "only a session itself may";
  if (row.coordinator && row.worker) return "configured sessions may";
  if (row.coordinator) return "only the coordinator may";
  if (row.worker) return "a configured worker may";
  if (row.anonymous) return "only an anonymous session may";
  return "only a person at a shell of their own may";
}

bool RoleMay(const Row& row, v1::Role role) {
  switch (role) {
    case v1::ROLE_COORDINATOR:
      return row.coordinator;
    case v1::ROLE_WORKER:
      return row.worker;
    case v1::ROLE_ANONYMOUS:
      return row.anonymous;
    case v1::ROLE_PEER:
      return row.peer;
    default:
      return false;
  }
}

}  // namespace

std::string_view OperationName(Operation operation) {
  return RowOf(operation).name;
}

bool IsPermitted(Operation operation, v1::Origin origin, v1::Role role) {
  const Row& row = RowOf(operation);
  switch (origin) {
    case v1::ORIGIN_SESSION:
      return RoleMay(row, role);
    case v1::ORIGIN_SHELL:
      return row.shell_too && RoleMay(row, role);
    case v1::ORIGIN_PERSON:
      return row.person;
    case v1::ORIGIN_CLIENT:
      return row.client;
    default:
      return false;
  }
}

absl::Status CheckPermitted(Operation operation, v1::Origin origin,
                            v1::Role role) {
  if (IsPermitted(operation, origin, role)) return absl::OkStatus();
  const Row& row = RowOf(operation);
  const std::string name(row.name);
  const bool session =
      origin == v1::ORIGIN_SESSION || origin == v1::ORIGIN_SHELL;
  if (session && role == v1::ROLE_ANONYMOUS && row.worker) {
    return Error(absl::StatusCode::kPermissionDenied, "ANONYMOUS_SENDER",
                 name +
                     " is for configured sessions, and this one is anonymous; "
                     "the coordinator configures it with "
                     "intercom_configure_worker and intercom_reload_worker");
  }
  if (session && role == v1::ROLE_PEER) {
    return Error(absl::StatusCode::kPermissionDenied, "NOT_PERMITTED",
                 name + " needs a workspace, and this session has none");
  }
  std::string message = name + " is not permitted to ";
  if (origin == v1::ORIGIN_SESSION) {
    message += "a session in the role " + std::string(RoleName(role));
  } else if (origin == v1::ORIGIN_SHELL) {
    message += "a shell started by a session in the role " +
               std::string(RoleName(role));
  } else {
    message += origin == v1::ORIGIN_PERSON ? "a person at a shell"
                                           : "a client on the TCP port";
  }
  message += std::string("; ") + std::string(WhoMay(row));
  return Error(absl::StatusCode::kPermissionDenied, "NOT_PERMITTED", message);
}

std::vector<std::string> PermittedOperations(v1::Role role) {
  std::vector<std::string> names;
  for (const Row& row : kTable) {
    if (RoleMay(row, role)) names.emplace_back(row.name);
  }
  return names;
}

std::string_view RoleName(v1::Role role) {
  switch (role) {
    case v1::ROLE_COORDINATOR:
      return "coordinator";
    case v1::ROLE_WORKER:
      return "worker";
    case v1::ROLE_ANONYMOUS:
      return "anonymous";
    case v1::ROLE_PEER:
      return "peer";
    default:
      return "none";
  }
}

}  // namespace intercom
