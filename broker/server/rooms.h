#ifndef PI_INTERCOM_BROKER_SERVER_ROOMS_H_
#define PI_INTERCOM_BROKER_SERVER_ROOMS_H_

#include <unistd.h>

#include <memory>
#include <utility>

#include "broker/base/home.h"
#include "broker/base/proto_time.h"
#include "broker/config/config_lanes.h"
#include "broker/rpc/broker_core.h"
#include "broker/server/broker_server.h"
#include "broker/storage/delivery_history.h"
#include "broker/storage/job_store.h"
#include "broker/storage/monitor_pane_store.h"
#include "broker/storage/reader.h"
#include "broker/storage/store_checker.h"
#include "broker/storage/store_opening.h"
#include "broker/work/event_feed.h"
#include "broker/work/inspection_desk.h"
#include "broker/work/job_desk.h"
#include "broker/work/launch_waits.h"
#include "broker/work/mailbox_heirs.h"
#include "broker/work/monitor_desk.h"
#include "broker/work/overview_watch.h"
#include "broker/work/retention.h"
#include "broker/work/roster_news.h"
#include "broker/work/run_notes.h"
#include "broker/work/run_waits.h"
#include "broker/work/run_watch.h"
#include "broker/work/watch_desk.h"

namespace intercom {

// Everything between the store and the wire, in the order of construction.
struct Rooms {
  Rooms(OpenedStore store, std::unique_ptr<StateRunner> state_runner,
        std::unique_ptr<Reader> history_reader, const Clock& clock,
        Random& random, const BrokerOptions& options, int port)
      : runner(std::move(state_runner)),
        reader(std::move(history_reader)),
        lanes(*runner, clock, std::make_shared<FileSystem>()),
        workspace_store(runner->database()),
        session_store(runner->database()),
        deliveries(runner->database()),
        mailboxes(runner->database()),
        history(runner->database()),
        job_store(runner->database()),
        handoffs(runner->database()),
        report_store(runner->database()),
        observation_store(runner->database()),
        ask_store(runner->database()),
        channel_store(runner->database()),
        run_store(runner->database()),
        note_store(runner->database()),
        monitor_panes(runner->database()),
        mirror(workspace_store, clock),
        gate(lanes, *runner, mirror),
        roster(clock),
        registrar(*runner, lanes, mirror, roster, session_store, clock, random,
                  {store.store_id, options.version, options.home,
                   options.account_home, getpid(), port, store.notices}),
        dispatcher(*runner, deliveries, mailboxes, roster, clock, random, {}),
        controls(*runner, roster, random),
        watch(*runner, clock),
        observations(*runner, observation_store, roster, clock),
        reports(report_store, clock, options.overdue_after),
        view(roster, mailboxes, session_store, reports, fences),
        workspaces(*runner, lanes, gate, roster, options.account_home),
        peers(workspaces, mirror, roster, session_store, view),
        heirs(mirror, roster, session_store, dispatcher),
        asks(*runner, workspaces, roster, ask_store, deliveries, dispatcher,
             clock),
        channels(*runner, channel_store, roster, clock, random),
        headless(roster, session_store, job_store),
        runs(run_store, clock),
        run_teller(*runner, roster, runs, run_store, note_store, headless,
                   clock),
        run_desk(*runner, workspaces, roster, runs, run_store, dispatcher,
                 clock),
        run_openings(roster, peers, runs, run_store, run_desk, headless),
        run_stops(*runner, workspaces, roster, runs, run_store, run_desk,
                  fences, controls, dispatcher, clock),
        run_waits(*runner, workspaces, runs, run_store, run_desk, asks, clock),
        run_notes(*runner, workspaces, run_store, note_store, headless, asks,
                  run_teller, clock),
        run_watch(*runner, roster, session_store, runs, run_store, run_stops,
                  run_teller, dispatcher, watch, clock),
        mail(*runner, workspaces, roster, dispatcher, deliveries, report_store,
             *reader, fences, peers, asks, run_openings, clock),
        inbox(*runner, workspaces.callers(), dispatcher, *reader),
        workers(*runner, lanes, workspaces, mirror, roster, session_store,
                dispatcher, controls, view, fences, port),
        news(*runner, lanes, mirror, roster, deliveries, dispatcher, view,
             port),
        job_book(*runner, job_store, fences, clock),
        job_news(*runner, mirror, dispatcher, job_book),
        close_record(*runner, lanes, mirror),
        launches(*runner, lanes, workspaces, roster, session_store, job_store,
                 job_book, fences, watch, job_news, headless, clock, random),
        launch_waits(*runner, workspaces, roster, job_store),
        stops(*runner, workspaces, roster, job_store, job_book, fences,
              controls, job_news, watch, clock, random),
        closes(*runner, workspaces, mirror, roster, job_store, handoffs,
               job_book, fences, controls, dispatcher, close_record, job_news,
               watch, clock, random),
        jobs(*runner, workspaces, roster, job_store, job_book, fences, launches,
             stops, closes, watch, clock),
        report_desk(*runner, workspaces, roster, report_store, deliveries,
                    dispatcher, news, observations, clock, random),
        prober(*runner, controls, clock),
        status_desk(workspaces, roster, session_store, mailboxes, reports,
                    observations, prober, job_store, handoffs, run_store,
                    clock),
        config_desk(*runner, lanes, workspaces, mirror, roster, report_store,
                    handoffs, fences, dispatcher),
        coordinator_desk(*runner, lanes, workspaces, mirror, roster, dispatcher,
                         news, observations),
        abandoned(*runner, lanes, mirror, workspace_store, monitor_panes,
                  roster, clock),
        retention({history, ask_store, job_store, run_store, note_store,
                   session_store},
                  observations, abandoned, roster, clock),
        self(Self(store, clock, options, port)),
        inspection(*runner, roster, mirror, mailboxes, view, *reader,
                   observations, self),
        events(NewUuid(random)),
        metrics(clock),
        overview(roster, mirror, view, mailboxes, session_store, reports,
                 observations, runs, run_waits, asks, metrics, clock, self),
        overviews(*runner, overview, clock),
        feed(events, metrics, roster, mirror, runs, fences, clock,
             [this] { overviews.OnChanged(); }),
        watches(*runner, workspaces, gate, mirror, events, overviews, clock,
                options.version),
        monitors(*runner, workspaces, roster, monitor_panes, clock),
        checker(runner->database().path(), clock),
        looks(*runner, workspaces, roster, mirror, session_store, handoffs,
              view, asks, runs, dispatcher, metrics, *reader, checker, clock),
        admission(*runner) {
    registrar.AddObserver(dispatcher);
    registrar.AddObserver(controls);
    registrar.AddObserver(asks);
    registrar.AddObserver(channels);
    registrar.AddObserver(run_teller);
    registrar.AddObserver(run_stops);
    registrar.AddObserver(run_watch);
    registrar.AddObserver(launches);
    registrar.AddObserver(launch_waits);
    registrar.AddObserver(stops);
    registrar.AddObserver(closes);
    registrar.AddObserver(news);
    registrar.AddObserver(observations);
    registrar.AddObserver(overview);
    registrar.AddObserver(feed);
    registrar.SetOnAdmit([this](const v1::Hello& hello, const std::string& root,
                                Effects& effects) {
      return launches.OnAdmit(hello, root, effects);
    });
    registrar.SetOnArrival([this](const auto& arrival, Effects& effects) {
      return heirs.OnArrival(arrival, effects);
    });
    peers.SetWaitsFor(
        [this](std::string_view id) { return asks.WaitsFor(id); });
    heirs.SetOnMoved([this](const std::string& from, const std::string& to) {
      asks.OnMailMoved(from, to);
      runs.OnMailMoved(from, to);
      overviews.OnChanged();
    });
    dispatcher.SetDirectoryOf(
        [this](std::string_view id) { return peers.DirectoryOf(id); });
    mirror.SetOnEntries([this](const auto& gone, const auto& added) {
      return dispatcher.OnEntries(gone, added);
    });
    mirror.AddOnChanged([this](const Workspace& workspace) {
      close_record.OnMirrored(workspace);
    });
    controls.SetOnResolved(
        [this](const auto&... outcome) { observations.OnControl(outcome...); });
    job_book.AddOnChanged([this](const JobRow& job) {
      observations.OnJob(job);
      launch_waits.OnJobChanged(job);
    });
    mirror.AddOnChanged(
        [this](const Workspace& workspace) { monitors.OnMirrored(workspace); });
    watches.SetOnClaim([this](const std::string& id, auto watch) {
      monitors.OnObserved(id, std::move(watch));
    });
    FeedEvents();
  }

