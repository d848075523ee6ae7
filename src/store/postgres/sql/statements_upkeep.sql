-- The outbox, schedules, credentials, the audit trail, and retention of rows that belong to no instance.

-- name: any_new_event
SELECT EXISTS (SELECT 1 FROM cairn.outbox_event WHERE delivered_at IS NULL AND NOT assigned)
-- name: locked_events
WITH free AS (SELECT id FROM cairn.outbox_event WHERE id = ANY ($1::bigint[]) FOR UPDATE SKIP LOCKED)
SELECT id FROM cairn.outbox_event WHERE id = ANY ($1::bigint[]) AND id <> ALL (ARRAY(SELECT id FROM free))
-- part: queue_subject
CASE WHEN octet_length(aggregate_id) <= 2000 THEN aggregate_id ELSE encode(sha256(convert_to(aggregate_id, 'UTF8')), 'hex') END
-- name: assign_outbox
-- The first $1 new events among $5. Those that a program has locked, to publish or to change them, stay, and so does what
-- follows them in their subject. An event that no sink wants stays unpublished, for programs. The queue has a digest of a
-- subject that is too long for its index: programs may insert such events.
WITH new AS MATERIALIZED (SELECT id, event_type, {queue_subject} AS aggregate_id FROM cairn.outbox_event
  WHERE delivered_at IS NULL AND NOT assigned ORDER BY id LIMIT $5),
free AS MATERIALIZED (SELECT o.id FROM cairn.outbox_event o WHERE o.id = ANY (ARRAY(SELECT id FROM new))
  AND o.delivered_at + interval '0' IS NULL AND NOT o.assigned FOR UPDATE SKIP LOCKED),
held AS MATERIALIZED (SELECT aggregate_id, min(id) AS id FROM new WHERE id <> ALL (ARRAY(SELECT id FROM free)) GROUP BY aggregate_id),
fresh AS MATERIALIZED (SELECT e.id AS n, e.event_type, e.aggregate_id AS subject FROM new e LEFT JOIN held h ON h.aggregate_id = e.aggregate_id
  WHERE h.id IS NULL OR e.id < h.id ORDER BY e.id LIMIT $1),
wanted AS MATERIALIZED (SELECT DISTINCT f.n, s.sink, f.subject FROM fresh f
  JOIN unnest($2::text[], $3::text[]) AS s (sink, prefix) ON starts_with(f.event_type, s.prefix)),
queued AS (INSERT INTO cairn.wf_outbox_queue AS q (event, sink, subject, due)
  SELECT w.n, w.sink, w.subject, CASE WHEN row_number() OVER (PARTITION BY w.sink, w.subject ORDER BY w.n) = 1
    AND NOT EXISTS (SELECT 1 FROM cairn.wf_outbox_queue o WHERE o.sink = w.sink COLLATE "C" AND o.subject = w.subject) THEN $4::timestamptz END
  FROM wanted w ON CONFLICT (event, sink) DO UPDATE SET attempts = 0)
UPDATE cairn.outbox_event e SET assigned = f.wanted, published_at = CASE WHEN f.wanted THEN $4::timestamptz END,
  delivered_at = CASE WHEN NOT f.wanted THEN $4::timestamptz END
FROM (SELECT n, EXISTS (SELECT 1 FROM wanted w WHERE w.n = fresh.n) AS wanted FROM fresh) f WHERE e.id = ANY (ARRAY[f.n])
-- name: claim_outbox
WITH heads AS MATERIALIZED (
  SELECT event, subject FROM (
    (SELECT event, subject, 0 AS part FROM cairn.wf_outbox_queue WHERE sink = $2 AND due <= $1 AND attempts > 0 ORDER BY due, event LIMIT $3)
    UNION ALL
    (SELECT event, subject, 1 FROM cairn.wf_outbox_queue WHERE sink = $2 AND due <= $1 AND attempts = 0 ORDER BY due, event LIMIT $4)) h
  ORDER BY part LIMIT $4),
