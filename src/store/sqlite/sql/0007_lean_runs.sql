-- What a run of an instance costs. Its number comes from no table of numbers (AUTOINCREMENT). Its key is in no index: the
-- version of its instance sees to it that it is written once. And its instance is found by its id, which begins like the
-- instance's (the time when that began); only runs of which that is not so need an index.
CREATE TABLE lean_run (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE DEFAULT (lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2)
    || '-8' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))),
  type TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'leased', 'succeeded', 'failed', 'cancelled')),
  priority INTEGER NOT NULL DEFAULT 0,
  idempotency_key TEXT,
  payload TEXT,
  result TEXT,
  error TEXT,
  last_error TEXT,
  attempt INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER NOT NULL DEFAULT 3,
  run_at INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
  lease_until INTEGER,
  leased_by TEXT,
  fence INTEGER NOT NULL DEFAULT 0,
  leases INTEGER NOT NULL DEFAULT 0,
  backoff_ms INTEGER NOT NULL DEFAULT 1000,
  factor REAL NOT NULL DEFAULT 2,
  cap_ms INTEGER NOT NULL DEFAULT 300000,
  jitter REAL NOT NULL DEFAULT 0.5,
  timeout_ms INTEGER,
  instance TEXT,
  token TEXT,
  step TEXT,
  created_at INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
  updated_at INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
  deleted_at INTEGER,
  delete_reason TEXT,
  limit_key TEXT,
  attempt_until INTEGER
) STRICT;
INSERT INTO lean_run SELECT * FROM workflow_run ORDER BY n;
DROP TABLE workflow_run;
ALTER TABLE lean_run RENAME TO workflow_run;

CREATE UNIQUE INDEX workflow_run_key ON workflow_run (idempotency_key) WHERE idempotency_key IS NOT NULL AND instance IS NULL;
CREATE INDEX workflow_run_instance ON workflow_run (instance) WHERE instance IS NOT NULL AND substr(id, 1, 13) <> substr(instance, 1, 13);
CREATE INDEX workflow_run_ready ON workflow_run (type, priority, run_at) WHERE status = 'pending' AND deleted_at IS NULL;
CREATE INDEX workflow_run_keyed ON workflow_run (type, limit_key, priority, run_at)
  WHERE status = 'pending' AND deleted_at IS NULL AND limit_key IS NOT NULL;
CREATE INDEX workflow_run_later ON workflow_run (run_at) WHERE status = 'pending' AND deleted_at IS NULL;
CREATE INDEX workflow_run_leased ON workflow_run (type, lease_until) WHERE status = 'leased';
CREATE INDEX workflow_run_attempts ON workflow_run (attempt_until) WHERE status = 'leased' AND attempt_until IS NOT NULL;

CREATE TRIGGER workflow_run_finished_stays BEFORE UPDATE OF status ON workflow_run
WHEN OLD.status IN ('succeeded', 'failed', 'cancelled') AND NEW.status <> OLD.status
BEGIN
  SELECT RAISE(ABORT, 'a finished run stays finished');
END;
