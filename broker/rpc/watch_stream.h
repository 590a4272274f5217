#ifndef PI_INTERCOM_BROKER_RPC_WATCH_STREAM_H_
#define PI_INTERCOM_BROKER_RPC_WATCH_STREAM_H_

#include <grpcpp/support/server_callback.h>

#include <memory>
#include <optional>

#include "absl/functional/any_invocable.h"
#include "broker/base/mutex.h"
#include "broker/rpc/serve.h"
#include "broker/work/watch.h"

namespace intercom {

// One call that shows a watch: takes a response when the one before it is
// written, so that a client that does not read costs one message. Everything
// that gRPC is told, it is told on the executor. Shared, because the core calls
// back; gRPC's reactor belongs to the call alone.
//
// Thread-safe. One lock, held for decisions only.
template <typename Response>
class WatchStream : public std::enable_shared_from_this<WatchStream<Response>> {
 public:
  using Reactor = grpc::ServerWriteReactor<Response>;
  using Begun = absl::AnyInvocable<void(
      absl::StatusOr<std::shared_ptr<Watch<Response>>>)>;
  // Hands the call to the core, which calls `begun` once.
  using Begin = absl::AnyInvocable<void(CallerEvidence evidence, WatchWake wake,
                                        Begun begun)>;

  // Starts the call. The reactor deletes itself when gRPC is done with it. All
  // references must outlive the server.
  static Reactor* Start(const AdapterContext& adapter,
                        grpc::CallbackServerContext& context, Begin begin);

 private:
  class CallReactor;

  explicit WatchStream(SerialExecutor& executor) : executor_(executor) {}

  void OnBegun(absl::StatusOr<std::shared_ptr<Watch<Response>>> watch)
      ABSL_LOCKS_EXCLUDED(mu_);
  void OnWritten(bool ok) ABSL_LOCKS_EXCLUDED(mu_);
  // Ends the call, unless it is ending.
  void Close(absl::Status status) ABSL_LOCKS_EXCLUDED(mu_);
  // The call is over.
  void Release() ABSL_LOCKS_EXCLUDED(mu_);
  void AdvanceOnExecutor();
  // Starts the next write or the end, whatever is due. On the executor only.
  void Advance() ABSL_LOCKS_EXCLUDED(mu_);

  SerialExecutor& executor_;
  // Of the executor.
  std::shared_ptr<const Response> in_flight_;

  Mutex mu_;
  // Valid until `finished_`: after Finish gRPC may delete it at any time.
  CallReactor* reactor_ ABSL_GUARDED_BY(mu_) = nullptr;
  // Null before it has begun, and once the call is over.
  std::shared_ptr<Watch<Response>> watch_ ABSL_GUARDED_BY(mu_);
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  std::optional<absl::Status> closing_ ABSL_GUARDED_BY(mu_);
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_RPC_WATCH_STREAM_H_
