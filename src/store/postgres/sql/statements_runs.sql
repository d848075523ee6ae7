-- Runs and their leases.

-- name: insert_run
INSERT INTO cairn.workflow_run (id, given_id, type, status, priority, idempotency_key, call_key, payload, attempt, max_attempts, run_at, lease_until, leased_by,
  fence, leases, backoff_ms, factor, cap_ms, jitter, timeout_ms, instance, token, step, limit_key, created_at, turns, updated_at, attempt_until, troubled)
SELECT r.id, r.given_id, r.type, r.status, r.priority, CASE WHEN r.instance IS NULL THEN r.idempotency_key END, CASE WHEN r.instance IS NOT NULL THEN r.idempotency_key END,
    r.payload, r.attempt, r.max_attempts, r.run_at, r.lease_until, r.leased_by, r.fence, r.leases, r.backoff_ms, r.factor, r.cap_ms, r.jitter, r.timeout_ms, r.instance, r.token, r.step,
    r.limit_key, $2, 1, $2, CASE WHEN r.status = 'leased' THEN $2::timestamptz + least(r.timeout_ms, 3155760000000) * interval '1 millisecond' END, r.status = 'cancelled' FROM unnest($1::cairn.wf_run_row[]) AS r
-- name: insert_queued_runs
-- As above, for a batch in which some runs wait to be leased.
WITH fresh AS (
  INSERT INTO cairn.workflow_run (id, given_id, type, status, priority, idempotency_key, call_key, payload, attempt, max_attempts, run_at, lease_until, leased_by,
    fence, leases, backoff_ms, factor, cap_ms, jitter, timeout_ms, instance, token, step, limit_key, created_at, turns, updated_at, attempt_until, troubled)
  SELECT r.id, r.given_id, r.type, r.status, r.priority, CASE WHEN r.instance IS NULL THEN r.idempotency_key END, CASE WHEN r.instance IS NOT NULL THEN r.idempotency_key END,
    r.payload, r.attempt, r.max_attempts, r.run_at, r.lease_until, r.leased_by, r.fence, r.leases, r.backoff_ms, r.factor, r.cap_ms, r.jitter, r.timeout_ms, r.instance, r.token, r.step,
    r.limit_key, $2, 1, $2, CASE WHEN r.status = 'leased' THEN $2::timestamptz + least(r.timeout_ms, 3155760000000) * interval '1 millisecond' END, r.status = 'cancelled' FROM unnest($1::cairn.wf_run_row[]) AS r
  RETURNING type, priority, run_at, n, id, created_at, status, limit_key)
INSERT INTO cairn.wf_run_q (type, priority, run_at, n, run, later, lapsed, limit_key)
SELECT type, priority, run_at, n, id, run_at > created_at, false, limit_key FROM fresh WHERE status = 'pending'
-- name: insert_fresh_runs
-- Runs with new ids. Checking for existing ones first, as ON CONFLICT does, would cost a third more.
WITH fresh AS (
  INSERT INTO cairn.workflow_run (id, given_id, type, priority, idempotency_key, payload, max_attempts, run_at, backoff_ms, factor, cap_ms, jitter, timeout_ms,
    limit_key, created_at, updated_at, turns)
  SELECT r.*, $2, $2, 1 FROM unnest($1::cairn.wf_job_row[]) AS r
  RETURNING type, priority, run_at, n, id, limit_key)
INSERT INTO cairn.wf_run_q (type, priority, run_at, n, run, later, lapsed, limit_key)
SELECT type, priority, run_at, n, id, run_at > $2, false, limit_key FROM fresh
-- name: insert_like_runs
-- As above, for runs that differ only in id and payload.
WITH fresh AS (
  INSERT INTO cairn.workflow_run (id, payload, type, priority, max_attempts, run_at, backoff_ms, factor, cap_ms, jitter, timeout_ms, limit_key,
    created_at, updated_at, turns)
  SELECT r.id, r.payload, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13, 1 FROM unnest($1::uuid[], $2::jsonb[]) AS r (id, payload)
  RETURNING n, id)
