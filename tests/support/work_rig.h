#ifndef PI_INTERCOM_TESTS_SUPPORT_WORK_RIG_H_
#define PI_INTERCOM_TESTS_SUPPORT_WORK_RIG_H_

#include <memory>
#include <string>
#include <utility>

#include "broker/storage/reader.h"
#include "broker/work/controls.h"
#include "broker/work/inspection.h"
#include "broker/work/mail.h"
#include "broker/work/roster_news.h"
#include "broker/work/roster_view.h"
#include "broker/work/worker_desk.h"
#include "broker/work/workspaces.h"
#include "tests/support/routing_rig.h"

namespace intercom {

// Everything above storage, over a database in a file: history has a connection
// of its own.
class WorkRig : public RoutingRig {
 protected:
  WorkRig() : WorkRig(std::make_unique<TempDir>()) {}
  ~WorkRig() override { runner_->Stop(); }

  // A coordinator c-1 and a worker w-1 "Reviewer".
  void WriteTeam() {
    WriteConfig(root_,
                ConfigText({{"c-1", "Coordinator"}, {"w-1", "Reviewer"}}));
  }
  // Attached and ready for mail.
  TestSession Join(const std::string& session_id) {
    TestSession session = Attach(session_id);
    SayPresent(session, {});
    return session;
  }
  static CallerEvidence CallOf(const TestSession& session) {
    CallerEvidence evidence;
    evidence.stream = session.key;
    return evidence;
  }
  static CallerEvidence Person() { return {}; }

  absl::StatusOr<v1::DeliveryRecord> Send(const CallerEvidence& evidence,
                                          const std::string& to,
                                          v1::Envelope envelope,
                                          const std::string& directory = "") {
    v1::SendRequest request;
    *request.mutable_envelope() = std::move(envelope);
    request.set_to(to);
    request.set_directory(directory);
    RecordAnswer answer;
    mail_.Send(evidence, request, answer.Callback());
    auto record = answer.Wait();
    Sync();
    return record;
  }

  // Calls a method of the desk and waits for its answer.
  template <typename Response, typename Request>
  absl::StatusOr<Response> Call(
      void (WorkerDesk::*method)(CallerEvidence, Request,
                                 WorkerDesk::Done<Response>),
      const CallerEvidence& evidence, const Request& request) {
    Answer<absl::StatusOr<Response>> answer;
    (desk_.*method)(evidence, request, answer.Callback());
    auto response = answer.Wait();
    Sync();
    return response;
  }

  std::unique_ptr<TempDir> store_dir_;
  std::unique_ptr<Reader> reader_ =
      Reader::Open(runner_->database().path()).value();
  Controls controls_{*runner_, roster_, random_};
  ReportStore report_store_{runner_->database()};
  ObservationStore observation_store_{runner_->database()};
  Observations observations_{*runner_, observation_store_, roster_, clock_};
  Reports reports_{report_store_, clock_, Reports::kOverdueAfter};
  RosterView view_{roster_, mailboxes_, session_store_, reports_};
  Workspaces workspaces_{*runner_, lanes_, gate_, roster_, "/home/of-nobody"};
  Mail mail_{*runner_,    workspaces_,   roster_,  dispatcher_,
             deliveries_, report_store_, *reader_, clock_};
  WorkerDesk desk_{*runner_, lanes_,         workspaces_, mirror_,
                   roster_,  session_store_, dispatcher_, controls_,
                   view_,    kTestPort};
  RosterNews news_{*runner_,    lanes_,      mirror_, roster_,
                   deliveries_, dispatcher_, view_,   kTestPort};

 private:
  explicit WorkRig(std::unique_ptr<TempDir> store_dir)
      : RoutingRig({}, OpenAt(*store_dir / "state.db")),
        store_dir_(std::move(store_dir)) {
    registrar_.AddObserver(controls_);
    registrar_.AddObserver(news_);
  }
  static std::unique_ptr<Database> OpenAt(const std::string& path) {
    auto db = Database::Open(path).value();
    EXPECT_THAT(Migrate(*db, AllMigrations()), IsOk());
    return db;
  }
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_SUPPORT_WORK_RIG_H_
