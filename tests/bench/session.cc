#include "tests/bench/session.h"

#include <grpcpp/create_channel.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace intercom::bench {
namespace {

std::shared_ptr<grpc::Channel> Connect(const std::string& socket) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(
      "unix:" + socket, grpc::InsecureChannelCredentials(), arguments);
}

v1::AttachRequest ReceiptOf(const v1::Delivery& delivery,
                            v1::Receipt::Event event) {
  v1::AttachRequest frame;
  frame.mutable_receipt()->set_delivery_id(delivery.delivery_id());
  frame.mutable_receipt()->set_event(event);
  frame.mutable_receipt()->set_evidence("bench");
  return frame;
}

}  // namespace

Session::Session(const std::string& socket, std::string id,
                 std::string directory)
    : id_(std::move(id)),
      directory_(std::move(directory)),
      channel_(Connect(socket)),
      stub_(v1::SessionService::NewStub(channel_)) {}

void Session::Attach(Progress& ready) {
  ready_ = &ready;
  stub_->async()->Attach(&context_, this);
  // Writes come from outside reactions until Leave.
  AddHold();
  v1::AttachRequest frame;
  v1::Hello& hello = *frame.mutable_hello();
  hello.set_protocol_version(1);
  hello.set_session_id(id_);
  hello.set_host_kind("bench");
  hello.set_host_pid(getpid());
  hello.set_cwd(directory_);
  hello.set_start_reason(v1::START_REASON_STARTUP);
  hello.set_workspace_mode(v1::WORKSPACE_MODE_EXISTING);
  Write(std::move(frame));
  StartRead(&incoming_);
  StartCall();
}

void Session::Leave() {
  {
    MutexLock lock(mu_);
    leaving_ = true;
  }
  v1::AttachRequest frame;
  frame.mutable_goodbye()->set_reason(v1::Goodbye::REASON_QUIT);
  Write(std::move(frame));
  RemoveHold();
  done_.WaitFor(1, "the end of a stream");
}

void Session::SetEvents(Events events) {
  MutexLock lock(mu_);
  events_ = std::make_shared<Events>(std::move(events));
}

void Session::Refill() {
  const TimePoint now = SteadyClock::now();
  const double seconds = Microseconds(now - refilled_at_) / 1e6;
  allowance_ = std::min(kBurst, allowance_ + seconds * kSendsPerSecond);
  refilled_at_ = now;
}

void Session::WaitForAllowance(int sends) {
  double missing = 0;
  {
    MutexLock lock(mu_);
    Refill();
    missing = sends - allowance_;
  }
  if (missing <= 0) return;
  std::this_thread::sleep_for(
      std::chrono::duration<double>(missing / kSendsPerSecond + 0.01));
}

void Session::Submit(const std::string& to, const std::string& text) {
  v1::AttachRequest frame;
  v1::Submit& submit = *frame.mutable_submit();
  submit.set_to(to);
  v1::Envelope& envelope = *submit.mutable_envelope();
  envelope.set_kind(v1::ENVELOPE_KIND_MESSAGE);
  envelope.set_text(text);
  {
    MutexLock lock(mu_);
    Refill();
    allowance_ -= 1;
    // Ids are of the length of a UUID.
    std::string id = std::to_string(++submits_);
    envelope.set_envelope_id(std::string(36 - id.size(), '0') + id);
  }
  Write(std::move(frame));
}

void Session::Write(v1::AttachRequest frame) {
  if (const auto* next = writes_.Push(std::move(frame))) StartWrite(next);
}

void Session::OnWriteDone(bool ok) {
  if (!ok) return;
  if (const auto* next = writes_.Next()) StartWrite(next);
}

void Session::OnReadDone(bool ok) {
  if (!ok) return;
  Receive(incoming_);
  StartRead(&incoming_);
}

void Session::OnDone(const grpc::Status& status) {
  bool expected = false;
  {
    MutexLock lock(mu_);
    expected = leaving_ && status.ok();
  }
  if (!expected) Die("stream of " + id_ + " ended: " + status.error_message());
  done_.Count();
}

void Session::Receive(const v1::AttachResponse& frame) {
  std::shared_ptr<const Events> events;
  {
    MutexLock lock(mu_);
    events = events_;
  }
  switch (frame.frame_case()) {
    case v1::AttachResponse::kDelivery:
      return Take(frame.delivery(), *events);
    case v1::AttachResponse::kSubmitted:
      if (frame.submitted().has_failure()) {
        Die("a submit of " + id_ +
            " was refused: " + frame.submitted().failure().message());
      }
      if (events->on_accepted) events->on_accepted();
      return;
    case v1::AttachResponse::kReconcile: {
      v1::AttachRequest present;
      *present.mutable_present()->mutable_delivery_ids() =
          frame.reconcile().delivery_ids();
      Write(std::move(present));
      ready_->Count();
      return;
    }
    default:
      return;
  }
}

void Session::Take(const v1::Delivery& delivery, const Events& events) {
  if (events.on_delivery) events.on_delivery(delivery);
  Write(ReceiptOf(delivery, v1::Receipt::EVENT_DELIVERED));
  Write(ReceiptOf(delivery, v1::Receipt::EVENT_INJECTED));
}

}  // namespace intercom::bench
