#ifndef PI_INTERCOM_BROKER_WORK_CONTROLS_H_
#define PI_INTERCOM_BROKER_WORK_CONTROLS_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/base/random.h"
#include "broker/base/task_runner.h"
#include "broker/roster/registrar.h"
#include "broker/roster/roster.h"

namespace intercom {

// The lane of controls: requests to a session's host that are answered or time
// out, and never wait behind mail. Nothing of it survives a restart.
//
// Not thread-safe: everything is called on the state's thread, but for
// OnResult.
class Controls : public AttachmentObserver {
 public:
  static constexpr size_t kMaxPerSession = 32;

  using Answered = absl::AnyInvocable<void(absl::StatusOr<v1::ControlResult>)>;

  // All must outlive this object.
  Controls(TaskRunner& runner, Roster& roster, Random& random)
      : runner_(runner), roster_(roster), random_(random) {}

  // Called for each control that was sent, when its outcome is known and before
  // that is told. OK: the host answered.
  using OnResolved = absl::AnyInvocable<void(
      const std::string& session_id, v1::Control::Kind, const absl::Status&)>;
  void SetOnResolved(OnResolved on_resolved) {
    on_resolved_ = std::move(on_resolved);
  }

  // Sends `control` (its id and timeout are set here) to an attached session.
  // `answered` is called once, on the state's thread. UNAVAILABLE
  // (SESSION_AWAY): not attached, or left before the answer.
  // RESOURCE_EXHAUSTED (CONTROLS_FULL). DEADLINE_EXCEEDED (OUTCOME_UNKNOWN).
  void Send(const std::string& session_id, v1::Control control,
            absl::Duration timeout, Answered answered);

  // A host's answer. Thread-safe. Answers nobody waits for are dropped.
  void OnResult(SessionKey key, v1::ControlResult result);

  void OnAttached(Attachment&) override {}
  void OnDetached(const Attachment& attachment, bool restarting) override;

 private:
  struct Pending {
    std::string session_id;
    int64_t epoch = 0;
    v1::Control::Kind kind = v1::Control::KIND_UNSPECIFIED;
    Answered answered;
  };

  void Resolve(std::string_view control_id,
               absl::StatusOr<v1::ControlResult> outcome);

  TaskRunner& runner_;
  Roster& roster_;
  Random& random_;
  OnResolved on_resolved_;
  absl::flat_hash_map<std::string, Pending> pending_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_CONTROLS_H_
