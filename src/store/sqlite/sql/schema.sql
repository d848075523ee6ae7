-- The schema of a SQLite store.
-- version: 36
--
-- A new store gets this file and then every migration (sql/migrations). The first release freezes it: later changes are
-- migrations.
--
-- Conventions
--  * `n` is the row's own number and the key of most tables. A short key keeps the pages that a commit changes few. The
--    public id is stored once, in a unique index. `instance`, `task`, `run` and `event` columns of type INTEGER hold an `n`.
--  * Times are milliseconds since 1970-01-01T00:00:00Z. Columns that end in `_ms` are durations.
--  * Columns with JSON (payload, error, details and others) hold its text. NULL is JSON null or absent.
--  * AUTOINCREMENT: a number is never used again after its row was deleted. Tables without it may reuse the numbers of
--    rows that retention removed.
--  * Only the process that owns the file writes it. Its own connection runs no triggers: they guard against programs that
--    write with SQL of their own (docs/operations/sqlite.md). The store adds three more triggers to each table, which
--    count such writes in wf_foreign_changes (migrate.cc).


-- Definitions ---------------------------------------------------------------------------------------------------------

-- Deployed workflow definitions. Deploying inserts a row, retiring sets `retired_at`; nothing else changes.
CREATE TABLE wf_definitions (
  n INTEGER PRIMARY KEY,  -- order of deployment: the greatest one that is not retired is the default version
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  digest TEXT NOT NULL,     -- of `canonical`: a version cannot be deployed again with other content
  canonical TEXT NOT NULL,  -- the definition in canonical JSON
  deployed_at INTEGER NOT NULL,
  retired_at INTEGER,       -- no new starts since then; running instances continue
  UNIQUE (name, version)
) STRICT;


-- Instances -----------------------------------------------------------------------------------------------------------

-- What people and programs see of an instance: its status and its dates. A commit writes it together with
-- wf_runtime_states. Read it through the view wf_instances, which has the state too.
CREATE TABLE wf_instances_base (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  definition TEXT NOT NULL,
  definition_version TEXT NOT NULL,
  digest TEXT NOT NULL,
  status TEXT NOT NULL,
  reference_key TEXT,    -- the business key that the starter gave, e.g. an order number
  reference_parts TEXT,  -- JSON object: further searchable values
  parent TEXT,           -- id of the instance that started it
  error TEXT,            -- JSON: the failure, if it failed or is suspended
  started_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  ended_at INTEGER,      -- set exactly if the status is final
  deleted_at INTEGER,    -- hidden from lists by an operator
  delete_reason TEXT
) STRICT;
-- Lists by reference.
CREATE INDEX wf_instances_reference ON wf_instances_base (reference_key) WHERE reference_key IS NOT NULL;
-- Lists of children, and retention of whole trees.
CREATE INDEX wf_instances_parent ON wf_instances_base (parent) WHERE parent IS NOT NULL;
-- An instance is stored as running only if a commit ended in the middle of its work. A restart continues these.
CREATE INDEX wf_instances_running ON wf_instances_base (n) WHERE status = 'running';
-- Retention finds instances that ended long ago.
CREATE INDEX wf_instances_ended ON wf_instances_base (ended_at) WHERE ended_at IS NOT NULL;
-- Operators count and list these without a scan of all instances.
CREATE INDEX wf_instances_troubled ON wf_instances_base (status) WHERE status IN ('suspended', 'failed');
-- Metrics count the open instances of each definition. With `ended_at`, a count does not read the rows.
CREATE INDEX wf_instances_open ON wf_instances_base (definition, status, ended_at) WHERE ended_at IS NULL;