held AS (UPDATE cairn.wf_outbox_queue q SET due = $5 FROM heads h WHERE q.event = ANY (ARRAY[h.event]) AND q.sink = $2),
claimed AS (
  SELECT event FROM heads
  UNION ALL
  (SELECT l.event FROM heads h CROSS JOIN LATERAL (SELECT q.sink, q.subject, q.event FROM cairn.wf_outbox_queue q
    WHERE (q.sink, q.subject, q.event) > ($2, h.subject, h.event) ORDER BY q.sink, q.subject, q.event LIMIT $4) l
   WHERE l.sink = $2 AND l.subject = h.subject LIMIT $4 - (SELECT count(*) FROM heads)))
SELECT o.id, o.event_id, o.instance, o.event_type, o.aggregate_id, o.payload, o.created_at,
  (SELECT q.attempts FROM cairn.wf_outbox_queue q WHERE q.event = o.id AND q.sink = $2)
FROM claimed c JOIN cairn.outbox_event o ON o.id = ANY (ARRAY[c.event]) ORDER BY o.id + 0
-- name: outbox_lock
SELECT pg_advisory_xact_lock($1)
-- name: hold_outbox
UPDATE cairn.wf_outbox_queue SET due = $3 WHERE event = ANY ($2::bigint[]) AND sink = $1 AND due IS NOT NULL
-- name: list_sink_queues
WITH RECURSIVE sinks (sink) AS ((SELECT sink FROM cairn.wf_outbox_queue ORDER BY sink LIMIT 1)
  UNION ALL SELECT (SELECT q.sink FROM cairn.wf_outbox_queue q WHERE q.sink > sinks.sink ORDER BY q.sink LIMIT 1) FROM sinks WHERE sinks.sink IS NOT NULL)
SELECT sink FROM sinks WHERE sink IS NOT NULL
-- name: unqueue_events
DELETE FROM cairn.wf_outbox_queue WHERE event = ANY ($2::bigint[]) AND sink = $1
-- name: retry_events
UPDATE cairn.wf_outbox_queue q SET attempts = q.attempts + 1, due = r.due FROM unnest($2::bigint[], $3::timestamptz[]) AS r (event, due)
WHERE q.event = ANY (ARRAY[r.event]) AND q.sink = $1
-- name: next_of_subjects
UPDATE cairn.wf_outbox_queue q SET due = $3 FROM (
  SELECT s.subject, (SELECT o.event FROM cairn.wf_outbox_queue o WHERE (o.sink, o.subject) >= ($1, s.subject)
    ORDER BY o.sink, o.subject, o.event LIMIT 1) AS event
  FROM (SELECT DISTINCT {queue_subject} AS subject FROM cairn.outbox_event WHERE id = ANY ($2::bigint[])) s) first
WHERE q.event = ANY (ARRAY[first.event]) AND q.sink = $1 AND q.subject = first.subject AND q.due IS NULL
-- name: publish_events
UPDATE cairn.outbox_event o SET delivered_at = $2 WHERE o.id = ANY ($1::bigint[]) AND o.delivered_at + interval '0' IS NULL AND o.assigned
  AND NOT EXISTS (SELECT 1 FROM cairn.wf_outbox_queue q WHERE q.event = o.id OFFSET 0)