INSERT INTO cairn.wf_run_q (type, priority, run_at, n, run, later, lapsed, limit_key)
SELECT $3, $4, $6, n, id, $6::timestamptz > $13, false, $12 FROM fresh
-- name: submit_runs
-- Inserts the runs that do not exist yet, by id or key. Answers their ids only if some already existed.
WITH fresh AS (
  INSERT INTO cairn.workflow_run (id, given_id, type, priority, idempotency_key, payload, max_attempts, run_at, backoff_ms, factor, cap_ms, jitter, timeout_ms,
    limit_key, created_at, updated_at, turns)
  SELECT r.*, $2, $2, 1 FROM unnest($1::cairn.wf_job_row[]) AS r
  ON CONFLICT DO NOTHING RETURNING id, type, priority, run_at, n, limit_key),
queued AS (INSERT INTO cairn.wf_run_q (type, priority, run_at, n, run, later, lapsed, limit_key)
  SELECT type, priority, run_at, n, id, run_at > $2, false, limit_key FROM fresh),
told AS (INSERT INTO cairn.workflow_event (workflow_id, event_type, created_at, attempt, actor) SELECT fresh.id, 'created', $2, 0, e.actor
  FROM fresh JOIN (SELECT DISTINCT ON (id) id, actor FROM unnest($3::uuid[], $4::text[]) AS g (id, actor)) AS e ON e.id = fresh.id)
SELECT count(*), CASE WHEN count(*) < cardinality($1::cairn.wf_job_row[]) THEN array_agg(id::text) END FROM fresh
-- name: end_standalone_runs
-- Ends of runs without an instance. The update itself checks the lease.
UPDATE cairn.workflow_run r SET status = e.status, result = e.result, error = e.error, last_error = coalesce(e.last_error, r.last_error),
  lease_until = NULL, leased_by = NULL, updated_at = $2, turns = r.turns + 1, troubled = e.status <> 'succeeded'
FROM unnest($1::cairn.wf_run_end_row[]) WITH ORDINALITY AS e (id, fence, status, result, error, last_error, place)
WHERE r.id = ANY (ARRAY[e.id]) AND r.fence = e.fence AND r.status = 'leased'
RETURNING e.place, r.type, r.attempt
-- name: end_succeeded_runs
-- As above, if all runs succeeded and no details are needed for each.
UPDATE cairn.workflow_run r SET status = 'succeeded', result = e.result, error = NULL, lease_until = NULL, leased_by = NULL, updated_at = $4, turns = r.turns + 1
FROM unnest($1::uuid[], $2::bigint[], $3::jsonb[]) AS e (id, fence, result)
WHERE r.id = ANY (ARRAY[e.id]) AND r.fence = e.fence AND r.status = 'leased'
-- name: insert_run_events
INSERT INTO cairn.workflow_event (workflow_id, event_type, created_at, attempt, actor, data) SELECT * FROM unnest($1::cairn.wf_run_event_row[])
-- name: insert_like_events
-- One kind of event for many runs, by one actor at one time.
INSERT INTO cairn.workflow_event (workflow_id, event_type, created_at, attempt, actor)
SELECT e.run, $2, $3, e.attempt, $4 FROM unnest($1::uuid[], $5::integer[]) AS e (run, attempt)
-- name: insert_created_events
INSERT INTO cairn.workflow_event (workflow_id, event_type, created_at, attempt, actor)
SELECT e.run, 'created', $2, 0, e.actor FROM unnest($1::uuid[], $3::text[]) AS e (run, actor)
-- part: run_columns
coalesce(r.given_id, r.id::text), r.type, r.status, r.priority, coalesce(r.idempotency_key, r.call_key), r.payload, r.result, r.error, r.last_error,
  r.attempt + r.uncounted::integer, r.max_attempts, r.leases, r.fence, r.run_at, r.lease_until, r.leased_by, r.backoff_ms, r.factor, r.cap_ms, r.jitter, r.timeout_ms, r.instance, r.token, r.step,
  r.created_at, r.updated_at, r.deleted_at, r.delete_reason, r.limit_key, r.n