-- The state from which an instance continues. `n` is the instance's. Every commit of the instance rewrites the row. It is
-- a rowid table because a snapshot would overflow the pages of a table without rowid.
CREATE TABLE wf_runtime_states (
  n INTEGER PRIMARY KEY,
  state_version INTEGER NOT NULL,   -- a commit must name the one that it continues from
  schema_version INTEGER NOT NULL,  -- the format of `snapshot`
  -- Copies from the snapshot, for reports with plain SQL. The engine does not read them.
  waiting_kind TEXT,                -- the first wait: its kind, token and due time
  waiting_token TEXT,
  waiting_until INTEGER,
  active_task TEXT,                 -- id of the first open task
  resume_pointer TEXT,              -- the place in the definition where the first strand is
  last_signal TEXT,
  last_error_code TEXT,
  last_error TEXT,
  last_executed_by TEXT,            -- the node that wrote the row, and when
  last_executed_on INTEGER NOT NULL,
  snapshot TEXT NOT NULL            -- the encoded Snapshot (instance/snapshot.h), without large values (wf_pieces)
) STRICT;

-- Large values apart from their snapshots (docs/adr/0010). A snapshot has {"$piece": hash} in their place, and so has a
-- piece for pieces inside it. Each is written once, however many versions and instances use it.
CREATE TABLE wf_pieces (
  n INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,  -- SHA-256 of `body`, hexadecimal
  body TEXT NOT NULL          -- JSON
) STRICT;
-- Which instances use which pieces, also those inside others. The commit that removes the last use removes the piece.
CREATE TABLE wf_piece_uses (
  instance INTEGER NOT NULL,
  piece INTEGER NOT NULL,
  PRIMARY KEY (instance, piece)
) STRICT, WITHOUT ROWID;
CREATE INDEX wf_piece_uses_piece ON wf_piece_uses (piece);

-- Waits that the store must find by a signal's name or by a due time. All other waits are only in the snapshot. The view
-- wf_waits has them all.
CREATE TABLE wf_waits_base (
  instance INTEGER NOT NULL,
  token TEXT NOT NULL,   -- names the wait within its instance
  kind TEXT NOT NULL,    -- signal, timer and others with a due time
  step TEXT NOT NULL,
  strand INTEGER NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER,         -- its due time, if it has a timer
  name TEXT NOT NULL,    -- signal: its name
  key TEXT,              -- signal: the expected key; NULL: any
  target TEXT NOT NULL,
  PRIMARY KEY (instance, token)
) STRICT, WITHOUT ROWID;
-- A signal finds the instances that wait for it.
CREATE INDEX wf_waits_signal ON wf_waits_base (name, key) WHERE kind = 'signal';

-- The history of each instance, appended by its commits. The view wf_execution_log adds input, duration and trace.
CREATE TABLE wf_execution_log_base (
  n INTEGER PRIMARY KEY,
  instance INTEGER NOT NULL,
  state_version INTEGER NOT NULL,  -- the one that the commit made
  kind TEXT NOT NULL,
  step TEXT NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  details TEXT,
  visit TEXT  -- all entries of one visit of a step have the same (LogEntry in instance/advance.h)
) STRICT;
CREATE INDEX wf_execution_log_instance ON wf_execution_log_base (instance);

-- Signals that an instance has accepted, by their id: a repeated signal is recognized.
CREATE TABLE wf_inbox (
  instance INTEGER NOT NULL,
  signal TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (instance, signal)
) STRICT, WITHOUT ROWID;

-- Answers to requests with an idempotency key: the same request gets the same answer. `request_hash` detects the same
-- key with another request. Retention removes old rows in the order in which they were written (rowid).
CREATE TABLE wf_idempotency_keys (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  answer TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (scope, key)
) STRICT;


-- Tasks ---------------------------------------------------------------------------------------------------------------

