#ifndef PI_INTERCOM_WORKER_AGENT_MONITOR_INSPECTION_STREAMS_H_
#define PI_INTERCOM_WORKER_AGENT_MONITOR_INSPECTION_STREAMS_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "broker/base/random.h"
#include "broker/base/task_runner.h"
#include "grpcpp/channel.h"
#include "intercom/v1/inspect.grpc.pb.h"
#include "intercom/v1/message.grpc.pb.h"
#include "worker-agent/link/backoff.h"
#include "worker-agent/link/open_calls.h"
#include "worker-agent/monitor/read_stream.h"

namespace intercom {

// What the monitor hears from a broker: its two streams, opened again after an
// end with growing pauses, and answers to single questions. Starts no broker.
//
// Not thread-safe: made, called and destroyed on its runner, on which its
// events and answers come, too.
class InspectionStreams {
 public:
  struct Events {
    std::function<void(v1::WatchOverviewResponse)> overview;
    std::function<void(v1::WatchEventsResponse)> event;
    // What there was before the first event.
    std::function<void(v1::ListDeliveriesResponse)> deliveries;
    // The overview's stream ended, or could not be opened. It is tried again.
    std::function<void(absl::Status)> lost;
  };
  template <typename Response>
  using Answer = std::function<void(absl::StatusOr<Response>)>;

  // The broker of the state directory `home`. References must outlive this
  // object.
  InspectionStreams(const std::string& home, TaskRunner& runner, Random& random,
                    Events events);
  ~InspectionStreams();
  InspectionStreams(const InspectionStreams&) = delete;
  InspectionStreams& operator=(const InspectionStreams&) = delete;

  // Opens both streams, instead of those that are open. An empty directory
  // means all workspaces.
  void Watch(const std::string& directory, const std::string& monitor_claim_id);

  // Within 10 s.
  void GetSession(const std::string& session_id,
                  Answer<v1::GetSessionResponse> answer);
  void GetMessage(const std::string& id, Answer<v1::GetMessageResponse> answer);

 private:
  using OverviewStream =
      ReadStream<v1::WatchOverviewRequest, v1::WatchOverviewResponse>;
  using EventStream =
      ReadStream<v1::WatchEventsRequest, v1::WatchEventsResponse>;

  void OpenOverview();
  void OpenEvents();
  void OnOverviewDone(const absl::Status& status);
  void OnEventsDone(const absl::Status& status);
  void ListDeliveries();
  // Runs `task` on the runner, unless Watch() was called meanwhile.
  std::function<void()> Current(std::function<void()> task);

  const Events events_;
  const std::shared_ptr<PostGate> gate_;
  const std::shared_ptr<OpenCalls> calls_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::InspectionService::Stub> inspection_;
  const std::unique_ptr<v1::MessageService::Stub> messages_;
  Backoff overview_backoff_;
  Backoff events_backoff_;
  std::string directory_;
  std::string claim_id_;
  // Counts Watch().
  int generation_ = 0;
  std::shared_ptr<OverviewStream> overview_;
  std::shared_ptr<EventStream> event_stream_;
  // Of the last event; empty at the beginning.
  std::string cursor_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_MONITOR_INSPECTION_STREAMS_H_
