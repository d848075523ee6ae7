-- Whoever leases from a pack is told once what all of its runs have in common. So a run that somebody changes with plain SQL, in
-- whatever column, gets an entry of its own; before, only what the queue itself goes by did that.
DROP TRIGGER workflow_run_updated ON cairn.workflow_run;
CREATE TRIGGER workflow_run_updated AFTER UPDATE ON cairn.workflow_run
FOR EACH ROW WHEN (OLD.turns = NEW.turns) EXECUTE FUNCTION cairn.workflow_run_changed();
