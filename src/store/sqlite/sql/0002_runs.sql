-- Limits by type and key, and indexes by type: leasing one type costs nothing for the backlog of the others.
ALTER TABLE workflow_run ADD COLUMN limit_key TEXT;

DROP INDEX workflow_run_ready;
DROP INDEX workflow_run_leased;
CREATE INDEX workflow_run_ready ON workflow_run (type, priority, run_at) WHERE status = 'pending' AND deleted_at IS NULL;
CREATE INDEX workflow_run_keyed ON workflow_run (type, limit_key, priority, run_at)
  WHERE status = 'pending' AND deleted_at IS NULL AND limit_key IS NOT NULL;
CREATE INDEX workflow_run_leased ON workflow_run (type, lease_until) WHERE status = 'leased';

CREATE TABLE wf_run_types (
  type TEXT NOT NULL PRIMARY KEY,
  lease_ms INTEGER,
  max_attempts INTEGER,
  backoff_ms INTEGER,
  cap_ms INTEGER,
  paused INTEGER NOT NULL DEFAULT 0,
  concurrency INTEGER,
  rate INTEGER,
  rate_window_ms INTEGER NOT NULL DEFAULT 1000,
  limit_key TEXT
) STRICT, WITHOUT ROWID;

-- When runs of a type with a rate were leased, for as long as its window.
CREATE TABLE wf_run_starts (
  type TEXT NOT NULL,
  at INTEGER NOT NULL,
  limit_key TEXT NOT NULL
) STRICT;
CREATE INDEX wf_run_starts_window ON wf_run_starts (type, at);
