#include "worker-agent/link/attach_stream.h"

#include <utility>

#include "broker/base/log.h"
#include "worker-agent/link/channel.h"

namespace intercom {

std::shared_ptr<AttachStream> AttachStream::Open(
    const std::shared_ptr<grpc::Channel>& channel,
    std::shared_ptr<OpenCalls> calls, std::string_view bearer_token,
    v1::Hello hello, Events events) {
  // The constructor is private.
  std::shared_ptr<AttachStream> stream(
      new AttachStream(channel, std::move(calls), std::move(events)));
  stream->self_ = stream;
  stream->calls_->Opened(&stream->context_);
  AddIdentity(stream->context_, bearer_token, "");
  stream->stub_->async()->Attach(&stream->context_, stream.get());
  // Writes come from outside reactions.
  stream->AddHold();
  v1::AttachRequest first;
  *first.mutable_hello() = std::move(hello);
  stream->Send(std::move(first));
  stream->StartRead(&stream->incoming_);
  stream->StartCall();
  return stream;
}

AttachStream::AttachStream(const std::shared_ptr<grpc::Channel>& channel,
                           std::shared_ptr<OpenCalls> calls, Events events)
    : calls_(std::move(calls)),
      events_(std::move(events)),
      stub_(v1::SessionService::NewStub(channel)) {}

void AttachStream::Send(v1::AttachRequest frame) {
  bool full = false;
  {
    MutexLock lock(mu_);
    if (ended_ || closing_) return;
    queued_bytes_ += frame.ByteSizeLong();
    queue_.push_back(std::move(frame));
    full = queue_.size() > kMaxQueuedFrames || queued_bytes_ > kMaxQueuedBytes;
    // Until the write is started, an end must not complete the call.
    AddHold();
  }
  if (full) {
    SPDLOG_ERROR("the broker does not read; giving the stream up");
    Cancel();
  }
  Advance();
  RemoveHold();
}

void AttachStream::ReadNext() {
  {
    MutexLock lock(mu_);
    if (ended_) return;
    AddHold();
  }
  StartRead(&incoming_);
  RemoveHold();
}

void AttachStream::CloseWrites() {
  {
    MutexLock lock(mu_);
    if (ended_ || closing_) return;
    closing_ = true;
    AddHold();
  }
  Advance();
  RemoveHold();
}

void AttachStream::Cancel() {
  context_.TryCancel();
  Release();
}

void AttachStream::Advance() {
  bool write = false;
  {
    MutexLock lock(mu_);
    if (writing_ || ended_) return;
    if (!queue_.empty()) {
      in_flight_ = std::move(queue_.front());
      queue_.pop_front();
      queued_bytes_ -= in_flight_.ByteSizeLong();
      write = true;
    } else if (!closing_) {
      return;
    }
    // Set for the half-close too: nothing is written after it.
    writing_ = true;
  }
  if (write) {
    StartWrite(&in_flight_);
  } else {
    StartWritesDone();
  }
}

void AttachStream::OnWriteDone(bool ok) {
  if (!ok) {
    // A read that is open fails too; without one this is the only sign.
    Release();
    return;
  }
  {
    MutexLock lock(mu_);
    writing_ = false;
  }
  Advance();
}

void AttachStream::OnReadDone(bool ok) {
  if (!ok) {
    Release();
    return;
  }
  events_.frame(std::exchange(incoming_, {}));
}

void AttachStream::Release() {
  {
    MutexLock lock(mu_);
    if (ended_) return;
    ended_ = true;
    queue_.clear();
  }
  RemoveHold();
}

void AttachStream::OnDone(const grpc::Status& status) {
  events_.done(FromGrpc(status, context_));
  // This object may be gone as soon as it is handed over.
  const std::shared_ptr<OpenCalls> calls = calls_;
  calls->Finished(&context_, std::move(self_));
}

}  // namespace intercom
