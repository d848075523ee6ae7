-- name: insert_run
INSERT INTO workflow_run (id, type, status, priority, idempotency_key, payload, attempt, max_attempts, run_at, lease_until, leased_by, fence, leases,
  backoff_ms, factor, cap_ms, jitter, timeout_ms, instance, token, step, created_at, updated_at, limit_key, attempt_until)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?22, ?23, ?22 + ?18)
-- part: run_columns
id, type, status, priority, idempotency_key, payload, result, error, last_error, attempt, max_attempts, leases, fence, run_at, lease_until,
  leased_by, backoff_ms, factor, cap_ms, jitter, timeout_ms, instance, token, step, created_at, updated_at, deleted_at, delete_reason, limit_key, n
-- name: find_run
SELECT {run_columns}
FROM workflow_run WHERE id = ?1
-- name: find_run_by_key
SELECT {run_columns}
FROM workflow_run WHERE idempotency_key = ?1 AND instance IS NULL
-- name: pending_types
WITH RECURSIVE seen (type) AS (
  SELECT (SELECT min(type) FROM workflow_run WHERE status = 'pending' AND deleted_at IS NULL AND type >= ?1 AND type < ?2)
  UNION ALL
  SELECT (SELECT min(type) FROM workflow_run WHERE status = 'pending' AND deleted_at IS NULL AND type > seen.type AND type < ?2)
  FROM seen WHERE seen.type IS NOT NULL)
SELECT type FROM seen WHERE type IS NOT NULL
-- name: leased_types
WITH RECURSIVE seen (type) AS (
  SELECT (SELECT min(type) FROM workflow_run WHERE status = 'leased' AND type >= ?1 AND type < ?2)
  UNION ALL SELECT (SELECT min(type) FROM workflow_run WHERE status = 'leased' AND type > seen.type AND type < ?2)
  FROM seen WHERE seen.type IS NOT NULL)
SELECT type FROM seen WHERE type IS NOT NULL
-- name: next_priority
SELECT max(priority) FROM workflow_run WHERE status = 'pending' AND deleted_at IS NULL AND type = ?1 AND priority <= ?2
-- name: ready_runs
SELECT n, priority, run_at, limit_key FROM workflow_run
WHERE status = 'pending' AND deleted_at IS NULL AND type = ?1 AND priority = ?2 AND run_at <= ?3 AND attempt < max_attempts
ORDER BY run_at, n LIMIT ?4
-- name: pending_keys
WITH RECURSIVE seen (key) AS (
  SELECT (SELECT min(limit_key) FROM workflow_run
    WHERE status = 'pending' AND deleted_at IS NULL AND limit_key IS NOT NULL AND type = ?1)
  UNION ALL
  SELECT (SELECT min(limit_key) FROM workflow_run
    WHERE status = 'pending' AND deleted_at IS NULL AND limit_key IS NOT NULL AND type = ?1 AND limit_key > seen.key)
  FROM seen WHERE seen.key IS NOT NULL)
SELECT key FROM seen WHERE key IS NOT NULL
-- name: ready_keyed_runs
SELECT n, priority, run_at, limit_key FROM workflow_run
WHERE status = 'pending' AND deleted_at IS NULL AND limit_key IS NOT NULL AND type = ?1 AND limit_key = ?2 AND run_at <= ?3 AND attempt < max_attempts
ORDER BY priority DESC, run_at, n LIMIT ?4
-- name: ready_keyless_runs
SELECT n, priority, run_at, limit_key FROM workflow_run
WHERE status = 'pending' AND deleted_at IS NULL AND type = ?1 AND limit_key IS NULL AND run_at <= ?2 AND attempt < max_attempts
ORDER BY priority DESC, run_at, n LIMIT ?3
-- name: lapsed_runs
SELECT n, priority, run_at, limit_key FROM workflow_run
WHERE status = 'leased' AND type = ?1 AND lease_until <= ?2 AND deleted_at IS NULL AND attempt < max_attempts
  AND (attempt_until IS NULL OR attempt_until > ?2)
ORDER BY priority DESC, run_at, n LIMIT ?3
-- name: live_leases
SELECT coalesce(limit_key, ''), count(*) FROM workflow_run WHERE status = 'leased' AND type = ?1 AND lease_until > ?2 GROUP BY 1
-- name: recent_starts
SELECT limit_key, count(*), min(at) FROM wf_run_starts WHERE type = ?1 AND at > ?2 GROUP BY limit_key
-- name: insert_start
INSERT INTO wf_run_starts (type, at, limit_key) VALUES (?1, ?2, ?3)
-- name: purge_starts
DELETE FROM wf_run_starts WHERE type = ?1 AND at <= ?2
-- name: put_run_type
INSERT INTO wf_run_types (type, lease_ms, max_attempts, backoff_ms, cap_ms, paused, concurrency, rate, rate_window_ms, limit_key)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
ON CONFLICT (type) DO UPDATE SET lease_ms = excluded.lease_ms, max_attempts = excluded.max_attempts, backoff_ms = excluded.backoff_ms,
  cap_ms = excluded.cap_ms, paused = excluded.paused, concurrency = excluded.concurrency, rate = excluded.rate,
  rate_window_ms = excluded.rate_window_ms, limit_key = excluded.limit_key
