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
  (SELECT at FROM cairn.wf_signal_q WHERE target IS NOT NULL ORDER BY n LIMIT 1),
  (SELECT created_at FROM cairn.outbox_event WHERE delivered_at IS NULL ORDER BY id LIMIT 1),
  (SELECT min(due) FROM cairn.wf_timer_q WHERE due <= $2)
