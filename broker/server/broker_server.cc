#include "broker/server/broker_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server_builder.h>
#include <poll.h>
#include <unistd.h>

#include <future>
#include <utility>
#include <vector>

#include "broker/base/error.h"
#include "broker/base/home.h"
#include "broker/base/log.h"
#include "broker/base/status_macros.h"
#include "broker/server/port_choice.h"
#include "broker/server/rooms.h"
#include "spdlog/spdlog.h"

namespace intercom {
namespace {

constexpr int kTickMs = 1000;
constexpr int kConfigTicks = 10;
constexpr int kExpiryTicks = 30;
constexpr absl::Duration kShutdownGrace = absl::Seconds(2);
constexpr int kMaxMessageBytes = 1 << 20;

}  // namespace

absl::StatusOr<std::unique_ptr<BrokerServer>> BrokerServer::Start(
    BrokerOptions options, const Clock& clock, Random& random) {
  INTERCOM_ASSIGN_OR_RETURN(auto directory, StateDirectory::Open(options.home));
  INTERCOM_RETURN_IF_ERROR(OpenLogFile(BrokerLogPath(options.home)));
  INTERCOM_ASSIGN_OR_RETURN(std::string token, directory->Token(random));
  std::unique_ptr<BrokerServer> broker(new BrokerServer(
      std::move(options), clock, random, std::move(directory)));
  broker->token_ = std::move(token);
  // Chosen before the rooms are built, because they tell it.
  std::vector<int> preferred;
  if (broker->options_.port < 0) {
    preferred = {broker->directory_->SavedPort(), broker->WorkspacePort()};
  }
  INTERCOM_ASSIGN_OR_RETURN(broker->port_,
                            ChoosePort(broker->options_.port, preferred));
  INTERCOM_RETURN_IF_ERROR(broker->OpenStoreAndRooms());
  INTERCOM_RETURN_IF_ERROR(broker->Listen());
  broker->MirrorStartWorkspace();
  return broker;
}

BrokerServer::BrokerServer(BrokerOptions options, const Clock& clock,
                           Random& random,
                           std::unique_ptr<StateDirectory> directory)
    : options_(std::move(options)),
      clock_(clock),
      random_(random),
      directory_(std::move(directory)),
      active_at_(clock.Steady()) {}

BrokerServer::~BrokerServer() { Drain(); }

// What the coordinator's entry of the start workspace records; 0 if nothing.
int BrokerServer::WorkspacePort() const {
  if (options_.workspace.empty()) return 0;
  FileSystem files;
  DiscoveryRequest request;
  request.cwd = options_.workspace;
  request.home = options_.account_home;
  request.mode = v1::WORKSPACE_MODE_EXISTING;
  const auto found = FindRoot(files, request);
  if (!found.ok() || !found->root.has_value()) return 0;
  const auto read = ConfigFile(files, *found->root).Read();
  return read.ok() ? read->config.coordinator().port() : 0;
}

absl::Status BrokerServer::OpenStoreAndRooms() {
  const std::string path = DatabasePath(options_.home);
  INTERCOM_ASSIGN_OR_RETURN(OpenedStore store,
                            OpenStore(path, clock_.Now(), random_));
  for (const std::string& notice : store.notices) spdlog::warn("{}", notice);
  StateRunner::Options runner_options;
  runner_options.on_commit_failed = [this](const absl::Status& status) {
    spdlog::error("commit failed: {}", MessageOf(status));
    if (rooms_ == nullptr) return;
    absl::Status loaded = rooms_->mirror.Load();
    loaded.Update(rooms_->job_book.Load());
    loaded.Update(rooms_->runs.Load());
    if (!loaded.ok()) {
      spdlog::error("reload failed: {}", MessageOf(loaded));
    }
  };
  runner_options.on_sync_failed = [](const absl::Status& status) {
    // Nothing acknowledged from here on could be promised.
    spdlog::critical("sync failed, the broker ends: {}", MessageOf(status));
    spdlog::shutdown();
    _exit(70);
  };
  INTERCOM_ASSIGN_OR_RETURN(auto runner,
                            StateRunner::Create(std::move(store.db), clock_,
                                                std::move(runner_options)));
  INTERCOM_ASSIGN_OR_RETURN(auto reader, Reader::Open(path));
  rooms_ = std::make_unique<Rooms>(std::move(store), std::move(runner),
                                   std::move(reader), clock_, random_, options_,
                                   port_);
  std::promise<absl::Status> loaded;
  rooms_->runner->SetIdleStep([this] { return rooms_->retention.Step(); });
  rooms_->runner->PostTask([this, &loaded] {
    absl::Status status = rooms_->mirror.Load();
    status.Update(rooms_->dispatcher.Load());
    status.Update(rooms_->asks.Load());
    status.Update(rooms_->runs.Load());
    status.Update(rooms_->jobs.Load());
    rooms_->feed.Load();
    // An earlier broker may have crashed before it did.
    rooms_->observations.PruneAll();
    loaded.set_value(status);
  });
  return loaded.get_future().get();
}

void BrokerServer::MirrorStartWorkspace() {
  if (options_.workspace.empty()) return;
  rooms_->workspaces.FindRoot(options_.workspace, [this](auto root) {
    if (!root.ok() || root->empty()) return;
    rooms_->gate.WithPresent(
        *root,
        [](const std::shared_ptr<const Workspace>&, Effects&) {
          return absl::OkStatus();
        },
        [root = *root](const absl::Status& status) {
          spdlog::warn("config of {}: {}", root, MessageOf(status));
        });
  });
}

absl::Status BrokerServer::Listen() {
  peers_ = std::make_unique<Peers>(token_);
  executor_ = std::make_unique<SerialExecutor>();
  const AdapterContext context{
      {rooms_->admission,   rooms_->registrar,   rooms_->dispatcher,
       rooms_->controls,    rooms_->mail,        rooms_->inbox,
       rooms_->peers,       rooms_->asks,        rooms_->channels,
       rooms_->run_desk,    rooms_->run_stops,   rooms_->run_waits,
       rooms_->run_notes,   rooms_->workers,     rooms_->report_desk,
       rooms_->status_desk, rooms_->config_desk, rooms_->coordinator_desk,
       rooms_->inspection,  rooms_->looks,       rooms_->watches,
       rooms_->monitors,    rooms_->launches,    rooms_->launch_waits,
       rooms_->stops,       rooms_->closes,      rooms_->jobs},
      *peers_,
      *executor_};
  sessions_ = std::make_unique<SessionAdapter>(context);
  messages_ = std::make_unique<MessageAdapter>(context);
  roster_ = std::make_unique<RosterAdapter>(context);
  asks_ = std::make_unique<AskAdapter>(context);
  channels_ = std::make_unique<ChannelAdapter>(context);
  monitors_ = std::make_unique<MonitorPaneAdapter>(context);
  runs_ = std::make_unique<RunAdapter>(context);
  workspaces_ = std::make_unique<WorkspaceAdapter>(context);
  inspection_ = std::make_unique<InspectionAdapter>(context);
  work_ = std::make_unique<WorkAdapter>(context);

  grpc::EnableDefaultHealthCheckService(true);
  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  int bound = 0;
  builder.AddListeningPort("127.0.0.1:" + std::to_string(port_),
                           grpc::InsecureServerCredentials(), &bound);
  // Two brokers must never share a port silently.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // A stopped client is noticed within 10 s; clients may ping as often.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 4000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 4000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  // Reflection is a synchronous service that answers without a token.
  grpc::ResourceQuota quota("broker");
  quota.SetMaxThreads(16);
  builder.SetResourceQuota(quota);
  builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MIN_POLLERS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, 2);
  builder.RegisterService(sessions_.get());
  builder.RegisterService(messages_.get());
  builder.RegisterService(roster_.get());
  builder.RegisterService(asks_.get());
  builder.RegisterService(channels_.get());
  builder.RegisterService(monitors_.get());
  builder.RegisterService(runs_.get());
  builder.RegisterService(workspaces_.get());
  builder.RegisterService(inspection_.get());
  builder.RegisterService(work_.get());
  server_ = builder.BuildAndStart();
  if (server_ == nullptr || bound != port_) return PortInUse(port_);
  server_->GetHealthCheckService()->SetServingStatus(true);
  for (const char* name :
       {"intercom.v1.SessionService", "intercom.v1.MessageService",
        "intercom.v1.WorkspaceService", "intercom.v1.InspectionService",
        "intercom.v1.WorkService", "intercom.v1.RosterService",
        "intercom.v1.AskService", "intercom.v1.ChannelService",
        "intercom.v1.RunService", "intercom.v1.MonitorPaneService"}) {
    server_->GetHealthCheckService()->SetServingStatus(name, true);
  }
  INTERCOM_ASSIGN_OR_RETURN(
      acceptor_, UnixAcceptor::Listen(SocketPath(options_.home), *peers_));
  directory_->SocketBound();
  INTERCOM_RETURN_IF_ERROR(directory_->WriteEndpoint(port_));
  acceptor_->Start(*server_);
  spdlog::info("ready version={} pid={} port={} home={}", options_.version,
               getpid(), port_, options_.home);
  return absl::OkStatus();
}

