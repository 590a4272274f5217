#ifndef PI_INTERCOM_BROKER_RPC_BROKER_CORE_H_
#define PI_INTERCOM_BROKER_RPC_BROKER_CORE_H_

#include "broker/roster/registrar.h"
#include "broker/routing/dispatcher.h"
#include "broker/work/admission.h"
#include "broker/work/ask_desk.h"
#include "broker/work/channel_desk.h"
#include "broker/work/config_desk.h"
#include "broker/work/controls.h"
#include "broker/work/coordinator_desk.h"
#include "broker/work/inspection.h"
#include "broker/work/inspection_desk.h"
#include "broker/work/job_desk.h"
#include "broker/work/launch_waits.h"
#include "broker/work/mail.h"
#include "broker/work/monitor_desk.h"
#include "broker/work/peer_directory.h"
#include "broker/work/person_inbox.h"
#include "broker/work/report_desk.h"
#include "broker/work/run_desk.h"
#include "broker/work/run_notes.h"
#include "broker/work/run_stops.h"
#include "broker/work/run_waits.h"
#include "broker/work/status_desk.h"
#include "broker/work/watch_desk.h"
#include "broker/work/worker_desk.h"

namespace intercom {

// What the adapters call. All outlive the server.
struct BrokerCore {
  Admission& admission;
  Registrar& registrar;
  Dispatcher& dispatcher;
  Controls& controls;
  Mail& mail;
  PersonInbox& inbox;
  PeerDirectory& peers;
  AskDesk& asks;
  ChannelDesk& channels;
  RunDesk& runs;
  RunStops& run_stops;
  RunWaits& run_waits;
  RunNotes& run_notes;
  WorkerDesk& workers;
  ReportDesk& reports;
  StatusDesk& status;
  ConfigDesk& config;
  CoordinatorDesk& coordinator;
  Inspection& inspection;
  InspectionDesk& looks;
  WatchDesk& watches;
  MonitorDesk& monitors;
  LaunchDesk& launches;
  LaunchWaits& launch_waits;
  StopDesk& stops;
  CloseDesk& closes;
  JobDesk& jobs;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_RPC_BROKER_CORE_H_
