// The two streams of InspectionService over real gRPC.
#include <atomic>
#include <optional>

#include "tests/integration/broker_fixture.h"

namespace intercom {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// One stream that its test reads by hand.
template <typename Response>
class WatchClient {
 public:
  template <typename Request, typename Method>
  WatchClient(std::shared_ptr<BrokerClient> client, Method method,
              const Request& request)
      : client_(std::move(client)) {
    client_->Prepare(context_);
    reader_ = (client_->inspection.get()->*method)(&context_, request);
  }
  ~WatchClient() {
    context_.TryCancel();
    if (!ended_) (void)End();
  }

  // nullopt at the end.
  std::optional<Response> Read() {
    Response response;
    if (!reader_->Read(&response)) return std::nullopt;
    return response;
  }
  // Reads on until `is_it`. The end of the stream fails the test.
  template <typename IsIt>
  Response ReadUntil(IsIt is_it) {
    while (auto response = Read()) {
      if (is_it(*response)) return *response;
    }
    ADD_FAILURE() << "the stream ended";
    return {};
  }
  void Cancel() { context_.TryCancel(); }
  // Reads what is left.
  CallEnd End() {
    while (Read().has_value()) {
    }
    ended_ = true;
    return CallEnd::Of(reader_->Finish(), context_);
  }

 private:
  const std::shared_ptr<BrokerClient> client_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<Response>> reader_;
  bool ended_ = false;
};

using EventClient = WatchClient<v1::WatchEventsResponse>;
using OverviewClient = WatchClient<v1::WatchOverviewResponse>;

class WatchOverTheWireTest : public BrokerFixture {
 protected:
  WatchOverTheWireTest() { StartBroker(); }

  std::unique_ptr<EventClient> WatchEvents(
      const std::string& cursor = "",
      std::shared_ptr<BrokerClient> client = nullptr) {
    v1::WatchEventsRequest request;
    request.set_cursor(cursor);
    return std::make_unique<EventClient>(
        client == nullptr ? Unix() : std::move(client),
        &v1::InspectionService::Stub::WatchEvents, request);
  }
  std::unique_ptr<OverviewClient> WatchOverview(
      const std::string& directory = "") {
    v1::WatchOverviewRequest request;
    request.set_directory(directory);
    return std::make_unique<OverviewClient>(
        Unix(), &v1::InspectionService::Stub::WatchOverview, request);
  }
  // Waits until the broker has a place for another one.
  std::unique_ptr<EventClient> WatchOnceThereIsRoom() {
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < end) {
      auto watch = WatchEvents();
      if (watch->Read().has_value()) return watch;
    }
    ADD_FAILURE() << "no place became free";
    return nullptr;
  }
  static bool IsAttached(const v1::WatchEventsResponse& event,
                         const std::string& session_id) {
    return event.session().kind() == v1::SessionChange::KIND_ATTACHED &&
           event.session().session_id() == session_id;
  }
};

TEST_F(WatchOverTheWireTest, EventsAreShownAsTheyHappen) {
  const auto events = WatchEvents();
  const auto start = events->Read();
  ASSERT_TRUE(start.has_value());
  EXPECT_TRUE(start->has_start());
  EXPECT_NE(start->cursor(), "");

  const auto coordinator = Attach("c-1");
  const auto worker = Attach("w-1", InjectAtOnce);
  ASSERT_TRUE(Unix()->Send("Reviewer", Message("m-1"), root_, nullptr).ok());

  const auto injected = events->ReadUntil([](const auto& event) {
    return event.delivery().delivery().state() == v1::DELIVERY_STATE_INJECTED;
  });
  EXPECT_EQ(injected.delivery().delivery().recipient_name(), "Reviewer");
  EXPECT_EQ(injected.delivery().delivery().recipient_session_id(), "w-1");
}

TEST_F(WatchOverTheWireTest, ACursorGoesOnBehindItsEvent) {
  std::string cursor;
  {
    const auto events = WatchEvents();
    events->Read();
    const auto coordinator = Attach("c-1");
    cursor = events
                 ->ReadUntil(
                     [](const auto& event) { return IsAttached(event, "c-1"); })
                 .cursor();
  }
  const auto worker = Attach("w-1");

  const auto events = WatchEvents(cursor);
  EXPECT_TRUE(events->Read()->has_start());
  bool left = false;
  events->ReadUntil([&](const auto& event) {
    EXPECT_FALSE(IsAttached(event, "c-1")) << "it was told before";
    left = left || event.session().session_id() == "c-1";
    return IsAttached(event, "w-1");
  });
  EXPECT_TRUE(left);
}

TEST_F(WatchOverTheWireTest, ACursorOfTheLastBrokerHasExpired) {
  const std::string cursor = WatchEvents()->Read()->cursor();
  RestartBroker();
  EXPECT_THAT(WatchEvents(cursor)->End(),
              EndsWithReason(grpc::StatusCode::OUT_OF_RANGE, "CURSOR_EXPIRED"));
  EXPECT_THAT(
      WatchEvents("nonsense")->End(),
      EndsWithReason(grpc::StatusCode::INVALID_ARGUMENT, "CURSOR_INVALID"));
}

TEST_F(WatchOverTheWireTest, AnOverviewIsWholeAtOnceAndAgainAfterAChange) {
  const auto coordinator = Attach("c-1");
  const auto overviews = WatchOverview(root_);
  const auto first = overviews->Read();
  ASSERT_TRUE(first.has_value());
  ASSERT_EQ(first->workspaces_size(), 1);
  EXPECT_THAT(first->workspaces(0).sessions(), SizeIs(3));

  const auto worker = Attach("w-1");
  overviews->ReadUntil([](const auto& overview) {
    return overview.workspaces(0).sessions(1).entry().presence() ==
           v1::PRESENCE_ATTACHED;
  });
}

