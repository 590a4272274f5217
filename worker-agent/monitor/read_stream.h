#ifndef PI_INTERCOM_WORKER_AGENT_MONITOR_READ_STREAM_H_
#define PI_INTERCOM_WORKER_AGENT_MONITOR_READ_STREAM_H_

#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "broker/base/mutex.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/client_callback.h"
#include "worker-agent/link/channel.h"
#include "worker-agent/link/open_calls.h"
#include "worker-agent/link/post_gate.h"

namespace intercom {

// One call that streams responses, from its request to its end. Reads one
// whenever ReadNext() asks for it, so that a slow reader has no queue.
// Thread-safe; lives by itself until gRPC is done with it.
template <typename Request, typename Response>
class ReadStream : public grpc::ClientReadReactor<Response> {
 public:
  // Called on gRPC's threads, one at a time.
  struct Events {
    // The response that ReadNext() asked for.
    std::function<void(Response)> response;
    // The call ended. The last event.
    std::function<void(absl::Status)> done;
  };
  // Starts the call: the stub's method for it.
  using Begin = std::function<void(grpc::ClientContext*, const Request*,
                                   grpc::ClientReadReactor<Response>*)>;

  // Opens the stream and reads the first response.
  static std::shared_ptr<ReadStream> Open(std::shared_ptr<OpenCalls> calls,
                                          std::shared_ptr<PostGate> gate,
                                          Request request, const Begin& begin,
                                          Events events) {
    // The constructor is private.
    std::shared_ptr<ReadStream> stream(
        new ReadStream(std::move(calls), std::move(gate), std::move(request),
                       std::move(events)));
    stream->self_ = stream;
    stream->calls_->Opened(&stream->context_);
    begin(&stream->context_, &stream->request_, stream.get());
    // Reads are started outside of reactions.
    stream->AddHold();
    stream->StartRead(&stream->incoming_);
    stream->StartCall();
    return stream;
  }

  // Reads one more response. At most one read may be open.
  void ReadNext() ABSL_LOCKS_EXCLUDED(mu_) {
    {
      MutexLock lock(mu_);
      if (ended_) return;
      this->AddHold();
    }
    this->StartRead(&incoming_);
    this->RemoveHold();
  }

  // Ends the call now.
  void Cancel() ABSL_LOCKS_EXCLUDED(mu_) {
    context_.TryCancel();
    Release();
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      // A response that can't be decoded ends the reading, but not the call.
      gate_->PostDelayed(
          [stream = std::weak_ptr<ReadStream>(self_)] {
            if (const auto open = stream.lock()) open->Cancel();
          },
          kEndWithin);
      Release();
      return;
    }
    events_.response(std::exchange(incoming_, {}));
  }

  void OnDone(const grpc::Status& status) override {
    events_.done(FromGrpc(status, context_));
    // This object may be gone as soon as it is handed over.
    const std::shared_ptr<OpenCalls> calls = calls_;
    calls->Finished(&context_, std::move(self_));
  }

 private:
  // For the status of a call that has nothing more to read.
  static constexpr absl::Duration kEndWithin = absl::Seconds(1);

  ReadStream(std::shared_ptr<OpenCalls> calls, std::shared_ptr<PostGate> gate,
             Request request, Events events)
      : calls_(std::move(calls)),
        gate_(std::move(gate)),
        request_(std::move(request)),
        events_(std::move(events)) {}

  // Gives up the hold of Open(), once.
  void Release() ABSL_LOCKS_EXCLUDED(mu_) {
    {
      MutexLock lock(mu_);
      if (ended_) return;
      ended_ = true;
    }
    this->RemoveHold();
  }

  const std::shared_ptr<OpenCalls> calls_;
  const std::shared_ptr<PostGate> gate_;
  const Request request_;
  const Events events_;
  grpc::ClientContext context_;
  // Owned by the one read that is open.
  Response incoming_;
  // Keeps this object until OnDone.
  std::shared_ptr<ReadStream> self_;

  Mutex mu_;
  // Nothing is started any more.
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_MONITOR_READ_STREAM_H_
