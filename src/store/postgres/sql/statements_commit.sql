-- A batch of units. First everything that the units depend on is locked and read, always in this order and sorted, so
-- that two batches never deadlock. Then all accepted rows are written, one array of rows per table.
--
-- A node that already knows the rows does not read first. So every statement that depends on rows is also a guard: it
-- ends with ln(1) if the rows are as expected, and with ln(0) if they have changed. PostgreSQL refuses ln(0) with
-- SQLSTATE 2201E, which rolls back the transaction. Nothing else here causes that error.

-- name: short_lock_timeout
-- A batch waits for no lock longer than this. Then the store looks which units must wait (LockedRows) and commits the
-- others.
SET LOCAL lock_timeout = '200ms'
-- name: locked_runs
-- Those of the runs that another transaction has locked, or whose entry in the queue. The second column is the
-- transaction.
WITH free AS (SELECT id FROM cairn.workflow_run WHERE id = ANY ($1::uuid[]) FOR UPDATE SKIP LOCKED),
entries AS (SELECT r.id, q.place FROM cairn.workflow_run r
  CROSS JOIN LATERAL (SELECT ctid AS place FROM cairn.wf_run_q WHERE later = ANY ('{false,true}') AND type = r.type AND priority = r.priority
    AND run_at = r.run_at AND n = r.n OFFSET 0) q
  WHERE r.id = ANY ($1::uuid[])),
free_entries AS (SELECT ctid AS place FROM cairn.wf_run_q WHERE ctid = ANY (ARRAY(SELECT place FROM entries)) FOR UPDATE SKIP LOCKED)
SELECT id, xmax::text FROM cairn.workflow_run WHERE id = ANY ($1::uuid[]) AND id <> ALL (ARRAY(SELECT id FROM free))
UNION ALL SELECT e.id, q.xmax::text FROM entries e CROSS JOIN LATERAL (SELECT xmax FROM cairn.wf_run_q WHERE ctid = e.place OFFSET 0) q
WHERE e.place <> ALL (ARRAY(SELECT place FROM free_entries))
-- name: locked_tasks
WITH free AS (SELECT id FROM cairn.wf_tasks WHERE id = ANY ($1::text[]) FOR UPDATE SKIP LOCKED)
SELECT id, xmax::text FROM cairn.wf_tasks WHERE id = ANY ($1::text[]) AND id <> ALL (ARRAY(SELECT id FROM free))
-- name: locked_instances
WITH free AS (SELECT id FROM cairn.wf_instances_base WHERE id = ANY ($1::text[]) FOR UPDATE SKIP LOCKED),
free_states AS (SELECT n FROM cairn.wf_runtime_states WHERE n = ANY (ARRAY(SELECT n FROM cairn.wf_instances_base WHERE id = ANY ($1::text[])))
  FOR UPDATE SKIP LOCKED)
SELECT id, xmax::text FROM cairn.wf_instances_base WHERE id = ANY ($1::text[]) AND id <> ALL (ARRAY(SELECT id FROM free))
UNION ALL SELECT i.id, s.xmax::text FROM cairn.wf_instances_base i
CROSS JOIN LATERAL (SELECT n, xmax FROM cairn.wf_runtime_states WHERE n = i.n OFFSET 0) s
WHERE i.id = ANY ($1::text[]) AND s.n <> ALL (ARRAY(SELECT n FROM free_states))
-- name: foreign_transactions
-- The transactions of sessions that are not cairn's. The sessions of all nodes have one user and one application name.
SELECT l.transactionid::text FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.granted
  AND (a.application_name, a.usename) IS DISTINCT FROM (nullif(current_setting('application_name'), ''), current_user)
-- name: lock_instances
SELECT i.id, i.n, s.state_version, i.started_at, i.ended_at IS NOT NULL FROM cairn.wf_instances_base i JOIN cairn.wf_runtime_states s ON s.n = ANY (ARRAY[i.n])
WHERE i.id = ANY ($1::text[]) ORDER BY s.n + 0 FOR UPDATE OF s
-- name: find_numbers
SELECT id, n, started_at FROM cairn.wf_instances_base WHERE id = ANY ($1::text[])
-- name: lock_messages
SELECT n FROM cairn.wf_signal_q WHERE n = ANY ($1::bigint[]) AND target + 0 IS NOT NULL ORDER BY n FOR UPDATE
-- name: lock_timers
SELECT t.place FROM
  (SELECT a.place, a.due, i.n, a.token FROM unnest($1::timestamptz[], $2::text[], $3::text[]) WITH ORDINALITY AS a (due, id, token, place)
   JOIN cairn.wf_instances_base i ON i.id = ANY (ARRAY[a.id]) ORDER BY a.due, i.n, a.token OFFSET 0) t
