#include "broker/rpc/watch_stream.h"

#include <utility>

#include "broker/base/error.h"
#include "broker/rpc/status_conversion.h"
#include "intercom/v1/inspect.pb.h"

namespace intercom {

// What gRPC owns: lives until OnDone, and only forwards.
template <typename Response>
class WatchStream<Response>::CallReactor final : public Reactor {
 public:
  CallReactor(grpc::CallbackServerContext& context,
              std::shared_ptr<WatchStream> stream)
      : context_(context), stream_(std::move(stream)) {}

  void OnWriteDone(bool ok) override { stream_->OnWritten(ok); }
  void OnCancel() override {
    stream_->Close(Error(absl::StatusCode::kCancelled, "CANCELLED",
                         "the client went away"));
  }
  void OnDone() override {
    stream_->Release();
    delete this;
  }

  void FinishWith(const absl::Status& status) {
    if (!status.ok()) {
      context_.AddTrailingMetadata(kReasonMetadata, WireReason(status));
    }
    this->Finish(ToGrpc(status));
  }

 private:
  grpc::CallbackServerContext& context_;
  const std::shared_ptr<WatchStream> stream_;
};

template <typename Response>
typename WatchStream<Response>::Reactor* WatchStream<Response>::Start(
    const AdapterContext& adapter, grpc::CallbackServerContext& context,
    Begin begin) {
  std::shared_ptr<WatchStream> stream(new WatchStream(adapter.executor));
  auto* reactor = new CallReactor(context, stream);
  {
    MutexLock lock(stream->mu_);
    stream->reactor_ = reactor;
  }
  if (absl::Status busy = adapter.core.admission.Check(); !busy.ok()) {
    stream->Close(std::move(busy));
    return reactor;
  }
  adapter.peers.FindEvidence(
      context, [stream, begin = std::move(begin)](
                   absl::StatusOr<CallerEvidence> evidence) mutable {
        if (!evidence.ok()) return stream->Close(evidence.status());
        // Weak: the watch that keeps it belongs to the stream.
        WatchWake wake = [weak = stream->weak_from_this()] {
          if (const auto woken = weak.lock()) woken->AdvanceOnExecutor();
        };
        begin(*std::move(evidence), std::move(wake),
              [stream](auto watch) { stream->OnBegun(std::move(watch)); });
      });
  return reactor;
}

template <typename Response>
void WatchStream<Response>::OnBegun(
    absl::StatusOr<std::shared_ptr<Watch<Response>>> watch) {
  if (!watch.ok()) return Close(watch.status());
  {
    MutexLock lock(mu_);
    // The client may have gone meanwhile.
    if (!closing_.has_value() && !finished_) watch_ = *std::move(watch);
  }
  AdvanceOnExecutor();
}

template <typename Response>
void WatchStream<Response>::Close(absl::Status status) {
  {
    MutexLock lock(mu_);
    if (closing_.has_value() || finished_) return;
    closing_ = std::move(status);
  }
  AdvanceOnExecutor();
}

template <typename Response>
void WatchStream<Response>::OnWritten(bool ok) {
  {
    MutexLock lock(mu_);
    writing_ = false;
    if (!ok && !closing_.has_value()) {
      closing_ = Error(absl::StatusCode::kCancelled, "CANCELLED",
                       "the client went away");
    }
  }
  AdvanceOnExecutor();
}

template <typename Response>
void WatchStream<Response>::Release() {
  std::shared_ptr<Watch<Response>> over;
  MutexLock lock(mu_);
  over = std::exchange(watch_, nullptr);
}

template <typename Response>
void WatchStream<Response>::AdvanceOnExecutor() {
  executor_.Post([self = this->shared_from_this()] { self->Advance(); });
}

template <typename Response>
void WatchStream<Response>::Advance() {
  CallReactor* reactor = nullptr;
  std::shared_ptr<Watch<Response>> watch;
  std::optional<absl::Status> finish_with;
  {
    MutexLock lock(mu_);
    if (finished_ || writing_) return;
    reactor = reactor_;
    watch = watch_;
    finish_with = closing_;
    if (!finish_with.has_value() && watch == nullptr) return;
  }
  if (!finish_with.has_value()) {
    auto next = watch->Take();
    if (next.ok() && *next == nullptr) return;  // It wakes us.
    if (next.ok()) {
      in_flight_ = *std::move(next);
    } else {
      finish_with = next.status();
    }
  }
  {
    MutexLock lock(mu_);
    finished_ = finish_with.has_value();
    writing_ = !finished_;
    // Forgotten at once, and its place is free.
    if (finished_) watch_ = nullptr;
  }
  if (finish_with.has_value()) {
    reactor->FinishWith(*finish_with);
  } else {
    reactor->StartWrite(in_flight_.get());
  }
}

template class WatchStream<v1::WatchEventsResponse>;
template class WatchStream<v1::WatchOverviewResponse>;

}  // namespace intercom
