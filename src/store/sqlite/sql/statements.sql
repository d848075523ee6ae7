-- All statements of the SQLite back end, complete, by name.

-- name: begin
BEGIN IMMEDIATE
-- name: commit
COMMIT
-- name: rollback
ROLLBACK
-- name: application_id
PRAGMA application_id
-- name: user_version
PRAGMA user_version
-- name: any_table
SELECT 1 FROM sqlite_schema LIMIT 1
-- name: journal_mode
PRAGMA journal_mode
-- name: list_tables
SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'wf_foreign_changes' ORDER BY name
-- name: foreign_changes
SELECT 1 FROM wf_foreign_changes WHERE changes <> seen OR cookie <> (SELECT schema_version FROM pragma_schema_version)
-- name: forget_foreign_changes
UPDATE wf_foreign_changes SET seen = changes, cookie = (SELECT schema_version FROM pragma_schema_version)
WHERE changes <> seen OR cookie <> (SELECT schema_version FROM pragma_schema_version)
-- name: latest_times
-- The latest time up to ?1 that the store knows, and the latest of all. Only the last row of each table is read.
SELECT max(at) FILTER (WHERE at <= ?1), max(at) FROM (
  SELECT latest AS at FROM wf_clock
  UNION ALL SELECT * FROM (SELECT at FROM wf_execution_log_base ORDER BY n DESC LIMIT 1)
  UNION ALL SELECT * FROM (SELECT at FROM wf_task_events ORDER BY n DESC LIMIT 1)
  UNION ALL SELECT * FROM (SELECT at FROM workflow_event ORDER BY n DESC LIMIT 1)
  UNION ALL SELECT * FROM (SELECT updated_at FROM workflow_run ORDER BY n DESC LIMIT 1)
  UNION ALL SELECT * FROM (SELECT changed_at FROM wf_instances_base ORDER BY n DESC LIMIT 1)
  UNION ALL SELECT * FROM (SELECT created_at FROM outbox_event ORDER BY n DESC LIMIT 1)
  UNION ALL SELECT * FROM (SELECT at FROM wf_audit ORDER BY sequence DESC LIMIT 1))
-- name: keep_latest_time
UPDATE wf_clock SET latest = ?1
-- name: quick_check
PRAGMA quick_check(1)
-- name: page_count
PRAGMA page_count
-- name: list_trees
SELECT rootpage, name, tbl_name FROM sqlite_schema WHERE rootpage > 0 ORDER BY rootpage
-- name: instances_of_rows
-- Finds the instances on a damaged page through an index that does not need the page.
SELECT id FROM wf_instances_base INDEXED BY sqlite_autoindex_wf_instances_base_1 WHERE n > ?1 AND n <= ?2 ORDER BY n LIMIT 20
-- name: instances_of_states
SELECT id FROM wf_instances_base WHERE n > ?1 AND n <= ?2 ORDER BY n LIMIT 20
-- name: tasks_of_rows
SELECT id FROM wf_tasks INDEXED BY sqlite_autoindex_wf_tasks_1 WHERE n > ?1 AND n <= ?2 ORDER BY n LIMIT 20
-- name: runs_of_rows
SELECT id FROM workflow_run INDEXED BY sqlite_autoindex_workflow_run_1 WHERE n > ?1 AND n <= ?2 ORDER BY n LIMIT 20
-- name: instances_of_log
SELECT DISTINCT i.id FROM wf_execution_log_base l INDEXED BY wf_execution_log_instance JOIN wf_instances_base i ON i.n = l.instance
WHERE l.n > ?1 AND l.n <= ?2 LIMIT 20

-- name: insert_definition
INSERT INTO wf_definitions (name, version, digest, canonical, deployed_at) VALUES (?1, ?2, ?3, ?4, ?5)
-- name: find_definition
SELECT name, version, digest, canonical, deployed_at, retired_at FROM wf_definitions WHERE name = ?1 AND version = ?2
-- name: find_newest_definition
SELECT name, version, digest, canonical, deployed_at, retired_at FROM wf_definitions
WHERE name = ?1 AND retired_at IS NULL ORDER BY n DESC LIMIT 1
-- name: list_definitions
SELECT name, version, digest, canonical, deployed_at, retired_at, n FROM wf_definitions WHERE n > ?1 ORDER BY n LIMIT ?2
-- name: retire_definition
UPDATE wf_definitions SET retired_at = coalesce(retired_at, ?3) WHERE name = ?1 AND version = ?2

