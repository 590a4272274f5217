-- The pane in which each coordinator's terminal shows the monitor.
CREATE TABLE monitor_panes (
  root TEXT NOT NULL PRIMARY KEY,
  claim_id TEXT NOT NULL,
  coordinator_session_id TEXT NOT NULL,
  host_pid INTEGER NOT NULL,          -- of the coordinator that claimed it
  host_start_ticks INTEGER NOT NULL,
  stage INTEGER NOT NULL,             -- intercom.v1.MonitorPane.Stage
  caller BLOB NOT NULL,               -- intercom.v1.Pane
  pane BLOB NOT NULL,                 -- intercom.v1.Pane; empty until it is split
  detail TEXT NOT NULL,
  updated_at_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
