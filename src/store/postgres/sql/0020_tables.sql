-- The schema of a store. Numbered files after this one change it.
--
-- `n` is a row's own number: small keys keep what one commit touches small (the public id stands once,
-- in a unique index). Instances get theirs from the node that writes them, so that one pipeline can
-- carry everything about a new one.
--
-- `turns` and `by_engine` tell the engine's own writes from those of programs that speak SQL: only the
-- latter make the database itself notify, because a NOTIFY in every commit costs most of the commit rate.
--
-- Keys are compared byte by byte (COLLATE "C"), whatever the database's language: in another collation each comparison
-- on the way through an index asks the C library.
--
-- Every table has a replica identity (a primary key, or a unique index that is named as such): a publication for all tables
-- would otherwise make every change of its rows fail.
--
-- Every function pins `search_path`: an operator or function that somebody else put into a writable schema must not run here.

CREATE TABLE cairn.wf_definitions (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL,
  version text NOT NULL,
  digest text NOT NULL,
  canonical text NOT NULL,
  deployed_at timestamptz NOT NULL,
  retired_at timestamptz,
  UNIQUE (name, version)
);

CREATE SEQUENCE cairn.wf_instance_number AS bigint;

CREATE TABLE cairn.wf_instances (
  n bigint PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  definition text NOT NULL,
  definition_version text NOT NULL,
  digest text NOT NULL,
  status text NOT NULL,
  reference_key text,
  reference_parts jsonb,
  parent text COLLATE "C",
  error jsonb,
  started_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  ended_at timestamptz,
  deleted_at timestamptz,
  delete_reason text
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.2);
CREATE INDEX wf_instances_reference ON cairn.wf_instances (reference_key) WHERE reference_key IS NOT NULL;
CREATE INDEX wf_instances_parent ON cairn.wf_instances (parent) WHERE parent IS NOT NULL;
-- Only slices that a checkpoint cut rest in this status: what a restart must go on with.
CREATE INDEX wf_instances_running ON cairn.wf_instances (n) WHERE status = 'running';
CREATE INDEX wf_instances_ended ON cairn.wf_instances (ended_at) WHERE ended_at IS NOT NULL;
-- What operators are told about: how many there are must not need a look at every instance.
CREATE INDEX wf_instances_troubled ON cairn.wf_instances (status) WHERE status IN ('suspended', 'failed');

