CREATE TABLE agents (
  root TEXT NOT NULL REFERENCES workspaces (root),
  position INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  name TEXT NOT NULL,
  coordinator INTEGER NOT NULL,
  description TEXT NOT NULL,
  port INTEGER NOT NULL,
  project_directory TEXT NOT NULL,
  entry_hash TEXT NOT NULL,
  PRIMARY KEY (root, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE asks (
  delivery_id TEXT NOT NULL PRIMARY KEY,
  sequence INTEGER NOT NULL,         -- of its delivery
  scope TEXT NOT NULL,
  asker_session_id TEXT NOT NULL,
  recipient_session_id TEXT NOT NULL,
  state INTEGER NOT NULL,            -- intercom.v1.Ask.State
  asked_at_us INTEGER NOT NULL,
  deadline_at_us INTEGER NOT NULL,
  settled_at_us INTEGER NOT NULL,    -- 0: open
  reply_delivery_id TEXT NOT NULL    -- empty: none yet
) STRICT, WITHOUT ROWID;
CREATE TABLE channels (
  scope TEXT NOT NULL,
  namespace TEXT NOT NULL,
  revision INTEGER NOT NULL,
  payload BLOB NOT NULL,
  committed_by TEXT NOT NULL,        -- session id
  committed_at_us INTEGER NOT NULL,
  PRIMARY KEY (scope, namespace)
) STRICT, WITHOUT ROWID;
CREATE TABLE deliveries (
  sequence INTEGER NOT NULL PRIMARY KEY REFERENCES envelopes (sequence),
  recipient_session_id TEXT NOT NULL,
  moved INTEGER NOT NULL,             -- 1: it was in another mailbox before
  state INTEGER NOT NULL,             -- intercom.v1.DeliveryState
  bytes INTEGER NOT NULL,             -- what it counts in the mailbox
  wait_reason INTEGER NOT NULL,       -- intercom.v1.WaitReason
  waiting_since_at_us INTEGER NOT NULL,
  ended INTEGER NOT NULL,             -- intercom.v1.DeliveryEnd
  ended_at_us INTEGER NOT NULL,
  end_evidence TEXT NOT NULL,
  expires_at_us INTEGER NOT NULL,     -- 0: never
  settled_at_us INTEGER NOT NULL,     -- 0: open
  -- A state without evidence of its own has time 0.
  accepted_evidence TEXT NOT NULL,
  delivered_at_us INTEGER NOT NULL,
  delivered_evidence TEXT NOT NULL,
  injected_at_us INTEGER NOT NULL,
  injected_evidence TEXT NOT NULL,
  seen_at_us INTEGER NOT NULL,
  seen_evidence TEXT NOT NULL,
  replied_at_us INTEGER NOT NULL,
  replied_evidence TEXT NOT NULL
) STRICT;
CREATE TABLE dropped_runs (
  supervisor_session_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (supervisor_session_id, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE envelopes (
  sequence INTEGER NOT NULL PRIMARY KEY,
  sender_session_id TEXT NOT NULL,
  envelope_id TEXT NOT NULL,
  kind INTEGER NOT NULL,           -- intercom.v1.EnvelopeKind
  topic TEXT NOT NULL,
  reply_to TEXT NOT NULL,
  quiet INTEGER NOT NULL,
  supersedes TEXT NOT NULL,
  sender_name TEXT NOT NULL,
  sender_origin INTEGER NOT NULL,  -- intercom.v1.Origin
  sender_role INTEGER NOT NULL,    -- intercom.v1.Role
  sender_workspace_root TEXT NOT NULL,
  recipient_session_id TEXT NOT NULL,
  recipient_name TEXT NOT NULL,
  scope TEXT NOT NULL,
  accepted_at_us INTEGER NOT NULL,
  expires_at_us INTEGER NOT NULL,  -- 0: never
  text TEXT NOT NULL,
  retry_of TEXT NOT NULL,
  attachments BLOB NOT NULL,       -- Envelope with only its attachments
  reply_within_us INTEGER NOT NULL,  -- 0: no ask
  -- The identity; this order also serves the search by a prefix.
  UNIQUE (envelope_id, sender_session_id)
) STRICT;
CREATE TABLE handoffs (
  root TEXT NOT NULL,
  session_id TEXT NOT NULL,
  job_id TEXT NOT NULL,
  summary TEXT NOT NULL,
  updated_at_us INTEGER NOT NULL,
  PRIMARY KEY (root, session_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE jobs (
  job_id TEXT NOT NULL PRIMARY KEY,
  kind INTEGER NOT NULL,             -- intercom.v1.Job.Kind
  root TEXT NOT NULL,
  session_id TEXT NOT NULL,          -- a create has none until it attached
  name TEXT NOT NULL,
  requested_by TEXT NOT NULL,        -- session id
  state INTEGER NOT NULL,            -- intercom.v1.Job.State
  reason TEXT NOT NULL,
  detail TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  updated_at_us INTEGER NOT NULL,
  deadline_at_us INTEGER NOT NULL,   -- 0: none
  launcher TEXT NOT NULL,
  launch_token_hash TEXT NOT NULL,   -- empty: launches nothing
  identity BLOB NOT NULL,            -- intercom.v1.HostIdentity
  -- What its coordinator was told: 0 nothing, 1 that it is open still, 2 its
  -- end.
  told INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE lost_notes (
  supervisor_session_id TEXT NOT NULL PRIMARY KEY,
  notes INTEGER NOT NULL,
  drain_id TEXT NOT NULL,                -- of the last drain; empty: none
  told INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE mailboxes (
  recipient_session_id TEXT NOT NULL PRIMARY KEY,
  envelopes INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE meta (
  key TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
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
CREATE TABLE notes (
  number INTEGER NOT NULL PRIMARY KEY,
  supervisor_session_id TEXT NOT NULL,
  worker_session_id TEXT NOT NULL,
  note_id TEXT NOT NULL,
  worker_name TEXT NOT NULL,
  run INTEGER NOT NULL,                  -- number of the run; 0: none
  text TEXT NOT NULL,
  at_us INTEGER NOT NULL,
  drain_id TEXT NOT NULL,                -- empty: it waits
  UNIQUE (worker_session_id, note_id)
) STRICT;
CREATE TABLE observations (
  observation_id INTEGER NOT NULL PRIMARY KEY,
  at_us INTEGER NOT NULL,
  root TEXT NOT NULL,
  session_id TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  phase TEXT NOT NULL,
  label TEXT NOT NULL,
  outcome TEXT NOT NULL
) STRICT;
CREATE TABLE reports (
  root TEXT NOT NULL,
  session_id TEXT NOT NULL,
  status INTEGER NOT NULL,           -- intercom.v1.Report.Status
  summary TEXT NOT NULL,
  reported_at_us INTEGER NOT NULL,
  answered_at_us INTEGER NOT NULL,   -- 0: not yet
  PRIMARY KEY (root, session_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE run_stops (
  number INTEGER NOT NULL PRIMARY KEY REFERENCES runs (number)
    ON DELETE CASCADE,
  request_id TEXT NOT NULL               -- empty: the call named none
) STRICT;
CREATE TABLE run_totals (
  root TEXT NOT NULL,
  worker_session_id TEXT NOT NULL,
  runs INTEGER NOT NULL,
  turns INTEGER NOT NULL,
  usage BLOB NOT NULL,                   -- intercom.v1.Usage
  PRIMARY KEY (root, worker_session_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE runs (
  number INTEGER NOT NULL PRIMARY KEY,   -- run-<number>; never used again
  delivery_id TEXT NOT NULL UNIQUE,
  supervisor_session_id TEXT NOT NULL,
  supervisor_name TEXT NOT NULL,
  worker_session_id TEXT NOT NULL,
  worker_name TEXT NOT NULL,
  root TEXT NOT NULL,                    -- of the supervisor; empty for peers
  headless INTEGER NOT NULL,
  label TEXT NOT NULL,
  state INTEGER NOT NULL,                -- intercom.v1.Run.State
  opened_at_us INTEGER NOT NULL,
  started_at_us INTEGER NOT NULL,        -- 0: not yet, as all of these
  last_advance_at_us INTEGER NOT NULL,
  settled_at_us INTEGER NOT NULL,
  turns INTEGER NOT NULL,
  usage BLOB NOT NULL,                   -- intercom.v1.Usage
  model TEXT NOT NULL,
  reason TEXT NOT NULL,
  detail TEXT NOT NULL,
  result BLOB NOT NULL,                  -- intercom.v1.RunResult
  stop_when_idle_us INTEGER NOT NULL,    -- 0: never
  stop_after_us INTEGER NOT NULL,        -- 0: never
  stop_requested_at_us INTEGER NOT NULL,
  stalled_told INTEGER NOT NULL,         -- 1: said since its last advance
  collected INTEGER NOT NULL,
  announced INTEGER NOT NULL,            -- how often; more than once is a fault
  fellow_messages INTEGER NOT NULL
) STRICT;
CREATE TABLE sessions (
  session_id TEXT NOT NULL PRIMARY KEY,
  workspace_root TEXT NOT NULL,  -- empty for peers
  cwd TEXT NOT NULL,
  scope TEXT NOT NULL,
  name TEXT NOT NULL,
  folded_name TEXT NOT NULL,     -- by which it is found; empty: unnamed
  host_kind TEXT NOT NULL,
  host_version TEXT NOT NULL,
  role INTEGER NOT NULL,         -- intercom.v1.Role
  epoch INTEGER NOT NULL,
  attached_at_us INTEGER NOT NULL,
  last_seen_at_us INTEGER NOT NULL,
  -- The host process of the last attachment. Ticks 0: not known.
  host_pid INTEGER NOT NULL,
  host_start_ticks INTEGER NOT NULL,
  launch_job_id TEXT NOT NULL,   -- empty: opened by a person
  stable_id TEXT NOT NULL,       -- empty: none, or another session's
  -- No later delivery was offered to it, as far as is known: the greatest
  -- integer from its attachment until it is known to have left.
  left_sequence INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE workspaces (
  root TEXT NOT NULL PRIMARY KEY,
  coordinator_session_id TEXT NOT NULL,  -- pinned; empty until then
  generation INTEGER NOT NULL,
  config_hash TEXT NOT NULL,
  config_json TEXT NOT NULL,
  mirrored_at_us INTEGER NOT NULL,
  config_error TEXT NOT NULL             -- empty while the file is good
) STRICT, WITHOUT ROWID;
CREATE INDEX asks_by_reply ON asks (reply_delivery_id)
  WHERE reply_delivery_id <> '';
CREATE INDEX asks_open ON asks (asker_session_id, asked_at_us) WHERE state = 1;
CREATE INDEX asks_settled ON asks (settled_at_us) WHERE settled_at_us > 0;
CREATE INDEX asks_unanswered ON asks (recipient_session_id, asked_at_us)
  WHERE reply_delivery_id = '' AND state <> 4;
CREATE INDEX deliveries_ended ON deliveries (recipient_session_id, sequence)
  WHERE state < 3 AND ended > 0;
CREATE INDEX deliveries_expiring ON deliveries (expires_at_us, sequence)
  WHERE state < 3 AND ended = 0 AND expires_at_us > 0;
CREATE INDEX deliveries_injected ON deliveries (recipient_session_id, sequence)
  WHERE state >= 3;
CREATE INDEX deliveries_moved ON deliveries (recipient_session_id, sequence)
  WHERE moved = 1;
CREATE INDEX deliveries_open ON deliveries (recipient_session_id, sequence)
  WHERE state < 3 AND ended = 0;
CREATE INDEX deliveries_settled ON deliveries (settled_at_us, sequence)
  WHERE settled_at_us > 0;
CREATE INDEX envelopes_by_recipient
  ON envelopes (recipient_session_id, sequence);
CREATE INDEX envelopes_by_sender ON envelopes (sender_session_id, sequence);
CREATE INDEX envelopes_by_supersedes
  ON envelopes (sender_session_id, supersedes) WHERE supersedes <> '';
CREATE INDEX envelopes_by_topic
  ON envelopes (recipient_session_id, topic, sender_session_id, sequence)
  WHERE topic <> '';
CREATE INDEX jobs_by_root ON jobs (root, created_at_us);
CREATE INDEX jobs_by_session ON jobs (session_id, created_at_us);
CREATE INDEX jobs_by_token ON jobs (launch_token_hash)
  WHERE launch_token_hash <> '';
CREATE INDEX jobs_open ON jobs (job_id) WHERE state < 8 OR state = 12;
CREATE INDEX notes_by_supervisor ON notes (supervisor_session_id, number);
CREATE INDEX observations_by_session
  ON observations (session_id, kind, observation_id);
CREATE INDEX runs_by_supervisor ON runs (supervisor_session_id, number);
CREATE INDEX runs_open ON runs (number) WHERE state < 3;
CREATE INDEX runs_open_by_worker ON runs (worker_session_id, number)
  WHERE state < 3;
CREATE INDEX sessions_by_name ON sessions (scope, folded_name, last_seen_at_us)
  WHERE folded_name <> '';
CREATE INDEX sessions_by_root ON sessions (workspace_root);
CREATE INDEX sessions_by_seen ON sessions (scope, last_seen_at_us);
CREATE INDEX sessions_by_stable_id ON sessions (scope, stable_id)
  WHERE stable_id <> '';
