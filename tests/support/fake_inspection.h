#ifndef PI_INTERCOM_TESTS_SUPPORT_FAKE_INSPECTION_H_
#define PI_INTERCOM_TESTS_SUPPORT_FAKE_INSPECTION_H_

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "broker/base/error.h"
#include "broker/base/mutex.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "intercom/v1/inspect.grpc.pb.h"
#include "intercom/v1/message.grpc.pb.h"
#include "worker-agent/link/broker_address.h"

namespace intercom {

// A broker that says of sessions and messages what a test tells it to, at the
// socket of a state directory, until it is destroyed. Thread-safe.
class FakeInspection {
 public:
  explicit FakeInspection(const std::string& home) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(UnixAddress(home).target,
                             grpc::InsecureServerCredentials());
    // As the broker has it: clients see by pings that it is there.
    builder.AddChannelArgument(
        GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1000);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
    builder.RegisterService(&inspection_);
    builder.RegisterService(&messages_);
    server_ = builder.BuildAndStart();
  }
  ~FakeInspection() {
    EndStreams(Error(absl::StatusCode::kUnavailable, "DRAINING",
                     "the broker is about to leave"));
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
  }

  // What the overview's streams say from now on.
  void SetOverview(v1::WatchOverviewResponse overview) {
    MutexLock lock(mu_);
    overview_ = std::move(overview);
    ++overview_version_;
    changed_.NotifyAll();
  }
  // What happened before anybody watched.
  void SetDeliveries(v1::ListDeliveriesResponse deliveries) {
    MutexLock lock(mu_);
    deliveries_ = std::move(deliveries);
  }
  void AddEvent(v1::WatchEventsResponse event) {
    MutexLock lock(mu_);
    event.set_cursor("c" + std::to_string(events_.size() + 1));
    events_.push_back(std::move(event));
    changed_.NotifyAll();
  }
  void SetSession(const v1::GetSessionResponse& session) {
    MutexLock lock(mu_);
    sessions_[session.entry().session_id()] = session;
  }
  void SetMessage(const v1::DeliveryRecord& record) {
    MutexLock lock(mu_);
    records_[record.delivery_id()] = record;
  }
  // Ends those that are open, and refuses others until Accept().
  void EndStreams(const absl::Status& status) {
    MutexLock lock(mu_);
    refusal_ = status;
    changed_.NotifyAll();
  }
  void Accept() {
    MutexLock lock(mu_);
    refusal_.reset();
  }

  // Requests so far: the call and the request's short text.
  std::vector<std::string> calls() {
    MutexLock lock(mu_);
    return calls_;
  }
  int CountOf(const std::string& call) {
    MutexLock lock(mu_);
    int count = 0;
    for (const std::string& made : calls_) count += made.starts_with(call);
    return count;
  }

