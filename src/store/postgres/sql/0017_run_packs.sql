-- Runs that are submitted together and differ in nothing but id and payload stand in the queue as one row, their pack,
-- and large questions lease them by the pack. An entry of its own for each was a quarter of what a run of a bulk
-- submission cost, and a fifth of its lease. Whoever wants fewer opens a pack: its runs get entries of their own.

-- All of a pack's runs have its type, priority and time. One that has been cancelled or deleted since may still be named.
-- Whoever leases from a pack, opens it or takes a run out of it has its row locked.
CREATE TABLE cairn.wf_run_pack_q (
  type text COLLATE "C" NOT NULL,
  priority integer NOT NULL,
  run_at timestamptz NOT NULL,
  n bigint NOT NULL,     -- the smallest number of its runs
  last bigint NOT NULL,  -- and the largest
  runs uuid[] NOT NULL,
  later boolean NOT NULL  -- they could not begin when they were put here
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 100, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE cairn.wf_run_pack_q ALTER COLUMN runs SET STORAGE EXTERNAL;
CREATE INDEX wf_run_pack_q_order ON cairn.wf_run_pack_q (type, priority DESC, run_at, n);
CREATE INDEX wf_run_pack_q_later ON cairn.wf_run_pack_q (run_at) WHERE later;

-- Opens packs of a type that are due until the `wanted` most urgent runs have entries of their own, and at least `more` of those in
-- packs; how many got one. Two who open at once wait for each other: neither goes away empty-handed while there is something to lease.
CREATE FUNCTION cairn.wf_open_packs(of_type text, due timestamptz, wanted bigint, more bigint DEFAULT 0) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  pack record;
  part integer;
  opened bigint := 0;
BEGIN
  LOOP
    SELECT p.ctid AS place, p.priority, p.run_at, p.n, p.runs, p.later INTO pack FROM cairn.wf_run_pack_q p
    WHERE p.type = of_type AND p.run_at <= due ORDER BY p.priority DESC, p.run_at, p.n LIMIT 1 FOR UPDATE;
    EXIT WHEN NOT FOUND OR (opened >= more AND wanted <= (SELECT count(*) FROM (
      SELECT 1 FROM cairn.wf_run_q q WHERE q.type = of_type AND q.run_at <= due
        AND (-q.priority::bigint, q.run_at, q.n) < (-pack.priority::bigint, pack.run_at, pack.n) LIMIT wanted) before));
    -- A part that is worth its statements. What is left stays a pack, behind its own entries.
    part := least(greatest(wanted, more, 64), cardinality(pack.runs));
    IF part = cardinality(pack.runs) THEN
      DELETE FROM cairn.wf_run_pack_q WHERE ctid = pack.place;
    ELSE
      UPDATE cairn.wf_run_pack_q SET runs = pack.runs[part + 1:], n = coalesce((SELECT r.n FROM cairn.workflow_run r WHERE r.id = pack.runs[part + 1]), n)
      WHERE ctid = pack.place;
    END IF;
    INSERT INTO cairn.wf_run_q (type, priority, run_at, n, run, later, lapsed)
    SELECT r.type, r.priority, r.run_at, r.n, r.id, pack.later, false
    FROM unnest(pack.runs[:part]) AS m (run) CROSS JOIN LATERAL (SELECT * FROM cairn.workflow_run WHERE id = m.run OFFSET 0) r
    WHERE r.status = 'pending' AND r.deleted_at IS NULL;
    opened := opened + part;
  END LOOP;
  RETURN opened;
END $$;

-- For programs that speak SQL: the most urgent runs of a type, which may be leased.
CREATE FUNCTION cairn.ready_runs(of_type text, wanted integer DEFAULT 100) RETURNS SETOF uuid LANGUAGE plpgsql AS $$
BEGIN
  PERFORM cairn.wf_open_packs(of_type, now(), wanted);
  RETURN QUERY SELECT q.run FROM cairn.wf_run_q q WHERE q.type = of_type AND q.run_at <= now()
    ORDER BY q.priority DESC, q.run_at, q.n LIMIT wanted;
END $$;

-- A run that goes another way leaves its pack. Nothing happens when it is in none.
CREATE FUNCTION cairn.wf_leave_pack(run uuid, of_type text, its_priority integer, its_time timestamptz, its_n bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  -- The last pack that begins before it, unless others that were submitted for the same time lie between.
  UPDATE cairn.wf_run_pack_q p SET runs = array_remove(p.runs, run)
  WHERE p.type = of_type AND p.priority = its_priority AND p.run_at = its_time AND p.n = (
    SELECT k.n FROM cairn.wf_run_pack_q k
    WHERE k.type = of_type AND k.priority = its_priority AND k.run_at = its_time AND k.n <= its_n AND k.last >= its_n AND run = ANY (k.runs)
    ORDER BY k.n DESC LIMIT 1);
END $$;

CREATE OR REPLACE FUNCTION cairn.workflow_run_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  what text := 'r';
  from_queue boolean := false;
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.status IN ('pending', 'leased') THEN
    DELETE FROM cairn.wf_run_q q WHERE q.type = OLD.type AND q.priority = OLD.priority AND q.run_at = OLD.run_at AND q.n = OLD.n;
    from_queue := FOUND;
    IF NOT FOUND AND OLD.status = 'pending' THEN
      PERFORM cairn.wf_leave_pack(OLD.id, OLD.type, OLD.priority, OLD.run_at, OLD.n);
      -- Whoever opened the pack meanwhile gave the run an entry of its own.
      DELETE FROM cairn.wf_run_q q WHERE q.type = OLD.type AND q.priority = OLD.priority AND q.run_at = OLD.run_at AND q.n = OLD.n;
    END IF;
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
