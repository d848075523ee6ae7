-- When the attempt under way has lasted as long as it may. Only means something while the run is leased.
ALTER TABLE workflow_run ADD COLUMN attempt_until INTEGER;
CREATE INDEX workflow_run_attempts ON workflow_run (attempt_until) WHERE status = 'leased' AND attempt_until IS NOT NULL;