-- Work for people. A commit of the instance opens and closes tasks; users assign and release them (change_task).
CREATE TABLE wf_tasks (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  instance INTEGER NOT NULL,
  token TEXT NOT NULL,      -- the wait that its end completes
  step TEXT NOT NULL,
  name TEXT NOT NULL,
  title TEXT NOT NULL,
  status TEXT NOT NULL,
  state_version INTEGER NOT NULL,  -- grows with each change of the row; a client may require the one that it has seen
  roles TEXT NOT NULL,       -- JSON array: who may do it; empty: every user
  exclude TEXT NOT NULL,     -- JSON array: users who may not, e.g. the one who did the step before
  payload TEXT NOT NULL,
  form TEXT,
  priority INTEGER NOT NULL,
  due INTEGER,               -- for sorting and display only
  deadline INTEGER,          -- when the steps of the task's deadline run
  assignee TEXT,
  reference_key TEXT,        -- copied from the instance
  reference_parts TEXT,
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  completed_by TEXT,
  completed_at INTEGER,
  completion TEXT,           -- JSON: what the user entered
  managers TEXT NOT NULL DEFAULT '[]'  -- JSON array: roles that may take it from its assignee
) STRICT;
-- The inbox, in the order in which it is shown.
CREATE INDEX wf_tasks_inbox ON wf_tasks (priority DESC, n) WHERE status IN ('open', 'assigned');
CREATE INDEX wf_tasks_instance ON wf_tasks (instance);

-- The history of each task. Only read for one task.
CREATE TABLE wf_task_events (
  n INTEGER PRIMARY KEY,
  task INTEGER NOT NULL,
  kind TEXT NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  details TEXT
) STRICT;
CREATE INDEX wf_task_events_task ON wf_task_events (task);


-- Queues --------------------------------------------------------------------------------------------------------------
-- The commit that processes an item removes it. Which items are taken is only in memory: after a crash all are available.

-- Messages to one instance (`target`), in the order of `n`. A row without `target` is a signal that no instance waits for
-- yet; the first wait for it takes it.
CREATE TABLE wf_signal_q (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  target INTEGER,
  kind TEXT NOT NULL,  -- signal, child_finished, cancel, run_finished
  name TEXT,           -- signal: its name and key
  key TEXT,
  body TEXT NOT NULL,
  at INTEGER NOT NULL,
  expires_at INTEGER   -- of a kept signal that does not stay for ever
) STRICT;
-- The queue that the engine reads, without the kept signals.
CREATE INDEX wf_signal_q_ready ON wf_signal_q (n) WHERE target IS NOT NULL;
-- The messages of one instance.
CREATE INDEX wf_signal_q_target ON wf_signal_q (target) WHERE target IS NOT NULL;
-- A new wait finds kept signals.
CREATE INDEX wf_signal_q_kept ON wf_signal_q (name, key) WHERE target IS NULL;
-- Kept signals become dead letters.
CREATE INDEX wf_signal_q_expiry ON wf_signal_q (expires_at) WHERE target IS NULL AND expires_at IS NOT NULL;

-- Timers, in the order in which they are due. `token` names the wait of the instance.
CREATE TABLE wf_timer_q (
  due INTEGER NOT NULL,
  instance INTEGER NOT NULL,
  token TEXT NOT NULL,
  PRIMARY KEY (due, instance, token)
) STRICT, WITHOUT ROWID;

