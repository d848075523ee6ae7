-- All statements of the PostgreSQL back end outside a commit, complete, by name. The text uses the schema name `cairn`;
-- the store replaces it with its own.
--
-- A plan is made once per connection, and tables may still be empty or small then. A full scan looks as cheap as an
-- index look-up at that time, and the plan stays when the table has a million rows. So the statements leave the planner
-- no choice:
--  * `OFFSET 0` keeps a look-up by key as it is.
--  * `= ANY (ARRAY[key])` does too: it does not join in index order, so the planner has no reason to walk an index.
--  * Rows to remove are found first and removed by their position (`ctid`).
--  * A condition that would attract the planner to an index of few rows is hidden (`n + 0`, `target + 0 IS NULL`).
-- plan_test.cc checks this, with one exception: list_timers and remove_timers may search for an instance in the key of
-- the timers, where it is the second column.

-- name: begin
BEGIN
-- name: commit
COMMIT
-- name: rollback
ROLLBACK
-- name: server_now
SELECT clock_timestamp()
-- name: find_schema
SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1
-- name: foreign_tables
-- Tables and views in the schema that belong to no extension: how many, and the first names.
SELECT count(*), string_agg(name, ', ' ORDER BY name) FILTER (WHERE place <= 10)
FROM (SELECT c.relname AS name, row_number() OVER (ORDER BY c.relname) AS place
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace s ON s.oid = c.relnamespace
  WHERE s.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')) t
-- name: find_version_table
SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'wf_schema'
-- name: read_version
SELECT version FROM cairn.wf_schema
-- name: store_identity
-- The number of this table in the database: tables that were created again have another one.
SELECT 'cairn.wf_schema'::regclass::oid::bigint
-- name: nodes_present
-- Each running node holds a lock ($1 is its first key) as long as it lives (Channel::appear).
SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND classid = $1::bigint::oid AND objsubid = 2 AND granted LIMIT 1
-- name: pause_briefly
SELECT pg_sleep(0.1)
-- name: data_checksums
SELECT current_setting('data_checksums')
-- name: scans_runs
-- Whether programs read the whole table of runs again and again. No statement of a node does.
SELECT 1 FROM pg_stat_user_tables t WHERE t.relid = 'cairn.workflow_run'::regclass AND t.seq_scan >= 100 AND t.seq_tup_read / t.seq_scan >= 20000
  AND NOT EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = t.relid AND i.indisvalid AND pg_get_expr(i.indpred, i.indrelid) LIKE '%status%')
-- name: cannot_write
SELECT 1 WHERE pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'
-- name: write_version
UPDATE cairn.wf_schema SET version = $1
-- name: migration_time
SET LOCAL statement_timeout = 0
-- name: migration_patience
SET LOCAL lock_timeout = 0
-- name: migration_lock
SELECT pg_advisory_xact_lock($1)

-- name: row_types
SELECT t.typname::text, t.oid::bigint FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace s ON s.oid = t.typnamespace
WHERE s.nspname = $1 AND t.typname ~ '^wf_[a-z_]+_row$'
-- name: add_writer
-- Adds nothing if a newer cairn has upgraded the schema, or if the tables were created again: this node must stop writing.
INSERT INTO cairn.wf_writers (id, number, at)
SELECT $1, 0, $2 WHERE (SELECT version FROM cairn.wf_schema s WHERE s.tableoid::bigint = $4) <= $3
-- name: move_writer
-- A guard (see statements_commit.sql): fails if the writer's row is gone.
WITH moved AS (UPDATE cairn.wf_writers SET number = $2, at = $3 WHERE id = $1 AND number = $2 - 1 RETURNING 1)
SELECT ln(count(*)) FROM moved
-- name: end_writer
DELETE FROM cairn.wf_writers WHERE id = $1 RETURNING number
-- name: purge_writers
DELETE FROM cairn.wf_writers WHERE at < $1