-- name: find_run
SELECT {run_columns}
FROM cairn.workflow_run r WHERE r.id = $1
-- name: lock_run
SELECT {run_columns}
FROM cairn.workflow_run r WHERE r.id = $1 FOR UPDATE
-- name: lock_changed_runs
-- Skips rows that another transaction has locked. Payload, result and error are left out: a heartbeat needs none of them.
SELECT coalesce(r.given_id, r.id::text), r.type, r.status, r.priority, coalesce(r.idempotency_key, r.call_key), NULL::jsonb, NULL::jsonb, NULL::jsonb, r.last_error,
  r.attempt + r.uncounted::integer, r.max_attempts, r.leases, r.fence, r.run_at, r.lease_until, r.leased_by, r.backoff_ms, r.factor, r.cap_ms, r.jitter, r.timeout_ms, r.instance, r.token, r.step,
  r.created_at, r.updated_at, r.deleted_at, r.delete_reason, r.limit_key, r.id
FROM cairn.workflow_run r WHERE r.id = ANY ($1::uuid[]) FOR UPDATE SKIP LOCKED
-- name: runs_among
SELECT r.id FROM cairn.workflow_run r WHERE r.id = ANY ($1::uuid[])
-- name: wait_for_locks
-- How long the statements of this transaction wait for a lock.
SELECT set_config('lock_timeout', $1::text, true)
-- name: find_run_by_key
SELECT {run_columns}
FROM cairn.workflow_run r WHERE r.idempotency_key = $1
-- name: queued_types
WITH RECURSIVE found (type) AS (
  (SELECT q.type FROM cairn.wf_run_q q WHERE NOT q.later AND q.type >= $1 AND q.type < $2 ORDER BY q.type LIMIT 1)
  UNION ALL
  SELECT (SELECT q.type FROM cairn.wf_run_q q WHERE NOT q.later AND q.type > found.type AND q.type < $2 ORDER BY q.type LIMIT 1)
  FROM found WHERE found.type IS NOT NULL)
SELECT type FROM found WHERE type IS NOT NULL
-- name: ready_runs
-- The $3 most urgent runs of a type. Nothing is locked, because a request for several types takes only some of them.
SELECT r.n, r.type, r.limit_key, r.priority, r.run_at, r.id FROM cairn.wf_run_q q JOIN cairn.workflow_run r ON r.id = ANY (ARRAY[q.run])
WHERE NOT q.later AND q.type = $2 AND r.attempt < r.max_attempts
  AND (r.status = 'pending' OR (r.status = 'leased' AND r.lease_until <= $1 AND (r.attempt_until IS NULL OR r.attempt_until > $1)))
ORDER BY q.priority DESC, q.run_at, q.n LIMIT $3
-- name: ready_limited_runs
-- The first $3 entries of a type. The run is NULL if it cannot be leased or if its key ($4) is full.
SELECT r.n, $2, r.limit_key, r.priority, r.run_at, r.id
FROM (SELECT q.run, q.limit_key, q.priority, q.run_at, q.n FROM cairn.wf_run_q q WHERE NOT q.later AND q.type = $2
  ORDER BY q.priority DESC, q.run_at, q.n LIMIT $3) w
LEFT JOIN LATERAL (SELECT * FROM cairn.workflow_run r WHERE r.id = w.run AND w.limit_key <> ALL ($4::text[]) AND r.attempt < r.max_attempts
  AND (r.status = 'pending' OR (r.status = 'leased' AND r.lease_until <= $1 AND (r.attempt_until IS NULL OR r.attempt_until > $1))) OFFSET 0) r ON true