-- Dead letters: items that the engine could not process. An operator replays or discards them.
CREATE TABLE wf_dlq_q (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  instance TEXT,           -- its id, if the item had one
  kind TEXT NOT NULL,      -- of the envelope: message, timer, run, start
  envelope TEXT NOT NULL,  -- JSON: the whole item, enough to replay it
  reason TEXT NOT NULL,
  node TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;


-- Runs ----------------------------------------------------------------------------------------------------------------

-- Jobs for workers: calls of instances, and runs that programs submit on their own. Workers lease, extend and end them.
-- Programs may insert pending runs with plain SQL; the defaults make such a row complete.
--
-- A run of an instance costs as few index entries as possible. Its number has no AUTOINCREMENT. Its idempotency key is in
-- no index, because the state version of the instance already prevents a second row. Most runs of an instance are found
-- by the prefix that both ids share (the time when the instance began).
CREATE TABLE workflow_run (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE DEFAULT (lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2)
    || '-8' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))),
  type TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'leased', 'succeeded', 'failed', 'cancelled')),
  priority INTEGER NOT NULL DEFAULT 0,       -- greater first
  idempotency_key TEXT,
  payload TEXT,
  result TEXT,
  error TEXT,                                -- JSON: the failure that ended it, or the last one before a retry
  last_error TEXT,                           -- the same in one line
  attempt INTEGER NOT NULL DEFAULT 0,        -- the current or last attempt; a lease adds one, a release takes it back
  max_attempts INTEGER NOT NULL DEFAULT 3,
  run_at INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),  -- not leased before
  lease_until INTEGER,
  leased_by TEXT,                            -- worker, user and account (store/lease_holder.h)
  fence INTEGER NOT NULL DEFAULT 0,          -- grows with each lease; a write of a worker must match it
  leases INTEGER NOT NULL DEFAULT 0,         -- all leases, also released ones
  backoff_ms INTEGER NOT NULL DEFAULT 1000,  -- retries: first delay, factor, greatest delay, random part
  factor REAL NOT NULL DEFAULT 2,
  cap_ms INTEGER NOT NULL DEFAULT 300000,
  jitter REAL NOT NULL DEFAULT 0.5,
  timeout_ms INTEGER,                        -- of each attempt
  instance TEXT,                             -- id of the instance that waits for its end; NULL: none
  token TEXT,                                -- the wait of that instance
  step TEXT,
  created_at INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
  updated_at INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
  deleted_at INTEGER,
  delete_reason TEXT,
  limit_key TEXT,                            -- limits of its type count by this key; NULL: by the type alone
  attempt_until INTEGER                      -- when the current attempt times out; only valid while leased
) STRICT;
-- Submitting again with the same key answers the first run.
CREATE UNIQUE INDEX workflow_run_key ON workflow_run (idempotency_key) WHERE idempotency_key IS NOT NULL AND instance IS NULL;
-- Runs of an instance whose ids do not share its prefix.
CREATE INDEX workflow_run_instance ON workflow_run (instance) WHERE instance IS NOT NULL AND substr(id, 1, 13) <> substr(instance, 1, 13);
-- Leasing: the next run of a type. A backlog of other types does not cost anything.
CREATE INDEX workflow_run_ready ON workflow_run (type, priority, run_at) WHERE status = 'pending' AND deleted_at IS NULL;
-- Leasing under limits that count for each key.
CREATE INDEX workflow_run_keyed ON workflow_run (type, limit_key, priority, run_at)
  WHERE status = 'pending' AND deleted_at IS NULL AND limit_key IS NOT NULL;
-- The next time at which a pending run is due.
CREATE INDEX workflow_run_later ON workflow_run (run_at) WHERE status = 'pending' AND deleted_at IS NULL;
-- Leases that have expired, and how many of a type are live.
CREATE INDEX workflow_run_leased ON workflow_run (type, lease_until) WHERE status = 'leased';
-- Attempts that have timed out.
CREATE INDEX workflow_run_attempts ON workflow_run (attempt_until) WHERE status = 'leased' AND attempt_until IS NOT NULL;

-- A program with SQL of its own cannot change the end of a run.
CREATE TRIGGER workflow_run_finished_stays BEFORE UPDATE OF status ON workflow_run
WHEN OLD.status IN ('succeeded', 'failed', 'cancelled') AND NEW.status <> OLD.status
BEGIN
  SELECT RAISE(ABORT, 'a finished run stays finished');
END;

-- The audit trail of each run: created, leased, retried and so on. Not written with `?run_events=off`.
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

-- Settings and limits of run types, set by operators. NULL keeps what the run or the worker specifies.
CREATE TABLE wf_run_types (
  type TEXT NOT NULL PRIMARY KEY,
  lease_ms INTEGER,
  max_attempts INTEGER,
  backoff_ms INTEGER,
  cap_ms INTEGER,
  paused INTEGER NOT NULL DEFAULT 0,  -- 1: not leased
  concurrency INTEGER,                -- leases at the same time, for each limit key
  rate INTEGER,                       -- leases in each window, for each limit key
  rate_window_ms INTEGER NOT NULL DEFAULT 1000,
  limit_key TEXT                      -- an expression over the payload, evaluated when a run is created
) STRICT, WITHOUT ROWID;

