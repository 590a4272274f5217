#ifndef PI_INTERCOM_TESTS_UNIT_LINK_FAKE_WORK_H_
#define PI_INTERCOM_TESTS_UNIT_LINK_FAKE_WORK_H_

#include "intercom/v1/monitor.grpc.pb.h"
#include "intercom/v1/work.grpc.pb.h"

namespace intercom {

class FakeBroker;

// The fake broker's WorkService: answers what the test said.
class FakeWork : public v1::WorkService::CallbackService {
 public:
  explicit FakeWork(FakeBroker& broker) : broker_(broker) {}

  grpc::ServerUnaryReactor* BeginLaunch(
      grpc::CallbackServerContext* context,
      const v1::BeginLaunchRequest* request,
      v1::BeginLaunchResponse* response) override;
  grpc::ServerUnaryReactor* AdvanceLaunch(
      grpc::CallbackServerContext* context,
      const v1::AdvanceLaunchRequest* request,
      v1::AdvanceLaunchResponse* response) override;
  grpc::ServerUnaryReactor* StopWorker(
      grpc::CallbackServerContext* context,
      const v1::StopWorkerRequest* request,
      v1::StopWorkerResponse* response) override;
  grpc::ServerUnaryReactor* CloseWorker(
      grpc::CallbackServerContext* context,
      const v1::CloseWorkerRequest* request,
      v1::CloseWorkerResponse* response) override;
  grpc::ServerUnaryReactor* ReportHandoff(
      grpc::CallbackServerContext* context,
      const v1::ReportHandoffRequest* request,
      v1::ReportHandoffResponse* response) override;

 private:
  FakeBroker& broker_;
};

// The same for its MonitorPaneService.
class FakeMonitorPanes : public v1::MonitorPaneService::CallbackService {
 public:
  explicit FakeMonitorPanes(FakeBroker& broker) : broker_(broker) {}

  grpc::ServerUnaryReactor* ClaimMonitorPane(
      grpc::CallbackServerContext* context,
      const v1::ClaimMonitorPaneRequest* request,
      v1::ClaimMonitorPaneResponse* response) override;
  grpc::ServerUnaryReactor* AdvanceMonitorPane(
      grpc::CallbackServerContext* context,
      const v1::AdvanceMonitorPaneRequest* request,
      v1::AdvanceMonitorPaneResponse* response) override;

 private:
  FakeBroker& broker_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_UNIT_LINK_FAKE_WORK_H_
