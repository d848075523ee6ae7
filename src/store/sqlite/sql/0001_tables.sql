-- Times are milliseconds since 1970-01-01T00:00:00Z. `n` is the row's own number: small keys keep
-- the pages that one commit dirties few (the public id stands once, in a unique index).

CREATE TABLE wf_definitions (
  n INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  digest TEXT NOT NULL,
  canonical TEXT NOT NULL,
  deployed_at INTEGER NOT NULL,
  retired_at INTEGER,
  UNIQUE (name, version)
) STRICT;

CREATE TABLE wf_instances (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  definition TEXT NOT NULL,
  definition_version TEXT NOT NULL,
  digest TEXT NOT NULL,
  status TEXT NOT NULL,
  reference_key TEXT,
  reference_parts TEXT,
  parent TEXT,
  error TEXT,
  started_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  ended_at INTEGER,
  deleted_at INTEGER,
  delete_reason TEXT
) STRICT;
CREATE INDEX wf_instances_reference ON wf_instances (reference_key) WHERE reference_key IS NOT NULL;
CREATE INDEX wf_instances_parent ON wf_instances (parent) WHERE parent IS NOT NULL;
-- Only slices that a checkpoint cut rest in this status: what a restart must go on with.
CREATE INDEX wf_instances_running ON wf_instances (n) WHERE status = 'running';
CREATE INDEX wf_instances_ended ON wf_instances (ended_at) WHERE ended_at IS NOT NULL;

-- What resuming reads. `n` is the instance's. A rowid table: the snapshot would overflow the pages
-- of any other.
CREATE TABLE wf_runtime_states (
  n INTEGER PRIMARY KEY,
  version INTEGER NOT NULL,
  schema_version INTEGER NOT NULL,
  waiting_kind TEXT,
  waiting_token TEXT,
  waiting_until INTEGER,
  active_task TEXT,
  resume_pointer TEXT,
  last_signal TEXT,
  last_error_code TEXT,
  last_error TEXT,
  last_executed_by TEXT,
  last_executed_on INTEGER NOT NULL,
  snapshot TEXT NOT NULL
) STRICT;

CREATE TABLE wf_waits (
  instance INTEGER NOT NULL,
  token TEXT NOT NULL,
  kind TEXT NOT NULL,
  step TEXT NOT NULL,
  strand INTEGER NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER,
  name TEXT NOT NULL,
  key TEXT,
  target TEXT NOT NULL,
  PRIMARY KEY (instance, token)
) STRICT, WITHOUT ROWID;
CREATE INDEX wf_waits_signal ON wf_waits (name, key) WHERE kind = 'signal';

CREATE TABLE wf_tasks (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  instance INTEGER NOT NULL,
  token TEXT NOT NULL,
  step TEXT NOT NULL,
  name TEXT NOT NULL,
  title TEXT NOT NULL,
  status TEXT NOT NULL,
  version INTEGER NOT NULL,
  roles TEXT NOT NULL,
  exclude TEXT NOT NULL,
  payload TEXT NOT NULL,
  form TEXT,
  priority INTEGER NOT NULL,
  due INTEGER,
  deadline INTEGER,
  assignee TEXT,
  reference_key TEXT,
  reference_parts TEXT,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  completed_by TEXT,
  completed_at INTEGER,
  completion TEXT
) STRICT;
CREATE INDEX wf_tasks_inbox ON wf_tasks (priority DESC, n) WHERE status IN ('open', 'assigned');
CREATE INDEX wf_tasks_instance ON wf_tasks (instance);

CREATE TABLE wf_task_events (
  n INTEGER PRIMARY KEY,
  task INTEGER NOT NULL,
  kind TEXT NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  details TEXT
) STRICT;
CREATE INDEX wf_task_events_task ON wf_task_events (task);

CREATE TABLE wf_execution_log (
  n INTEGER PRIMARY KEY,
  instance INTEGER NOT NULL,
  version INTEGER NOT NULL,
  kind TEXT NOT NULL,
  step TEXT NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  details TEXT
) STRICT;
CREATE INDEX wf_execution_log_instance ON wf_execution_log (instance);

-- Messages to one instance (`target`), and signals that nobody waits for yet (no target).
CREATE TABLE wf_signal_q (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  target INTEGER,
  kind TEXT NOT NULL,
  name TEXT,
  key TEXT,
  body TEXT NOT NULL,
  at INTEGER NOT NULL,
  expires_at INTEGER
) STRICT;
CREATE INDEX wf_signal_q_ready ON wf_signal_q (n) WHERE target IS NOT NULL;
CREATE INDEX wf_signal_q_target ON wf_signal_q (target) WHERE target IS NOT NULL;
CREATE INDEX wf_signal_q_kept ON wf_signal_q (name, key) WHERE target IS NULL;

-- The due index: one small row a timer, in the order in which they fall due.
CREATE TABLE wf_timer_q (
  due INTEGER NOT NULL,
  instance INTEGER NOT NULL,
  token TEXT NOT NULL,
  PRIMARY KEY (due, instance, token)
) STRICT, WITHOUT ROWID;

CREATE TABLE wf_dlq_q (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  instance TEXT,
  kind TEXT NOT NULL,
  envelope TEXT NOT NULL,
  reason TEXT NOT NULL,
  node TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;

CREATE TABLE wf_host_locks (
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  fence INTEGER NOT NULL,
  until INTEGER NOT NULL
) STRICT;

CREATE TABLE wf_inbox (
  instance INTEGER NOT NULL,
  signal TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (instance, signal)
) STRICT, WITHOUT ROWID;

CREATE TABLE wf_idempotency_keys (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  answer TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (scope, key)
) STRICT;

CREATE TABLE workflow_run (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE DEFAULT (lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2)
    || '-8' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))),
  type TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'leased', 'succeeded', 'failed', 'cancelled')),
  priority INTEGER NOT NULL DEFAULT 0,
  idempotency_key TEXT UNIQUE,
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
  delete_reason TEXT
) STRICT;
CREATE INDEX workflow_run_ready ON workflow_run (priority DESC, run_at) WHERE status = 'pending' AND deleted_at IS NULL;
CREATE INDEX workflow_run_later ON workflow_run (run_at) WHERE status = 'pending' AND deleted_at IS NULL;
CREATE INDEX workflow_run_leased ON workflow_run (lease_until) WHERE status = 'leased';
CREATE INDEX workflow_run_instance ON workflow_run (instance) WHERE instance IS NOT NULL;

CREATE TRIGGER workflow_run_finished_stays BEFORE UPDATE OF status ON workflow_run
WHEN OLD.status IN ('succeeded', 'failed', 'cancelled') AND NEW.status <> OLD.status
BEGIN
  SELECT RAISE(ABORT, 'a finished run stays finished');
END;

CREATE TABLE workflow_event (
  n INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  kind TEXT NOT NULL,
  at INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  actor TEXT NOT NULL,
  details TEXT
) STRICT;
CREATE INDEX workflow_event_run ON workflow_event (run);

CREATE TABLE outbox_event (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  instance TEXT NOT NULL,
  type TEXT NOT NULL,
  subject TEXT NOT NULL,
  data TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  published_at INTEGER
) STRICT;
CREATE INDEX outbox_event_waiting ON outbox_event (n) WHERE published_at IS NULL;
CREATE INDEX outbox_event_instance ON outbox_event (instance);
