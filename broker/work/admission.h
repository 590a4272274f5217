#ifndef PI_INTERCOM_BROKER_WORK_ADMISSION_H_
#define PI_INTERCOM_BROKER_WORK_ADMISSION_H_

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "broker/base/error.h"
#include "broker/storage/state_runner.h"

namespace intercom {

// Bounds what waits for the state's thread, whose queue has no limit of its
// own. Thread-safe.
class Admission {
 public:
  static constexpr int64_t kMaxWaiting = 8192;

  // `runner` must outlive this object.
  explicit Admission(StateRunner& runner) : runner_(runner) {}

  // RESOURCE_EXHAUSTED (BROKER_BUSY) while too much waits.
  absl::Status Check() const {
    if (runner_.waiting() < kMaxWaiting) return absl::OkStatus();
    return Error(absl::StatusCode::kResourceExhausted, "BROKER_BUSY",
                 "more than 8,192 calls wait in the broker; nothing was done, "
                 "try again in a second");
  }

  // Calls `reached` on the state's thread when everything posted before has had
  // its turn.
  void AfterPresent(Task reached) { runner_.PostTask(std::move(reached)); }

 private:
  StateRunner& runner_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_ADMISSION_H_