CROSS JOIN LATERAL (SELECT FROM cairn.wf_timer_q q WHERE q.due = t.due AND q.instance = t.n AND q.token = t.token FOR UPDATE) q
-- name: lock_runs
SELECT r.id, r.status, r.fence, r.attempt + r.uncounted::integer, r.type FROM cairn.workflow_run r WHERE r.id = ANY ($1::uuid[]) ORDER BY r.id FOR UPDATE
-- name: lock_tasks
SELECT id, state_version, status IN ('open', 'assigned') FROM cairn.wf_tasks WHERE id = ANY ($1::text[]) ORDER BY id FOR UPDATE
-- name: find_inbox
SELECT a.place FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS a (id, signal, place)
JOIN cairn.wf_instances_base i ON i.id = ANY (ARRAY[a.id])
CROSS JOIN LATERAL (SELECT FROM cairn.wf_inbox WHERE instance = i.n AND signal = a.signal OFFSET 0) b
-- name: claim_keys
INSERT INTO cairn.wf_idempotency_keys (scope, key, request_hash, answer, at)
SELECT k.scope, k.key, k.request_hash, k.answer, $5 FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS k (scope, key, request_hash, answer)
ON CONFLICT (scope, key) DO NOTHING RETURNING scope, key
-- name: find_keys
SELECT k.scope, k.key, k.request_hash, k.answer FROM cairn.wf_idempotency_keys k
JOIN unnest($1::text[], $2::text[]) AS a (scope, key) ON k.scope = ANY (ARRAY[a.scope]) AND k.key = ANY (ARRAY[a.key])
-- name: give_up_key
DELETE FROM cairn.wf_idempotency_keys WHERE scope = $1 AND key = $2
-- name: change_key
UPDATE cairn.wf_idempotency_keys SET request_hash = $3, answer = $4 WHERE scope = $1 AND key = $2
-- name: any_kept
SELECT 1 FROM cairn.wf_signal_q WHERE target IS NULL AND name = ANY ($1::text[]) AND (expires_at IS NULL OR expires_at > $2) LIMIT 1
-- name: take_numbers
SELECT nextval('cairn.wf_instance_number') FROM generate_series(1, $1::bigint)
-- name: insert_instances
INSERT INTO cairn.wf_instances_base (n, id, definition, definition_version, digest, status, reference_key, reference_parts, parent, error, started_at,
  changed_at, ended_at)
SELECT * FROM unnest($1::cairn.wf_instance_row[])
-- name: update_instances
WITH moved AS (UPDATE cairn.wf_instances_base i SET definition = u.definition, definition_version = u.definition_version, digest = u.digest, status = u.status,
  reference_key = u.reference_key, reference_parts = u.reference_parts, error = u.error, changed_at = u.changed_at, ended_at = u.ended_at
FROM unnest($1::cairn.wf_instance_row[]) AS u WHERE i.n = ANY (ARRAY[u.n]) AND i.ended_at IS NULL RETURNING 1)
SELECT ln((count(*) = cardinality($1::cairn.wf_instance_row[]))::integer) FROM moved
-- name: update_like_instances
-- As above, for instances whose definition and reference are unchanged.
WITH moved AS (UPDATE cairn.wf_instances_base i SET status = u.status, error = u.error, changed_at = u.changed_at, ended_at = u.ended_at
FROM unnest($1::bigint[], $2::text[], $3::jsonb[], $4::timestamptz[], $5::timestamptz[]) AS u (n, status, error, changed_at, ended_at)
WHERE i.n = ANY (ARRAY[u.n]) AND i.ended_at IS NULL RETURNING 1)
SELECT ln((count(*) = cardinality($1::bigint[]))::integer) FROM moved
-- name: insert_states
INSERT INTO cairn.wf_runtime_states (n, state_version, schema_version, waiting_kind, waiting_token, waiting_until, active_task, resume_pointer, last_signal,
  last_error_code, last_error, last_executed_by, last_executed_on, snapshot)
SELECT n, state_version, schema_version, waiting_kind, waiting_token, waiting_until, active_task, resume_pointer, last_signal, last_error_code, last_error,
  last_executed_by, $2, snapshot FROM unnest($1::cairn.wf_state_row[])