-- name: remove_run_type
DELETE FROM wf_run_types WHERE type = ?1
-- name: list_run_types
SELECT type, lease_ms, max_attempts, backoff_ms, cap_ms, paused, concurrency, rate, rate_window_ms, limit_key FROM wf_run_types ORDER BY type
-- name: lease_run
UPDATE workflow_run SET status = 'leased', leased_by = ?2, lease_until = ?3, attempt = attempt + 1, leases = leases + 1, fence = fence + ?8, updated_at = ?4, attempt_until = ?4 + min(timeout_ms, 3155760000000),
  max_attempts = coalesce(max(?5, attempt + 1), max_attempts), backoff_ms = coalesce(?6, backoff_ms), cap_ms = coalesce(?7, cap_ms)
WHERE n = ?1
RETURNING {run_columns}
-- name: find_leased_run
SELECT n, attempt, type FROM workflow_run WHERE id = ?1 AND status = 'leased' AND fence = ?2
-- name: end_run
UPDATE workflow_run SET status = ?3, result = ?4, error = ?5, last_error = coalesce(?6, last_error), lease_until = NULL, leased_by = NULL, updated_at = ?7
WHERE n = ?1 AND fence = ?2 AND status = 'leased'
-- name: cancel_run
UPDATE workflow_run SET status = 'cancelled', updated_at = ?2 WHERE id = ?1 AND status IN ('pending', 'leased') RETURNING n, attempt, type
-- name: heartbeat_run
UPDATE workflow_run SET lease_until = ?2, updated_at = ?3 WHERE n = ?1
-- name: retry_run
UPDATE workflow_run SET status = 'pending', run_at = ?2, error = ?3, last_error = ?4, lease_until = NULL, leased_by = NULL, updated_at = ?5 WHERE n = ?1
-- name: release_run
UPDATE workflow_run SET status = 'pending', attempt = attempt - 1, lease_until = NULL, leased_by = NULL, updated_at = ?2 WHERE n = ?1
-- name: clear_lease
UPDATE workflow_run SET lease_until = NULL, leased_by = NULL WHERE n = ?1
-- name: delete_run_softly
UPDATE workflow_run SET deleted_at = ?2, delete_reason = ?3, updated_at = ?2 WHERE n = ?1
-- name: exhausted_runs
SELECT {run_columns}
FROM workflow_run WHERE status = 'leased' AND type = ?1 AND lease_until <= ?2 AND attempt >= max_attempts AND deleted_at IS NULL
  AND (attempt_until IS NULL OR attempt_until > ?2) ORDER BY lease_until, n LIMIT ?3
-- name: overdue_runs
SELECT {run_columns}
FROM workflow_run WHERE status = 'leased' AND attempt_until <= ?1 AND deleted_at IS NULL ORDER BY attempt_until, n LIMIT ?2
-- name: list_runs
SELECT {run_columns}
FROM workflow_run
WHERE n < ?1 AND (?2 IS NULL OR status = ?2) AND substr(type, 1, length(?3)) = ?3 AND (?4 IS NULL OR instance = ?4) AND (?5 OR deleted_at IS NULL)
ORDER BY n DESC LIMIT ?6
-- name: list_instance_runs
-- Finds runs by the prefix of their ids, or through the index of those with another prefix.
SELECT {run_columns}
FROM workflow_run
WHERE n IN (SELECT n FROM workflow_run WHERE id >= substr(?4, 1, 13) AND id < substr(?4, 1, 13) || char(1114111) AND instance = ?4
    UNION SELECT n FROM workflow_run WHERE instance = ?4 AND substr(id, 1, 13) <> substr(instance, 1, 13))
  AND n < ?1 AND (?2 IS NULL OR status = ?2) AND substr(type, 1, length(?3)) = ?3 AND (?5 OR deleted_at IS NULL)
ORDER BY n DESC LIMIT ?6
-- name: list_retrying_runs
SELECT {run_columns}
FROM workflow_run
WHERE n IN (SELECT n FROM workflow_run WHERE status = 'pending' AND attempt > 0
    UNION ALL SELECT n FROM workflow_run WHERE status = 'leased' AND attempt > 1)
  AND instance IS NOT NULL AND n < ?1 AND (?2 IS NULL OR status = ?2) AND substr(type, 1, length(?3)) = ?3 AND (?4 IS NULL OR instance = ?4)
  AND deleted_at IS NULL
ORDER BY n DESC LIMIT ?6
-- name: insert_run_event
INSERT INTO workflow_event (run, kind, at, attempt, actor, details) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
-- name: run_events
SELECT e.kind, e.at, e.attempt, e.actor, e.details, e.n FROM workflow_event e
WHERE e.run = (SELECT n FROM workflow_run WHERE id = ?1) AND e.n > ?2 ORDER BY e.n LIMIT ?3
-- name: next_run_due
WITH RECURSIVE seen (type) AS (
  SELECT (SELECT min(type) FROM workflow_run WHERE status = 'leased')
  UNION ALL SELECT (SELECT min(type) FROM workflow_run WHERE status = 'leased' AND type > seen.type) FROM seen WHERE seen.type IS NOT NULL)
SELECT min(at) FROM (
  SELECT min(run_at) AS at FROM workflow_run WHERE status = 'pending' AND deleted_at IS NULL AND run_at > ?1
  UNION ALL SELECT min(attempt_until) FROM workflow_run WHERE status = 'leased' AND attempt_until > ?1
  UNION ALL
  SELECT (SELECT min(lease_until) FROM workflow_run r WHERE r.status = 'leased' AND r.type = seen.type AND r.lease_until > ?1)
  FROM seen WHERE seen.type IS NOT NULL)