-- name: list_outbox
SELECT id, event_id, instance, event_type, aggregate_id, payload, created_at, delivered_at FROM cairn.outbox_event
WHERE id > $1 AND starts_with(event_type, $2) AND ($3 = '' OR aggregate_id = $3) AND ($4::text IS NULL OR instance = $4)
ORDER BY id LIMIT $5
-- name: list_waiting_outbox
SELECT id, event_id, instance, event_type, aggregate_id, payload, created_at, delivered_at FROM cairn.outbox_event
WHERE delivered_at IS NULL AND id > $1 AND starts_with(event_type, $2) AND ($3 = '' OR aggregate_id = $3) AND ($4::text IS NULL OR instance = $4)
ORDER BY id LIMIT $5
-- name: list_instance_outbox
SELECT id, event_id, instance, event_type, aggregate_id, payload, created_at, delivered_at FROM cairn.outbox_event
WHERE id + 0 > $1 AND starts_with(event_type, $2) AND ($3 = '' OR aggregate_id = $3) AND instance = $4
ORDER BY id + 0 LIMIT $5
-- name: last_event
-- The greatest sequence that was taken, also by transactions that have not committed.
SELECT coalesce(pg_sequence_last_value('cairn.outbox_event_id_seq'::regclass), 0)
-- name: event_writers
-- The transactions that have inserted events and have not ended, and when they began. Each holds a lock on the table.
SELECT l.virtualtransaction, a.xact_start FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'relation' AND l.relation = 'cairn.outbox_event'::regclass AND l.mode = 'RowExclusiveLock' AND l.granted
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
-- name: insert_deliveries
INSERT INTO cairn.wf_deliveries (event, sink, attempt, at, delivered, error)
SELECT d.* FROM unnest($1::bigint[], $2::text[], $3::integer[], $4::timestamptz[], $5::boolean[], $6::text[])
  AS d (event, sink, attempt, at, delivered, error) WHERE EXISTS (SELECT 1 FROM cairn.outbox_event o WHERE o.id = d.event OFFSET 0)
-- name: list_deliveries
SELECT event, sink, attempt, at, delivered, error FROM cairn.wf_deliveries WHERE event = $1 ORDER BY n + 0
-- name: resend_outbox
UPDATE cairn.outbox_event SET published_at = NULL, delivered_at = NULL, assigned = false WHERE id = $1

-- name: insert_schedule
INSERT INTO cairn.wf_schedules (name, state_version, spec, paused, next_at, last_at, last, queued, created_at, changed_at)
VALUES ($1, 1, $2, $3, $4, $5, $6, $7, $8, $8) ON CONFLICT (name) DO NOTHING
-- name: update_schedule
UPDATE cairn.wf_schedules SET state_version = state_version + 1, spec = $3, paused = $4, next_at = $5, last_at = $6, last = $7, queued = $8, held_until = NULL,
  changed_at = $9 WHERE name = $1 AND state_version = $2
-- name: find_schedule
SELECT name, state_version, spec, paused, next_at, last_at, last, queued, created_at, changed_at FROM cairn.wf_schedules WHERE name = $1
-- name: list_schedules
SELECT name, state_version, spec, paused, next_at, last_at, last, queued, created_at, changed_at FROM cairn.wf_schedules
WHERE name COLLATE "C" > $1 ORDER BY name COLLATE "C" LIMIT $2
-- name: remove_schedule
DELETE FROM cairn.wf_schedules WHERE name = $1
-- name: take_schedules
WITH due AS (
  SELECT name FROM cairn.wf_schedules WHERE NOT paused AND next_at <= $1 AND (held_until IS NULL OR held_until <= $1)
  ORDER BY next_at, name LIMIT $2 FOR UPDATE SKIP LOCKED),
taken AS (UPDATE cairn.wf_schedules s SET held_until = $3 FROM due WHERE s.name = due.name RETURNING s.*)
SELECT name, state_version, spec, paused, next_at, last_at, last, queued, created_at, changed_at FROM taken ORDER BY next_at, name COLLATE "C"

