#ifndef PI_INTERCOM_TESTS_SUPPORT_RECORDING_LINK_H_
#define PI_INTERCOM_TESTS_SUPPORT_RECORDING_LINK_H_

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "broker/base/mutex.h"
#include "broker/roster/session_link.h"

namespace intercom {

// An agent that keeps what the broker sends it. Thread-safe.
class RecordingLink : public SessionLink {
 public:
  void Send(v1::AttachResponse frame) override {
    MutexLock lock(mu_);
    if (closed_.has_value()) return;
    frames_.push_back(std::move(frame));
    changed_.NotifyAll();
  }
  void Close(absl::Status status) override {
    MutexLock lock(mu_);
    if (!closed_.has_value()) closed_ = std::move(status);
    changed_.NotifyAll();
  }

  bool IsGone() const override { return is_gone_; }
  // The client dies; nothing else is told.
  void Vanish() { is_gone_ = true; }

  std::vector<v1::AttachResponse> frames() const {
    MutexLock lock(mu_);
    return frames_;
  }
  // With which status the stream was closed; nullopt while it is open.
  std::optional<absl::Status> closed() const {
    MutexLock lock(mu_);
    return closed_;
  }
  std::vector<v1::AttachResponse> Of(v1::AttachResponse::FrameCase kind) const {
    MutexLock lock(mu_);
    return Select(kind);
  }
  std::vector<v1::Delivery> deliveries() const {
    std::vector<v1::Delivery> found;
    for (const auto& frame : Of(v1::AttachResponse::kDelivery)) {
      found.push_back(frame.delivery());
    }
    return found;
  }
  // The texts delivered so far, in order.
  std::vector<std::string> texts() const {
    std::vector<std::string> found;
    for (const v1::Delivery& delivery : deliveries()) {
      found.push_back(delivery.envelope().text());
    }
    return found;
  }
  v1::Welcome welcome() const {
    const auto found = Of(v1::AttachResponse::kWelcome);
    return found.empty() ? v1::Welcome() : found.front().welcome();
  }

  // Blocks until `count` frames of a kind have come and returns them. After 60
  // s without them the test hangs: aborts.
  std::vector<v1::AttachResponse> WaitFor(v1::AttachResponse::FrameCase kind,
                                          size_t count = 1) {
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::seconds(60);
    MutexLock lock(mu_);
    for (;;) {
      auto found = Select(kind);
      if (found.size() >= count) return found;
      if (std::chrono::steady_clock::now() > end) std::abort();
      changed_.WaitFor(mu_, std::chrono::seconds(1));
    }
  }

 private:
  std::vector<v1::AttachResponse> Select(v1::AttachResponse::FrameCase kind)
      const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    std::vector<v1::AttachResponse> found;
    for (const auto& frame : frames_) {
      if (frame.frame_case() == kind) found.push_back(frame);
    }
    return found;
  }

  std::atomic<bool> is_gone_ = false;
  mutable Mutex mu_;
  CondVar changed_;
  std::vector<v1::AttachResponse> frames_ ABSL_GUARDED_BY(mu_);
  std::optional<absl::Status> closed_ ABSL_GUARDED_BY(mu_);
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_SUPPORT_RECORDING_LINK_H_
