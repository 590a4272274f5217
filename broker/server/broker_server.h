#ifndef PI_INTERCOM_BROKER_SERVER_BROKER_SERVER_H_
#define PI_INTERCOM_BROKER_SERVER_BROKER_SERVER_H_

#include <grpcpp/server.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "broker/base/random.h"
#include "broker/rpc/inspection_adapter.h"
#include "broker/rpc/run_adapter.h"
#include "broker/rpc/services.h"
#include "broker/rpc/work_adapter.h"
#include "broker/server/state_directory.h"
#include "broker/server/unix_acceptor.h"
#include "broker/storage/reader.h"
#include "broker/work/reports.h"

namespace intercom {

struct Rooms;

struct BrokerOptions {
  // State directory.
  std::string home;
  // Home directory of the account, where no workspace is ever created.
  std::string account_home;
  // A directory whose workspace is mirrored from the start, and whose saved
  // port is tried first if there was no broker before. May be empty.
  std::string workspace;
  // The TCP port: 0 lets the system choose, -1 prefers the saved one.
  int port = -1;
  // Leave after so long without sessions, calls and watches; never if infinite.
  absl::Duration idle_exit = absl::Seconds(60);
  // A report that awaits an answer is overdue after so long; never if infinite.
  absl::Duration overdue_after = Reports::kOverdueAfter;
  std::string version;
};

// The whole broker: opens the state directory and the store, puts the rooms
// together, listens, and takes everything down in the right order.
class BrokerServer {
 public:
  // Blocks until it listens. Errors: those of StateDirectory::Open and
  // OpenStore, and UNAVAILABLE (PORT_IN_USE). `clock` and `random` must outlive
  // the object.
  static absl::StatusOr<std::unique_ptr<BrokerServer>> Start(
      BrokerOptions options, const Clock& clock, Random& random);

  // Drains and stops, if Run did not.
  ~BrokerServer();

  int port() const { return port_; }

  // Works until `stop_descriptor` is readable, the broker was idle for long
  // enough, or its lock or socket are no longer its own; then drains: health
  // says NOT_SERVING, sessions are told, what was accepted is finished and
  // synced, the store is closed.
  void Run(int stop_descriptor);

 private:
  BrokerServer(BrokerOptions options, const Clock& clock, Random& random,
               std::unique_ptr<StateDirectory> directory);

  int WorkspacePort() const;
  absl::Status OpenStoreAndRooms();
  void MirrorStartWorkspace();
  absl::Status Listen();
  void Tick();
  bool IsIdle();
  void Drain();

  const BrokerOptions options_;
  const Clock& clock_;
  Random& random_;
  std::unique_ptr<StateDirectory> directory_;
  std::string token_;
  int port_ = 0;
  std::unique_ptr<Rooms> rooms_;
  std::unique_ptr<Peers> peers_;
  std::unique_ptr<SerialExecutor> executor_;
  std::unique_ptr<SessionAdapter> sessions_;
  std::unique_ptr<MessageAdapter> messages_;
  std::unique_ptr<RosterAdapter> roster_;
  std::unique_ptr<AskAdapter> asks_;
  std::unique_ptr<ChannelAdapter> channels_;
  std::unique_ptr<MonitorPaneAdapter> monitors_;
  std::unique_ptr<RunAdapter> runs_;
  std::unique_ptr<WorkspaceAdapter> workspaces_;
  std::unique_ptr<InspectionAdapter> inspection_;
  std::unique_ptr<WorkAdapter> work_;
  std::unique_ptr<UnixAcceptor> acceptor_;
  std::unique_ptr<grpc::Server> server_;
  int64_t calls_seen_ = 0;
  absl::Duration active_at_;
  int64_t ticks_ = 0;
  bool drained_ = false;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_SERVER_BROKER_SERVER_H_
