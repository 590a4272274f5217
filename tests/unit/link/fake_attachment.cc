#include "tests/unit/link/fake_attachment.h"

#include <utility>

#include "tests/unit/link/fake_broker.h"

namespace intercom {

FakeAttachment::FakeAttachment(FakeBroker& broker) : broker_(broker) {
  {
    MutexLock lock(broker_.mu_);
    broker_.live_.insert(this);
  }
  StartRead(&incoming_);
}

void FakeAttachment::Send(v1::AttachResponse frame) {
  {
    MutexLock lock(mu_);
    if (finished_ || closing_.has_value()) return;
    queue_.push_back(std::move(frame));
  }
  Advance();
}

void FakeAttachment::Close(grpc::Status status) {
  {
    MutexLock lock(mu_);
    if (closing_.has_value()) return;
    closing_ = std::move(status);
  }
  Advance();
}

void FakeAttachment::Advance() {
  std::optional<grpc::Status> finish_with;
  {
    MutexLock lock(mu_);
    if (writing_ || finished_) return;
    if (!queue_.empty()) {
      writing_ = true;
      in_flight_ = std::move(queue_.front());
      queue_.pop_front();
    } else if (closing_.has_value()) {
      finished_ = true;
      finish_with = closing_;
    } else {
      return;
    }
  }
  if (finish_with.has_value()) {
    Finish(*finish_with);
  } else {
    StartWrite(&in_flight_);
  }
}

void FakeAttachment::OnWriteDone(bool ok) {
  {
    MutexLock lock(mu_);
    writing_ = false;
    if (!ok) queue_.clear();
  }
  if (ok) broker_.Note([](FakeBroker::Seen& seen) { ++seen.frames_written; });
  Advance();
}

void FakeAttachment::OnReadDone(bool ok) {
  if (!ok) return Close(grpc::Status::OK);
  broker_.Handle(this, incoming_);
  StartRead(&incoming_);
}

void FakeAttachment::OnCancel() {
  {
    MutexLock lock(mu_);
    queue_.clear();
  }
  Close(grpc::Status::CANCELLED);
}

void FakeAttachment::OnDone() {
  {
    MutexLock lock(broker_.mu_);
    broker_.live_.erase(this);
  }
  broker_.Note([](FakeBroker::Seen& seen) { ++seen.streams_ended; });
  delete this;
}

}  // namespace intercom
