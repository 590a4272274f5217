-- Work that one session handed to another. A state below 3 is open.
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

CREATE INDEX runs_by_supervisor ON runs (supervisor_session_id, number);
CREATE INDEX runs_open_by_worker ON runs (worker_session_id, number)
  WHERE state < 3;
CREATE INDEX runs_open ON runs (number) WHERE state < 3;

-- Runs that gave way to later ones: the last 256 of each supervisor.
CREATE TABLE dropped_runs (
  supervisor_session_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (supervisor_session_id, number)
) STRICT, WITHOUT ROWID;

-- What the settled runs of each worker took, also of those that were dropped.
CREATE TABLE run_totals (
  root TEXT NOT NULL,
  worker_session_id TEXT NOT NULL,
  runs INTEGER NOT NULL,
  turns INTEGER NOT NULL,
  usage BLOB NOT NULL,                   -- intercom.v1.Usage
  PRIMARY KEY (root, worker_session_id)
) STRICT, WITHOUT ROWID;

-- What workers of runs told their supervisors, which fetch it.
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

CREATE INDEX notes_by_supervisor ON notes (supervisor_session_id, number);

-- Notes that gave way before they were drained: since the last drain, and those
-- of which that one told.
CREATE TABLE lost_notes (
  supervisor_session_id TEXT NOT NULL PRIMARY KEY,
  notes INTEGER NOT NULL,
  drain_id TEXT NOT NULL,                -- of the last drain; empty: none
  told INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