-- name: update_states
WITH moved AS (UPDATE cairn.wf_runtime_states s SET state_version = u.state_version, schema_version = u.schema_version, waiting_kind = u.waiting_kind,
  waiting_token = u.waiting_token, waiting_until = u.waiting_until, active_task = u.active_task, resume_pointer = u.resume_pointer,
  last_signal = coalesce(u.last_signal, s.last_signal), last_error_code = u.last_error_code, last_error = u.last_error,
  last_executed_by = u.last_executed_by, last_executed_on = $2, snapshot = u.snapshot
FROM unnest($1::cairn.wf_state_row[]) AS u WHERE s.n = ANY (ARRAY[u.n]) AND s.state_version = u.from_state_version RETURNING 1)
SELECT ln((count(*) = cardinality($1::cairn.wf_state_row[]))::integer) FROM moved
-- name: insert_pieces
-- Sorted, so that two batches with the same new pieces wait for each other in one order.
INSERT INTO cairn.wf_pieces (hash, body) SELECT p.hash, p.body FROM unnest($1::text[], $2::text[]) AS p (hash, body) ORDER BY p.hash COLLATE "C"
ON CONFLICT (hash) DO NOTHING
-- name: use_pieces
-- A piece that exists stays until the end of this transaction. One that was removed meanwhile makes the batch begin again.
WITH held AS MATERIALIZED (SELECT n, hash FROM cairn.wf_pieces WHERE hash = ANY ($2::text[]) ORDER BY hash FOR KEY SHARE),
used AS (INSERT INTO cairn.wf_piece_uses (instance, piece) SELECT u.instance, h.n FROM unnest($1::bigint[], $2::text[]) AS u (instance, hash)
  JOIN held h ON h.hash = u.hash ON CONFLICT DO NOTHING)
SELECT ln((count(*) = (SELECT count(DISTINCT w.hash) FROM unnest($2::text[]) AS w (hash)))::integer) FROM held
-- name: drop_piece_uses
DELETE FROM cairn.wf_piece_uses WHERE ctid = ANY (ARRAY(
  SELECT u.place FROM unnest($1::bigint[], $2::text[]) AS d (instance, hash)
  CROSS JOIN LATERAL (SELECT n FROM cairn.wf_pieces WHERE hash = d.hash OFFSET 0) p
  CROSS JOIN LATERAL (SELECT ctid AS place FROM cairn.wf_piece_uses WHERE instance = d.instance AND piece = p.n OFFSET 0) u))
-- name: remove_pieces
SELECT cairn.wf_remove_pieces($1::text[])
-- name: end_piece_uses
SELECT cairn.wf_end_piece_uses($1::bigint[], $2::text[])
-- name: close_waits
DELETE FROM cairn.wf_waits_base WHERE ctid = ANY (ARRAY(
  SELECT w.ctid FROM unnest($1::bigint[], $2::text[]) AS c (instance, token)
  CROSS JOIN LATERAL (SELECT ctid FROM cairn.wf_waits_base WHERE instance = c.instance AND token = c.token OFFSET 0) w))
-- name: insert_waits
INSERT INTO cairn.wf_waits_base (instance, token, kind, step, strand, since, until, name, key, target) SELECT * FROM unnest($1::cairn.wf_wait_row[])
-- name: open_waits
INSERT INTO cairn.wf_waits_base AS w (instance, token, kind, step, strand, since, until, name, key, target)
SELECT * FROM unnest($1::cairn.wf_wait_row[])
ON CONFLICT (instance, token) DO UPDATE SET kind = excluded.kind, step = excluded.step, strand = excluded.strand, since = excluded.since,
  until = excluded.until, name = excluded.name, key = excluded.key, target = excluded.target
-- name: insert_timers
INSERT INTO cairn.wf_timer_q (due, instance, token) SELECT * FROM unnest($1::timestamptz[], $2::bigint[], $3::text[]) ON CONFLICT DO NOTHING
-- name: fire_timers
WITH gone AS (DELETE FROM cairn.wf_timer_q WHERE ctid = ANY (ARRAY(
  SELECT q.ctid FROM unnest($1::timestamptz[], $2::bigint[], $3::text[]) AS t (due, instance, token)
  CROSS JOIN LATERAL (SELECT ctid FROM cairn.wf_timer_q WHERE due = t.due AND instance = t.instance AND token = t.token OFFSET 0) q)) RETURNING 1)
SELECT ln((count(*) = cardinality($1::timestamptz[]))::integer) FROM gone
-- name: insert_tasks
INSERT INTO cairn.wf_tasks (id, instance, instance_id, token, step, name, title, status, state_version, roles, exclude, payload, form, priority, due, deadline,
  assignee, reference_key, reference_parts, created_at, changed_at, managers)
