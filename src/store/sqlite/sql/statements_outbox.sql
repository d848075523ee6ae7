-- name: insert_event
INSERT INTO outbox_event (id, instance, type, subject, data, created_at, published_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
-- name: list_outbox
SELECT n, id, instance, type, subject, data, created_at, published_at FROM outbox_event
WHERE n > ?1 AND (?2 IS NULL OR substr(type, 1, length(?2)) = ?2) AND (?3 IS NULL OR subject = ?3) AND ?4 IS NULL
ORDER BY n LIMIT ?5
-- name: list_waiting_outbox
SELECT n, id, instance, type, subject, data, created_at, published_at FROM outbox_event
WHERE n > ?1 AND published_at IS NULL AND (?2 IS NULL OR substr(type, 1, length(?2)) = ?2) AND (?3 IS NULL OR subject = ?3)
  AND (?4 IS NULL OR instance = ?4)
ORDER BY n LIMIT ?5
-- name: list_instance_outbox
SELECT n, id, instance, type, subject, data, created_at, published_at FROM outbox_event
WHERE n > ?1 AND (?2 IS NULL OR substr(type, 1, length(?2)) = ?2) AND (?3 IS NULL OR subject = ?3) AND instance = ?4
ORDER BY n LIMIT ?5
-- name: new_events
SELECT n, type, subject FROM outbox_event WHERE published_at IS NULL AND assigned = 0 ORDER BY n LIMIT ?1
-- name: queue_event
INSERT INTO outbox_queue (event, sink, subject, due) VALUES (?1, ?2, ?3,
  CASE WHEN EXISTS (SELECT 1 FROM outbox_queue WHERE sink = ?2 AND subject = ?3) THEN NULL ELSE ?4 END)
ON CONFLICT (event, sink) DO UPDATE SET attempts = 0
-- name: assign_event
UPDATE outbox_event SET assigned = 1, published_at = ?2 WHERE n = ?1
-- name: due_retries
SELECT e.n, e.id, e.instance, e.type, e.subject, e.data, e.created_at, e.published_at, q.attempts
FROM outbox_queue q CROSS JOIN outbox_event e ON e.n = q.event
WHERE q.sink = ?1 AND q.due <= ?2 AND q.attempts > 0 ORDER BY q.due, q.event
-- name: due_events
SELECT e.n, e.id, e.instance, e.type, e.subject, e.data, e.created_at, e.published_at, q.attempts
FROM outbox_queue q CROSS JOIN outbox_event e ON e.n = q.event
WHERE q.sink = ?1 AND q.due <= ?2 AND q.attempts = 0 ORDER BY q.due, q.event
-- name: later_events
SELECT e.n, e.id, e.instance, e.type, e.subject, e.data, e.created_at, e.published_at, q.attempts
FROM outbox_queue q CROSS JOIN outbox_event e ON e.n = q.event
WHERE q.sink = ?1 AND q.subject = ?2 AND q.event > ?3 ORDER BY q.event LIMIT ?4
-- name: unqueue_event
DELETE FROM outbox_queue WHERE event = ?1 AND sink = ?2
-- name: retry_event
UPDATE outbox_queue SET attempts = attempts + 1, due = ?3 WHERE event = ?1 AND sink = ?2
-- name: next_of_subject
UPDATE outbox_queue SET due = ?3 WHERE sink = ?2 AND due IS NULL AND event = (SELECT min(event) FROM outbox_queue
  WHERE sink = ?2 AND subject = (SELECT subject FROM outbox_event WHERE n = ?1))
-- name: publish_event
UPDATE outbox_event SET published_at = ?2 WHERE n = ?1 AND published_at IS NULL AND assigned = 1
  AND NOT EXISTS (SELECT 1 FROM outbox_queue WHERE event = ?1)
-- name: list_sink_queues
WITH RECURSIVE sinks (sink) AS (SELECT min(sink) FROM outbox_queue
  UNION ALL SELECT (SELECT min(q.sink) FROM outbox_queue q WHERE q.sink > sinks.sink) FROM sinks WHERE sinks.sink IS NOT NULL)
SELECT sink FROM sinks WHERE sink IS NOT NULL
-- name: next_retry
SELECT min(due) FROM outbox_queue WHERE attempts > 0 AND due > ?1
-- name: insert_delivery
INSERT INTO outbox_delivery (event, sink, attempt, at, delivered, error) SELECT n, ?2, ?3, ?4, ?5, ?6 FROM outbox_event WHERE n = ?1
-- name: list_deliveries
SELECT event, sink, attempt, at, delivered, error FROM outbox_delivery WHERE event = ?1 ORDER BY n
-- name: resend_outbox
UPDATE outbox_event SET published_at = NULL, assigned = 0 WHERE n = ?1
-- name: remove_instance_deliveries
DELETE FROM outbox_delivery WHERE event IN (SELECT n FROM outbox_event WHERE instance = ?1 AND published_at IS NOT NULL)

-- name: oldest_events
SELECT n, created_at, published_at FROM outbox_event ORDER BY n
-- name: remove_deliveries
DELETE FROM outbox_delivery WHERE event = ?1
-- name: remove_event
DELETE FROM outbox_event WHERE n = ?1 AND published_at < ?2
-- name: oldest_keys
SELECT rowid, at FROM wf_idempotency_keys ORDER BY rowid
-- name: remove_key
DELETE FROM wf_idempotency_keys WHERE rowid = ?1 AND at < ?2
-- name: oldest_runs
SELECT n, created_at, updated_at, status IN ('succeeded', 'failed', 'cancelled'), deleted_at FROM workflow_run WHERE instance IS NULL ORDER BY created_at
-- name: remove_events_of_run
DELETE FROM workflow_event WHERE run = ?1
-- name: remove_run
-- Finished before ?2 or deleted before ?3. NULL: never.
DELETE FROM workflow_run WHERE n = ?1 AND instance IS NULL
  AND ((status IN ('succeeded', 'failed', 'cancelled') AND updated_at < ?2) OR deleted_at < ?3)
-- name: oldest_run_events
-- Whether the run has an event since ?1.
SELECT e.run, e.at, EXISTS (SELECT 1 FROM workflow_event y WHERE y.run = e.run AND y.at >= ?1) FROM workflow_event e ORDER BY e.n
-- name: remove_old_events_of_run
DELETE FROM workflow_event WHERE run = ?1 AND NOT EXISTS (SELECT 1 FROM workflow_event y WHERE y.run = ?1 AND y.at >= ?2)
-- name: oldest_dead_letters
SELECT d.n, d.at, EXISTS (SELECT 1 FROM wf_instances_base i WHERE i.id = d.instance AND i.ended_at IS NULL) FROM wf_dlq_q d ORDER BY d.n
-- name: remove_dead_letter
DELETE FROM wf_dlq_q WHERE n = ?1 AND at < ?2
  AND NOT EXISTS (SELECT 1 FROM wf_instances_base i WHERE i.id = wf_dlq_q.instance AND i.ended_at IS NULL)
-- name: unchanged_instances
-- The `+` keeps the planner from reading all instances in the order of their numbers.
SELECT i.n, i.id FROM wf_instances_base i INDEXED BY wf_instances_open
WHERE i.ended_at IS NULL AND i.changed_at < ?1 AND +i.n > ?2
  AND (i.parent IS NULL OR NOT EXISTS (SELECT 1 FROM wf_instances_base p WHERE p.id = i.parent AND p.ended_at IS NULL))
ORDER BY +i.n LIMIT ?3
-- name: unchanged_tasks
SELECT t.n, t.id FROM wf_tasks t INDEXED BY wf_tasks_inbox
WHERE t.status IN ('open', 'assigned') AND t.changed_at < ?1 AND +t.n > ?2 ORDER BY +t.n LIMIT ?3