-- name: find_snapshot
SELECT s.snapshot FROM wf_instances_base i LEFT JOIN wf_runtime_states s ON s.n = i.n WHERE i.id = ?1
-- name: find_version
SELECT i.n, s.state_version, i.ended_at IS NOT NULL,
  i.status = ?2 AND i.digest = ?3 AND i.reference_key IS NULL AND i.reference_parts IS NULL AND i.error IS NULL,
  i.started_at
FROM wf_instances_base i JOIN wf_runtime_states s ON s.n = i.n WHERE i.id = ?1
-- name: insert_instance
INSERT INTO wf_instances_base (id, definition, definition_version, digest, status, reference_key, reference_parts, parent, error, started_at, changed_at, ended_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
-- name: update_instance
UPDATE wf_instances_base SET definition = ?2, definition_version = ?3, digest = ?4, status = ?5, reference_key = ?6, reference_parts = ?7,
  error = ?8, changed_at = ?9, ended_at = ?10 WHERE n = ?1
-- name: touch_instance
-- Only the time changes, so no index is touched.
UPDATE wf_instances_base SET changed_at = ?2 WHERE n = ?1
-- name: insert_state
INSERT INTO wf_runtime_states (n, state_version, schema_version, waiting_kind, waiting_token, waiting_until, active_task, resume_pointer, last_signal,
  last_error_code, last_error, last_executed_by, last_executed_on, snapshot)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
-- name: update_state
UPDATE wf_runtime_states SET state_version = ?2, schema_version = ?3, waiting_kind = ?4, waiting_token = ?5, waiting_until = ?6, active_task = ?7,
  resume_pointer = ?8, last_signal = coalesce(?9, last_signal), last_error_code = ?10, last_error = ?11, last_executed_by = ?12, last_executed_on = ?13, snapshot = ?14
WHERE n = ?1 AND state_version = ?15
-- name: find_piece
SELECT body FROM wf_pieces WHERE hash = ?1
-- name: any_piece
SELECT 1 FROM wf_pieces LIMIT 1
-- name: insert_piece
INSERT INTO wf_pieces (hash, body) VALUES (?1, ?2) ON CONFLICT (hash) DO NOTHING
-- name: use_piece
INSERT INTO wf_piece_uses (instance, piece) SELECT ?1, n FROM wf_pieces WHERE hash = ?2 ON CONFLICT DO NOTHING
-- name: drop_piece_use
DELETE FROM wf_piece_uses WHERE instance = ?1 AND piece = (SELECT n FROM wf_pieces WHERE hash = ?2)
-- name: remove_piece
DELETE FROM wf_pieces WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM wf_piece_uses u WHERE u.piece = wf_pieces.n)
-- name: pieces_of
SELECT p.hash FROM wf_piece_uses u JOIN wf_pieces p ON p.n = u.piece WHERE u.instance = ?1 ORDER BY p.hash
-- name: piece_faults
SELECT p.hash, 'no instance uses it' FROM wf_pieces p WHERE NOT EXISTS (SELECT 1 FROM wf_piece_uses u WHERE u.piece = p.n)
UNION ALL SELECT coalesce(p.hash, ''), CASE WHEN p.n IS NULL THEN 'instance ' || coalesce(i.id, u.instance) || ' uses a piece that does not exist'
  ELSE 'an instance that does not exist uses it' END
FROM wf_piece_uses u LEFT JOIN wf_pieces p ON p.n = u.piece LEFT JOIN wf_instances_base i ON i.n = u.instance
WHERE p.n IS NULL OR i.n IS NULL
LIMIT ?1
-- name: park_instance
UPDATE wf_instances_base SET status = 'suspended', error = ?2, changed_at = ?3 WHERE id = ?1 AND ended_at IS NULL
-- name: delete_instance_softly
UPDATE wf_instances_base SET deleted_at = coalesce(deleted_at, ?2), delete_reason = coalesce(delete_reason, ?3) WHERE id = ?1 AND ended_at IS NOT NULL