SELECT t.id, t.instance, t.instance_id, t.token, t.step, t.name, t.title, t.status, 1,
  ARRAY(SELECT jsonb_array_elements_text(t.roles)), ARRAY(SELECT jsonb_array_elements_text(t.exclude)), t.payload, t.form, t.priority, t.due, t.deadline,
  t.assignee, t.reference_key, t.reference_parts, $20, $20, ARRAY(SELECT jsonb_array_elements_text(t.managers))
FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::jsonb[], $10::jsonb[], $11::jsonb[],
  $12::jsonb[], $13::bigint[], $14::timestamptz[], $15::timestamptz[], $16::text[], $17::text[], $18::jsonb[], $19::jsonb[])
  AS t (id, instance, instance_id, token, step, name, title, status, roles, exclude, payload, form, priority, due, deadline, assignee, reference_key,
  reference_parts, managers)
-- name: close_tasks
UPDATE cairn.wf_tasks t SET status = c.status, state_version = t.state_version + 1, changed_at = $6, completed_by = c.completed_by, completed_at = c.completed_at,
  completion = c.completion
FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::jsonb[]) AS c (id, status, completed_by, completed_at, completion)
WHERE t.id = ANY (ARRAY[c.id]) AND t.status || '' IN ('open', 'assigned')
-- name: insert_task_events
INSERT INTO cairn.wf_task_events (task, kind, at, actor, details) SELECT e.task, e.kind, $5, e.actor, e.details
FROM unnest($1::text[], $2::text[], $3::text[], $4::jsonb[]) AS e (task, kind, actor, details)
-- name: cancel_runs
UPDATE cairn.workflow_run SET status = 'cancelled', updated_at = $2, turns = turns + 1, troubled = true WHERE id = ANY ($1::uuid[]) AND status IN ('pending', 'leased')
-- name: end_runs
WITH ended AS (UPDATE cairn.workflow_run r SET status = e.status, result = e.result, error = e.error, last_error = coalesce(e.last_error, r.last_error),
  lease_until = NULL, leased_by = NULL, updated_at = $2, turns = r.turns + 1, troubled = e.status <> 'succeeded'
FROM unnest($1::cairn.wf_run_end_row[]) AS e WHERE r.id = ANY (ARRAY[e.id]) AND r.fence = e.fence AND r.status = 'leased' RETURNING 1)
SELECT ln((count(*) = cardinality($1::cairn.wf_run_end_row[]))::integer) FROM ended
-- name: insert_outbox
INSERT INTO cairn.outbox_event (event_id, instance, event_type, aggregate_id, payload, created_at, delivered_at, by_engine)
SELECT o.id, o.instance, o.type, o.subject, o.data, $7::timestamptz, CASE WHEN o.unwanted THEN $7 END, true
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::jsonb[], $6::boolean[]) AS o (id, instance, type, subject, data, unwanted)
-- name: insert_log
INSERT INTO cairn.wf_execution_log_base (instance, state_version, kind, step, at, actor, attempt, details, visit) SELECT * FROM unnest($1::cairn.wf_log_row[])
-- name: delete_messages
WITH gone AS (DELETE FROM cairn.wf_signal_q WHERE n = ANY ($1::bigint[]) AND target + 0 IS NOT NULL RETURNING 1)
SELECT ln((count(*) = cardinality($1::bigint[]))::integer) FROM gone
-- name: none_kept
SELECT ln((NOT EXISTS (SELECT 1 FROM cairn.wf_signal_q WHERE target IS NULL AND name = ANY ($1::text[])
  AND (expires_at IS NULL OR expires_at > $2)))::integer)
-- name: no_run_types
SELECT ln((NOT EXISTS (SELECT 1 FROM cairn.wf_run_types))::integer)
-- name: insert_inbox
INSERT INTO cairn.wf_inbox (instance, signal, at) SELECT a.instance, a.signal, $3 FROM unnest($1::bigint[], $2::text[]) AS a (instance, signal)
ON CONFLICT DO NOTHING
-- name: insert_messages
INSERT INTO cairn.wf_signal_q (target, kind, name, key, body, at)
SELECT m.target, m.kind, m.name, m.key, m.body, $6 FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[]) AS m (target, kind, name, key, body)
-- name: insert_dead_letters
INSERT INTO cairn.wf_dlq_q (instance, kind, envelope, reason, node, at)
SELECT d.instance, d.kind, d.envelope, d.reason, d.node, $6 FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
  AS d (instance, kind, envelope, reason, node)
