-- A run that a program inserts as failed or cancelled is listed among those too.
UPDATE cairn.workflow_run SET troubled = true WHERE status IN ('failed', 'cancelled') AND NOT troubled;
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
    IF NEW.status IN ('failed', 'cancelled') AND NOT NEW.troubled THEN
      UPDATE cairn.workflow_run SET troubled = true WHERE id = NEW.id;
    END IF;
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
