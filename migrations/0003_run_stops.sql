-- The supervisor's first stop of each run: the next one settles it.
CREATE TABLE run_stops (
  number INTEGER NOT NULL PRIMARY KEY REFERENCES runs (number)
    ON DELETE CASCADE,
  request_id TEXT NOT NULL               -- empty: the call named none
) STRICT;

INSERT INTO run_stops (number, request_id)
SELECT number, '' FROM runs
WHERE state < 3 AND stop_requested_at_us > 0 AND reason = 'cancelled';
