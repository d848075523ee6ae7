-- Whether the queue says what the runs say. Each statement looks at a part, as it is at one instant.
-- name: misqueued_runs
-- Of the $2 runs behind number $1 those that are pending and have no entry (false), and those that are leased and that nobody would
-- look at when their lease has ended (true). In each row the number of the last run of the part. EXCEPT compares two lists as a whole, however the server
-- plans it.
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
    WHERE r.status = 'leased' AND r.lease_until IS NOT NULL AND NOT EXISTS (SELECT 1 FROM cairn.wf_run_q q
      WHERE NOT q.later AND q.type = r.type AND q.priority = r.priority AND q.run_at = r.run_at AND q.n = r.n AND q.run = r.id AND q.lapsed OFFSET 0)
    EXCEPT SELECT unnest(w.runs) FROM cairn.wf_lease_q w WHERE EXISTS (SELECT 1 FROM part WHERE status = 'leased')) unwatched)
SELECT l.n, f.leased, coalesce(r.given_id, f.id::text)
FROM (SELECT max(n) AS n FROM part) l LEFT JOIN found f ON true
LEFT JOIN LATERAL (SELECT given_id FROM cairn.workflow_run WHERE id = f.id OFFSET 0) r ON true
ORDER BY f.id
-- name: queue_pages
SELECT pg_relation_size('cairn.wf_run_q') / current_setting('block_size')::bigint
-- name: stray_entries
-- Those from place $1 up to $2 in the table whose run does not wait to be leased. One that has lapsed goes by itself when its run has ended.
SELECT coalesce(r.given_id, q.run::text) FROM cairn.wf_run_q q
LEFT JOIN LATERAL (SELECT given_id, status, deleted_at FROM cairn.workflow_run WHERE id = q.run OFFSET 0) r ON true
WHERE q.ctid >= $1 AND q.ctid < $2 AND NOT q.lapsed AND (r.status IS DISTINCT FROM 'pending' OR r.deleted_at IS NOT NULL)
ORDER BY q.n
