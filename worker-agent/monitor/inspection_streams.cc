#include "worker-agent/monitor/inspection_streams.h"

#include <utility>

#include "broker/base/error.h"
#include "worker-agent/link/broker_address.h"
#include "worker-agent/link/channel.h"

namespace intercom {
namespace {

constexpr absl::Duration kAnswerWithin = absl::Seconds(10);
constexpr int kDeliveriesBefore = 100;
constexpr Backoff::Bounds kPauses = {.first = absl::Milliseconds(200),
                                     .limit = absl::Seconds(5)};

// One question. Lives by itself until gRPC is done with it.
template <typename Request, typename Response>
class Question : public grpc::ClientUnaryReactor {
 public:
  using Done = std::function<void(absl::StatusOr<Response>)>;

  Question(Request request, std::shared_ptr<OpenCalls> calls, Done done)
      : request_(std::move(request)),
        calls_(std::move(calls)),
        done_(std::move(done)) {}

  // `begin` starts the call: the stub's method for it.
  template <typename Begin>
  static void Ask(Request request, std::shared_ptr<OpenCalls> calls, Done done,
                  const Begin& begin) {
    const auto question = std::make_shared<Question>(
        std::move(request), std::move(calls), std::move(done));
    question->self_ = question;
    question->calls_->Opened(&question->context_);
    SetTimeout(question->context_, kAnswerWithin);
    begin(&question->context_, &question->request_, &question->response_,
          question.get());
    question->StartCall();
  }

  void OnDone(const grpc::Status& status) override {
    if (status.ok()) {
      done_(std::move(response_));
    } else {
      done_(FromGrpc(status, context_));
    }
    // This object may be gone as soon as it is handed over.
    const std::shared_ptr<OpenCalls> calls = calls_;
    calls->Finished(&context_, std::move(self_));
  }