-- name: ready_keyed_runs
-- The first $3 runs of each of the first $5 keys after $6 of a type, except full keys ($4). Each key is found by one
-- seek, so the number of runs per key does not matter. Each row has the key, so that the next scan can continue after
-- the last one.
WITH RECURSIVE keys (key, place) AS (
  (SELECT q.limit_key, 1 FROM cairn.wf_run_q q WHERE NOT q.later AND q.limit_key <> '' AND q.type = $2 AND q.limit_key > $6 ORDER BY q.limit_key LIMIT 1)
  UNION ALL
  SELECT (SELECT q.limit_key FROM cairn.wf_run_q q WHERE NOT q.later AND q.limit_key <> '' AND q.type = $2 AND q.limit_key > k.key
    ORDER BY q.limit_key LIMIT 1), k.place + 1
  FROM keys k WHERE k.key IS NOT NULL AND k.place < $5)
SELECT r.n, $2, k.key, r.priority, r.run_at, r.id
FROM (SELECT key FROM keys WHERE key IS NOT NULL OFFSET 0) k
LEFT JOIN LATERAL (SELECT w.n, w.priority, w.run_at, w.id
  FROM (SELECT q.run, q.priority, q.run_at, q.n FROM cairn.wf_run_q q WHERE NOT q.later AND q.limit_key <> '' AND q.type = $2 AND q.limit_key = k.key
    ORDER BY q.priority DESC, q.run_at, q.n LIMIT $3) q
  CROSS JOIN LATERAL (SELECT * FROM cairn.workflow_run r WHERE r.id = q.run AND r.attempt < r.max_attempts
    AND (r.status = 'pending' OR (r.status = 'leased' AND r.lease_until <= $1 AND (r.attempt_until IS NULL OR r.attempt_until > $1))) OFFSET 0) w) r ON k.key <> ALL ($4::text[])
-- name: ready_unkeyed_runs
-- The first $3 runs without a key among the first $4 of a type.
SELECT r.n, $2, r.limit_key, r.priority, r.run_at, r.id
FROM (SELECT w.run FROM (SELECT q.run, q.limit_key FROM cairn.wf_run_q q WHERE NOT q.later AND q.type = $2
  ORDER BY q.priority DESC, q.run_at, q.n LIMIT $4) w WHERE w.limit_key = '' LIMIT $3) w
CROSS JOIN LATERAL (SELECT * FROM cairn.workflow_run r WHERE r.id = w.run AND r.attempt < r.max_attempts
  AND (r.status = 'pending' OR (r.status = 'leased' AND r.lease_until <= $1 AND (r.attempt_until IS NULL OR r.attempt_until > $1))) OFFSET 0) r
-- name: left_in_queue
-- Whether the queue of a type still has a run that could be leased: another transaction has it locked.
SELECT 1 FROM cairn.wf_run_q q JOIN cairn.workflow_run r ON r.id = ANY (ARRAY[q.run])
WHERE NOT q.later AND q.type = $2 AND r.attempt < r.max_attempts
  AND (r.status = 'pending' OR (r.status = 'leased' AND r.lease_until <= $1 AND (r.attempt_until IS NULL OR r.attempt_until > $1))) LIMIT 1
-- name: leave_queue
-- By position: a queue row never changes, and the transaction that has its run locked is the only one to remove it.
DELETE FROM cairn.wf_run_q WHERE ctid = ANY ($1::tid[])
-- name: unqueue_runs
-- By key, not by position: an entry that becomes due at this moment moves (ready_later).
DELETE FROM cairn.wf_run_q q USING (SELECT type, priority, run_at, n FROM cairn.workflow_run WHERE id = ANY ($1::uuid[]) OFFSET 0) r
WHERE q.later = ANY ('{false,true}') AND q.type = ANY (ARRAY[r.type]) AND q.priority = ANY (ARRAY[r.priority]) AND q.run_at = ANY (ARRAY[r.run_at])
  AND q.n = ANY (ARRAY[r.n])