-- What resuming reads. No column that changes is in an index, and a page keeps room for the next
-- version of its rows: nearly every update stays on its page.
CREATE TABLE cairn.wf_runtime_states (
  n bigint PRIMARY KEY,
  version bigint NOT NULL,
  schema_version integer NOT NULL,
  waiting_kind text,
  waiting_token text,
  waiting_until timestamptz,
  active_task text,
  resume_pointer text,
  last_signal text,
  last_error_code text,
  last_error text,
  last_executed_by text,
  last_executed_on timestamptz NOT NULL,
  snapshot text NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE cairn.wf_waits (
  instance bigint NOT NULL,
  token text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  step text NOT NULL,
  strand bigint NOT NULL,
  since timestamptz NOT NULL,
  until timestamptz,
  name text COLLATE "C" NOT NULL,
  key text COLLATE "C",
  target text NOT NULL,
  PRIMARY KEY (instance, token)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX wf_waits_signal ON cairn.wf_waits (name, key) WHERE kind = 'signal';

CREATE TABLE cairn.wf_tasks (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  instance bigint NOT NULL,
  instance_id text NOT NULL,
  token text NOT NULL,
  step text NOT NULL,
  name text NOT NULL,
  title text NOT NULL,
  status text NOT NULL,
  version bigint NOT NULL,
  roles text[] NOT NULL,
  exclude text[] NOT NULL,
  payload jsonb,
  form jsonb,
  priority bigint NOT NULL,
  due timestamptz,
  deadline timestamptz,
  assignee text,
  reference_key text,
  reference_parts jsonb,
  created_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  completed_by text,
  completed_at timestamptz,
  completion jsonb
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX wf_tasks_inbox ON cairn.wf_tasks (priority DESC, n) WHERE status IN ('open', 'assigned');
CREATE INDEX wf_tasks_instance ON cairn.wf_tasks (instance);

-- Only read for one task.
CREATE TABLE cairn.wf_task_events (
  n bigint GENERATED ALWAYS AS IDENTITY,
  task text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  at timestamptz NOT NULL,
  actor text NOT NULL,
  details jsonb,
  PRIMARY KEY (task, n)
);

-- Only read for one instance.
CREATE TABLE cairn.wf_execution_log (
  n bigint GENERATED ALWAYS AS IDENTITY,
  instance bigint NOT NULL,
  version bigint NOT NULL,
  kind text NOT NULL,
  step text NOT NULL,
  at timestamptz NOT NULL,
  actor text NOT NULL,
  attempt integer NOT NULL,
  details jsonb,
  PRIMARY KEY (instance, n)
);

-- Messages to one instance (`target`), and signals that nobody waits for yet (no target).
CREATE TABLE cairn.wf_signal_q (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  target bigint,
  kind text NOT NULL,
  name text COLLATE "C",
  key text COLLATE "C",
  body text NOT NULL,
  at timestamptz NOT NULL,
  expires_at timestamptz
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX wf_signal_q_target ON cairn.wf_signal_q (target) WHERE target IS NOT NULL;
CREATE INDEX wf_signal_q_kept ON cairn.wf_signal_q (name, key) WHERE target IS NULL;

-- The due index: one small row a timer, in the order in which they fall due.
CREATE TABLE cairn.wf_timer_q (
  due timestamptz NOT NULL,
  instance bigint NOT NULL,
  token text COLLATE "C" NOT NULL,
  PRIMARY KEY (due, instance, token)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX wf_schedule_q_instance ON cairn.wf_timer_q (instance);

CREATE TABLE cairn.wf_dlq_q (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  instance text,
  kind text NOT NULL,
  envelope text NOT NULL,
  reason text NOT NULL,
  node text NOT NULL,
  at timestamptz NOT NULL
);

CREATE TABLE cairn.wf_host_locks (
  name text PRIMARY KEY,
  owner text NOT NULL,
  fence bigint NOT NULL,
  until timestamptz NOT NULL
);

CREATE TABLE cairn.wf_inbox (
  instance bigint NOT NULL,
  signal text NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (instance, signal)
);

CREATE TABLE cairn.wf_idempotency_keys (
  scope text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  request_hash text NOT NULL,
  answer text NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (scope, key)
);
CREATE INDEX wf_idempotency_keys_at ON cairn.wf_idempotency_keys (at);

-- One row a writing connection. Its number moves with each transaction, so that a commit whose answer
-- was lost can be looked up, and one that is still on its way can be stopped by removing the row.
CREATE TABLE cairn.wf_writers (
  id text PRIMARY KEY,
  number bigint NOT NULL,
  at timestamptz NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE cairn.workflow_run (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  given_id text,  -- when the submitter chose an id that is no UUID; `id` is derived from it
  type text COLLATE "C" NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'leased', 'succeeded', 'failed', 'cancelled')),
  priority bigint NOT NULL DEFAULT 0,
  idempotency_key text COLLATE "C",
  payload jsonb,
  result jsonb,
  error jsonb,
  last_error text,
  attempt integer NOT NULL DEFAULT 0,
  max_attempts integer NOT NULL DEFAULT 3,
  run_at timestamptz NOT NULL DEFAULT now(),
  lease_until timestamptz,
  leased_by text,
  fence bigint NOT NULL DEFAULT 0,
  leases integer NOT NULL DEFAULT 0,
  backoff_ms bigint NOT NULL DEFAULT 1000,
  factor double precision NOT NULL DEFAULT 2,
  cap_ms bigint NOT NULL DEFAULT 300000,
  jitter double precision NOT NULL DEFAULT 0.5,
  timeout_ms bigint,
  instance text COLLATE "C",
  token text,
  step text,
  limit_key text COLLATE "C" NOT NULL DEFAULT '',
  turns bigint NOT NULL DEFAULT 0,  -- the engine adds one with each of its changes
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  delete_reason text,
  attempt_until timestamptz,  -- how long the attempt under way may last; only set while the run is leased
  troubled boolean NOT NULL DEFAULT false  -- failed or cancelled
-- A run is written three times: submitted, leased, ended. Large batches are leased and ended at the same time, and while a
-- lease is under way nobody can remove the versions that others replaced, so a page has room for all three of every row.
-- No column that a lease or a success changes stands in an index or in the condition of one: both are heap-only updates.
) WITH (fillfactor = 30, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
-- Keys of submitted runs only: the keys of an instance's runs are its own, and a submitted run must not block them.
CREATE UNIQUE INDEX workflow_run_key ON cairn.workflow_run (idempotency_key) WHERE idempotency_key IS NOT NULL AND instance IS NULL;
CREATE INDEX workflow_run_instance ON cairn.workflow_run (instance) WHERE instance IS NOT NULL;
-- What operators look for among many that went well. Runs that succeed never enter it.
CREATE INDEX workflow_run_troubled ON cairn.workflow_run (n) WHERE troubled;

-- What may be leased: pending runs, and those whose lease has ended (`lapsed`). Whoever adds or removes a row has the run
-- locked. A run that begins later stands behind all that are ready (`later`), and is moved to them when its time has come:
-- so no lease compares times, and none reads past runs that cannot begin yet.
CREATE TABLE cairn.wf_run_q (
  type text COLLATE "C" NOT NULL,
  priority bigint NOT NULL,
  run_at timestamptz NOT NULL,
  n bigint NOT NULL,
  run uuid NOT NULL,
  later boolean NOT NULL,
  lapsed boolean NOT NULL,
  limit_key text COLLATE "C" NOT NULL DEFAULT ''
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE UNIQUE INDEX wf_run_q_order ON cairn.wf_run_q (later, type, priority DESC, run_at, n);
ALTER TABLE cairn.wf_run_q REPLICA IDENTITY USING INDEX wf_run_q_order;
CREATE INDEX wf_run_q_later ON cairn.wf_run_q (run_at) WHERE later;
CREATE INDEX wf_run_q_lapsed ON cairn.wf_run_q (n) WHERE lapsed;
-- Limits that count for each key on its own: the first of a key is found however many others wait before it.
CREATE INDEX wf_run_q_keys ON cairn.wf_run_q (type, limit_key, priority DESC, run_at, n) WHERE limit_key <> '' AND NOT later;

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

-- The trail of runs, only read run by run.
CREATE TABLE cairn.workflow_event (
  n bigint GENERATED ALWAYS AS IDENTITY,
  run_id uuid NOT NULL,
  kind text NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  attempt integer NOT NULL DEFAULT 0,
  actor text NOT NULL DEFAULT '',
  details jsonb,
  PRIMARY KEY (run_id, n)
);

CREATE TABLE cairn.outbox_event (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL DEFAULT gen_random_uuid()::text,
  instance text COLLATE "C" NOT NULL DEFAULT '',
  type text NOT NULL,
  subject text COLLATE "C" NOT NULL DEFAULT '',
  data jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  published_at timestamptz,
  held_until timestamptz,
  postponed boolean NOT NULL DEFAULT false,  -- by a sink that failed, not by a node that is at it
  by_engine boolean NOT NULL DEFAULT false
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX outbox_event_waiting ON cairn.outbox_event (n) WHERE published_at IS NULL;
CREATE INDEX outbox_event_held ON cairn.outbox_event (held_until) WHERE held_until IS NOT NULL;
CREATE INDEX outbox_event_instance ON cairn.outbox_event (instance);

-- Run types, schedules, the delivery log, credentials and the audit trail.

CREATE TABLE cairn.wf_run_types (
  type text PRIMARY KEY,
  lease_ms bigint,
  max_attempts integer,
  backoff_ms bigint,
  cap_ms bigint,
  paused boolean NOT NULL DEFAULT false,
  concurrency integer,
  rate integer,
  rate_window_ms bigint NOT NULL DEFAULT 1000,
  limit_key text NOT NULL DEFAULT ''
);

-- When runs of limited types were leased: what a rate counts.
CREATE TABLE cairn.wf_run_leases (
  n bigint GENERATED ALWAYS AS IDENTITY,
  type text COLLATE "C" NOT NULL,
  limit_key text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (type, limit_key, at, n)
);

CREATE TABLE cairn.wf_schedules (
  name text PRIMARY KEY,
  version bigint NOT NULL,
  spec text NOT NULL,
  paused boolean NOT NULL,
  next_at timestamptz,
  last_at timestamptz,
  last text,
  queued text,
  held_until timestamptz,
  created_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL
);
CREATE INDEX wf_schedules_due ON cairn.wf_schedules (next_at) WHERE NOT paused AND next_at IS NOT NULL;

CREATE TABLE cairn.wf_deliveries (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event bigint NOT NULL,
  sink text NOT NULL,
  attempt integer NOT NULL,
  at timestamptz NOT NULL,
  delivered boolean NOT NULL,
  error text NOT NULL
);
CREATE INDEX wf_deliveries_event ON cairn.wf_deliveries (event);

CREATE TABLE cairn.wf_api_keys (
  id text PRIMARY KEY,
  secret_hash text NOT NULL UNIQUE,
  subject text NOT NULL,
  roles text[] NOT NULL,
  scope text,
  note text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz
);

CREATE TABLE cairn.wf_audit (
  sequence bigint PRIMARY KEY,
  at timestamptz NOT NULL,
  who text NOT NULL,
  what text NOT NULL,
  resource text NOT NULL,
  why text NOT NULL,
  origin text NOT NULL,
  details text,
  previous_hash text NOT NULL,
  hash text NOT NULL
);

-- What a batch writes travels as rows, an array of them for each table: the server takes those apart in less than half
-- the time that it needs for as many arrays as the table has columns. Their order is that of the C++ that sends them
-- (commit_writes.cc, postgres_runs.cc).
CREATE TYPE cairn.wf_instance_row AS (
  n bigint, id text, definition text, definition_version text, digest text, status text, reference_key text, reference_parts jsonb, parent text,
  error jsonb, started_at timestamptz, changed_at timestamptz, ended_at timestamptz);
CREATE TYPE cairn.wf_state_row AS (
  n bigint, version bigint, from_version bigint, waiting_kind text, waiting_token text, waiting_until timestamptz, active_task text,
  resume_pointer text, last_signal text, last_error_code text, last_error text, last_executed_by text, snapshot text);
CREATE TYPE cairn.wf_wait_row AS (
  instance bigint, token text, kind text, step text, strand bigint, since timestamptz, until timestamptz, name text, key text, target text);
CREATE TYPE cairn.wf_log_row AS (
  instance bigint, version bigint, kind text, step text, at timestamptz, actor text, attempt integer, details jsonb);
CREATE TYPE cairn.wf_run_row AS (
  id uuid, given_id text, type text, status text, priority bigint, idempotency_key text, payload jsonb, attempt integer, max_attempts integer,
  run_at timestamptz, lease_until timestamptz, leased_by text, fence bigint, leases integer, backoff_ms bigint, factor double precision,
  cap_ms bigint, jitter double precision, timeout_ms bigint, instance text, token text, step text, limit_key text);
CREATE TYPE cairn.wf_run_end_row AS (id uuid, fence bigint, status text, result jsonb, error jsonb, last_error text);
CREATE TYPE cairn.wf_run_event_row AS (run_id uuid, kind text, at timestamptz, attempt integer, actor text, details jsonb);
CREATE TYPE cairn.wf_job_row AS (
  id uuid, given_id text, type text, priority bigint, idempotency_key text, payload jsonb, max_attempts integer, run_at timestamptz,
  backoff_ms bigint, factor double precision, cap_ms bigint, jitter double precision, timeout_ms bigint, limit_key text);

-- The rows of a batch go to the end of the audit trail in one call: whoever would have to know the last hash before he can send
-- his rows waits for an answer first, and keeps the end of the chain from everybody else meanwhile.
-- `hashed` is what a row's hash covers between its number and the hash before (audit_chain.h).
CREATE TYPE cairn.wf_audit_row AS (
  at timestamptz, who text, what text, resource text, why text, origin text, details text, hashed text);
CREATE FUNCTION cairn.wf_append_audit(given cairn.wf_audit_row[], chain bigint) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  one cairn.wf_audit_row;
  first bigint;
  number bigint;
  hash text;
  previous text[] := '{}';
  hashes text[] := '{}';
BEGIN
  PERFORM pg_advisory_xact_lock(chain);
  SELECT a.sequence + 1, a.hash INTO first, hash FROM cairn.wf_audit a ORDER BY a.sequence DESC LIMIT 1;
  first := coalesce(first, 1);
  hash := coalesce(hash, '');
  number := first;
  FOREACH one IN ARRAY given LOOP
    previous := previous || hash;
    hash := encode(sha256(convert_to('[' || number || ',' || one.hashed || ',"' || hash || '"]', 'UTF8')), 'hex');
    hashes := hashes || hash;
    number := number + 1;
  END LOOP;
  INSERT INTO cairn.wf_audit (sequence, at, who, what, resource, why, origin, details, previous_hash, hash)
  SELECT first + a.place - 1, a.at, a.who, a.what, a.resource, a.why, a.origin, a.details, a.previous, a.hash
  FROM ROWS FROM (unnest(given), unnest(previous), unnest(hashes)) WITH ORDINALITY
    AS a (at, who, what, resource, why, origin, details, hashed, previous, hash, place);
END $$;

-- Programs that speak SQL.

-- Finished runs stay finished, whoever writes; and a program that leases with plain SQL gets a fencing
-- number and a time for its attempt like everybody else.
CREATE FUNCTION cairn.workflow_run_guard() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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
    NEW.attempt_until := clock_timestamp() + NEW.timeout_ms * interval '1 millisecond';
  END IF;
  IF NEW.turns = OLD.turns THEN
    NEW.troubled := NEW.status IN ('failed', 'cancelled');
    IF NEW.status = 'pending' THEN
      NEW.attempt_until := NULL;
    END IF;
    IF NEW.updated_at = OLD.updated_at THEN
      NEW.updated_at := now();
    END IF;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER workflow_run_guard BEFORE UPDATE OF status, leased_by ON cairn.workflow_run
  FOR EACH ROW WHEN (OLD.turns = NEW.turns OR OLD.status IN ('succeeded', 'failed', 'cancelled'))
  EXECUTE FUNCTION cairn.workflow_run_guard();

-- What a program changed with plain SQL: the queue and the leases, the event, the message to the instance that waits
-- for the run, and the word to the nodes. The text after `|` is what a node reads: r runs, m messages, o outbox.
CREATE FUNCTION cairn.workflow_run_changed() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  what text := 'r';
  from_queue boolean := false;
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.status IN ('pending', 'leased') THEN
    DELETE FROM cairn.wf_run_q q
    WHERE q.later = ANY ('{false,true}') AND q.type = OLD.type AND q.priority = OLD.priority AND q.run_at = OLD.run_at AND q.n = OLD.n;
    from_queue := FOUND;
  END IF;
  IF TG_OP = 'DELETE' THEN
    RETURN NULL;
  END IF;
  IF NEW.status = 'pending' AND NEW.deleted_at IS NULL THEN
    INSERT INTO cairn.wf_run_q (type, priority, run_at, n, run, later, lapsed, limit_key)
    VALUES (NEW.type, NEW.priority, NEW.run_at, NEW.n, NEW.id, NEW.run_at > now(), false, NEW.limit_key);
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
CREATE TRIGGER workflow_run_inserted AFTER INSERT ON cairn.workflow_run
  FOR EACH ROW WHEN (NEW.turns = 0) EXECUTE FUNCTION cairn.workflow_run_changed();
CREATE TRIGGER workflow_run_updated
  AFTER UPDATE OF status, leased_by, lease_until, type, priority, run_at, limit_key, deleted_at ON cairn.workflow_run
  FOR EACH ROW WHEN (OLD.turns = NEW.turns) EXECUTE FUNCTION cairn.workflow_run_changed();
CREATE TRIGGER workflow_run_deleted AFTER DELETE ON cairn.workflow_run
  FOR EACH ROW WHEN (OLD.status IN ('pending', 'leased')) EXECUTE FUNCTION cairn.workflow_run_changed();

CREATE FUNCTION cairn.outbox_event_inserted() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_notify('cairn:' || TG_TABLE_SCHEMA, 'sql|o');
  RETURN NULL;
END $$;
CREATE TRIGGER outbox_event_inserted AFTER INSERT ON cairn.outbox_event
  FOR EACH ROW WHEN (NOT NEW.by_engine) EXECUTE FUNCTION cairn.outbox_event_inserted();

-- The most urgent runs of a type that may be leased.
CREATE FUNCTION cairn.ready_runs(of_type text, wanted integer DEFAULT 100) RETURNS SETOF uuid LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- Those whose time has come and that no node has moved yet.
  UPDATE cairn.wf_run_q SET later = false WHERE ctid = ANY (ARRAY(
    SELECT q.ctid FROM cairn.wf_run_q q WHERE q.later AND q.run_at <= now() ORDER BY q.run_at LIMIT 1000 FOR UPDATE SKIP LOCKED));
  RETURN QUERY SELECT q.run FROM cairn.wf_run_q q WHERE NOT q.later AND q.type = of_type
    ORDER BY q.priority DESC, q.run_at, q.n LIMIT wanted;
END $$;