-- name: put_api_key
INSERT INTO cairn.wf_api_keys (id, secret_hash, subject, roles, scope, note, created_at, expires_at, revoked_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (id) DO UPDATE SET secret_hash = excluded.secret_hash, subject = excluded.subject, roles = excluded.roles, scope = excluded.scope,
  note = excluded.note, expires_at = excluded.expires_at, revoked_at = excluded.revoked_at
-- name: find_api_key
SELECT id, secret_hash, subject, roles, scope, note, created_at, expires_at, revoked_at FROM cairn.wf_api_keys WHERE secret_hash = $1
-- name: list_api_keys
SELECT id, secret_hash, subject, roles, scope, note, created_at, expires_at, revoked_at FROM cairn.wf_api_keys ORDER BY created_at, id COLLATE "C"
-- name: revoke_api_key
UPDATE cairn.wf_api_keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1
-- name: put_token_user
INSERT INTO cairn.wf_token_users AS u (account, person, roles, task_roles, seen_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (account) DO UPDATE SET person = excluded.person, roles = excluded.roles, task_roles = excluded.task_roles, seen_at = excluded.seen_at
WHERE (u.person, u.roles, u.task_roles) IS DISTINCT FROM (excluded.person, excluded.roles, excluded.task_roles) OR u.seen_at < $6
-- name: find_token_users
SELECT account, person, roles, task_roles FROM cairn.wf_token_users WHERE person = $1 ORDER BY account
-- name: append_audit
SELECT cairn.wf_append_audit($1::cairn.wf_audit_row[], $2)
-- name: list_audit
SELECT sequence, at, who, what, resource, why, origin, details, previous_hash, hash FROM cairn.wf_audit WHERE sequence > $1 ORDER BY sequence LIMIT $2

-- name: retire_runs
-- Of the next $4 runs behind number $3 the first $2 that belong to no instance and ended before $1 or were deleted before $6. Numbers follow the time of creation, so
-- a part that has runs younger than both is the last one. The columns: how many were removed; whether it was the last part; where the next one begins. Then: up to where
-- all runs were created before $5, and which of those belong to no instance and stay. Only these may be due later. Last: how many of the removed ones had been deleted.
WITH part AS MATERIALIZED (
  SELECT n, id, created_at, instance IS NULL AS alone,
    instance IS NULL AND ((status IN ('succeeded', 'failed', 'cancelled') AND updated_at < $1) OR coalesce(deleted_at < $6, false)) AS due
  FROM cairn.workflow_run WHERE n > $3 ORDER BY n LIMIT $4),
old AS MATERIALIZED (SELECT n, id FROM part WHERE due ORDER BY n LIMIT $2),
seen AS (SELECT CASE WHEN count(*) < $2 THEN (SELECT max(n) FROM part) ELSE max(n) END AS n, count(*) < $2 AS all_old FROM old),
passed AS (SELECT max(p.n) AS n FROM part p, seen s WHERE p.n <= s.n AND p.created_at < $5),
gone AS (DELETE FROM cairn.workflow_run r USING old WHERE r.id = ANY (ARRAY[old.id]) RETURNING r.deleted_at IS NOT NULL AS deleted),
events AS (DELETE FROM cairn.workflow_event e USING old WHERE e.workflow_id = ANY (ARRAY[old.id]))
SELECT (SELECT count(*) FROM gone), s.all_old AND (SELECT count(*) FROM part WHERE created_at < greatest($1, $6)) < $4, coalesce(s.n, $3), coalesce(c.n, $3),
  (SELECT jsonb_agg(p.n) FROM part p WHERE p.alone AND NOT p.due AND p.n <= c.n), (SELECT count(*) FROM gone WHERE deleted)
FROM seen s, passed c
-- name: retire_passed_runs
-- The runs of these numbers that ended before $1 or were deleted before $3. How many went, which ones stay, and how many of the first had been deleted.
WITH part AS MATERIALIZED (
  SELECT n, id, (status IN ('succeeded', 'failed', 'cancelled') AND updated_at < $1) OR coalesce(deleted_at < $3, false) AS due FROM cairn.workflow_run WHERE n = ANY ($2::bigint[])),
gone AS (DELETE FROM cairn.workflow_run r USING part p WHERE p.due AND r.id = ANY (ARRAY[p.id]) RETURNING r.deleted_at IS NOT NULL AS deleted),
events AS (DELETE FROM cairn.workflow_event e USING part p WHERE p.due AND e.workflow_id = ANY (ARRAY[p.id]))
SELECT (SELECT count(*) FROM gone), (SELECT jsonb_agg(n) FROM part WHERE NOT due), (SELECT count(*) FROM gone WHERE deleted)
-- name: retire_run_events
-- Of $2 runs whose last event is older than $1. The columns: how many events were removed, and of how many runs.
WITH old AS MATERIALIZED (SELECT c.workflow_id FROM cairn.workflow_event c WHERE c.event_type IN ('created', 'created_leased') AND c.created_at < $1
    AND NOT EXISTS (SELECT 1 FROM cairn.workflow_event y WHERE y.workflow_id = c.workflow_id AND y.created_at >= $1 OFFSET 0)
  ORDER BY c.created_at LIMIT $2),
gone AS (DELETE FROM cairn.workflow_event e USING old WHERE e.workflow_id = ANY (ARRAY[old.workflow_id]) RETURNING 1)
SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM old)
-- name: retire_dead_letters
-- Those of an open instance stay, however many they are.
WITH old AS MATERIALIZED (SELECT d.n FROM cairn.wf_dlq_q d WHERE d.at < $1
    AND NOT EXISTS (SELECT 1 FROM cairn.wf_instances_base i WHERE i.id = d.instance AND i.ended_at IS NULL OFFSET 0)
  ORDER BY d.at LIMIT $2 FOR UPDATE OF d SKIP LOCKED),
gone AS (DELETE FROM cairn.wf_dlq_q d USING old WHERE d.n = ANY (ARRAY[old.n]) RETURNING 1)
SELECT count(*) FROM gone
-- name: unchanged_instances
-- The sum keeps the planner from reading all instances in the order of their numbers.
SELECT i.n, i.id FROM cairn.wf_instances_base i
WHERE i.status NOT IN ('completed', 'failed', 'cancelled') AND i.changed_at < $1 AND i.n + 0 > $2
  AND (i.parent IS NULL OR NOT EXISTS (SELECT 1 FROM cairn.wf_instances_base p WHERE p.id = i.parent AND p.ended_at IS NULL OFFSET 0))
ORDER BY i.n + 0 LIMIT $3
-- name: unchanged_tasks
SELECT t.n, t.id FROM cairn.wf_tasks t
WHERE t.status IN ('open', 'assigned') AND t.changed_at < $1 AND t.n + 0 > $2 ORDER BY t.n + 0 LIMIT $3
-- name: retire_audit
-- Sequences have no gaps. The last row stays.
DELETE FROM cairn.wf_audit WHERE sequence <= $1 AND sequence < (SELECT min(sequence) FROM cairn.wf_audit) + $2
  AND sequence < (SELECT max(sequence) FROM cairn.wf_audit)
-- name: retire_outbox
WITH old AS MATERIALIZED (SELECT id FROM cairn.outbox_event WHERE delivered_at < $1 ORDER BY delivered_at LIMIT $2),
gone AS (DELETE FROM cairn.outbox_event o USING old WHERE o.id = ANY (ARRAY[old.id]) RETURNING o.id),
log AS (DELETE FROM cairn.wf_deliveries d USING old WHERE d.event = ANY (ARRAY[old.id]))
SELECT count(*) FROM gone
-- name: retire_users
WITH old AS (SELECT account FROM cairn.wf_token_users WHERE seen_at < $1 ORDER BY seen_at LIMIT $2 FOR UPDATE SKIP LOCKED),
gone AS (DELETE FROM cairn.wf_token_users u USING old WHERE u.account = ANY (ARRAY[old.account]) RETURNING 1)
SELECT count(*) FROM gone
-- name: retire_keys
WITH old AS (SELECT scope, key FROM cairn.wf_idempotency_keys WHERE at < $1 ORDER BY at LIMIT $2),
gone AS (DELETE FROM cairn.wf_idempotency_keys k USING old WHERE k.scope = ANY (ARRAY[old.scope]) AND k.key = ANY (ARRAY[old.key]) RETURNING 1)
SELECT count(*) FROM gone