 private:
  const Request request_;
  Response response_;
  grpc::ClientContext context_;
  const std::shared_ptr<OpenCalls> calls_;
  const Done done_;
  std::shared_ptr<Question> self_;
};

}  // namespace

InspectionStreams::InspectionStreams(const std::string& home,
                                     TaskRunner& runner, Random& random,
                                     Events events)
    : events_(std::move(events)),
      gate_(std::make_shared<PostGate>(runner)),
      calls_(std::make_shared<OpenCalls>(gate_)),
      channel_(MakeChannel(UnixAddress(home))),
      inspection_(v1::InspectionService::NewStub(channel_)),
      messages_(v1::MessageService::NewStub(channel_)),
      overview_backoff_(random, kPauses),
      events_backoff_(random, kPauses) {}

InspectionStreams::~InspectionStreams() {
  gate_->Close();
  if (overview_ != nullptr) overview_->Cancel();
  if (event_stream_ != nullptr) event_stream_->Cancel();
  calls_->CancelAll();
}

std::function<void()> InspectionStreams::Current(std::function<void()> task) {
  return [this, generation = generation_, task = std::move(task)] {
    if (generation == generation_) task();
  };
}

void InspectionStreams::Watch(const std::string& directory,
                              const std::string& monitor_claim_id) {
  ++generation_;
  if (overview_ != nullptr) overview_->Cancel();
  if (event_stream_ != nullptr) event_stream_->Cancel();
  overview_.reset();
  event_stream_.reset();
  directory_ = directory;
  claim_id_ = monitor_claim_id;
  cursor_.clear();
  overview_backoff_.Reset();
  events_backoff_.Reset();
  OpenOverview();
  OpenEvents();
}

void InspectionStreams::OpenOverview() {
  v1::WatchOverviewRequest request;
  request.set_directory(directory_);
  request.set_monitor_claim_id(claim_id_);
  overview_ = OverviewStream::Open(
      calls_, gate_, std::move(request),
      [this](auto* context, auto* wanted, auto* reactor) {
        inspection_->async()->WatchOverview(context, wanted, reactor);
      },
      {.response =
           [this, gate = gate_,
            generation = generation_](v1::WatchOverviewResponse overview) {
             gate->Post(
                 [this, generation, overview = std::move(overview)]() mutable {
                   if (generation != generation_) return;
                   overview_backoff_.Reset();
                   events_.overview(std::move(overview));
                   if (overview_ != nullptr) overview_->ReadNext();
                 });
           },
       .done =
           [this, gate = gate_, generation = generation_](absl::Status status) {
             gate->Post([this, generation, status = std::move(status)] {
               if (generation == generation_) OnOverviewDone(status);
             });
           }});
}

void InspectionStreams::OnOverviewDone(const absl::Status& status) {
  overview_.reset();
  events_.lost(status.ok() ? Error(absl::StatusCode::kUnavailable, "DRAINING",
                                   "the broker ended the stream")
                           : status);
  gate_->PostDelayed(Current([this] { OpenOverview(); }),
                     overview_backoff_.Next());
}

void InspectionStreams::OpenEvents() {
  v1::WatchEventsRequest request;
  request.set_directory(directory_);
  request.set_cursor(cursor_);
  event_stream_ = EventStream::Open(
      calls_, gate_, std::move(request),
      [this](auto* context, auto* wanted, auto* reactor) {
        inspection_->async()->WatchEvents(context, wanted, reactor);
      },
      {.response =
           [this, gate = gate_,
            generation = generation_](v1::WatchEventsResponse event) {
             gate->Post([this, generation, event = std::move(event)]() mutable {
               if (generation != generation_) return;
               events_backoff_.Reset();
               // What was before a beginning is in the lists.
               if (cursor_.empty()) ListDeliveries();
               cursor_ = event.cursor();
               events_.event(std::move(event));
               if (event_stream_ != nullptr) event_stream_->ReadNext();
             });
           },
       .done =
           [this, gate = gate_, generation = generation_](absl::Status status) {
             gate->Post([this, generation, status = std::move(status)] {
               if (generation == generation_) OnEventsDone(status);
             });
           }});
}

void InspectionStreams::OnEventsDone(const absl::Status& status) {
  event_stream_.reset();
  const std::string reason = ReasonOf(status);
  if (reason == "CURSOR_EXPIRED" || reason == "CURSOR_INVALID" ||
      reason == "WATCH_TOO_SLOW") {
    cursor_.clear();
  }
  gate_->PostDelayed(Current([this] { OpenEvents(); }), events_backoff_.Next());
}

void InspectionStreams::ListDeliveries() {
  v1::ListDeliveriesRequest request;
  request.set_directory(directory_);
  request.set_page_size(kDeliveriesBefore);
  Question<v1::ListDeliveriesRequest, v1::ListDeliveriesResponse>::Ask(
      std::move(request), calls_,
      [this, gate = gate_, generation = generation_](
          absl::StatusOr<v1::ListDeliveriesResponse> answer) {
        if (!answer.ok()) return;
        gate->Post([this, generation, answer = std::move(*answer)]() mutable {
          if (generation == generation_) {
            events_.deliveries(std::move(answer));
          }
        });
      },
      [this](auto... arguments) {
        inspection_->async()->ListDeliveries(arguments...);
      });
}

void InspectionStreams::GetSession(const std::string& session_id,
                                   Answer<v1::GetSessionResponse> answer) {
  v1::GetSessionRequest request;
  request.set_session_id(session_id);
  Question<v1::GetSessionRequest, v1::GetSessionResponse>::Ask(
      std::move(request), calls_,
      [gate = gate_, answer = std::move(answer)](
          absl::StatusOr<v1::GetSessionResponse> response) {
        gate->Post([answer, response = std::move(response)]() mutable {
          answer(std::move(response));
        });
      },
      [this](auto... arguments) {
        inspection_->async()->GetSession(arguments...);
      });
}

void InspectionStreams::GetMessage(const std::string& id,
                                   Answer<v1::GetMessageResponse> answer) {
  v1::GetMessageRequest request;
  request.set_id(id);
  Question<v1::GetMessageRequest, v1::GetMessageResponse>::Ask(
      std::move(request), calls_,
      [gate = gate_, answer = std::move(answer)](
          absl::StatusOr<v1::GetMessageResponse> response) {
        gate->Post([answer, response = std::move(response)]() mutable {
          answer(std::move(response));
        });
      },
      [this](auto... arguments) {
        messages_->async()->GetMessage(arguments...);
      });
}

}  // namespace intercom