-- name: insert_wait
INSERT OR REPLACE INTO wf_waits_base (instance, token, kind, step, strand, since, until, name, key, target) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
-- name: delete_wait
DELETE FROM wf_waits_base WHERE instance = ?1 AND token = ?2
-- name: delete_waits
DELETE FROM wf_waits_base WHERE instance = ?1
-- name: insert_timer
INSERT OR REPLACE INTO wf_timer_q (due, instance, token) VALUES (?1, ?2, ?3)
-- name: find_timer
SELECT 1 FROM wf_timer_q WHERE due = ?1 AND instance = (SELECT n FROM wf_instances_base WHERE id = ?2) AND token = ?3
-- name: delete_timer
DELETE FROM wf_timer_q WHERE due = ?1 AND instance = ?2 AND token = ?3
-- name: due_timers
SELECT q.due, q.instance, q.token, i.id, w.token IS NOT NULL FROM wf_timer_q q
LEFT JOIN wf_instances_base i ON i.n = q.instance
LEFT JOIN wf_waits_base w ON w.instance = q.instance AND w.token = q.token
WHERE q.due <= ?1 ORDER BY q.due, q.instance, q.token
-- name: first_timers
SELECT due, instance, token FROM wf_timer_q ORDER BY due, instance, token
-- name: instance_number
SELECT n FROM wf_instances_base WHERE id = ?1
-- name: list_timers
SELECT q.due, q.token FROM wf_waits_base w JOIN wf_timer_q q ON q.due = w.until AND q.instance = w.instance AND q.token = w.token
WHERE w.instance = (SELECT n FROM wf_instances_base WHERE id = ?1) ORDER BY q.due, q.token
-- name: list_waits
SELECT token, kind, step, strand, since, until, name, key, target FROM wf_waits_base
WHERE instance = (SELECT n FROM wf_instances_base WHERE id = ?1) ORDER BY token

-- name: insert_task
INSERT INTO wf_tasks (id, instance, token, step, name, title, status, state_version, roles, exclude, payload, form, priority, due, deadline, assignee,
  reference_key, reference_parts, created_at, changed_at, managers)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?18, ?19)
-- name: close_task
UPDATE wf_tasks SET status = ?2, state_version = state_version + 1, changed_at = ?3, completed_by = ?4, completed_at = ?5, completion = ?6
WHERE id = ?1 AND status IN ('open', 'assigned') RETURNING n
-- name: find_open_task
SELECT n, state_version FROM wf_tasks WHERE id = ?1 AND status IN ('open', 'assigned')
-- name: update_task
UPDATE wf_tasks SET status = ?2, assignee = ?3, state_version = state_version + 1, changed_at = ?4 WHERE n = ?1
-- name: insert_task_event
INSERT INTO wf_task_events (task, kind, at, actor, details) VALUES (?1, ?2, ?3, ?4, ?5)
-- part: task_columns
t.id, i.id, t.token, t.step, t.name, t.title, t.status, t.state_version, t.roles, t.exclude, t.payload, t.form, t.priority, t.due, t.deadline,
  t.assignee, t.reference_key, t.reference_parts, t.created_at, t.changed_at, t.completed_by, t.completed_at, t.completion, t.n, t.managers
-- part: task_filter
(?1 IS NULL OR t.status = ?1) AND (?2 IS NULL OR t.assignee = ?2)
  AND (?3 IS NULL OR t.roles = '[]' OR EXISTS (SELECT 1 FROM json_each(t.roles) r WHERE r.value IN (SELECT value FROM json_each(?3))))
  AND (?4 IS NULL OR t.name = ?4)
  AND (?8 IS NULL OR t.roles = '[]' OR EXISTS (SELECT 1 FROM json_each(t.roles) r WHERE r.value IN (SELECT value FROM json_each(?8)))
    OR EXISTS (SELECT 1 FROM json_each(t.managers) r WHERE r.value IN (SELECT value FROM json_each(?8))))
  AND (?5 IS NULL OR t.priority < ?5 OR (t.priority = ?5 AND t.n > ?6))
