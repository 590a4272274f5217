#ifndef PI_INTERCOM_TESTS_UNIT_CLI_FAKE_WORK_SERVICES_H_
#define PI_INTERCOM_TESTS_UNIT_CLI_FAKE_WORK_SERVICES_H_

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "broker/base/error.h"
#include "broker/base/mutex.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "intercom/v1/channel.grpc.pb.h"
#include "intercom/v1/inspect.grpc.pb.h"
#include "intercom/v1/message.grpc.pb.h"
#include "intercom/v1/roster.grpc.pb.h"
#include "intercom/v1/work.grpc.pb.h"
#include "intercom/v1/workspace.grpc.pb.h"
#include "worker-agent/link/broker_address.h"

namespace intercom {

// A broker that says of workers, jobs and coordinators what a test tells it to,
// and notes what it was asked. Set the answers before the first call.
class FakeWorkServices {
 public:
  explicit FakeWorkServices(const std::string& home) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(UnixAddress(home).target,
                             grpc::InsecureServerCredentials());
    builder.RegisterService(&workspaces_);
    builder.RegisterService(&work_);
    builder.RegisterService(&inspection_);
    builder.RegisterService(&roster_);
    builder.RegisterService(&channels_);
    builder.RegisterService(&messages_);
    server_ = builder.BuildAndStart();
  }
  ~FakeWorkServices() {
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
  }

  // Requests so far: the call and the request's short text.
  std::vector<std::string> calls() {
    MutexLock lock(mu_);
    return calls_;
  }

  // Answers.
  v1::GetWorkspaceResponse workspace;
  // All workers: pages are cut from them.
  std::vector<v1::WorkerStatus> workers;
  std::vector<std::string> errors;
  v1::ListJobsResponse jobs;
  v1::GetJobResponse job;
  v1::ListObservationsResponse observations;
  v1::ListAllRunsResponse runs;
  v1::ListOpenAsksResponse asks;
  v1::ListDeliveriesResponse deliveries;
  v1::ListSessionsResponse sessions;
  v1::ListChannelsResponse channels;
  v1::CheckConfigResponse config;
  v1::ListMessagesResponse history;
  // By their tokens; those that are none of them have `history`.
  std::map<std::string, v1::ListMessagesResponse> history_pages;
  // Of calls that change something.
  absl::Status refusal;

 private:
  grpc::Status Note(grpc::ServerContext* context, const std::string& call,
                    const google::protobuf::Message& request,
                    const absl::Status& status = absl::OkStatus()) {
    {
      MutexLock lock(mu_);
      calls_.push_back(call + " " + request.ShortDebugString());
    }
    if (status.ok()) return grpc::Status::OK;
    context->AddTrailingMetadata("intercom-reason", ReasonOf(status));
    return {static_cast<grpc::StatusCode>(status.code()), MessageOf(status)};
  }

  class Workspaces : public v1::WorkspaceService::Service {
   public:
    explicit Workspaces(FakeWorkServices& fake) : fake_(fake) {}
    grpc::Status GetWorkspace(grpc::ServerContext* context,
                              const v1::GetWorkspaceRequest* request,
                              v1::GetWorkspaceResponse* response) override {
      *response = fake_.workspace;
      return fake_.Note(context, "GetWorkspace", *request);
    }
    grpc::Status GetWorkerStatus(
        grpc::ServerContext* context, const v1::GetWorkerStatusRequest* request,
        v1::GetWorkerStatusResponse* response) override {
      const int total = static_cast<int>(fake_.workers.size());
      const int end = std::min(request->offset() + request->limit(), total);
      for (int i = request->offset(); i < end; ++i) {
        *response->add_workers() = fake_.workers[i];
      }
      response->set_total_in_snapshot(total);
      if (end < total) response->set_next_offset(end);
      for (const std::string& error : fake_.errors) {
        response->add_errors(error);
      }
      return fake_.Note(context, "GetWorkerStatus", *request);
    }
    grpc::Status CheckConfig(grpc::ServerContext* context,
                             const v1::CheckConfigRequest* request,
                             v1::CheckConfigResponse* response) override {
      *response = fake_.config;
      return fake_.Note(context, "CheckConfig", *request);
    }
    grpc::Status ConfirmCoordinator(
        grpc::ServerContext* context,
        const v1::ConfirmCoordinatorRequest* request,
        v1::ConfirmCoordinatorResponse* response) override {
      response->set_root(fake_.workspace.root());
      response->set_coordinator_session_id(request->coordinator_session_id());
      return fake_.Note(context, "ConfirmCoordinator", *request, fake_.refusal);
    }

