#ifndef PI_INTERCOM_TESTS_BENCH_SESSION_H_
#define PI_INTERCOM_TESTS_BENCH_SESSION_H_

#include <grpcpp/support/client_callback.h>

#include <functional>
#include <memory>
#include <string>

#include "broker/base/mutex.h"
#include "intercom/v1/session.grpc.pb.h"
#include "tests/bench/frame_queue.h"
#include "tests/bench/progress.h"

namespace intercom::bench {

// One session that a measurement drives: an Attach stream over a connection of
// its own, as an agent process has. It takes each delivery at once: first
// `on_delivery` is called, then the receipts *delivered* and *injected* go out.
//
// Thread-safe. Must not be destroyed before Leave returned.
class Session final
    : public grpc::ClientBidiReactor<v1::AttachRequest, v1::AttachResponse> {
 public:
  // What a session may send at once, and what it gains a second. The broker's
  // own limits: a measurement stays within them.
  static constexpr double kBurst = 240;
  static constexpr double kSendsPerSecond = 120;

  // Called on gRPC's threads, one call at a time for each session.
  struct Events {
    std::function<void(const v1::Delivery&)> on_delivery;
    std::function<void()> on_accepted;
  };

  Session(const std::string& socket, std::string id, std::string directory);

  // Begins to attach; `ready` counts when mail may flow.
  void Attach(Progress& ready);
  // Says goodbye and waits for the end of the stream.
  void Leave();

  // For what comes from now on. Only while nothing is under way.
  void SetEvents(Events events) ABSL_LOCKS_EXCLUDED(mu_);

  // Sleeps until `sends` submits are within the limit.
  void WaitForAllowance(int sends) ABSL_LOCKS_EXCLUDED(mu_);
  // Sends `text` to the session `to`. A refusal ends the program.
  void Submit(const std::string& to, const std::string& text)
      ABSL_LOCKS_EXCLUDED(mu_);

  const std::string& id() const { return id_; }

 private:
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

  void Write(v1::AttachRequest frame);
  void Receive(const v1::AttachResponse& frame);
  void Take(const v1::Delivery& delivery, const Events& events);
  void Refill() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string id_;
  const std::string directory_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::SessionService::Stub> stub_;
  grpc::ClientContext context_;
  FrameQueue<v1::AttachRequest> writes_;
  v1::AttachResponse incoming_;
  Progress* ready_ = nullptr;
  Progress done_;

  Mutex mu_;
  std::shared_ptr<const Events> events_ ABSL_GUARDED_BY(mu_) =
      std::make_shared<Events>();
  bool leaving_ ABSL_GUARDED_BY(mu_) = false;
  int submits_ ABSL_GUARDED_BY(mu_) = 0;
  double allowance_ ABSL_GUARDED_BY(mu_) = kBurst;
  TimePoint refilled_at_ ABSL_GUARDED_BY(mu_) = SteadyClock::now();
};

}  // namespace intercom::bench

#endif  // PI_INTERCOM_TESTS_BENCH_SESSION_H_
