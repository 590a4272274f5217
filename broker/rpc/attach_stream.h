#ifndef PI_INTERCOM_BROKER_RPC_ATTACH_STREAM_H_
#define PI_INTERCOM_BROKER_RPC_ATTACH_STREAM_H_

#include <grpcpp/support/server_callback.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "broker/base/mutex.h"
#include "broker/roster/session_link.h"
#include "broker/rpc/broker_core.h"
#include "broker/rpc/peers.h"
#include "broker/rpc/serial_executor.h"
#include "intercom/v1/session.pb.h"

namespace intercom {

// One Attach call: turns its frames into calls of the core, and the core's
// frames into writes. Shared, because the roster outlives the call; gRPC's
// reactor belongs to the call alone.
//
// Thread-safe. One lock, held for decisions only.
class AttachStream : public SessionLink,
                     public std::enable_shared_from_this<AttachStream> {
 public:
  using Reactor =
      grpc::ServerBidiReactor<v1::AttachRequest, v1::AttachResponse>;

  // Starts the call. The reactor deletes itself when gRPC is done with it. All
  // references must outlive the server.
  static Reactor* Start(grpc::CallbackServerContext& context, BrokerCore core,
                        Peers& peers, SerialExecutor& executor);

  void Send(v1::AttachResponse frame) override ABSL_LOCKS_EXCLUDED(mu_);
  void Close(absl::Status status) override ABSL_LOCKS_EXCLUDED(mu_);
  bool IsGone() const override ABSL_LOCKS_EXCLUDED(mu_);

 private:
  class CallReactor;

  // Submits of one stream that may wait for their answers; reading pauses
  // there, so that a sender's speed bounds what it costs.
  static constexpr size_t kMaxOpenSubmits = 64;
  // Frames that wait for a client that does not read; reading pauses there too,
  // since what it sends makes answers.
  static constexpr size_t kMaxQueued = 256;
  // Where a client that does not read is let go: it attaches anew, and its mail
  // waits on disk.
  static constexpr size_t kMaxUnread = 1024;

  // Reading pauses where so many frames were read that the core has not had its
  // turn at.
  static constexpr int kMarkEvery = 128;

  AttachStream(BrokerCore core, SerialExecutor& executor)
      : core_(core), executor_(executor) {}

  void OnEvidence(absl::StatusOr<CallerEvidence> evidence);

  // From the reactor, on gRPC's threads.
  void OnRead(bool ok, v1::AttachRequest frame) ABSL_LOCKS_EXCLUDED(mu_);
  void OnWritten(bool ok) ABSL_LOCKS_EXCLUDED(mu_);
  void OnCancelled();

  void OnHello(v1::Hello hello);
  void OnRegistered(absl::StatusOr<SessionKey> key) ABSL_LOCKS_EXCLUDED(mu_);
  void OnFrame(const SessionKey& key, v1::AttachRequest frame);
  void OnSubmit(const SessionKey& key, v1::Submit submit);
  // The answer of submit `number`: sent once those before it are answered.
  void OnSubmitted(int64_t number, v1::AttachResponse frame)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Counts a frame that was handed to the core.
  void CountFrame() ABSL_LOCKS_EXCLUDED(mu_);
  // Tells the registrar, once, that the session left.
  void Leave(v1::Goodbye::Reason reason) ABSL_LOCKS_EXCLUDED(mu_);
  // Starts the next read, write or the end, whatever is due.
  void Advance() ABSL_LOCKS_EXCLUDED(mu_);
  void AdvanceOnExecutor();

  const BrokerCore core_;
  // Set before the first read.
  CallerEvidence evidence_;
  SerialExecutor& executor_;

  mutable Mutex mu_;
  // Valid until `finished_`: after Finish gRPC may delete it at any time.
  CallReactor* reactor_ ABSL_GUARDED_BY(mu_) = nullptr;
  std::deque<v1::AttachResponse> queue_ ABSL_GUARDED_BY(mu_);
  v1::AttachResponse in_flight_;
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool reading_ ABSL_GUARDED_BY(mu_) = false;
  // Threads between the decision to read and the end of gRPC's call: Finish
  // must wait, or the reactor could be gone. A second may come before the first
  // is back.
  int starting_reads_ ABSL_GUARDED_BY(mu_) = 0;
  // The caller is known, and has not ended its side.
  bool readable_ ABSL_GUARDED_BY(mu_) = false;
  bool broken_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  std::optional<absl::Status> closing_ ABSL_GUARDED_BY(mu_);
  // Of submits that are not yet answered, in their order; refusals come sooner
  // than acceptances.
  std::deque<std::optional<v1::AttachResponse>> answers_ ABSL_GUARDED_BY(mu_);
  // The number of the first of them.
  int64_t first_answer_ ABSL_GUARDED_BY(mu_) = 0;
  // Frames read since the last mark, and whether the core is still to reach
  // that.
  int unmarked_ ABSL_GUARDED_BY(mu_) = 0;
  bool marked_ ABSL_GUARDED_BY(mu_) = false;
  bool hello_seen_ ABSL_GUARDED_BY(mu_) = false;
  std::optional<SessionKey> key_ ABSL_GUARDED_BY(mu_);
  // Set when the client left before it was registered, or after.
  std::optional<v1::Goodbye::Reason> left_ ABSL_GUARDED_BY(mu_);
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_RPC_ATTACH_STREAM_H_