-- name: find_task
SELECT {task_columns}
FROM wf_tasks t JOIN wf_instances_base i ON i.n = t.instance WHERE t.id = ?1
-- name: list_open_tasks
SELECT {task_columns}
FROM wf_tasks t JOIN wf_instances_base i ON i.n = t.instance
WHERE t.status IN ('open', 'assigned') AND {task_filter}
ORDER BY t.priority DESC, t.n LIMIT ?7
-- name: list_all_tasks
SELECT {task_columns}
FROM wf_tasks t JOIN wf_instances_base i ON i.n = t.instance
WHERE {task_filter}
ORDER BY t.priority DESC, t.n LIMIT ?7
-- name: list_instance_tasks
SELECT {task_columns}
FROM wf_tasks t JOIN wf_instances_base i ON i.n = t.instance
WHERE t.instance = (SELECT n FROM wf_instances_base WHERE id = ?9) AND (?10 OR t.status IN ('open', 'assigned'))
  AND {task_filter}
ORDER BY t.priority DESC, t.n LIMIT ?7
-- name: task_events
SELECT e.kind, e.at, e.actor, e.details FROM wf_task_events e WHERE e.task = (SELECT n FROM wf_tasks WHERE id = ?1) ORDER BY e.n

-- name: insert_log
INSERT INTO wf_execution_log_base (instance, state_version, kind, step, at, actor, attempt, details, visit) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
-- name: history
SELECT n, state_version, kind, step, at, actor, attempt, details, visit FROM wf_execution_log_base
WHERE instance = (SELECT n FROM wf_instances_base WHERE id = ?1) AND n > ?2 ORDER BY n LIMIT ?3

-- part: instance_columns
i.id, i.definition, i.definition_version, i.digest, i.status, s.state_version, i.reference_key, i.reference_parts, i.parent, i.error, i.started_at,
  i.changed_at, i.ended_at, i.deleted_at, i.delete_reason, i.n
-- name: find_instance
SELECT {instance_columns}
FROM wf_instances_base i LEFT JOIN wf_runtime_states s ON s.n = i.n WHERE i.id = ?1
-- name: list_instances
SELECT {instance_columns}
FROM wf_instances_base i LEFT JOIN wf_runtime_states s ON s.n = i.n
WHERE i.n < ?1 AND (?2 IS NULL OR i.status = ?2) AND (?3 IS NULL OR i.definition = ?3) AND (?4 IS NULL OR i.parent = ?4)
  AND (?5 IS NULL OR i.started_at >= ?5) AND (?6 IS NULL OR i.started_at < ?6) AND (?7 OR i.deleted_at IS NULL)
ORDER BY i.n DESC LIMIT ?8
-- name: list_instances_by_reference
SELECT {instance_columns}
FROM wf_instances_base i LEFT JOIN wf_runtime_states s ON s.n = i.n
WHERE i.n < ?1 AND (?2 IS NULL OR i.status = ?2) AND (?3 IS NULL OR i.definition = ?3) AND (?4 IS NULL OR i.parent = ?4)
  AND (?5 IS NULL OR i.started_at >= ?5) AND (?6 IS NULL OR i.started_at < ?6) AND (?7 OR i.deleted_at IS NULL) AND i.reference_key = ?9
ORDER BY i.n DESC LIMIT ?8
-- name: list_running
SELECT {instance_columns}
FROM wf_instances_base i LEFT JOIN wf_runtime_states s ON s.n = i.n
WHERE i.status = 'running' AND i.n < ?1 AND (?2 IS NULL OR i.status = ?2) AND (?3 IS NULL OR i.definition = ?3) AND (?4 IS NULL OR i.parent = ?4)
  AND (?5 IS NULL OR i.started_at >= ?5) AND (?6 IS NULL OR i.started_at < ?6) AND (?7 OR i.deleted_at IS NULL)
ORDER BY i.n DESC LIMIT ?8
-- name: list_troubled
SELECT {instance_columns}
FROM wf_instances_base i LEFT JOIN wf_runtime_states s ON s.n = i.n
WHERE i.status IN ('suspended', 'failed') AND i.status = ?2 AND i.n < ?1 AND (?3 IS NULL OR i.definition = ?3) AND (?4 IS NULL OR i.parent = ?4)
  AND (?5 IS NULL OR i.started_at >= ?5) AND (?6 IS NULL OR i.started_at < ?6) AND (?7 OR i.deleted_at IS NULL)