 private:
  static grpc::Status ToGrpc(grpc::ServerContext* context,
                             const absl::Status& status) {
    context->AddTrailingMetadata("intercom-reason", ReasonOf(status));
    return {static_cast<grpc::StatusCode>(status.code()), MessageOf(status)};
  }
  void Note(const std::string& call, const google::protobuf::Message& request) {
    MutexLock lock(mu_);
    calls_.push_back(call + " " + request.ShortDebugString());
  }
  // Waits until there is something to say, at most long enough to see that
  // nobody listens any more. Needs the lock.
  void WaitABit() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    changed_.WaitFor(mu_, std::chrono::milliseconds(50));
  }

  class Inspection : public v1::InspectionService::Service {
   public:
    explicit Inspection(FakeInspection& fake) : fake_(fake) {}

    grpc::Status WatchOverview(
        grpc::ServerContext* context, const v1::WatchOverviewRequest* request,
        grpc::ServerWriter<v1::WatchOverviewResponse>* writer) override {
      fake_.Note("WatchOverview", *request);
      int64_t said = 0;
      while (!context->IsCancelled()) {
        v1::WatchOverviewResponse next;
        {
          MutexLock lock(fake_.mu_);
          if (fake_.refusal_.has_value()) {
            return ToGrpc(context, *fake_.refusal_);
          }
          if (said == fake_.overview_version_) {
            fake_.WaitABit();
            continue;
          }
          said = fake_.overview_version_;
          next = fake_.overview_;
        }
        if (!writer->Write(next)) break;
      }
      return grpc::Status::OK;
    }

    grpc::Status WatchEvents(
        grpc::ServerContext* context, const v1::WatchEventsRequest* request,
        grpc::ServerWriter<v1::WatchEventsResponse>* writer) override {
      fake_.Note("WatchEvents", *request);
      size_t next = 0;
      {
        MutexLock lock(fake_.mu_);
        next = fake_.events_.size();
      }
      v1::WatchEventsResponse start;
      start.set_cursor("c" + std::to_string(next));
      start.mutable_start();
      writer->Write(start);
      while (!context->IsCancelled()) {
        v1::WatchEventsResponse event;
        {
          MutexLock lock(fake_.mu_);
          if (fake_.refusal_.has_value()) {
            return ToGrpc(context, *fake_.refusal_);
          }
          if (next == fake_.events_.size()) {
            fake_.WaitABit();
            continue;
          }
          event = fake_.events_[next++];
        }
        if (!writer->Write(event)) break;
      }
      return grpc::Status::OK;
    }

    grpc::Status ListDeliveries(grpc::ServerContext* context,
                                const v1::ListDeliveriesRequest* request,
                                v1::ListDeliveriesResponse* response) override {
      fake_.Note("ListDeliveries", *request);
      MutexLock lock(fake_.mu_);
      *response = fake_.deliveries_;
      return grpc::Status::OK;
    }

    grpc::Status GetSession(grpc::ServerContext* context,
                            const v1::GetSessionRequest* request,
                            v1::GetSessionResponse* response) override {
      fake_.Note("GetSession", *request);
      MutexLock lock(fake_.mu_);
      const auto found = fake_.sessions_.find(request->session_id());
      if (found == fake_.sessions_.end()) {
        return ToGrpc(context,
                      Error(absl::StatusCode::kNotFound, "UNKNOWN_SESSION",
                            "there is no such session"));
      }
      *response = found->second;
      return grpc::Status::OK;
    }

   private:
    FakeInspection& fake_;
  };

  class Messages : public v1::MessageService::Service {
   public:
    explicit Messages(FakeInspection& fake) : fake_(fake) {}
    grpc::Status GetMessage(grpc::ServerContext* context,
                            const v1::GetMessageRequest* request,
                            v1::GetMessageResponse* response) override {
      fake_.Note("GetMessage", *request);
      MutexLock lock(fake_.mu_);
      const auto found = fake_.records_.find(request->id());
      if (found == fake_.records_.end()) {
        return ToGrpc(context,
                      Error(absl::StatusCode::kNotFound, "UNKNOWN_ENVELOPE",
                            "no stored envelope has this id"));
      }
      *response->mutable_record() = found->second;
      return grpc::Status::OK;
    }

   private:
    FakeInspection& fake_;
  };

  Inspection inspection_{*this};
  Messages messages_{*this};
  std::unique_ptr<grpc::Server> server_;
  Mutex mu_;
  CondVar changed_;
  v1::WatchOverviewResponse overview_ ABSL_GUARDED_BY(mu_);
  // 0: nothing to say yet.
  int64_t overview_version_ ABSL_GUARDED_BY(mu_) = 0;
  v1::ListDeliveriesResponse deliveries_ ABSL_GUARDED_BY(mu_);
  std::vector<v1::WatchEventsResponse> events_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, v1::GetSessionResponse> sessions_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, v1::DeliveryRecord> records_ ABSL_GUARDED_BY(mu_);
  std::optional<absl::Status> refusal_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> calls_ ABSL_GUARDED_BY(mu_);
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_SUPPORT_FAKE_INSPECTION_H_
