-- What may be leased stands in a queue of its own, and what is leased in a list of when to look at it again. So no
-- column that a lease or a success changes stands in an index of workflow_run or in the condition of one: both are
-- heap-only updates, where each used to write an entry into every index.

-- Nodes of an older version know nothing of the queue. Their statements must fail rather than leave runs out of it.
ALTER TABLE cairn.workflow_run RENAME COLUMN touched TO turns;
ALTER TABLE cairn.workflow_run ADD COLUMN troubled boolean NOT NULL DEFAULT false;
UPDATE cairn.workflow_run SET troubled = true WHERE status IN ('failed', 'cancelled');
DROP INDEX cairn.workflow_run_ready;
DROP INDEX cairn.workflow_run_later;
DROP INDEX cairn.workflow_run_leased;
DROP INDEX cairn.workflow_run_attempts;
DROP INDEX cairn.workflow_run_troubled;
-- What operators look for among many that went well. Runs that succeed never enter it.
CREATE INDEX workflow_run_troubled ON cairn.workflow_run (n) WHERE troubled;
-- A whole batch is leased at once, row beside row: a page must hold every one of its rows twice.
ALTER TABLE cairn.workflow_run SET (fillfactor = 45);

-- Pending runs, and those whose lease has ended (`lapsed`). Whoever adds or removes a row has the run locked.
CREATE TABLE cairn.wf_run_q (
  type text COLLATE "C" NOT NULL,
  priority integer NOT NULL,
  run_at timestamptz NOT NULL,
  n bigint NOT NULL,
  run uuid NOT NULL,
  later boolean NOT NULL,  -- it could not begin when it was put here
  lapsed boolean NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX wf_run_q_order ON cairn.wf_run_q (type, priority DESC, run_at, n);
CREATE INDEX wf_run_q_later ON cairn.wf_run_q (run_at) WHERE later;
CREATE INDEX wf_run_q_lapsed ON cairn.wf_run_q (n) WHERE lapsed;

-- When to look at leased runs again, those that were leased together in one row. A lease that was extended meanwhile
-- is put off then; a run that has ended needs nothing. The row goes when all of its runs have ended, or at its time.
CREATE TABLE cairn.wf_lease_q (
  id bigint PRIMARY KEY DEFAULT (random() * 9e18)::bigint,
  at timestamptz NOT NULL,
  type text COLLATE "C" NOT NULL,
  runs uuid[] NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE cairn.wf_lease_q ALTER COLUMN runs SET STORAGE EXTERNAL;
CREATE INDEX wf_lease_q_at ON cairn.wf_lease_q (at);
CREATE INDEX wf_lease_q_type ON cairn.wf_lease_q (type);

INSERT INTO cairn.wf_run_q (type, priority, run_at, n, run, later, lapsed)
SELECT type, priority, run_at, n, id, run_at > created_at, false FROM cairn.workflow_run WHERE status = 'pending' AND deleted_at IS NULL;
INSERT INTO cairn.wf_lease_q (at, type, runs)
SELECT min(least(lease_until, attempt_until)), type, array_agg(id) FROM cairn.workflow_run
WHERE status = 'leased' AND least(lease_until, attempt_until) IS NOT NULL GROUP BY type;

-- Finished runs stay finished, whoever writes; and a program that leases with plain SQL gets a fencing
-- number like everybody else.
CREATE OR REPLACE FUNCTION cairn.workflow_run_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.status IN ('succeeded', 'failed', 'cancelled') AND NEW.status <> OLD.status THEN
    RAISE EXCEPTION 'run % is % and stays so', OLD.id, OLD.status USING ERRCODE = 'check_violation';
  END IF;
  IF OLD.status = 'pending' AND NEW.status IN ('succeeded', 'failed') AND NEW.turns = OLD.turns THEN
    RAISE EXCEPTION 'run % is pending: lease it before it can be %', OLD.id, NEW.status USING ERRCODE = 'check_violation';
  END IF;
  IF NEW.turns = OLD.turns AND NEW.status = 'leased' AND NEW.fence = OLD.fence
     AND (OLD.status <> 'leased' OR NEW.leased_by IS DISTINCT FROM OLD.leased_by) THEN
    NEW.fence := OLD.fence + 1;
    NEW.leases := OLD.leases + 1;
    IF NEW.attempt = OLD.attempt THEN
      NEW.attempt := OLD.attempt + 1;
    END IF;
  END IF;
  IF NEW.turns = OLD.turns THEN
    NEW.troubled := NEW.status IN ('failed', 'cancelled');
    IF NEW.updated_at = OLD.updated_at THEN
      NEW.updated_at := now();
    END IF;
  END IF;
  RETURN NEW;
END $$;

-- What a program changed with plain SQL: the queue and the leases, the event, the message to the instance that waits
-- for the run, and the word to the nodes. The text after `|` is what a node reads: r runs, m messages, o outbox.
CREATE OR REPLACE FUNCTION cairn.workflow_run_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  what text := 'r';
  from_queue boolean := false;
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.status IN ('pending', 'leased') THEN
    DELETE FROM cairn.wf_run_q q WHERE q.type = OLD.type AND q.priority = OLD.priority AND q.run_at = OLD.run_at AND q.n = OLD.n;
    from_queue := FOUND;
  END IF;
  IF TG_OP = 'DELETE' THEN
    RETURN NULL;
  END IF;
  IF NEW.status = 'pending' AND NEW.deleted_at IS NULL THEN
    INSERT INTO cairn.wf_run_q (type, priority, run_at, n, run, later, lapsed)
    VALUES (NEW.type, NEW.priority, NEW.run_at, NEW.n, NEW.id, NEW.run_at > now(), false);
  ELSIF NEW.status = 'leased' AND NEW.lease_until IS NOT NULL
        AND (TG_OP = 'INSERT' OR from_queue OR OLD.status <> 'leased' OR OLD.lease_until IS NULL OR NEW.lease_until < OLD.lease_until) THEN
    INSERT INTO cairn.wf_lease_q (at, type, runs) VALUES (least(NEW.lease_until, NEW.attempt_until), NEW.type, ARRAY[NEW.id]);
  END IF;
  IF TG_OP = 'INSERT' THEN
    INSERT INTO cairn.workflow_event (run_id, kind, attempt, actor) VALUES (NEW.id, 'created', 0, current_user);
  ELSIF NEW.status IS DISTINCT FROM OLD.status THEN
    INSERT INTO cairn.workflow_event (run_id, kind, attempt, actor, details)
    VALUES (NEW.id, CASE NEW.status WHEN 'pending' THEN 'released' ELSE NEW.status END, NEW.attempt,
            coalesce(NEW.leased_by, OLD.leased_by, current_user), CASE NEW.status WHEN 'failed' THEN NEW.error END);
    IF NEW.status IN ('succeeded', 'failed', 'cancelled') AND NEW.instance IS NOT NULL THEN
      INSERT INTO cairn.wf_signal_q (target, kind, body, at)
      SELECT i.n, 'run_finished', jsonb_build_object('token', NEW.token, 'result', NEW.result, 'failure',
        CASE NEW.status
          WHEN 'succeeded' THEN NULL
          WHEN 'cancelled' THEN jsonb_build_object('class', 'business', 'code', 'cancelled', 'message',
            'the run was cancelled', 'attempt', greatest(NEW.attempt, 1), 'step', coalesce(NEW.step, ''), 'at', '')
          ELSE jsonb_build_object('class', 'transport', 'code', coalesce(NEW.error ->> 'code', 'failed'), 'message',
            coalesce(NEW.error ->> 'message', NEW.last_error, 'the run failed'), 'details', NEW.error -> 'details',
            'attempt', greatest(NEW.attempt, 1), 'step', coalesce(NEW.step, ''), 'at', '')
        END)::text, now()
      FROM cairn.wf_instances i WHERE i.id = NEW.instance;
      what := 'rm';
    END IF;
  END IF;
  PERFORM pg_notify('cairn:' || TG_TABLE_SCHEMA, 'sql|' || what);
  RETURN NULL;
END $$;
DROP TRIGGER workflow_run_updated ON cairn.workflow_run;
CREATE TRIGGER workflow_run_updated AFTER UPDATE OF status, leased_by, lease_until, type, priority, run_at, deleted_at ON cairn.workflow_run
  FOR EACH ROW WHEN (OLD.turns = NEW.turns) EXECUTE FUNCTION cairn.workflow_run_changed();
CREATE TRIGGER workflow_run_deleted AFTER DELETE ON cairn.workflow_run
  FOR EACH ROW WHEN (OLD.status IN ('pending', 'leased')) EXECUTE FUNCTION cairn.workflow_run_changed();