  // Whoever changes something that is watched tells of it.
  void FeedEvents() {
    dispatcher.SetWatchers(
        {[this](const DeliveryNews& news) { feed.OnDelivery(news); },
         [this](const v1::DeliveryRecord& record) { feed.OnOffered(record); }});
    mail.SetOnRefused([this](const absl::Status& why) { feed.OnRefused(why); });
    mirror.AddOnChanged(
        [this](const Workspace& workspace) { feed.OnWorkspace(workspace); });
    job_book.AddOnChanged([this](const JobRow& job) { feed.OnJob(job); });
    runs.AddOnChanged(
        [this](const RunRow& run, Runs::News news) { feed.OnRun(run, news); });
    asks.SetOnChanged([this](const AskRow& ask) { feed.OnAsk(ask); });
    asks.SetOnWaits([this] { overviews.OnChanged(); });
    run_waits.SetOnWaits([this] { overviews.OnChanged(); });
    report_desk.SetOnReported(
        [this](const v1::Sender& worker, const v1::Report& report) {
          feed.OnReport(worker, report);
        });
  }

  static v1::GetBrokerResponse Self(const OpenedStore& store,
                                    const Clock& clock,
                                    const BrokerOptions& options, int port) {
    v1::GetBrokerResponse self;
    self.set_version(options.version);
    self.set_pid(getpid());
    *self.mutable_started_at() = ToProto(clock.Now());
    self.set_store_id(store.store_id);
    self.set_port(port);
    self.set_unix_socket(SocketPath(options.home));
    self.set_home(options.home);
    for (const std::string& notice : store.notices) self.add_notices(notice);
    return self;
  }

