-- Checks that the queue agrees with the runs. Each statement checks one part, as it is at one instant.
-- name: misqueued_runs
-- Of the next $2 runs after number $1: the pending ones without a queue entry (false), and the leased ones that no node
-- would check after their lease expires (true). Each row has the number of the last run of the part. EXCEPT compares
-- two lists as a whole with any plan of the server.
WITH part AS MATERIALIZED (
  SELECT n, id, type, priority, run_at, status, lease_until, deleted_at FROM cairn.workflow_run WHERE n > $1 ORDER BY n LIMIT $2),
found AS (
  SELECT r.id, false AS leased FROM part r
  WHERE r.status = 'pending' AND r.deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM cairn.wf_run_q q
    WHERE q.later = ANY ('{false,true}') AND q.type = r.type AND q.priority = r.priority AND q.run_at = r.run_at AND q.n = r.n AND q.run = r.id
      AND NOT q.lapsed OFFSET 0)
  UNION ALL
  SELECT id, true FROM (
    SELECT r.id FROM part r
    WHERE r.status = 'leased' AND r.lease_until IS NOT NULL AND r.deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM cairn.wf_run_q q
      WHERE NOT q.later AND q.type = r.type AND q.priority = r.priority AND q.run_at = r.run_at AND q.n = r.n AND q.run = r.id AND q.lapsed OFFSET 0)
    EXCEPT SELECT unnest(w.runs) FROM cairn.wf_lease_q w WHERE EXISTS (SELECT 1 FROM part WHERE status = 'leased')) unwatched)
SELECT l.n, f.leased, coalesce(r.given_id, f.id::text)
FROM (SELECT max(n) AS n FROM part) l LEFT JOIN found f ON true
LEFT JOIN LATERAL (SELECT given_id FROM cairn.workflow_run WHERE id = f.id OFFSET 0) r ON true
ORDER BY f.id
-- name: queue_pages
SELECT pg_relation_size('cairn.wf_run_q') / current_setting('block_size')::bigint
-- name: stray_entries
-- The entries from position $1 up to $2 whose run is not waiting to be leased. A lapsed entry is skipped, because it is
-- removed when its run ends.
SELECT coalesce(r.given_id, q.run::text) FROM cairn.wf_run_q q
LEFT JOIN LATERAL (SELECT given_id, status, deleted_at FROM cairn.workflow_run WHERE id = q.run OFFSET 0) r ON true
WHERE q.ctid >= $1 AND q.ctid < $2 AND NOT q.lapsed AND (r.status IS DISTINCT FROM 'pending' OR r.deleted_at IS NOT NULL)
ORDER BY q.n