-- When runs of a type with a rate were leased. Leasing removes rows that are older than the window.
CREATE TABLE wf_run_starts (
  type TEXT NOT NULL,
  at INTEGER NOT NULL,
  limit_key TEXT NOT NULL
) STRICT;
CREATE INDEX wf_run_starts_window ON wf_run_starts (type, at);


-- Schedules -----------------------------------------------------------------------------------------------------------

-- What starts by the clock. `put_schedule` writes a row; firing moves `next_at`.
CREATE TABLE wf_schedules (
  n INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  state_version INTEGER NOT NULL,  -- grows with each change; a writer must match it
  spec TEXT NOT NULL,        -- JSON: cron or interval, zone, overlap, what to start (schedule/spec.h)
  paused INTEGER NOT NULL,
  next_at INTEGER,           -- NULL: it never fires again
  last_at INTEGER,           -- every time up to here was fired, skipped or dropped
  last TEXT,                 -- JSON: what it started last
  queued TEXT,               -- JSON: firings that wait for the previous one
  created_at INTEGER NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT;
CREATE INDEX wf_schedules_due ON wf_schedules (next_at) WHERE paused = 0 AND next_at IS NOT NULL;


-- Outbox --------------------------------------------------------------------------------------------------------------

-- Events for other systems. Commits append them (`emit` steps and life-cycle events); the dispatcher delivers them.
CREATE TABLE outbox_event (
  n INTEGER PRIMARY KEY AUTOINCREMENT,  -- the sequence: readers continue after the last one that they have seen
  id TEXT NOT NULL,
  instance TEXT NOT NULL,
  type TEXT NOT NULL,
  subject TEXT NOT NULL,                -- events of one subject are delivered in order
  data TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  published_at INTEGER,                 -- no sink has to get it any more
  assigned INTEGER NOT NULL DEFAULT 0   -- 1: it is in the queue of every sink that wants it
) STRICT;
-- Events that some sink has still to get.
CREATE INDEX outbox_event_waiting ON outbox_event (n) WHERE published_at IS NULL;
-- Events that are in no queue yet.
CREATE INDEX outbox_event_new ON outbox_event (n) WHERE published_at IS NULL AND assigned = 0;
CREATE INDEX outbox_event_instance ON outbox_event (instance);

-- The queue of each sink. Only the first event of a subject has a due time. The later ones wait for it (NULL), so the
-- order within a subject is kept. Which events are claimed is only in memory.
CREATE TABLE outbox_queue (
  event INTEGER NOT NULL,
  sink TEXT NOT NULL,
  subject TEXT NOT NULL,
  due INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (event, sink)
) STRICT, WITHOUT ROWID;
-- The events of a subject in order.
CREATE INDEX outbox_queue_subject ON outbox_queue (sink, subject, event);
-- New events and retries are claimed separately, so that retries cannot crowd out new events.
CREATE INDEX outbox_queue_new ON outbox_queue (sink, due, event) WHERE attempts = 0 AND due IS NOT NULL;
CREATE INDEX outbox_queue_retries ON outbox_queue (sink, due, event) WHERE attempts > 0 AND due IS NOT NULL;
-- The next retry of any sink.
CREATE INDEX outbox_queue_due ON outbox_queue (due) WHERE attempts > 0 AND due IS NOT NULL;

-- The log of deliveries. An entry with an empty sink means that an operator sent the event again: entries before it no
-- longer count.
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


-- Access --------------------------------------------------------------------------------------------------------------

-- API keys. Only the hash of the secret is stored.
CREATE TABLE wf_api_keys (
  id TEXT PRIMARY KEY,
  secret_hash TEXT NOT NULL UNIQUE,  -- SHA-256, hexadecimal; a request finds its key by it
  subject TEXT NOT NULL,             -- the user that acts with the key
  roles TEXT NOT NULL,               -- JSON array
  scope TEXT,                        -- JSON: limits within the roles; NULL: none
  note TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT;

-- The roles of people who use tokens: those of the last token that the server accepted from each account.
CREATE TABLE wf_token_users (
  account TEXT PRIMARY KEY,  -- issuer and subject
  person TEXT NOT NULL,
  roles TEXT NOT NULL,       -- JSON array: roles of cairn
  task_roles TEXT NOT NULL,  -- JSON array: roles in human tasks
  seen_at INTEGER NOT NULL   -- when a token of the account was accepted last, to a day
) STRICT, WITHOUT ROWID;
CREATE INDEX wf_token_users_person ON wf_token_users (person);
-- Retention finds accounts that are no longer used.
CREATE INDEX wf_token_users_seen ON wf_token_users (seen_at);

-- The audit trail. Each row's hash covers the hash of the row before (store/audit_chain.h), so a removed or changed row
-- shows. Rows are only appended, without gaps.
CREATE TABLE wf_audit (
  sequence INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  who TEXT NOT NULL,
  what TEXT NOT NULL,      -- the operation, e.g. instance.cancel
  resource TEXT NOT NULL,  -- its id
  why TEXT NOT NULL,       -- the reason that the user gave
  origin TEXT NOT NULL,    -- address and request id
  details TEXT,
  previous_hash TEXT NOT NULL,
  hash TEXT NOT NULL
) STRICT;
CREATE TRIGGER wf_audit_is_not_changed BEFORE UPDATE ON wf_audit
BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
CREATE TRIGGER wf_audit_is_not_removed BEFORE DELETE ON wf_audit
BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;


-- Reports -------------------------------------------------------------------------------------------------------------
-- Views for people and for reporting tools. They show what the commits write anyway (snapshots, tasks, runs, the log), so
-- they cost no write. No statement of a server reads them. docs/operations/sqlite.md describes every column. Columns that
-- come from a snapshot are computed when they are selected, so a report should name its columns. A snapshot that cannot be
-- read gives NULL, so that one damaged row does not end a report.

-- The payloads of runs without the trace that they carry (instance/carried_trace.h).
CREATE VIEW wf_run_inputs AS
SELECT r.n, r.id, CASE WHEN json_valid(r.payload) THEN
  CASE WHEN json_type(r.payload, '$."$traceparent"') IS NOT NULL AND json_type(r.payload, '$."$value"') IS NOT NULL
      AND json_remove(r.payload, '$."$traceparent"', '$."$value"') = '{}' THEN r.payload -> '$."$value"'
    ELSE json_remove(r.payload, '$."$traceparent"') END END AS payload
FROM workflow_run r;

CREATE VIEW wf_instances AS
SELECT i.n, i.id, i.definition, i.definition_version, i.digest, i.status, i.reference_key, i.reference_parts, i.parent, i.error, i.started_at,
  i.changed_at, i.ended_at, i.deleted_at, i.delete_reason,
  i.reference_key AS correlation_id,
  (SELECT s.state_version FROM wf_runtime_states s WHERE s.n = i.n) AS state_version,
  (SELECT coalesce(s.snapshot ->> '$.snapshot.engine.waits[0].step', s.snapshot ->> '$.snapshot.engine.error.step')
   FROM wf_runtime_states s WHERE s.n = i.n AND json_valid(s.snapshot)) AS current_step,
  (SELECT s.resume_pointer FROM wf_runtime_states s WHERE s.n = i.n) AS current_place,
  (SELECT s.snapshot -> '$.snapshot.business.input' FROM wf_runtime_states s WHERE s.n = i.n AND json_valid(s.snapshot)) AS input,
  (SELECT s.snapshot -> '$.snapshot.business.state' FROM wf_runtime_states s WHERE s.n = i.n AND json_valid(s.snapshot)) AS state,
  (SELECT s.snapshot -> '$.snapshot.business.output' FROM wf_runtime_states s WHERE s.n = i.n AND json_valid(s.snapshot)) AS output,
  (SELECT substr(s.snapshot ->> '$.snapshot.engine.trace', 4, 32) FROM wf_runtime_states s WHERE s.n = i.n AND json_valid(s.snapshot)) AS trace_id
FROM wf_instances_base i;

-- Every open wait. A wait that is over has no row: its visit is in wf_activities.
CREATE VIEW wf_waits AS
SELECT i.n AS instance, i.id AS instance_id, w.value ->> 'token' AS token, w.value ->> 'kind' AS kind, w.value ->> 'step' AS step,
  w.value ->> 'strand' AS strand, CAST(round((julianday(w.value ->> 'since') - 2440587.5) * 86400000) AS INTEGER) AS since,
  CASE w.value ->> 'kind' WHEN 'task' THEN (SELECT coalesce(t.deadline, t.due) FROM wf_tasks t WHERE t.id = w.value ->> 'target')
    ELSE (SELECT b.until FROM wf_waits_base b WHERE b.instance = i.n AND b.token = w.value ->> 'token') END AS due,
  w.value ->> 'name' AS name, w.value ->> 'key' AS key, w.value ->> 'target' AS target,
  CASE w.value ->> 'kind'
    WHEN 'task' THEN (SELECT t.payload FROM wf_tasks t WHERE t.id = w.value ->> 'target')
    WHEN 'run' THEN (SELECT r.payload FROM wf_run_inputs r WHERE r.id = w.value ->> 'target')
    WHEN 'subworkflow' THEN (SELECT c.input FROM wf_instances c WHERE c.id = w.value ->> 'target') END AS payload
FROM wf_instances_base i JOIN wf_runtime_states s ON s.n = i.n
JOIN json_each(CASE WHEN json_valid(s.snapshot) THEN s.snapshot ELSE '{}' END, '$.snapshot.engine.waits') w
WHERE i.ended_at IS NULL AND s.waiting_kind IS NOT NULL;

CREATE VIEW wf_execution_log AS
SELECT l.n, l.instance, l.state_version, l.kind, l.step, l.at, l.actor, l.attempt, l.details, l.visit,
  (SELECT i.id FROM wf_instances_base i WHERE i.n = l.instance) AS instance_id,
  CASE WHEN l.visit IS NOT NULL THEN coalesce(
      (SELECT t.payload FROM wf_tasks t WHERE t.id = l.visit),
      (SELECT r.payload FROM wf_run_inputs r WHERE r.id = l.visit),
      (SELECT c.input FROM wf_instances c WHERE c.id = l.visit),
      l.details -> 'waits')
    WHEN l.step = '' AND l.kind = 'started' THEN (SELECT i.input FROM wf_instances i WHERE i.n = l.instance) END AS input,
  CASE WHEN l.visit IS NOT NULL AND l.kind <> 'started' THEN
    (SELECT l.at - b.at FROM wf_execution_log_base b
     WHERE b.instance = l.instance AND b.n < l.n AND b.visit = l.visit AND b.kind = 'started' ORDER BY b.n DESC LIMIT 1) END AS duration_ms,
  (SELECT i.trace_id FROM wf_instances i WHERE i.n = l.instance) AS trace_id
FROM wf_execution_log_base l;

-- A row for each visit of a step that waited, called or failed. `l` is its first entry in the log, `e` says how the step
-- ended, and `f` is its last failure. The row of a task, run or child has the visit as its id.
CREATE VIEW wf_activities AS
SELECT i.id AS instance_id, l.instance, i.definition, i.definition_version, l.step, l.visit,
  CASE WHEN t.n IS NOT NULL THEN 'task' WHEN r.n IS NOT NULL THEN 'call' WHEN c.n IS NOT NULL THEN 'subworkflow'
    ELSE l.details ->> '$.waits[0].kind' END AS kind,
  CASE WHEN e.n IS NOT NULL THEN e.kind
    WHEN f.n IS NOT NULL OR l.kind = 'faulted' THEN 'failed'
    WHEN t.status IN ('open', 'assigned') OR r.status IN ('pending', 'leased') OR (c.n IS NOT NULL AND c.ended_at IS NULL)
      OR EXISTS (SELECT 1 FROM wf_waits_base w WHERE w.instance = l.instance AND w.token = l.visit) THEN 'waiting'
    WHEN instr(s.snapshot, '"visit":"' || l.visit || '"') > 0 THEN 'running'
    ELSE coalesce(t.status, CASE r.status WHEN 'succeeded' THEN 'completed' ELSE r.status END, 'cancelled') END AS status,
  max(l.attempt, coalesce(e.attempt, 0), coalesce(f.attempt, 0), coalesce(r.attempt, 0)) AS attempt,
  coalesce(t.payload, (SELECT p.payload FROM wf_run_inputs p WHERE p.n = r.n), CASE WHEN c.n IS NOT NULL THEN (SELECT v.input FROM wf_instances v WHERE v.n = c.n) END,
    l.details -> 'waits') AS input,
  coalesce(t.completion, r.result, CASE WHEN c.n IS NOT NULL THEN (SELECT v.output FROM wf_instances v WHERE v.n = c.n) END,
    e.details -> 'result') AS result,
  coalesce(r.last_error, CASE WHEN f.n IS NOT NULL OR l.kind = 'faulted' THEN
    (coalesce(f.details, l.details) ->> 'code') || coalesce(': ' || (coalesce(f.details, l.details) ->> 'message'), '') END) AS last_error,
  l.at AS started_at,
  coalesce(e.at, f.at, CASE WHEN l.kind = 'faulted' THEN l.at END,
    CASE WHEN t.status NOT IN ('open', 'assigned') THEN t.changed_at END,
    CASE WHEN r.status NOT IN ('pending', 'leased') THEN r.updated_at END, c.ended_at, i.ended_at) AS completed_at,
  coalesce(t.completed_by, e.actor, f.actor, l.actor) AS actor
FROM wf_execution_log_base l
JOIN wf_instances_base i ON i.n = l.instance
LEFT JOIN wf_runtime_states s ON s.n = l.instance
LEFT JOIN wf_tasks t ON t.id = l.visit
LEFT JOIN workflow_run r ON r.id = l.visit
LEFT JOIN wf_instances_base c ON c.id = l.visit
LEFT JOIN wf_execution_log_base e ON e.n = (SELECT x.n FROM wf_execution_log_base x
  WHERE l.kind = 'started' AND x.instance = l.instance AND x.n > l.n AND x.visit = l.visit AND x.kind IN ('completed', 'skipped')
  ORDER BY x.n LIMIT 1)
LEFT JOIN wf_execution_log_base f ON f.n = (SELECT x.n FROM wf_execution_log_base x
  WHERE l.kind = 'started' AND x.instance = l.instance AND x.n > l.n AND x.n < coalesce(e.n, 9223372036854775807) AND x.visit = l.visit
    AND x.kind = 'faulted' ORDER BY x.n DESC LIMIT 1)
-- A step that failed before it waited has a place as its visit.
WHERE l.visit IS NOT NULL AND (l.kind = 'started' OR l.kind = 'faulted' AND l.visit LIKE '%[%');


-- The store itself ----------------------------------------------------------------------------------------------------

-- Locks with one owner at a time, e.g. for retention. The fence grows with each new owner.
CREATE TABLE wf_host_locks (
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,  -- empty: free
  fence INTEGER NOT NULL,
  until INTEGER NOT NULL
) STRICT;

-- One row: the time when the store was closed. A server whose clock was set back meanwhile continues from here, or from the
-- last row that it wrote.
CREATE TABLE wf_clock (
  latest INTEGER NOT NULL
) STRICT;
INSERT INTO wf_clock (latest) VALUES (0);

-- One row that counts the writes of other programs. Every page of the file has a checksum (page_file.h), and another
-- program writes pages with wrong ones. If it wrote, wrong checksums are not taken for damage when the store is opened.
CREATE TABLE wf_foreign_changes (
  changes INTEGER NOT NULL,  -- by other programs, three for each row
  seen INTEGER NOT NULL,     -- `changes` when this store was opened last
  cookie INTEGER NOT NULL    -- SQLite's number of the schema at that time: other programs may also have changed tables
) STRICT;
INSERT INTO wf_foreign_changes (changes, seen, cookie) VALUES (0, 0, 0);
