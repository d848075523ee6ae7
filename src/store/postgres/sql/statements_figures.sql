-- Counts, each up to $1, and the oldest instants; $2 is now.
-- name: figures
SELECT
  (SELECT count(*) FROM (SELECT 1 FROM cairn.wf_instances_base WHERE status = 'suspended' AND deleted_at IS NULL LIMIT $1) s),
  (SELECT count(*) FROM (SELECT 1 FROM cairn.wf_instances_base WHERE status = 'failed' AND deleted_at IS NULL LIMIT $1) f),
  (SELECT count(*) FROM (SELECT 1 FROM cairn.wf_tasks WHERE status IN ('open', 'assigned') LIMIT $1) t),
  (SELECT count(*) FROM (SELECT 1 FROM cairn.wf_run_q WHERE NOT later AND NOT lapsed
    UNION ALL SELECT 1 FROM cairn.wf_run_q WHERE later AND run_at <= $2 LIMIT $1) r),
  (SELECT count(*) FROM (SELECT 1 FROM (SELECT unnest(w.runs) AS run FROM cairn.wf_lease_q w UNION SELECT q.run FROM cairn.wf_run_q q WHERE q.lapsed) w
    CROSS JOIN LATERAL (SELECT status FROM cairn.workflow_run WHERE id = w.run OFFSET 0) r WHERE r.status = 'leased' LIMIT $1) l),
  (SELECT count(*) FROM (SELECT 1 FROM cairn.wf_signal_q WHERE target IS NOT NULL LIMIT $1) m),
  (SELECT count(*) FROM (SELECT 1 FROM cairn.outbox_event WHERE delivered_at IS NULL LIMIT $1) o),
  (SELECT count(*) FROM (SELECT 1 FROM cairn.wf_dlq_q LIMIT $1) d),
  (SELECT min(run_at) FROM (SELECT run_at FROM cairn.wf_run_q WHERE NOT later AND NOT lapsed
    UNION ALL SELECT run_at FROM cairn.wf_run_q WHERE later AND run_at <= $2 LIMIT $1) r),
  (SELECT min(coalesce((SELECT max(e.created_at) FROM cairn.workflow_event e WHERE e.workflow_id = l.id AND e.event_type IN ('leased', 'created_leased')), l.updated_at))
    FROM (SELECT r.id, r.updated_at FROM (SELECT unnest(w.runs) AS run FROM cairn.wf_lease_q w UNION SELECT q.run FROM cairn.wf_run_q q WHERE q.lapsed) w
      CROSS JOIN LATERAL (SELECT id, status, updated_at FROM cairn.workflow_run WHERE id = w.run OFFSET 0) r WHERE r.status = 'leased' LIMIT $1) l),
  (SELECT at FROM cairn.wf_signal_q WHERE target IS NOT NULL ORDER BY n LIMIT 1),
  (SELECT created_at FROM cairn.outbox_event WHERE delivered_at IS NULL ORDER BY id LIMIT 1),
  (SELECT min(due) FROM cairn.wf_timer_q WHERE due <= $2)
-- name: figures_of_definitions
-- For the first $2 definitions with open instances: how many are active and suspended, each up to $1. The last row has all
-- other definitions together and no name. With `=` a count of suspended instances would read wf_instances_troubled, which
-- has those of all definitions.
WITH RECURSIVE seen (at, definition) AS (
  (SELECT 1::bigint, i.definition FROM cairn.wf_instances_base i
    WHERE i.status NOT IN ('completed', 'failed', 'cancelled') ORDER BY i.definition LIMIT 1)
  UNION ALL
  SELECT seen.at + 1, (SELECT i.definition FROM cairn.wf_instances_base i
    WHERE i.status NOT IN ('completed', 'failed', 'cancelled') AND i.definition > seen.definition ORDER BY i.definition LIMIT 1)
  FROM seen WHERE seen.definition IS NOT NULL AND seen.at < $2)
SELECT s.definition,
  (SELECT count(*) FROM (SELECT 1 FROM cairn.wf_instances_base i
    WHERE i.status NOT IN ('completed', 'failed', 'cancelled') AND i.definition = s.definition AND i.status <> 'suspended' LIMIT $1) a),
  (SELECT count(*) FROM (SELECT 1 FROM cairn.wf_instances_base i
    WHERE i.status NOT IN ('completed', 'failed', 'cancelled') AND i.definition = s.definition
      AND i.status BETWEEN 'suspended' AND 'suspended' LIMIT $1) b)
FROM seen s WHERE s.definition IS NOT NULL
UNION ALL
SELECT '',
  (SELECT count(*) FROM (SELECT 1 FROM cairn.wf_instances_base i
    WHERE i.status NOT IN ('completed', 'failed', 'cancelled') AND i.definition > s.definition AND i.status <> 'suspended' LIMIT $1) a),
  (SELECT count(*) FROM (SELECT 1 FROM cairn.wf_instances_base i
    WHERE i.status NOT IN ('completed', 'failed', 'cancelled') AND i.definition > s.definition
      AND i.status BETWEEN 'suspended' AND 'suspended' LIMIT $1) b)
FROM seen s WHERE s.at = $2 AND s.definition IS NOT NULL
-- name: figures_of_queues
-- For the first $3 types in the queue: how many runs are ready, up to $1, and since when; $2 is now. The next row has all
-- other types together and no type. Types with runs that have just become due have a second row.
WITH RECURSIVE seen (at, type) AS (
  (SELECT 1::bigint, q.type FROM cairn.wf_run_q q WHERE NOT q.later ORDER BY q.type LIMIT 1)
  UNION ALL
  SELECT seen.at + 1, (SELECT q.type FROM cairn.wf_run_q q WHERE NOT q.later AND q.type > seen.type ORDER BY q.type LIMIT 1)
  FROM seen WHERE seen.type IS NOT NULL AND seen.at < $3)
SELECT s.type, c.ready, c.since FROM seen s
CROSS JOIN LATERAL (SELECT count(*) AS ready, min(r.run_at) AS since FROM (SELECT q.run_at FROM cairn.wf_run_q q
  WHERE NOT q.later AND q.type = s.type AND NOT q.lapsed LIMIT $1) r) c
WHERE s.type IS NOT NULL
UNION ALL
SELECT '', c.ready, c.since FROM seen s
CROSS JOIN LATERAL (SELECT count(*) AS ready, min(r.run_at) AS since FROM (SELECT q.run_at FROM cairn.wf_run_q q
  WHERE NOT q.later AND q.type > s.type AND NOT q.lapsed LIMIT $1) r) c
WHERE s.at = $3 AND s.type IS NOT NULL
UNION ALL
SELECT d.type, count(*), min(d.run_at)
FROM (SELECT q.type, q.run_at FROM cairn.wf_run_q q WHERE q.later AND q.run_at <= $2 LIMIT $1) d GROUP BY d.type