-- name: insert_definition
INSERT INTO cairn.wf_definitions (name, version, digest, canonical, deployed_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (name, version) DO NOTHING
-- name: find_definition
SELECT name, version, digest, canonical, deployed_at, retired_at FROM cairn.wf_definitions WHERE name = $1 AND version = $2
-- name: find_newest_definition
SELECT name, version, digest, canonical, deployed_at, retired_at FROM cairn.wf_definitions
WHERE name = $1 AND retired_at IS NULL ORDER BY n DESC LIMIT 1
-- name: list_definitions
SELECT name, version, digest, canonical, deployed_at, retired_at, n FROM cairn.wf_definitions WHERE n > $1 ORDER BY n LIMIT $2
-- name: retire_definition
UPDATE cairn.wf_definitions SET retired_at = coalesce(retired_at, $3) WHERE name = $1 AND version = $2

-- name: find_snapshot
SELECT s.snapshot FROM cairn.wf_instances_base i JOIN cairn.wf_runtime_states s ON s.n = ANY (ARRAY[i.n]) WHERE i.id = $1
-- name: find_snapshots
SELECT n, snapshot FROM cairn.wf_runtime_states WHERE n = ANY ($1::bigint[]) AND octet_length(snapshot) < $2
-- name: find_pieces
SELECT hash, body FROM cairn.wf_pieces WHERE hash = ANY ($1::text[])
-- name: list_pieces
SELECT p.hash FROM cairn.wf_instances_base i CROSS JOIN LATERAL (SELECT piece FROM cairn.wf_piece_uses WHERE instance = i.n OFFSET 0) u
CROSS JOIN LATERAL (SELECT hash FROM cairn.wf_pieces WHERE n = u.piece OFFSET 0) p WHERE i.id = $1 ORDER BY p.hash
-- name: piece_faults
-- A piece in the queue is looked at again.
SELECT p.hash, 'no instance uses it' FROM cairn.wf_pieces p WHERE NOT EXISTS (SELECT 1 FROM cairn.wf_piece_uses u WHERE u.piece = p.n)
  AND NOT EXISTS (SELECT 1 FROM cairn.wf_piece_q q WHERE q.hash = p.hash)
UNION ALL SELECT coalesce(p.hash, ''), CASE WHEN p.n IS NULL THEN 'instance ' || coalesce(i.id, u.instance::text) || ' uses a piece that does not exist'
  ELSE 'an instance that does not exist uses it' END
FROM cairn.wf_piece_uses u LEFT JOIN cairn.wf_pieces p ON p.n = u.piece LEFT JOIN cairn.wf_instances_base i ON i.n = u.instance
WHERE p.n IS NULL OR i.n IS NULL
LIMIT $1
-- name: collect_pieces
SELECT cairn.wf_collect_pieces($1)
-- part: instance_columns
i.id, i.definition, i.definition_version, i.digest, i.status, s.state_version, i.reference_key, i.reference_parts, i.parent, i.error, i.started_at,
  i.changed_at, i.ended_at, i.deleted_at, i.delete_reason, i.n
-- part: instance_filter
($10::text IS NULL OR i.definition_version = $10)
  AND NOT EXISTS (SELECT 1 FROM unnest($11::text[], $13::text[]) AS p (name, value) WHERE (i.reference_parts ->> p.name) IS DISTINCT FROM p.value)
  AND ($12::text IS NULL OR position($12 IN lower(i.id COLLATE "C")) > 0 OR position($12 IN lower(i.definition COLLATE "C")) > 0 OR position($12 IN lower(i.reference_key COLLATE "C")) > 0
    OR EXISTS (SELECT 1 FROM jsonb_each(i.reference_parts) p WHERE position($12 IN lower((p.value #>> '{}') COLLATE "C")) > 0
      OR (jsonb_typeof(p.value) <> 'string' AND p.value::text !~ '^(-?[0-9]{1,15}|true|false)$')))
-- name: find_instance
SELECT {instance_columns}
FROM cairn.wf_instances_base i JOIN cairn.wf_runtime_states s ON s.n = ANY (ARRAY[i.n]) WHERE i.id = $1
-- name: list_instances
-- $12 is the end of the text that the caller looks for, in lower case (ASCII letters only). It rules out most rows; `matches` (row_filters.h) decides about the
-- others, with the whole text and in linear time. Parts whose JSON text may differ from ours (fractions, large numbers, null, arrays, objects) rule out no row.
SELECT {instance_columns}
FROM cairn.wf_instances_base i JOIN cairn.wf_runtime_states s ON s.n = ANY (ARRAY[i.n])
WHERE i.n < $1 AND ($2::text IS NULL OR i.status = $2) AND ($3::text IS NULL OR i.definition = $3) AND ($4::text IS NULL OR i.parent = $4)
  AND ($5::timestamptz IS NULL OR i.started_at >= $5) AND ($6::timestamptz IS NULL OR i.started_at < $6) AND ($7 OR i.deleted_at IS NULL)
  AND ($9::text IS NULL OR i.reference_key = $9) AND {instance_filter}
ORDER BY i.n DESC LIMIT $8
-- name: list_instances_by_reference
SELECT {instance_columns}
FROM cairn.wf_instances_base i JOIN cairn.wf_runtime_states s ON s.n = ANY (ARRAY[i.n])
WHERE i.n < $1 AND ($2::text IS NULL OR i.status = $2) AND ($3::text IS NULL OR i.definition = $3) AND ($4::text IS NULL OR i.parent = $4)
  AND ($5::timestamptz IS NULL OR i.started_at >= $5) AND ($6::timestamptz IS NULL OR i.started_at < $6) AND ($7 OR i.deleted_at IS NULL)
  AND i.reference_key = $9 AND {instance_filter}
ORDER BY i.n DESC LIMIT $8
-- name: list_running
SELECT {instance_columns}
FROM cairn.wf_instances_base i JOIN cairn.wf_runtime_states s ON s.n = ANY (ARRAY[i.n])
WHERE i.status = 'running' AND i.n < $1 AND ($2::text IS NULL OR i.status = $2) AND ($3::text IS NULL OR i.definition = $3)
  AND ($4::text IS NULL OR i.parent = $4)
  AND ($5::timestamptz IS NULL OR i.started_at >= $5) AND ($6::timestamptz IS NULL OR i.started_at < $6) AND ($7 OR i.deleted_at IS NULL)
  AND ($9::text IS NULL OR i.reference_key = $9) AND {instance_filter}
ORDER BY i.n DESC LIMIT $8
-- name: list_troubled
SELECT {instance_columns}
FROM cairn.wf_instances_base i JOIN cairn.wf_runtime_states s ON s.n = ANY (ARRAY[i.n])
WHERE i.status IN ('suspended', 'failed') AND i.status = $2 AND i.n < $1 AND ($3::text IS NULL OR i.definition = $3)
  AND ($4::text IS NULL OR i.parent = $4)
  AND ($5::timestamptz IS NULL OR i.started_at >= $5) AND ($6::timestamptz IS NULL OR i.started_at < $6) AND ($7 OR i.deleted_at IS NULL)
  AND ($9::text IS NULL OR i.reference_key = $9) AND {instance_filter}
ORDER BY i.n DESC LIMIT $8
-- name: list_children
SELECT {instance_columns}
FROM cairn.wf_instances_base i JOIN cairn.wf_runtime_states s ON s.n = ANY (ARRAY[i.n])
WHERE i.n < $1 AND ($2::text IS NULL OR i.status = $2) AND ($3::text IS NULL OR i.definition = $3) AND i.parent = $4
  AND ($5::timestamptz IS NULL OR i.started_at >= $5) AND ($6::timestamptz IS NULL OR i.started_at < $6) AND ($7 OR i.deleted_at IS NULL)
  AND ($9::text IS NULL OR i.reference_key = $9) AND {instance_filter}
ORDER BY i.n DESC LIMIT $8
-- name: history
SELECT n, state_version, kind, step, at, actor, attempt, details, visit FROM cairn.wf_execution_log_base
WHERE instance = (SELECT n FROM cairn.wf_instances_base WHERE id = $1) AND n > $2 ORDER BY n LIMIT $3
-- name: list_waits
SELECT token, kind, step, strand, since, until, name, key, target FROM cairn.wf_waits_base
WHERE instance = (SELECT n FROM cairn.wf_instances_base WHERE id = $1) ORDER BY token COLLATE "C"
-- name: list_timers
SELECT due, token FROM cairn.wf_timer_q WHERE instance = (SELECT n FROM cairn.wf_instances_base WHERE id = $1) ORDER BY due, token COLLATE "C"
-- name: list_messages
SELECT q.n, $1::text, q.kind, q.body, q.at FROM cairn.wf_signal_q q
WHERE q.target = (SELECT n FROM cairn.wf_instances_base WHERE id = $1) ORDER BY q.n + 0
-- name: find_key
SELECT request_hash, answer FROM cairn.wf_idempotency_keys WHERE scope = $1 AND key = $2
-- name: instance_number
SELECT n FROM cairn.wf_instances_base WHERE id = $1
-- name: park_instance
UPDATE cairn.wf_instances_base SET status = 'suspended', error = $2, changed_at = $3 WHERE id = $1 AND ended_at IS NULL
-- name: delete_instance_softly
UPDATE cairn.wf_instances_base SET deleted_at = coalesce(deleted_at, $2), delete_reason = coalesce(delete_reason, $3)
WHERE id = $1 AND ended_at IS NOT NULL

-- part: task_columns
t.id, t.instance_id, t.token, t.step, t.name, t.title, t.status, t.state_version, t.roles, t.exclude, t.payload, t.form, t.priority, t.due, t.deadline,
  t.assignee, t.reference_key, t.reference_parts, t.created_at, t.changed_at, t.completed_by, t.completed_at, t.completion, t.n, t.managers
-- part: task_filter
($1::text IS NULL OR t.status = $1) AND ($2::text IS NULL OR t.assignee = $2)
  AND ($3::text[] IS NULL OR t.roles = '{}' OR t.roles && $3) AND ($4::text IS NULL OR t.name = $4)
  AND ($5::bigint IS NULL OR t.priority < $5 OR (t.priority = $5 AND t.n > $6))
  AND ($8::text IS NULL OR t.reference_key = $8)
  AND ($9::text IS NULL OR position($9 IN lower(t.name COLLATE "C")) > 0 OR position($9 IN lower(t.title COLLATE "C")) > 0 OR position($9 IN lower(t.reference_key COLLATE "C")) > 0 OR position($9 IN lower(t.instance_id COLLATE "C")) > 0
    OR EXISTS (SELECT 1 FROM jsonb_each(t.reference_parts) p WHERE position($9 IN lower((p.value #>> '{}') COLLATE "C")) > 0
      OR (jsonb_typeof(p.value) <> 'string' AND p.value::text !~ '^(-?[0-9]{1,15}|true|false)$')))
  AND ($10::timestamptz IS NULL OR t.due < $10 OR t.deadline < $10)
  AND ($11::text[] IS NULL OR t.roles = '{}' OR t.roles && $11 OR t.managers && $11)
-- name: find_task
SELECT {task_columns}
FROM cairn.wf_tasks t WHERE t.id = $1
-- name: lock_task
SELECT {task_columns}
FROM cairn.wf_tasks t WHERE t.id = $1 FOR UPDATE
-- name: list_open_tasks
SELECT {task_columns}
FROM cairn.wf_tasks t
WHERE t.status IN ('open', 'assigned') AND {task_filter}
ORDER BY t.priority DESC, t.n LIMIT $7
-- name: list_all_tasks
SELECT {task_columns}
FROM cairn.wf_tasks t
WHERE {task_filter}
ORDER BY t.priority DESC, t.n LIMIT $7
-- name: list_instance_tasks
SELECT {task_columns}
FROM cairn.wf_tasks t
WHERE t.instance = (SELECT n FROM cairn.wf_instances_base WHERE id = $12) AND ($13 OR t.status IN ('open', 'assigned'))
  AND {task_filter}
ORDER BY t.priority DESC, t.n LIMIT $7
-- name: update_task
UPDATE cairn.wf_tasks SET status = $2, assignee = $3, state_version = state_version + 1, changed_at = $4 WHERE id = $1
-- name: insert_task_event
INSERT INTO cairn.wf_task_events (task, kind, at, actor, details) VALUES ($1, $2, $3, $4, $5)
-- name: task_events
SELECT kind, at, actor, details FROM cairn.wf_task_events WHERE task = $1 ORDER BY n

-- name: signal_locks
SELECT CASE WHEN l.exclusive THEN pg_advisory_xact_lock(l.key) ELSE pg_advisory_xact_lock_shared(l.key) END
FROM unnest($1::bigint[], $2::boolean[]) AS l (key, exclusive)
-- name: signal_waits
SELECT i.id, i.n
FROM (SELECT DISTINCT w.instance FROM
  (SELECT instance FROM cairn.wf_waits_base WHERE kind = 'signal' AND name = $1 AND (key IS NULL OR key = $2) OFFSET 0) w) w
CROSS JOIN LATERAL (SELECT id, n FROM cairn.wf_instances_base WHERE n = w.instance OFFSET 0) i
WHERE NOT EXISTS (SELECT 1 FROM cairn.wf_inbox b WHERE b.instance = i.n AND b.signal = $3 OFFSET 0) ORDER BY i.n
-- name: insert_message
INSERT INTO cairn.wf_signal_q (target, kind, name, key, body, at) VALUES ($1, $2, $3, $4, $5, $6)
-- name: keep_signal
INSERT INTO cairn.wf_signal_q (kind, name, key, body, at, expires_at) VALUES ('signal', $1, $2, $3, $4, $5)
-- name: count_kept
SELECT count(*) FROM (SELECT 1 FROM cairn.wf_signal_q WHERE target IS NULL AND name = $1 AND key = $2 LIMIT $3) AS kept
-- name: count_kept_without_key
SELECT count(*) FROM (SELECT 1 FROM cairn.wf_signal_q WHERE target IS NULL AND name = $1 AND key IS NULL LIMIT $2) AS kept
-- name: count_all_kept
SELECT count(*) FROM (SELECT 1 FROM cairn.wf_signal_q WHERE target IS NULL LIMIT $1) AS kept
-- name: has_signal_message
SELECT 1 FROM cairn.wf_signal_q WHERE target = $1 AND kind = 'signal' LIMIT 1
-- name: find_kept
SELECT n, body FROM cairn.wf_signal_q WHERE target IS NULL AND name = $1 AND ($2::text IS NULL OR key = $2)
  AND (expires_at IS NULL OR expires_at > $3) AND n > $4
  ORDER BY n LIMIT 1
-- name: has_had
SELECT 1 FROM cairn.wf_inbox WHERE instance = $1 AND signal = $2
-- name: claim_kept
UPDATE cairn.wf_signal_q SET target = $2, expires_at = NULL WHERE n = $1 AND target + 0 IS NULL
-- name: signal_target
SELECT target FROM cairn.wf_signal_q WHERE n = $1 AND kind = 'signal' AND target + 0 IS NOT NULL
-- name: signal_waits_of
SELECT name, key FROM cairn.wf_waits_base WHERE instance = $1 AND kind || '' = 'signal' ORDER BY since, token
-- name: list_kept
SELECT n, body, at, expires_at FROM cairn.wf_signal_q
-- `+ 0`: by the primary key, also where the planner has seen an empty table.
WHERE target + 0 IS NULL AND n > $1 AND ($2::text IS NULL OR name = $2) AND ($3::text IS NULL OR key = $3) ORDER BY n LIMIT $4
-- name: delete_kept
DELETE FROM cairn.wf_signal_q WHERE n = $1 AND target + 0 IS NULL
-- name: any_expired
SELECT 1 FROM cairn.wf_signal_q WHERE target IS NULL AND expires_at IS NOT NULL AND expires_at <= $1 LIMIT 1
-- name: take_expired_signals
DELETE FROM cairn.wf_signal_q WHERE n = ANY (ARRAY(
  SELECT n FROM cairn.wf_signal_q WHERE target IS NULL AND expires_at IS NOT NULL AND expires_at <= $1
  ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)) AND target + 0 IS NULL
RETURNING n, body, at, expires_at
-- name: remember_signal
INSERT INTO cairn.wf_idempotency_keys (scope, key, request_hash, answer, at) VALUES ('signal', $1, '', 'null', $2)
ON CONFLICT (scope, key) DO NOTHING
-- name: ready_messages
SELECT q.n, i.id, q.kind, q.body, q.at FROM cairn.wf_signal_q q LEFT JOIN cairn.wf_instances_base i ON i.n = ANY (ARRAY[q.target])
WHERE q.target IS NOT NULL AND q.n <> ALL ($2::bigint[]) AND (q.target % $3 = $4 OR q.at <= $5)
  -- skips instances with a held message, so that the order per instance is kept
  AND q.target <> ALL (ARRAY(SELECT h.target FROM cairn.wf_signal_q h WHERE h.n = ANY ($2::bigint[]) AND h.target + 0 IS NOT NULL))
ORDER BY q.n LIMIT $1
-- name: unreadable_run_end
-- Of a message about the end of a run that the node cannot read: the token, and the failure without its details.
SELECT m.body ->> 'token', CASE WHEN jsonb_typeof(m.body -> 'failure') = 'object' THEN (m.body -> 'failure') - 'details' END
FROM (SELECT body::jsonb AS body FROM cairn.wf_signal_q WHERE n = $1 OFFSET 0) m
-- name: oldest_message
SELECT at FROM cairn.wf_signal_q WHERE target IS NOT NULL AND n <> ALL ($1::bigint[])
  AND target <> ALL (ARRAY(SELECT h.target FROM cairn.wf_signal_q h WHERE h.n = ANY ($1::bigint[]) AND h.target + 0 IS NOT NULL))
ORDER BY n LIMIT 1
-- name: delete_message
DELETE FROM cairn.wf_signal_q WHERE n = $1 AND target + 0 IS NOT NULL
-- name: due_timers
SELECT q.due, q.instance, q.token, i.id,
  EXISTS (SELECT 1 FROM cairn.wf_waits_base w WHERE w.instance = q.instance AND w.token = q.token OFFSET 0), i.started_at
FROM (SELECT due, instance, token FROM cairn.wf_timer_q WHERE due <= $1 AND (instance % $4 = $5 OR due <= $6)
  ORDER BY due, instance, token LIMIT $2 OFFSET $3) q
LEFT JOIN cairn.wf_instances_base i ON i.n = ANY (ARRAY[q.instance])
ORDER BY q.due, q.instance, q.token
-- name: first_timers
SELECT due, instance, token FROM cairn.wf_timer_q ORDER BY due, instance, token LIMIT $1
-- name: delete_timers
DELETE FROM cairn.wf_timer_q WHERE ctid = ANY (ARRAY(
  SELECT q.ctid FROM unnest($1::timestamptz[], $2::bigint[], $3::text[]) AS t (due, instance, token)
  CROSS JOIN LATERAL (SELECT ctid FROM cairn.wf_timer_q WHERE due = t.due AND instance = t.instance AND token = t.token OFFSET 0) q))
-- name: insert_timer
INSERT INTO cairn.wf_timer_q (due, instance, token) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
-- name: next_due
SELECT min(at) FROM (
  SELECT min(run_at) AS at FROM cairn.wf_run_q WHERE later AND run_at > $1
  UNION ALL SELECT min(at) FROM cairn.wf_lease_q WHERE at > $1
  -- leases that were extended before another worker took the run
  UNION ALL SELECT min(least(r.lease_until, r.attempt_until)) FROM cairn.wf_run_q q
    CROSS JOIN LATERAL (SELECT status, lease_until, attempt_until FROM cairn.workflow_run WHERE id = q.run OFFSET 0) r
    WHERE q.lapsed AND r.status = 'leased' AND r.lease_until > $1 AND (r.attempt_until IS NULL OR r.attempt_until > $1)
  UNION ALL SELECT min(expires_at) FROM cairn.wf_signal_q WHERE target IS NULL AND expires_at IS NOT NULL
  UNION ALL SELECT min(due) FROM cairn.wf_outbox_queue WHERE due > $1 AND attempts + 0 >= 0
  UNION ALL SELECT min(greatest(next_at, held_until)) FROM cairn.wf_schedules WHERE NOT paused AND next_at IS NOT NULL) soon

-- name: insert_dead_letter
INSERT INTO cairn.wf_dlq_q (instance, kind, envelope, reason, node, at) VALUES ($1, $2, $3, $4, $5, $6) RETURNING n
-- name: list_dead_letters
SELECT n, instance, kind, envelope, reason, node, at FROM cairn.wf_dlq_q WHERE n > $1 ORDER BY n LIMIT $2
-- name: lock_dead_letter
SELECT n, instance, kind, envelope, reason, node, at FROM cairn.wf_dlq_q WHERE n = $1 FOR UPDATE
-- name: delete_dead_letter
DELETE FROM cairn.wf_dlq_q WHERE n = $1

-- name: hold_lock
INSERT INTO cairn.wf_host_locks AS l (name, owner, fence, until) VALUES ($1, $2, 1, $4)
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until,
  -- Another owner may have held it in between, so the old fence becomes invalid.
  fence = l.fence + CASE WHEN l.owner <> excluded.owner OR l.until <= $3 THEN 1 ELSE 0 END
WHERE l.owner = excluded.owner OR l.owner = '' OR l.until <= $3
RETURNING fence
-- name: drop_lock
UPDATE cairn.wf_host_locks SET owner = '' WHERE name = $1 AND owner = $2 AND fence = $3

-- name: old_roots
SELECT i.id FROM cairn.wf_instances_base i
WHERE i.ended_at < $1 AND i.status = ANY ($2::text[]) AND i.ended_at >= $4
  AND (i.parent IS NULL OR NOT EXISTS (SELECT 1 FROM cairn.wf_instances_base p WHERE p.id = i.parent OFFSET 0))
ORDER BY i.ended_at, i.n LIMIT $3
-- name: tree_of
WITH RECURSIVE tree (n, id, ended_at) AS (
  SELECT n, id, ended_at FROM cairn.wf_instances_base WHERE id = $1
  UNION SELECT c.n, c.id, c.ended_at FROM tree CROSS JOIN LATERAL (SELECT n, id, ended_at FROM cairn.wf_instances_base WHERE parent = tree.id OFFSET 0) c)
SELECT n, id, coalesce(ended_at < $2, false) FROM tree
-- name: lock_removal
SELECT n, id FROM cairn.wf_instances_base WHERE n = ANY ($1::bigint[]) AND ended_at IS NOT NULL ORDER BY n FOR UPDATE
-- name: remove_task_events
DELETE FROM cairn.wf_task_events WHERE task = ANY (ARRAY(SELECT id FROM cairn.wf_tasks WHERE instance = ANY ($1::bigint[])))
-- name: remove_tasks
DELETE FROM cairn.wf_tasks WHERE instance = ANY ($1::bigint[])
-- name: remove_log
DELETE FROM cairn.wf_execution_log_base WHERE instance = ANY ($1::bigint[])
-- name: remove_inbox
DELETE FROM cairn.wf_inbox WHERE instance = ANY ($1::bigint[])
-- name: remove_messages
DELETE FROM cairn.wf_signal_q WHERE target = ANY ($1::bigint[])
-- name: remove_timers
DELETE FROM cairn.wf_timer_q WHERE instance = ANY ($1::bigint[])
-- name: remove_waits
DELETE FROM cairn.wf_waits_base WHERE instance = ANY ($1::bigint[])
-- name: remove_states
DELETE FROM cairn.wf_runtime_states WHERE n = ANY ($1::bigint[])
-- name: remove_instances
DELETE FROM cairn.wf_instances_base WHERE n = ANY ($1::bigint[])
-- name: remove_run_events
DELETE FROM cairn.workflow_event WHERE workflow_id = ANY (ARRAY(SELECT id FROM cairn.workflow_run WHERE instance = ANY ($1::text[])))
-- name: remove_runs
DELETE FROM cairn.workflow_run WHERE instance = ANY ($1::text[])
-- name: remove_deliveries
DELETE FROM cairn.wf_deliveries WHERE event = ANY (ARRAY(SELECT id FROM cairn.outbox_event WHERE instance = ANY ($1::text[]) AND delivered_at + interval '0' IS NOT NULL))
-- name: remove_outbox
DELETE FROM cairn.outbox_event WHERE instance = ANY ($1::text[]) AND delivered_at + interval '0' IS NOT NULL
