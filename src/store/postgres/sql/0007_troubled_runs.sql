-- What operators look for among many that went well. Runs that succeed never enter it.
CREATE INDEX workflow_run_troubled ON cairn.workflow_run (n) WHERE status IN ('failed', 'cancelled');