-- name: queue_runs
INSERT INTO cairn.wf_run_q (type, priority, run_at, n, run, later, lapsed, limit_key)
SELECT type, priority, run_at, n, id, run_at > $2, false, limit_key FROM cairn.workflow_run WHERE id = ANY ($1::uuid[]) AND deleted_at IS NULL
-- name: watch_leases
INSERT INTO cairn.wf_lease_q (id, at, type, runs) VALUES ($1, $2, $3, $4)
-- name: forget_leases
DELETE FROM cairn.wf_lease_q WHERE id = ANY ($1::bigint[])
-- name: anything_due
-- Expired leases, and runs that have become due.
SELECT 1 WHERE EXISTS (SELECT 1 FROM cairn.wf_lease_q WHERE at <= $1) OR EXISTS (SELECT 1 FROM cairn.wf_run_q WHERE later AND run_at <= $1)
-- name: ready_later
-- Moves runs that have become due to the ready ones and answers how many.
WITH ready AS (UPDATE cairn.wf_run_q SET later = false WHERE ctid = ANY (ARRAY(
  SELECT q.ctid FROM cairn.wf_run_q q WHERE q.later AND q.run_at <= $1 ORDER BY q.run_at LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING 1)
SELECT count(*) FROM ready
-- name: later_left
SELECT 1 FROM cairn.wf_run_q WHERE later AND run_at <= $1 LIMIT 1
-- name: take_due_leases
DELETE FROM cairn.wf_lease_q w
WHERE w.ctid = ANY (ARRAY(SELECT l.ctid FROM cairn.wf_lease_q l WHERE l.at <= $1 ORDER BY l.at LIMIT 64 FOR UPDATE SKIP LOCKED)) RETURNING w.runs::text[]
-- name: leased_among
SELECT r.id, r.type FROM cairn.workflow_run r WHERE r.id = ANY ($1::uuid[]) AND r.status = 'leased' AND r.deleted_at IS NULL
-- name: lock_leased
-- Skips rows that another transaction has locked.
SELECT r.id, r.type, r.status = 'leased' AND r.deleted_at IS NULL, least(r.lease_until, r.attempt_until) FROM cairn.workflow_run r WHERE r.id = ANY ($1::uuid[]) FOR UPDATE SKIP LOCKED
-- name: queue_lapsed
-- An attempt that was leased with SQL counts from now on.
WITH counted AS (UPDATE cairn.workflow_run SET attempt = attempt + 1, uncounted = false, turns = turns + 1 WHERE id = ANY ($1::uuid[]) AND uncounted)
INSERT INTO cairn.wf_run_q (type, priority, run_at, n, run, later, lapsed, limit_key)
SELECT r.type, r.priority, r.run_at, r.n, r.id, false, true, r.limit_key FROM cairn.workflow_run r
WHERE r.id = ANY ($1::uuid[]) AND NOT EXISTS (SELECT 1 FROM cairn.wf_run_q q
  WHERE q.later = ANY ('{false,true}') AND q.type = r.type AND q.priority = r.priority AND q.run_at = r.run_at AND q.n = r.n OFFSET 0)
-- name: purge_lapsed
-- The run ended before another worker took it.
DELETE FROM cairn.wf_run_q q WHERE q.lapsed AND NOT EXISTS (SELECT 1 FROM cairn.workflow_run r WHERE r.id = q.run AND r.status = 'leased' AND r.deleted_at IS NULL OFFSET 0)
-- name: live_leases
SELECT r.limit_key, count(*)
FROM (SELECT unnest(w.runs) AS run FROM cairn.wf_lease_q w WHERE w.type = $1
  UNION SELECT q.run FROM cairn.wf_run_q q WHERE q.lapsed AND q.type = $1) l
CROSS JOIN LATERAL (SELECT limit_key, status, lease_until, type FROM cairn.workflow_run WHERE id = l.run OFFSET 0) r
WHERE r.status = 'leased' AND r.lease_until > $2 AND r.type = $1 GROUP BY r.limit_key
-- name: purge_starts
DELETE FROM cairn.wf_run_leases WHERE type = $1 AND at <= $2
-- name: recent_starts
SELECT limit_key, count(*), min(at) FROM cairn.wf_run_leases WHERE type = $1 AND at > $2 GROUP BY limit_key
-- name: insert_starts
INSERT INTO cairn.wf_run_leases (type, limit_key, at) SELECT s.type, s.limit_key, $3 FROM unnest($1::text[], $2::text[]) AS s (type, limit_key)
-- name: lease_ready
-- Selects and leases ready runs of a type without rules in one statement. A run that changed after the statement
-- started is not found at its position and stays in the queue for the next request. Columns that are equal for all runs
-- are not returned, because the caller knows them.
WITH chosen AS (
  SELECT r.ctid AS place, q.ctid AS queued FROM cairn.wf_run_q q JOIN cairn.workflow_run r ON r.id = ANY (ARRAY[q.run])
  WHERE NOT q.later AND q.type = $2 AND r.attempt < r.max_attempts
    AND (r.status = 'pending' OR (r.status = 'leased' AND r.lease_until <= $1 AND (r.attempt_until IS NULL OR r.attempt_until > $1)))
  ORDER BY q.priority DESC, q.run_at, q.n LIMIT $3 FOR UPDATE OF r SKIP LOCKED)
UPDATE cairn.workflow_run r SET status = 'leased', leased_by = $4, lease_until = $5, attempt = r.attempt + 1, leases = r.leases + 1,
  fence = r.fence + $6::bigint, updated_at = $1, attempt_until = $1::timestamptz + least(r.timeout_ms, 3155760000000) * interval '1 millisecond', turns = r.turns + 1
FROM chosen c WHERE r.ctid = c.place
RETURNING c.queued, r.n, r.id, r.given_id, r.priority, coalesce(r.idempotency_key, r.call_key), r.payload, r.error, r.last_error, r.attempt, r.max_attempts, r.leases, r.fence, r.run_at,
  r.backoff_ms, r.factor, r.cap_ms, r.jitter, r.timeout_ms, r.instance, r.token, r.step, r.created_at, r.limit_key
-- name: lease_chosen
-- Locks and leases the first $8 of $1 that no other transaction has. As above, a run that changed meanwhile stays in
-- the queue.
WITH chosen AS (
  SELECT r.place, q.queued, c.until, c.max_attempts, c.backoff_ms, c.cap_ms
  FROM unnest($1::uuid[], $4::timestamptz[], $5::integer[], $6::bigint[], $7::bigint[]) AS c (run, until, max_attempts, backoff_ms, cap_ms)
  CROSS JOIN LATERAL (SELECT r.ctid AS place, r.type, r.priority, r.run_at, r.n FROM cairn.workflow_run r WHERE r.id = c.run AND r.attempt < r.max_attempts
    AND (r.status = 'pending' OR (r.status = 'leased' AND r.lease_until <= $2 AND (r.attempt_until IS NULL OR r.attempt_until > $2))) FOR UPDATE SKIP LOCKED) r
  CROSS JOIN LATERAL (SELECT q.ctid AS queued FROM cairn.wf_run_q q
    WHERE NOT q.later AND q.type = r.type AND q.priority = r.priority AND q.run_at = r.run_at AND q.n = r.n OFFSET 0) q
  LIMIT $8)
UPDATE cairn.workflow_run r SET status = 'leased', leased_by = $3, lease_until = c.until, attempt = r.attempt + 1, leases = r.leases + 1,
  fence = r.fence + $9::bigint, updated_at = $2, attempt_until = $2::timestamptz + least(r.timeout_ms, 3155760000000) * interval '1 millisecond', turns = r.turns + 1,
  max_attempts = greatest(coalesce(c.max_attempts, r.max_attempts), CASE WHEN c.max_attempts IS NULL THEN r.max_attempts ELSE r.attempt + 1 END),
  backoff_ms = coalesce(c.backoff_ms, r.backoff_ms), cap_ms = coalesce(c.cap_ms, r.cap_ms)
FROM chosen c WHERE r.ctid = c.place
RETURNING {run_columns}, c.queued
-- name: act_as_worker
-- For the rest of the transaction, like `SET cairn.worker`. Written in two parts, because the store replaces the schema name.
SELECT set_config('cairn' || '.worker', $1::text, true)
-- name: fail_unreadable_runs
-- Written like an SQL program would do it (`turns` is unchanged), so the triggers write the event and notify the
-- instance.
UPDATE cairn.workflow_run SET status = 'failed', error = $2, last_error = $3, lease_until = NULL, leased_by = NULL, attempt_until = NULL
WHERE id = ANY ($1::uuid[])
-- name: type_limits
SELECT concurrency IS NOT NULL FROM cairn.wf_run_types WHERE type = $1
-- name: cancel_run
UPDATE cairn.workflow_run SET status = 'cancelled', updated_at = $2, turns = turns + 1, troubled = true WHERE id = $1 AND status IN ('pending', 'leased')
-- name: heartbeat_runs
UPDATE cairn.workflow_run r SET lease_until = e.until, updated_at = $3, turns = r.turns + 1
FROM unnest($1::uuid[], $2::timestamptz[]) AS e (id, until) WHERE r.id = ANY (ARRAY[e.id])
-- name: retry_run
UPDATE cairn.workflow_run SET status = 'pending', run_at = $2, error = $3, last_error = $4, lease_until = NULL, leased_by = NULL, attempt_until = NULL, updated_at = $5,
  turns = turns + 1 WHERE id = $1
-- name: release_runs
UPDATE cairn.workflow_run SET status = 'pending', attempt = attempt - 1, lease_until = NULL, leased_by = NULL, attempt_until = NULL, updated_at = $2, turns = turns + 1
WHERE id = ANY ($1::uuid[])
-- name: clear_leases
UPDATE cairn.workflow_run SET lease_until = NULL, leased_by = NULL, turns = turns + 1 WHERE id = ANY ($1::uuid[])
-- name: delete_run_softly
UPDATE cairn.workflow_run SET deleted_at = $2, delete_reason = $3, updated_at = $2, turns = turns + 1 WHERE id = $1
-- name: exhausted_runs
SELECT {run_columns}
FROM cairn.wf_run_q q CROSS JOIN LATERAL (SELECT * FROM cairn.workflow_run WHERE id = q.run OFFSET 0) r
WHERE q.lapsed AND r.status = 'leased' AND (r.attempt_until <= $1 OR (r.lease_until <= $1 AND r.attempt >= r.max_attempts))
ORDER BY r.lease_until, r.n LIMIT $2
-- name: list_runs
SELECT {run_columns}
FROM cairn.workflow_run r
WHERE r.n < $1 AND ($2::text IS NULL OR r.status = $2) AND starts_with(r.type, $3) AND ($4::text IS NULL OR r.instance = $4) AND ($5 OR r.deleted_at IS NULL)
ORDER BY r.n DESC LIMIT $6
-- name: list_newest_runs
-- Searches the newest runs only. For a frequent status they fill the page.
SELECT {run_columns}
FROM (SELECT * FROM cairn.workflow_run w WHERE w.n < $1 ORDER BY w.n DESC LIMIT 2000) r
WHERE ($2::text IS NULL OR r.status = $2) AND starts_with(r.type, $3) AND ($4::text IS NULL OR r.instance = $4) AND ($5 OR r.deleted_at IS NULL)
ORDER BY r.n DESC LIMIT $6
-- name: list_pending_runs
-- Uses the queue; `n + 0` keeps the planner from walking all runs by number.
SELECT {run_columns}
FROM (SELECT run FROM cairn.wf_run_q WHERE later = ANY ('{false,true}') AND type >= $3 AND type < ($3 || chr(1114111)) OFFSET 0) q
CROSS JOIN LATERAL (SELECT * FROM cairn.workflow_run WHERE id = q.run OFFSET 0) r
WHERE r.n + 0 < $1 AND r.status = $2 AND ($4::text IS NULL OR r.instance = $4) AND ($5 OR r.deleted_at IS NULL)
ORDER BY r.n + 0 DESC LIMIT $6
-- name: list_leased_runs
SELECT {run_columns}
FROM (SELECT unnest(w.runs) AS run FROM cairn.wf_lease_q w WHERE w.type >= $3 AND w.type < ($3 || chr(1114111))
  UNION SELECT q.run FROM cairn.wf_run_q q WHERE q.lapsed AND q.type >= $3 AND q.type < ($3 || chr(1114111))) l
CROSS JOIN LATERAL (SELECT * FROM cairn.workflow_run WHERE id = l.run OFFSET 0) r
WHERE r.n < $1 AND r.status = $2 AND ($4::text IS NULL OR r.instance = $4) AND ($5 OR r.deleted_at IS NULL)
ORDER BY r.n DESC LIMIT $6
-- name: list_retrying_runs
SELECT {run_columns}
FROM (SELECT q.run FROM cairn.wf_run_q q WHERE q.later = ANY ('{false,true}') UNION SELECT unnest(w.runs) FROM cairn.wf_lease_q w) l
CROSS JOIN LATERAL (SELECT * FROM cairn.workflow_run WHERE id = l.run OFFSET 0) r
WHERE r.n < $1 AND ($2::text IS NULL OR r.status = $2) AND starts_with(r.type, $3) AND ($4::text IS NULL OR r.instance = $4) AND ($5 OR r.deleted_at IS NULL)
  AND r.instance IS NOT NULL AND ((r.status = 'pending' AND r.attempt > 0) OR (r.status = 'leased' AND r.attempt + r.uncounted::integer > 1))
ORDER BY r.n DESC LIMIT $6
-- name: list_troubled_runs
SELECT {run_columns}
FROM cairn.workflow_run r
WHERE r.n < $1 AND r.status = $2 AND r.troubled AND starts_with(r.type, $3) AND ($4::text IS NULL OR r.instance = $4) AND ($5 OR r.deleted_at IS NULL)
ORDER BY r.n DESC LIMIT $6
-- name: list_instance_runs
SELECT {run_columns}
FROM cairn.workflow_run r
WHERE r.n < $1 AND ($2::text IS NULL OR r.status = $2) AND starts_with(r.type, $3) AND r.instance = $4 AND ($5 OR r.deleted_at IS NULL)
ORDER BY r.n DESC LIMIT $6
-- name: run_events
SELECT event_type, created_at, attempt, actor, data, id FROM cairn.workflow_event WHERE workflow_id = $1 AND id > $2 ORDER BY id LIMIT $3
-- name: put_run_type
INSERT INTO cairn.wf_run_types (type, lease_ms, max_attempts, backoff_ms, cap_ms, paused, concurrency, rate, rate_window_ms, limit_key)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (type) DO UPDATE SET lease_ms = excluded.lease_ms, max_attempts = excluded.max_attempts, backoff_ms = excluded.backoff_ms,
  cap_ms = excluded.cap_ms, paused = excluded.paused, concurrency = excluded.concurrency, rate = excluded.rate, rate_window_ms = excluded.rate_window_ms,
  limit_key = excluded.limit_key
-- name: remove_run_type
DELETE FROM cairn.wf_run_types WHERE type = $1
-- name: list_run_types
SELECT type, lease_ms, max_attempts, backoff_ms, cap_ms, paused, concurrency, rate, rate_window_ms, limit_key FROM cairn.wf_run_types ORDER BY type COLLATE "C"
