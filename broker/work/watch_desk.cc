#include "broker/work/watch_desk.h"

#include "broker/base/error.h"
#include "broker/base/status_macros.h"

namespace intercom {
namespace {

absl::Status Draining() {
  return Error(absl::StatusCode::kUnavailable, "DRAINING",
               "the broker is leaving; watch the next one");
}

}  // namespace

void WatchDesk::FindRoot(CallerEvidence evidence, std::string directory,
                         Use use) {
  runner_.PostTask([this, evidence = std::move(evidence),
                    directory = std::move(directory),
                    use = std::move(use)]() mutable {
    if (auto caller =
            workspaces_.callers().ResolveFor(Operation::kInspect, evidence);
        !caller.ok()) {
      return use(caller.status());
    }
    if (directory.empty()) return use("");
    workspaces_.FindRoot(directory,
                         [directory, use = std::move(use)](auto root) mutable {
                           if (root.ok() && root->empty()) {
                             root = NoWorkspaceAt(directory);
                           }
                           use(std::move(root));
                         });
  });
}

absl::StatusOr<WatchSeats::Seat> WatchDesk::TakeSeat() {
  if (draining_) return Draining();
  WatchSeats::Seat seat = seats_.Take();
  if (seat != nullptr) return seat;
  return Error(absl::StatusCode::kResourceExhausted, "WATCHES_FULL",
               "64 streams watch this broker already, which is the limit; end "
               "a monitor or another watch");
}

void WatchDesk::WatchEvents(CallerEvidence evidence,
                            v1::WatchEventsRequest request, WatchWake wake,
                            Begun<v1::WatchEventsResponse> done) {
  // FindRoot takes it by value.
  std::string directory = request.directory();
  FindRoot(
      std::move(evidence), std::move(directory),
      [this, cursor = std::move(*request.mutable_cursor()),
       wake = std::move(wake), done = std::move(done)](auto root) mutable {
        const auto begin = [&]()
            -> absl::StatusOr<std::shared_ptr<Watch<v1::WatchEventsResponse>>> {
          INTERCOM_RETURN_IF_ERROR(root.status());
          INTERCOM_ASSIGN_OR_RETURN(WatchSeats::Seat seat, TakeSeat());
          EventWatch::Options options;
          options.reader = ++last_reader_;
          options.root = *root;
          options.broker_version = broker_version_;
          options.now = clock_.Now();
          if (cursor.empty()) {
            options.place = log_.End();
          } else {
            INTERCOM_ASSIGN_OR_RETURN(options.place, log_.PlaceOf(cursor));
          }
          return std::make_shared<EventWatch>(log_, std::move(options),
                                              std::move(wake), std::move(seat));
        };
        done(begin());
      });
}

void WatchDesk::WatchOverview(CallerEvidence evidence,
                              v1::WatchOverviewRequest request, WatchWake wake,
                              Begun<v1::WatchOverviewResponse> done) {
  std::string directory = request.directory();
  FindRoot(std::move(evidence), std::move(directory),
           [this, claim = std::move(*request.mutable_monitor_claim_id()),
            wake = std::move(wake), done = std::move(done)](auto root) mutable {
             if (!root.ok()) return done(root.status());
             if (!root->empty() && mirror_.Find(*root) == nullptr) {
               // Nobody has been there since the config was made.
               gate_.WithPresent(
                   *root,
                   [](const std::shared_ptr<const Workspace>&, Effects&) {
                     return absl::OkStatus();
                   },
                   [](const absl::Status&) {});
             }
             done(BeginOverview(*root, claim, std::move(wake)));
           });
}

absl::StatusOr<std::shared_ptr<Watch<v1::WatchOverviewResponse>>>
WatchDesk::BeginOverview(const std::string& root, const std::string& claim_id,
                         WatchWake wake) {
  INTERCOM_ASSIGN_OR_RETURN(WatchSeats::Seat seat, TakeSeat());
  auto watch = overviews_.Begin(root, std::move(wake), std::move(seat));
  if (on_claim_ && !claim_id.empty()) on_claim_(claim_id, watch);
  return watch;
}

void WatchDesk::Drain() {
  runner_.PostTask([this] {
    draining_ = true;
    log_.Close(Draining());
    overviews_.Close(Draining());
  });
}

}  // namespace intercom
