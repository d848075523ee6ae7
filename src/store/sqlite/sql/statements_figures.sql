-- Counts, each up to ?1, and the oldest instants; ?2 is now.
-- name: figures
SELECT
  (SELECT count(*) FROM (SELECT 1 FROM wf_instances_base WHERE status = 'suspended' AND deleted_at IS NULL LIMIT ?1)),
  (SELECT count(*) FROM (SELECT 1 FROM wf_instances_base WHERE status = 'failed' AND deleted_at IS NULL LIMIT ?1)),
  (SELECT count(*) FROM (SELECT 1 FROM wf_tasks WHERE status IN ('open', 'assigned') LIMIT ?1)),
  (SELECT count(*) FROM (SELECT 1 FROM workflow_run INDEXED BY workflow_run_later
    WHERE status = 'pending' AND deleted_at IS NULL AND run_at <= ?2 LIMIT ?1)),
  (SELECT count(*) FROM (SELECT 1 FROM workflow_run WHERE status = 'leased' LIMIT ?1)),
  (SELECT count(*) FROM (SELECT 1 FROM wf_signal_q WHERE target IS NOT NULL LIMIT ?1)),
  (SELECT count(*) FROM (SELECT 1 FROM outbox_event WHERE published_at IS NULL LIMIT ?1)),
  (SELECT count(*) FROM (SELECT 1 FROM wf_dlq_q LIMIT ?1)),
  (SELECT min(run_at) FROM workflow_run INDEXED BY workflow_run_later
    WHERE status = 'pending' AND deleted_at IS NULL AND run_at <= ?2),
  (SELECT at FROM wf_signal_q WHERE target IS NOT NULL ORDER BY n LIMIT 1),
  (SELECT created_at FROM outbox_event WHERE published_at IS NULL ORDER BY n LIMIT 1),
  (SELECT min(due) FROM wf_timer_q WHERE due <= ?2)
