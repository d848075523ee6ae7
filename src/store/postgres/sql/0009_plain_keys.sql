-- Keys are compared byte by byte, whatever the database's language: in another collation than C each comparison on the
-- way through an index asks the C library.
ALTER TABLE cairn.wf_instances ALTER COLUMN id TYPE text COLLATE "C", ALTER COLUMN parent TYPE text COLLATE "C";
ALTER TABLE cairn.workflow_run ALTER COLUMN idempotency_key TYPE text COLLATE "C", ALTER COLUMN instance TYPE text COLLATE "C";
ALTER TABLE cairn.wf_waits ALTER COLUMN token TYPE text COLLATE "C", ALTER COLUMN name TYPE text COLLATE "C", ALTER COLUMN key TYPE text COLLATE "C";
ALTER TABLE cairn.wf_schedule_q ALTER COLUMN token TYPE text COLLATE "C";
ALTER TABLE cairn.wf_signal_q ALTER COLUMN name TYPE text COLLATE "C", ALTER COLUMN key TYPE text COLLATE "C";
ALTER TABLE cairn.wf_idempotency_keys ALTER COLUMN scope TYPE text COLLATE "C", ALTER COLUMN key TYPE text COLLATE "C";
ALTER TABLE cairn.wf_tasks ALTER COLUMN id TYPE text COLLATE "C";
ALTER TABLE cairn.wf_task_events ALTER COLUMN task TYPE text COLLATE "C";
ALTER TABLE cairn.outbox_event ALTER COLUMN subject TYPE text COLLATE "C", ALTER COLUMN instance TYPE text COLLATE "C";