void BrokerServer::Run(int stop_descriptor) {
  while (true) {
    pollfd stop{stop_descriptor, POLLIN, 0};
    if (poll(&stop, 1, kTickMs) > 0) {
      spdlog::info("asked to stop");
      break;
    }
    if (!directory_->IsInPlace()) {
      spdlog::warn("lock or socket are no longer this broker's");
      break;
    }
    Tick();
    if (IsIdle()) {
      spdlog::info("idle");
      break;
    }
  }
  Drain();
}

void BrokerServer::Tick() {
  ++ticks_;
  rooms_->runner->PostTask([this] {
    rooms_->asks.Tick();
    rooms_->run_watch.Tick();
  });
  if (ticks_ % kExpiryTicks == 0) rooms_->dispatcher.ExpireDue();
  if (ticks_ % kConfigTicks != 0) return;
  // A config that changed while nobody called still changes roles.
  rooms_->runner->PostTask([this] {
    rooms_->jobs.Tick();
    for (const auto& workspace : rooms_->mirror.All()) {
      if (rooms_->roster.InWorkspace(workspace->root).empty()) continue;
      rooms_->gate.WithPresent(
          workspace->root,
          [](const std::shared_ptr<const Workspace>&, Effects&) {
            return absl::OkStatus();
          },
          [](const absl::Status&) {});
    }
  });
}

