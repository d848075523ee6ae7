CREATE TABLE wf_schedules (
  n INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  version INTEGER NOT NULL,
  spec TEXT NOT NULL,
  paused INTEGER NOT NULL,
  next_at INTEGER,
  last_at INTEGER,
  last TEXT,
  queued TEXT,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT;
CREATE INDEX wf_schedules_due ON wf_schedules (next_at) WHERE paused = 0 AND next_at IS NOT NULL;

-- What was tried with an event of the outbox. No sink: it was asked for again, and what stands before
-- no longer counts.
CREATE TABLE outbox_delivery (
  n INTEGER PRIMARY KEY,
  event INTEGER NOT NULL,
  sink TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  at INTEGER NOT NULL,
  delivered INTEGER NOT NULL,
  error TEXT NOT NULL
) STRICT;
CREATE INDEX outbox_delivery_event ON outbox_delivery (event);