  std::unique_ptr<StateRunner> runner;
  std::unique_ptr<Reader> reader;
  ConfigLanes lanes;
  WorkspaceStore workspace_store;
  SessionStore session_store;
  DeliveryStore deliveries;
  MailboxStore mailboxes;
  DeliveryHistory history;
  JobStore job_store;
  HandoffStore handoffs;
  ReportStore report_store;
  ObservationStore observation_store;
  AskStore ask_store;
  ChannelStore channel_store;
  RunStore run_store;
  NoteStore note_store;
  MonitorPaneStore monitor_panes;
  WorkspaceMirror mirror;
  WorkspaceGate gate;
  Roster roster;
  Registrar registrar;
  Dispatcher dispatcher;
  Controls controls;
  ProcessWatch watch;
  Fences fences;
  Observations observations;
  Reports reports;
  RosterView view;
  Workspaces workspaces;
  PeerDirectory peers;
  MailboxHeirs heirs;
  AskDesk asks;
  ChannelDesk channels;
  HeadlessWorkers headless;
  Runs runs;
  RunTeller run_teller;
  RunDesk run_desk;
  RunOpenings run_openings;
  RunStops run_stops;
  RunWaits run_waits;
  RunNotes run_notes;
  RunWatch run_watch;
  Mail mail;
  PersonInbox inbox;
  WorkerDesk workers;
  RosterNews news;
  Jobs job_book;
  JobNews job_news;
  CloseRecord close_record;
  LaunchDesk launches;
  LaunchWaits launch_waits;
  StopDesk stops;
  CloseDesk closes;
  JobDesk jobs;
  ReportDesk report_desk;
  Prober prober;
  StatusDesk status_desk;
  ConfigDesk config_desk;
  CoordinatorDesk coordinator_desk;
  AbandonedWorkspaces abandoned;
  Retention retention;
  const v1::GetBrokerResponse self;
  Inspection inspection;
  EventLog events;
  Metrics metrics;
  Overview overview;
  OverviewWatch overviews;
  EventFeed feed;
  WatchDesk watches;
  MonitorDesk monitors;
  StoreChecker checker;
  InspectionDesk looks;
  Admission admission;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_SERVER_ROOMS_H_
