-- name: find_schedule
SELECT name, state_version, spec, paused, next_at, last_at, last, queued, created_at, changed_at FROM wf_schedules WHERE name = ?1
-- name: list_schedules
SELECT name, state_version, spec, paused, next_at, last_at, last, queued, created_at, changed_at FROM wf_schedules WHERE name > ?1 ORDER BY name LIMIT ?2
-- name: insert_schedule
INSERT INTO wf_schedules (name, state_version, spec, paused, next_at, last_at, last, queued, created_at, changed_at)
VALUES (?1, 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8) ON CONFLICT (name) DO NOTHING
-- name: update_schedule
UPDATE wf_schedules SET state_version = state_version + 1, spec = ?3, paused = ?4, next_at = ?5, last_at = ?6, last = ?7, queued = ?8, changed_at = ?9
WHERE name = ?1 AND state_version = ?2
-- name: remove_schedule
DELETE FROM wf_schedules WHERE name = ?1
-- name: due_schedules
SELECT name, state_version, spec, paused, next_at, last_at, last, queued, created_at, changed_at FROM wf_schedules
WHERE paused = 0 AND next_at <= ?1 ORDER BY next_at, n
-- name: first_schedules
SELECT name, next_at FROM wf_schedules WHERE paused = 0 AND next_at IS NOT NULL ORDER BY next_at, n