   private:
    FakeWorkServices& fake_;
  };

  class Work : public v1::WorkService::Service {
   public:
    explicit Work(FakeWorkServices& fake) : fake_(fake) {}
    grpc::Status ListJobs(grpc::ServerContext* context,
                          const v1::ListJobsRequest* request,
                          v1::ListJobsResponse* response) override {
      *response = fake_.jobs;
      return fake_.Note(context, "ListJobs", *request);
    }
    grpc::Status GetJob(grpc::ServerContext* context,
                        const v1::GetJobRequest* request,
                        v1::GetJobResponse* response) override {
      *response = fake_.job;
      return fake_.Note(context, "GetJob", *request);
    }
    grpc::Status ResolveJob(grpc::ServerContext* context,
                            const v1::ResolveJobRequest* request,
                            v1::ResolveJobResponse* response) override {
      *response->mutable_job() = fake_.job.job();
      response->mutable_job()->set_state(v1::Job::STATE_FAILED);
      return fake_.Note(context, "ResolveJob", *request, fake_.refusal);
    }

   private:
    FakeWorkServices& fake_;
  };

  class Inspection : public v1::InspectionService::Service {
   public:
    explicit Inspection(FakeWorkServices& fake) : fake_(fake) {}
    grpc::Status ListObservations(
        grpc::ServerContext* context,
        const v1::ListObservationsRequest* request,
        v1::ListObservationsResponse* response) override {
      *response = fake_.observations;
      return fake_.Note(context, "ListObservations", *request);
    }
    grpc::Status ListAllRuns(grpc::ServerContext* context,
                             const v1::ListAllRunsRequest* request,
                             v1::ListAllRunsResponse* response) override {
      *response = fake_.runs;
      return fake_.Note(context, "ListAllRuns", *request);
    }
    grpc::Status ListOpenAsks(grpc::ServerContext* context,
                              const v1::ListOpenAsksRequest* request,
                              v1::ListOpenAsksResponse* response) override {
      *response = fake_.asks;
      return fake_.Note(context, "ListOpenAsks", *request);
    }
    // One a page.
    grpc::Status ListDeliveries(grpc::ServerContext* context,
                                const v1::ListDeliveriesRequest* request,
                                v1::ListDeliveriesResponse* response) override {
      const int at =
          request->page_token().empty() ? 0 : std::stoi(request->page_token());
      if (at < fake_.deliveries.deliveries_size()) {
        *response->add_deliveries() = fake_.deliveries.deliveries(at);
      }
      if (at + 1 < fake_.deliveries.deliveries_size()) {
        response->set_next_page_token(std::to_string(at + 1));
      }
      return fake_.Note(context, "ListDeliveries", *request);
    }

   private:
    FakeWorkServices& fake_;
  };

  class Roster : public v1::RosterService::Service {
   public:
    explicit Roster(FakeWorkServices& fake) : fake_(fake) {}
    grpc::Status ListSessions(grpc::ServerContext* context,
                              const v1::ListSessionsRequest* request,
                              v1::ListSessionsResponse* response) override {
      *response = fake_.sessions;
      return fake_.Note(context, "ListSessions", *request);
    }

   private:
    FakeWorkServices& fake_;
  };

  class Channels : public v1::ChannelService::Service {
   public:
    explicit Channels(FakeWorkServices& fake) : fake_(fake) {}
    grpc::Status ListChannels(grpc::ServerContext* context,
                              const v1::ListChannelsRequest* request,
                              v1::ListChannelsResponse* response) override {
      *response = fake_.channels;
      return fake_.Note(context, "ListChannels", *request);
    }

   private:
    FakeWorkServices& fake_;
  };

  class Messages : public v1::MessageService::Service {
   public:
    explicit Messages(FakeWorkServices& fake) : fake_(fake) {}
    grpc::Status ListMessages(grpc::ServerContext* context,
                              const v1::ListMessagesRequest* request,
                              v1::ListMessagesResponse* response) override {
      const auto page = fake_.history_pages.find(request->page_token());
      *response =
          page == fake_.history_pages.end() ? fake_.history : page->second;
      return fake_.Note(context, "ListMessages", *request, fake_.refusal);
    }

   private:
    FakeWorkServices& fake_;
  };

  Workspaces workspaces_{*this};
  Work work_{*this};
  Inspection inspection_{*this};
  Roster roster_{*this};
  Channels channels_{*this};
  Messages messages_{*this};
  std::unique_ptr<grpc::Server> server_;
  Mutex mu_;
  std::vector<std::string> calls_ ABSL_GUARDED_BY(mu_);
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_UNIT_CLI_FAKE_WORK_SERVICES_H_
