#ifndef PI_INTERCOM_WORKER_AGENT_LINK_ATTACH_STREAM_H_
#define PI_INTERCOM_WORKER_AGENT_LINK_ATTACH_STREAM_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "broker/base/mutex.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/client_callback.h"
#include "intercom/v1/session.grpc.pb.h"
#include "worker-agent/link/open_calls.h"

namespace intercom {

// One Attach call, from Hello to its end. Reads one frame whenever ReadNext()
// asks for it; writes one after the other. Thread-safe; lives by itself until
// gRPC is done with it.
class AttachStream
    : public grpc::ClientBidiReactor<v1::AttachRequest, v1::AttachResponse> {
 public:
  // Called on gRPC's threads, one at a time.
  struct Events {
    // The frame that ReadNext() asked for.
    std::function<void(v1::AttachResponse)> frame;
    // The call ended. The last event.
    std::function<void(absl::Status)> done;
  };

  // Opens the stream with `hello` and reads the first frame.
  static std::shared_ptr<AttachStream> Open(
      const std::shared_ptr<grpc::Channel>& channel,
      std::shared_ptr<OpenCalls> calls, std::string_view bearer_token,
      v1::Hello hello, Events events);

  // Queues a frame. A broker that does not read makes the queue too long: the
  // call is then cancelled.
  void Send(v1::AttachRequest frame) ABSL_LOCKS_EXCLUDED(mu_);

  // Reads one more frame. At most one read may be open.
  void ReadNext() ABSL_LOCKS_EXCLUDED(mu_);

  // Says that nothing follows what is queued.
  void CloseWrites() ABSL_LOCKS_EXCLUDED(mu_);

  // Ends the call now, also one that reads and writes nothing.
  void Cancel() ABSL_LOCKS_EXCLUDED(mu_);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

 private:
  static constexpr size_t kMaxQueuedFrames = 4096;
  static constexpr size_t kMaxQueuedBytes = 16 << 20;

  AttachStream(const std::shared_ptr<grpc::Channel>& channel,
               std::shared_ptr<OpenCalls> calls, Events events);

  // Starts the next write if none is open. Needs a hold or a reaction.
  void Advance() ABSL_LOCKS_EXCLUDED(mu_);
  // Gives up the hold of Open(), once.
  void Release() ABSL_LOCKS_EXCLUDED(mu_);

  const std::shared_ptr<OpenCalls> calls_;
  const Events events_;
  std::unique_ptr<v1::SessionService::Stub> stub_;
  grpc::ClientContext context_;
  // Owned by the one read that is open.
  v1::AttachResponse incoming_;
  // Owned by the one write that is open.
  v1::AttachRequest in_flight_;
  // Keeps this object until OnDone.
  std::shared_ptr<AttachStream> self_;

  Mutex mu_;
  std::deque<v1::AttachRequest> queue_ ABSL_GUARDED_BY(mu_);
  size_t queued_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool closing_ ABSL_GUARDED_BY(mu_) = false;
  // Nothing is started any more.
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LINK_ATTACH_STREAM_H_