TEST_F(WatchOverTheWireTest, ADirectoryWithoutAWorkspaceIsNotFound) {
  EXPECT_THAT(WatchOverview(dir_.path())->End(),
              EndsWithReason(grpc::StatusCode::NOT_FOUND, "NO_WORKSPACE"));
}

TEST_F(WatchOverTheWireTest, OverTcpAWatchNeedsTheToken) {
  EXPECT_THAT(
      WatchEvents("", BrokerClient::OverTcp(broker_->port(), ""))->End(),
      EndsWithReason(grpc::StatusCode::UNAUTHENTICATED, "TOKEN_MISSING"));
  EXPECT_TRUE(WatchEvents("", Tcp())->Read()->has_start());
}

TEST_F(WatchOverTheWireTest, ADrainingBrokerEndsBothStreams) {
  const auto events = WatchEvents();
  const auto overviews = WatchOverview();
  ASSERT_TRUE(events->Read().has_value());
  ASSERT_TRUE(overviews->Read().has_value());
  broker_->BeginStop();
  EXPECT_THAT(events->End(),
              EndsWithReason(grpc::StatusCode::UNAVAILABLE, "DRAINING"));
  EXPECT_THAT(overviews->End(),
              EndsWithReason(grpc::StatusCode::UNAVAILABLE, "DRAINING"));
}

TEST_F(WatchOverTheWireTest, SixtyFourWatchAndOneThatLeavesMakesRoom) {
  std::vector<std::unique_ptr<EventClient>> watches;
  const auto client = Unix();
  for (int i = 0; i < 64; ++i) {
    watches.push_back(WatchEvents("", client));
    ASSERT_TRUE(watches.back()->Read().has_value()) << i;
  }
  EXPECT_THAT(
      WatchEvents()->End(),
      EndsWithReason(grpc::StatusCode::RESOURCE_EXHAUSTED, "WATCHES_FULL"));
  EXPECT_THAT(
      WatchOverview()->End(),
      EndsWithReason(grpc::StatusCode::RESOURCE_EXHAUSTED, "WATCHES_FULL"));
  watches.back()->Cancel();
  EXPECT_NE(WatchOnceThereIsRoom(), nullptr);
}

TEST_F(WatchOverTheWireTest, OneThatDoesNotReadEndsOnceItsEventsAreGone) {
  // Over TCP, where what is not read soon fills a window of fixed size.
  const auto slow = WatchEvents("", Tcp());
  ASSERT_TRUE(slow->Read().has_value());
  const auto coordinator = Attach("c-1");
  const auto other = WatchEvents();
  other->Read();
  // More than fit into the ring and the window.
  constexpr int kChanges = 20'000;
  for (int i = 0; i < kChanges; ++i) {
    v1::AttachRequest frame;
    frame.mutable_activity()->set_phase(v1::ACTIVITY_PHASE_TOOL);
    frame.mutable_activity()->set_label((i % 2 == 0 ? "a" : "b") +
                                        std::string(63, 'x'));
    ASSERT_TRUE(coordinator->Write(frame));
  }
  v1::AttachRequest last;
  last.mutable_activity()->set_label("the last");
  ASSERT_TRUE(coordinator->Write(last));
  // One that reads has them all, or ends in the same way if it is slow.
  int seen = 0;
  std::optional<v1::WatchEventsResponse> event;
  while ((event = other->Read()) && event->session().label() != "the last") {
    ++seen;
  }
  EXPECT_GT(seen, 0);
  EXPECT_THAT(slow->End(), EndsWithReason(grpc::StatusCode::RESOURCE_EXHAUSTED,
                                          "WATCH_TOO_SLOW"));
}

TEST_F(WatchOverTheWireTest, AWatchKeepsAnIdleBroker) {
  broker_->Stop();
  broker_.reset();
  BrokerOptions options = Options();
  options.idle_exit = absl::Seconds(60);
  broker_ = *RunningBroker::Start(options, clock_);
  auto watch = WatchOverview();
  ASSERT_TRUE(watch->Read().has_value());
  clock_.Advance(absl::Seconds(90));
  EXPECT_FALSE(broker_->LeftWithin(std::chrono::milliseconds(2500)));
  watch.reset();
  clock_.Advance(absl::Seconds(90));
  // It looks once a second, and the first look still saw the call.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!broker_->LeftWithin(std::chrono::milliseconds(1500)) &&
         std::chrono::steady_clock::now() < end) {
    clock_.Advance(absl::Seconds(90));
  }
  EXPECT_TRUE(broker_->left());
}

TEST_F(WatchOverTheWireTest, TheUnaryCallsAnswer) {
  const auto coordinator = Attach("c-1");
  const auto client = Unix();
  using Stub = v1::InspectionService::Stub;
  v1::GetMetricsResponse metrics;
  EXPECT_TRUE(client
                  ->Call(*client->inspection, &Stub::GetMetrics,
                         v1::GetMetricsRequest(), metrics)
                  .ok());
  EXPECT_THAT(metrics.latencies(), SizeIs(4));
  v1::GetSessionRequest named;
  named.set_session_id("c-1");
  v1::GetSessionResponse session;
  EXPECT_TRUE(
      client->Call(*client->inspection, &Stub::GetSession, named, session)
          .ok());
  EXPECT_EQ(session.entry().name(), "Coordinator");
  v1::CheckStoreResponse check;
  EXPECT_TRUE(client
                  ->Call(*client->inspection, &Stub::CheckStore,
                         v1::CheckStoreRequest(), check)
                  .ok());
  EXPECT_TRUE(check.complete());
  EXPECT_THAT(check.findings(), IsEmpty());
}

}  // namespace
}  // namespace intercom
