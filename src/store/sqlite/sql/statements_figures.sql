-- Counts, each up to ?1, and the oldest instants; ?2 is now. SQLite uses a partial index only if its condition is a term
-- of the query.
-- name: figures
SELECT
  (SELECT count(*) FROM (SELECT 1 FROM wf_instances_base
    WHERE status = 'suspended' AND status IN ('suspended', 'failed') AND deleted_at IS NULL LIMIT ?1)),
  (SELECT count(*) FROM (SELECT 1 FROM wf_instances_base
    WHERE status = 'failed' AND status IN ('suspended', 'failed') AND deleted_at IS NULL LIMIT ?1)),
  (SELECT count(*) FROM (SELECT 1 FROM wf_tasks WHERE status IN ('open', 'assigned') LIMIT ?1)),
  (SELECT count(*) FROM (SELECT 1 FROM workflow_run INDEXED BY workflow_run_later
    WHERE status = 'pending' AND deleted_at IS NULL AND run_at <= ?2 LIMIT ?1)),
  (SELECT count(*) FROM (SELECT 1 FROM workflow_run WHERE status = 'leased' LIMIT ?1)),
  (SELECT count(*) FROM (SELECT 1 FROM wf_signal_q WHERE target IS NOT NULL LIMIT ?1)),
  (SELECT count(*) FROM (SELECT 1 FROM outbox_event WHERE published_at IS NULL LIMIT ?1)),
  (SELECT count(*) FROM (SELECT 1 FROM wf_dlq_q LIMIT ?1)),
  (SELECT min(run_at) FROM workflow_run INDEXED BY workflow_run_later
    WHERE status = 'pending' AND deleted_at IS NULL AND run_at <= ?2),
  (SELECT min(coalesce((SELECT max(e.at) FROM workflow_event e WHERE e.run = l.n AND e.kind IN ('leased', 'created_leased')), l.updated_at))
    FROM (SELECT n, updated_at FROM workflow_run WHERE status = 'leased' LIMIT ?1) l),
  (SELECT at FROM wf_signal_q WHERE target IS NOT NULL ORDER BY n LIMIT 1),
  (SELECT created_at FROM outbox_event WHERE published_at IS NULL ORDER BY n LIMIT 1),
  (SELECT min(due) FROM wf_timer_q WHERE due <= ?2)
-- name: figures_of_definitions
-- For the first ?2 definitions with open instances: how many are active and suspended, each up to ?1. The last row has all
-- other definitions together and no name.
WITH RECURSIVE seen (at, definition) AS (
  SELECT 1, (SELECT min(definition) FROM wf_instances_base INDEXED BY wf_instances_open WHERE ended_at IS NULL)
  UNION ALL
  SELECT at + 1, (SELECT min(definition) FROM wf_instances_base INDEXED BY wf_instances_open WHERE ended_at IS NULL AND definition > seen.definition)
  FROM seen WHERE seen.definition IS NOT NULL AND at < ?2)
SELECT definition,
  (SELECT count(*) FROM (SELECT 1 FROM wf_instances_base i INDEXED BY wf_instances_open
    WHERE i.ended_at IS NULL AND i.definition = seen.definition AND i.status <> 'suspended' LIMIT ?1)),
  (SELECT count(*) FROM (SELECT 1 FROM wf_instances_base i INDEXED BY wf_instances_open
    WHERE i.ended_at IS NULL AND i.definition = seen.definition AND i.status = 'suspended' LIMIT ?1))
FROM seen WHERE definition IS NOT NULL
UNION ALL
SELECT '',
  (SELECT count(*) FROM (SELECT 1 FROM wf_instances_base i INDEXED BY wf_instances_open
    WHERE i.ended_at IS NULL AND i.definition > seen.definition AND i.status <> 'suspended' LIMIT ?1)),
  (SELECT count(*) FROM (SELECT 1 FROM wf_instances_base i INDEXED BY wf_instances_open
    WHERE i.ended_at IS NULL AND i.definition > seen.definition AND i.status = 'suspended' LIMIT ?1))
FROM seen WHERE at = ?2 AND definition IS NOT NULL
-- name: figures_of_queues
-- For the first ?3 types with pending runs: how many of the first ?1 are due, and since when; ?2 is now. The last row has
-- all other types together and no type.
WITH RECURSIVE seen (at, type) AS (
  SELECT 1, (SELECT min(type) FROM workflow_run INDEXED BY workflow_run_ready WHERE status = 'pending' AND deleted_at IS NULL)
  UNION ALL
  SELECT at + 1, (SELECT min(type) FROM workflow_run INDEXED BY workflow_run_ready WHERE status = 'pending' AND deleted_at IS NULL AND type > seen.type)
  FROM seen WHERE seen.type IS NOT NULL AND at < ?3)
SELECT type,
  (SELECT count(*) FROM (SELECT run_at FROM workflow_run r INDEXED BY workflow_run_ready
    WHERE r.status = 'pending' AND r.deleted_at IS NULL AND r.type = seen.type LIMIT ?1) WHERE run_at <= ?2),
  (SELECT min(run_at) FROM (SELECT run_at FROM workflow_run r INDEXED BY workflow_run_ready
    WHERE r.status = 'pending' AND r.deleted_at IS NULL AND r.type = seen.type LIMIT ?1) WHERE run_at <= ?2)
FROM seen WHERE type IS NOT NULL
UNION ALL
SELECT '',
  (SELECT count(*) FROM (SELECT run_at FROM workflow_run r INDEXED BY workflow_run_ready
    WHERE r.status = 'pending' AND r.deleted_at IS NULL AND r.type > seen.type LIMIT ?1) WHERE run_at <= ?2),
  (SELECT min(run_at) FROM (SELECT run_at FROM workflow_run r INDEXED BY workflow_run_ready
    WHERE r.status = 'pending' AND r.deleted_at IS NULL AND r.type > seen.type LIMIT ?1) WHERE run_at <= ?2)
FROM seen WHERE at = ?3 AND type IS NOT NULL
