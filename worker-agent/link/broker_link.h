#ifndef PI_INTERCOM_WORKER_AGENT_LINK_BROKER_LINK_H_
#define PI_INTERCOM_WORKER_AGENT_LINK_BROKER_LINK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "broker/base/task_runner.h"
#include "intercom/v1/session.pb.h"
#include "worker-agent/link/backoff.h"
#include "worker-agent/link/pending_submits.h"
#include "worker-agent/link/post_gate.h"
#include "worker-agent/link/session_calls.h"

namespace intercom {

class AttachStream;
class OpenCalls;

// One session's link to the broker: attaches, and attaches again with jitter
// whenever the stream breaks, until Goodbye, a final refusal, or another
// attachment's takeover. Submits wait for a broker and are repeated after a
// break; other frames are dropped without one.
//
// Everything, the events too, happens on `runner`.
class BrokerLink {
 public:
  struct Options {
    std::string home;
    // Over TCP with the account's token instead of the Unix socket.
    bool tcp = false;
    Backoff::Bounds backoff = {};
    // Between attempts after a failure that only a person can mend.
    absl::Duration mend_interval = absl::Seconds(10);
    // For the broker's Welcome: longer than a newcomer waits for its seat.
    absl::Duration welcome_timeout = absl::Seconds(20);
    absl::Duration ping_after = absl::Seconds(5);
    absl::Duration ping_timeout = absl::Seconds(4);
    // How long a submit waits for its answer, over breaks and restarts.
    absl::Duration submit_timeout = absl::Seconds(5);
  };

  struct Events {
    // Attached. Comes again after each reconnection.
    std::function<void(const v1::Welcome&)> welcome;
    // Any later frame but Submitted and Superseded.
    std::function<void(v1::AttachResponse)> frame;
    // No longer attached, or not yet: the reason. It tries again soon.
    std::function<void(const absl::Status&)> lost;
    // The broker refused, or can't be started. `final` tells whether the link
    // is over; otherwise it tries again, saying nothing of equal refusals.
    std::function<void(const absl::Status&, bool final)> refused;
    // Another attachment has the session. The link is over.
    std::function<void(const std::string& message)> superseded;
  };

  // `ensure_broker` makes sure that a broker answers; it runs on `blocking`,
  // where it may block. Runners and `random` must outlive this object, which is
  // destroyed on `runner` or after that stopped.
  BrokerLink(Options options, TaskRunner& runner, TaskRunner& blocking,
             Random& random, std::function<absl::Status()> ensure_broker,
             Events events);
  // Cancels what is open and waits for its end.
  ~BrokerLink();
  BrokerLink(const BrokerLink&) = delete;
  BrokerLink& operator=(const BrokerLink&) = delete;

  // How often a silent connection is pinged, and how long an answer may take.
  // Before Start().
  void SetPings(absl::Duration after, absl::Duration timeout) {
    options_.ping_after = after;
    options_.ping_timeout = timeout;
  }

  // Begins to attach with `hello`, once. The link fills in the previous token.
  void Start(v1::Hello hello);

  // While blocked nothing is read from the broker, but for one frame.
  void SetBlocked(bool blocked);

  bool attached() const { return phase_ == Phase::kAttached; }

  // Sends the envelope on this stream or the next one. The answer comes when a
  // broker gave it, when it is refused to attach, when the link is over, and at
  // the latest after the submit's time: it says what is known then.
  // `repeated`: an earlier process may have sent it.
  void Submit(v1::Submit submit, bool repeated, PendingSubmits::Answer answer);
  void CancelSubmit(const std::string& envelope_id) {
    submits_.Cancel(envelope_id);
  }

  // Sends a frame if attached.
  void Send(v1::AttachRequest frame);

  // The unary calls of the attached session; nullptr unless attached.
  SessionCalls* calls() { return attached() ? calls_.get() : nullptr; }

  // What later Hellos say: the session's present name, and whether it takes
  // runs.
  void Rename(const std::string& name) { hello_.set_session_name(name); }
  void RefuseRuns(bool refuses) { hello_.set_refuses_runs(refuses); }

  // Says goodbye if attached and ends the link; `done` is called when the
  // broker has ended the stream, after `timeout` at the latest.
  void SayGoodbye(v1::Goodbye::Reason reason, absl::Duration timeout,
                  std::function<void()> done);

 private:
  enum class Phase { kIdle, kEnsuring, kAttaching, kAttached, kWaiting, kOver };

  void Attempt();
  void OpenStream();
  void HandleFrame(v1::AttachResponse frame);
  void HandleWelcome(const v1::Welcome& welcome);
  void HandleDone(const absl::Status& status);
  void HandleFailure(const absl::Status& status);
  void RetryAfter(absl::Duration delay);
  void End(const absl::Status& status);
  void DropStream();

  Options options_;
  TaskRunner& blocking_;
  const std::function<absl::Status()> ensure_broker_;
  const Events events_;
  Backoff backoff_;
  const std::shared_ptr<PostGate> gate_;
  const std::shared_ptr<OpenCalls> open_calls_;

  Phase phase_ = Phase::kIdle;
  v1::Hello hello_;
  PendingSubmits submits_;
  std::shared_ptr<AttachStream> stream_;
  std::shared_ptr<grpc::Channel> channel_;
  std::string bearer_token_;
  std::unique_ptr<SessionCalls> calls_;
  // Rises with each attempt: events of an earlier stream are recognised.
  int64_t attempt_ = 0;
  bool blocked_ = false;
  std::optional<v1::AttachResponse> held_;
  // Why no broker takes the session, as far as known.
  absl::Status refusal_;
  std::function<void()> goodbye_done_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LINK_BROKER_LINK_H_