bool BrokerServer::IsIdle() {
  std::promise<size_t> attached;
  rooms_->runner->PostTask(
      [this, &attached] { attached.set_value(rooms_->roster.size()); });
  const int64_t calls = peers_->calls();
  if (attached.get_future().get() > 0 || calls != calls_seen_ ||
      rooms_->watches.watching() > 0) {
    calls_seen_ = calls;
    active_at_ = clock_.Steady();
  }
  return clock_.Steady() - active_at_ >= options_.idle_exit;
}

void BrokerServer::Drain() {
  if (drained_ || rooms_ == nullptr) return;
  drained_ = true;
  spdlog::info("draining");
  rooms_->inspection.SetDraining();
  rooms_->watches.Drain();
  rooms_->checker.Stop();
  rooms_->runner->PostTask([this] { rooms_->launch_waits.Drain(); });
  rooms_->registrar.Drain();
  rooms_->asks.Drain();
  rooms_->run_waits.Drain();
  if (server_ != nullptr) {
    server_->GetHealthCheckService()->SetServingStatus(false);
  }
  rooms_->runner->Drain();
  rooms_->registrar.CloseAll();
  rooms_->runner->Drain();
  if (acceptor_ != nullptr) acceptor_->Stop();
  if (server_ != nullptr) {
    server_->Shutdown(absl::ToChronoTime(clock_.Now() + kShutdownGrace));
  }
  acceptor_.reset();
  rooms_->runner->PostTask([this] { rooms_->observations.Flush(); });
  rooms_->runner->Stop();
  server_.reset();
  executor_.reset();
  rooms_.reset();
  spdlog::info("stopped");
}

}  // namespace intercom
