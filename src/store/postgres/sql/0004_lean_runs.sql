-- Fewer entries to write for each run: one that may begin at once never becomes due, and the trail of a run is only
-- read run by run.
DROP INDEX cairn.workflow_run_later;
CREATE INDEX workflow_run_later ON cairn.workflow_run (run_at) WHERE status = 'pending' AND deleted_at IS NULL AND run_at > created_at;
ALTER TABLE cairn.workflow_event DROP CONSTRAINT workflow_event_pkey;
DROP INDEX cairn.workflow_event_run;
ALTER TABLE cairn.workflow_event ADD PRIMARY KEY (run_id, n);