ORDER BY i.n DESC LIMIT ?8
-- name: list_children
SELECT {instance_columns}
FROM wf_instances_base i LEFT JOIN wf_runtime_states s ON s.n = i.n
WHERE i.n < ?1 AND (?2 IS NULL OR i.status = ?2) AND (?3 IS NULL OR i.definition = ?3) AND i.parent = ?4
  AND (?5 IS NULL OR i.started_at >= ?5) AND (?6 IS NULL OR i.started_at < ?6) AND (?7 OR i.deleted_at IS NULL) AND (?9 IS NULL OR i.reference_key = ?9)
ORDER BY i.n DESC LIMIT ?8

-- name: insert_message
INSERT INTO wf_signal_q (target, kind, name, key, body, at) VALUES ((SELECT n FROM wf_instances_base WHERE id = ?1), ?2, ?3, ?4, ?5, ?6)
-- name: keep_signal
INSERT INTO wf_signal_q (kind, name, key, body, at, expires_at) VALUES ('signal', ?1, ?2, ?3, ?4, ?5)
-- name: count_kept
SELECT count(*) FROM (SELECT 1 FROM wf_signal_q WHERE target IS NULL AND name = ?1 AND key IS ?2 LIMIT ?3)
-- name: count_all_kept
SELECT count(*) FROM (SELECT 1 FROM wf_signal_q WHERE target IS NULL LIMIT ?1)
-- name: has_kept
SELECT 1 FROM wf_signal_q WHERE target IS NULL LIMIT 1
-- name: signal_waits
SELECT i.id FROM wf_instances_base i WHERE i.n IN
  (SELECT w.instance FROM wf_waits_base w WHERE w.kind = 'signal' AND w.name = ?1 AND (w.key IS NULL OR w.key = ?2))
  AND NOT EXISTS (SELECT 1 FROM wf_inbox b WHERE b.instance = i.n AND b.signal = ?3) ORDER BY i.n
-- name: find_kept
SELECT n FROM wf_signal_q WHERE target IS NULL AND name = ?1 AND (?2 IS NULL OR key = ?2) AND (expires_at IS NULL OR expires_at > ?3)
  AND NOT EXISTS (SELECT 1 FROM wf_inbox b WHERE b.instance = ?4 AND b.signal = CASE WHEN json_valid(body) THEN json_extract(body, '$.id') END)
  ORDER BY n LIMIT 1
-- name: claim_kept
UPDATE wf_signal_q SET target = ?2, expires_at = NULL WHERE n = ?1
-- name: has_signal_message
SELECT 1 FROM wf_signal_q WHERE target = ?1 AND kind = 'signal' LIMIT 1
-- name: signal_target
SELECT target FROM wf_signal_q WHERE n = ?1 AND kind = 'signal' AND target IS NOT NULL
-- name: signal_waits_of
SELECT name, key FROM wf_waits_base WHERE instance = ?1 AND kind = 'signal' ORDER BY since, token
-- name: list_kept
SELECT n, body, at, expires_at FROM wf_signal_q
WHERE target IS NULL AND n > ?1 AND (?2 IS NULL OR name = ?2) AND (?3 IS NULL OR key = ?3) ORDER BY n LIMIT ?4
-- name: delete_kept
DELETE FROM wf_signal_q WHERE n = ?1 AND target IS NULL
-- name: expired_signals
SELECT n, body, at, expires_at FROM wf_signal_q WHERE target IS NULL AND expires_at IS NOT NULL AND expires_at <= ?1
ORDER BY expires_at, n LIMIT ?2
-- name: next_expiry
SELECT min(expires_at) FROM wf_signal_q WHERE target IS NULL AND expires_at IS NOT NULL
-- name: find_message
SELECT 1 FROM wf_signal_q WHERE n = ?1 AND target IS NOT NULL
-- name: delete_message
DELETE FROM wf_signal_q WHERE n = ?1 AND target IS NOT NULL
-- name: ready_messages
SELECT q.n, i.id, q.kind, q.body, q.at FROM wf_signal_q q LEFT JOIN wf_instances_base i ON i.n = q.target WHERE q.target IS NOT NULL ORDER BY q.n
-- name: list_messages
SELECT q.n, ?1, q.kind, q.body, q.at FROM wf_signal_q q WHERE q.target = (SELECT n FROM wf_instances_base WHERE id = ?1) ORDER BY q.n

-- name: find_key
SELECT request_hash, answer FROM wf_idempotency_keys WHERE scope = ?1 AND key = ?2
-- name: insert_key
INSERT INTO wf_idempotency_keys (scope, key, request_hash, answer, at) VALUES (?1, ?2, ?3, ?4, ?5)
-- name: find_inbox
SELECT 1 FROM wf_inbox WHERE instance = (SELECT n FROM wf_instances_base WHERE id = ?1) AND signal = ?2
-- name: insert_inbox
INSERT INTO wf_inbox (instance, signal, at) SELECT n, ?2, ?3 FROM wf_instances_base WHERE id = ?1

-- name: insert_dead_letter
INSERT INTO wf_dlq_q (instance, kind, envelope, reason, node, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
-- name: list_dead_letters
SELECT n, instance, kind, envelope, reason, node, at FROM wf_dlq_q WHERE n > ?1 ORDER BY n LIMIT ?2
-- name: find_dead_letter
SELECT n, instance, kind, envelope, reason, node, at FROM wf_dlq_q WHERE n = ?1
-- name: delete_dead_letter
DELETE FROM wf_dlq_q WHERE n = ?1

-- name: find_lock
SELECT owner, fence, until FROM wf_host_locks WHERE name = ?1
-- name: put_lock
INSERT INTO wf_host_locks (name, owner, fence, until) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, fence = excluded.fence, until = excluded.until
-- name: drop_lock
UPDATE wf_host_locks SET owner = '' WHERE name = ?1 AND owner = ?2 AND fence = ?3

-- name: old_roots
SELECT i.n, i.id FROM wf_instances_base i
WHERE i.ended_at < ?1 AND i.status IN (SELECT value FROM json_each(?2))
  AND (i.parent IS NULL OR NOT EXISTS (SELECT 1 FROM wf_instances_base p WHERE p.id = i.parent))
ORDER BY i.ended_at, i.n
-- name: tree_of
WITH RECURSIVE tree (n, id, ended_at) AS (
  SELECT n, id, ended_at FROM wf_instances_base WHERE id = ?1
  UNION SELECT c.n, c.id, c.ended_at FROM wf_instances_base c JOIN tree ON c.parent = tree.id)
SELECT n, id, coalesce(ended_at < ?2, 0) FROM tree
-- name: remove_task_events
DELETE FROM wf_task_events WHERE task IN (SELECT n FROM wf_tasks WHERE instance = ?1)
-- name: remove_tasks
DELETE FROM wf_tasks WHERE instance = ?1
-- name: remove_log
DELETE FROM wf_execution_log_base WHERE instance = ?1
-- name: remove_inbox
DELETE FROM wf_inbox WHERE instance = ?1
-- name: remove_messages
DELETE FROM wf_signal_q WHERE target = ?1
-- name: remove_run_events
-- Finds the runs like list_instance_runs.
DELETE FROM workflow_event WHERE run IN (SELECT n FROM workflow_run WHERE id >= substr(?1, 1, 13) AND id < substr(?1, 1, 13) || char(1114111) AND instance = ?1
  UNION SELECT n FROM workflow_run WHERE instance = ?1 AND substr(id, 1, 13) <> substr(instance, 1, 13))
-- name: remove_runs
DELETE FROM workflow_run WHERE n IN (SELECT n FROM workflow_run WHERE id >= substr(?1, 1, 13) AND id < substr(?1, 1, 13) || char(1114111) AND instance = ?1
  UNION SELECT n FROM workflow_run WHERE instance = ?1 AND substr(id, 1, 13) <> substr(instance, 1, 13))
-- name: remove_outbox
DELETE FROM outbox_event WHERE instance = ?1 AND published_at IS NOT NULL
-- name: remove_state
DELETE FROM wf_runtime_states WHERE n = ?1
-- name: remove_instance
DELETE FROM wf_instances_base WHERE n = ?1
