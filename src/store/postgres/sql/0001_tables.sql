-- `n` is a row's own number: small keys keep what one commit touches small (the public id stands once,
-- in a unique index). Instances get theirs from the node that writes them, so that one pipeline can
-- carry everything about a new one.
--
-- `touched` and `by_engine` tell the engine's own writes from those of programs that speak SQL: only the
-- latter make the database itself notify, because a NOTIFY in every commit costs most of the commit rate.

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
  id text NOT NULL UNIQUE,
  definition text NOT NULL,
  definition_version text NOT NULL,
  digest text NOT NULL,
  status text NOT NULL,
  reference_key text,
  reference_parts jsonb,
  parent text,
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
  token text NOT NULL,
  kind text NOT NULL,
  step text NOT NULL,
  strand bigint NOT NULL,
  since timestamptz NOT NULL,
  until timestamptz,
  name text NOT NULL,
  key text,
  target text NOT NULL,
  PRIMARY KEY (instance, token)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX wf_waits_signal ON cairn.wf_waits (name, key) WHERE kind = 'signal';

CREATE TABLE cairn.wf_tasks (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL UNIQUE,
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

CREATE TABLE cairn.wf_task_events (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  task text NOT NULL,
  kind text NOT NULL,
  at timestamptz NOT NULL,
  actor text NOT NULL,
  details jsonb
);
CREATE INDEX wf_task_events_task ON cairn.wf_task_events (task);

CREATE TABLE cairn.wf_execution_log (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  instance bigint NOT NULL,
  version bigint NOT NULL,
  kind text NOT NULL,
  step text NOT NULL,
  at timestamptz NOT NULL,
  actor text NOT NULL,
  attempt integer NOT NULL,
  details jsonb
);
CREATE INDEX wf_execution_log_instance ON cairn.wf_execution_log (instance, n);

-- Messages to one instance (`target`), and signals that nobody waits for yet (no target).
CREATE TABLE cairn.wf_signal_q (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  target bigint,
  kind text NOT NULL,
  name text,
  key text,
  body text NOT NULL,
  at timestamptz NOT NULL,
  expires_at timestamptz
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX wf_signal_q_target ON cairn.wf_signal_q (target) WHERE target IS NOT NULL;
CREATE INDEX wf_signal_q_kept ON cairn.wf_signal_q (name, key) WHERE target IS NULL;

-- The due index: one small row a timer, in the order in which they fall due.
CREATE TABLE cairn.wf_schedule_q (
  due timestamptz NOT NULL,
  instance bigint NOT NULL,
  token text NOT NULL,
  PRIMARY KEY (due, instance, token)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX wf_schedule_q_instance ON cairn.wf_schedule_q (instance);

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
  scope text NOT NULL,
  key text NOT NULL,
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
  priority integer NOT NULL DEFAULT 0,
  idempotency_key text UNIQUE,
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
  instance text,
  token text,
  step text,
  limit_key text NOT NULL DEFAULT '',
  touched bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  delete_reason text
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX workflow_run_ready ON cairn.workflow_run (type, priority DESC, run_at, n) WHERE status = 'pending' AND deleted_at IS NULL;
CREATE INDEX workflow_run_later ON cairn.workflow_run (run_at) WHERE status = 'pending' AND deleted_at IS NULL;
CREATE INDEX workflow_run_leased ON cairn.workflow_run (lease_until) WHERE status = 'leased';
CREATE INDEX workflow_run_instance ON cairn.workflow_run (instance) WHERE instance IS NOT NULL;

CREATE TABLE cairn.workflow_event (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id uuid NOT NULL,
  kind text NOT NULL,
  at timestamptz NOT NULL DEFAULT now(),
  attempt integer NOT NULL DEFAULT 0,
  actor text NOT NULL DEFAULT '',
  details jsonb
);
CREATE INDEX workflow_event_run ON cairn.workflow_event (run_id);

CREATE TABLE cairn.outbox_event (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text NOT NULL DEFAULT gen_random_uuid()::text,
  instance text NOT NULL DEFAULT '',
  type text NOT NULL,
  subject text NOT NULL DEFAULT '',
  data jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  published_at timestamptz,
  held_until timestamptz,
  postponed boolean NOT NULL DEFAULT false,  -- by a sink that failed, not by a node that is at it
  by_engine boolean NOT NULL DEFAULT false
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX outbox_event_waiting ON cairn.outbox_event (n) WHERE published_at IS NULL;
CREATE INDEX outbox_event_subject ON cairn.outbox_event (subject, n) WHERE published_at IS NULL;
CREATE INDEX outbox_event_held ON cairn.outbox_event (held_until) WHERE published_at IS NULL AND held_until IS NOT NULL;
CREATE INDEX outbox_event_instance ON cairn.outbox_event (instance);

-- Finished runs stay finished, whoever writes; and a program that leases with plain SQL gets a fencing
-- number like everybody else.
CREATE FUNCTION cairn.workflow_run_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.status IN ('succeeded', 'failed', 'cancelled') AND NEW.status <> OLD.status THEN
    RAISE EXCEPTION 'run % is % and stays so', OLD.id, OLD.status USING ERRCODE = 'check_violation';
  END IF;
  IF OLD.status = 'pending' AND NEW.status IN ('succeeded', 'failed') AND NEW.touched = OLD.touched THEN
    RAISE EXCEPTION 'run % is pending: lease it before it can be %', OLD.id, NEW.status USING ERRCODE = 'check_violation';
  END IF;
  IF NEW.touched = OLD.touched AND NEW.status = 'leased' AND NEW.fence = OLD.fence
     AND (OLD.status <> 'leased' OR NEW.leased_by IS DISTINCT FROM OLD.leased_by) THEN
    NEW.fence := OLD.fence + 1;
    NEW.leases := OLD.leases + 1;
    IF NEW.attempt = OLD.attempt THEN
      NEW.attempt := OLD.attempt + 1;
    END IF;
  END IF;
  IF NEW.touched = OLD.touched AND NEW.updated_at = OLD.updated_at THEN
    NEW.updated_at := now();
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER workflow_run_guard BEFORE UPDATE OF status, leased_by ON cairn.workflow_run
  FOR EACH ROW WHEN (OLD.touched = NEW.touched OR OLD.status IN ('succeeded', 'failed', 'cancelled'))
  EXECUTE FUNCTION cairn.workflow_run_guard();

-- What a program changed with plain SQL: its event, the message to the instance that waits for the run,
-- and the word to the nodes. The text after `|` is what a node reads: r runs, m messages, o outbox.
CREATE FUNCTION cairn.workflow_run_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  what text := 'r';
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO cairn.workflow_event (run_id, kind, attempt, actor) VALUES (NEW.id, 'created', 0, current_user);
  ELSE
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
  FOR EACH ROW WHEN (NEW.touched = 0) EXECUTE FUNCTION cairn.workflow_run_changed();
CREATE TRIGGER workflow_run_updated AFTER UPDATE OF status, leased_by ON cairn.workflow_run
  FOR EACH ROW WHEN (OLD.touched = NEW.touched AND OLD.status IS DISTINCT FROM NEW.status)
  EXECUTE FUNCTION cairn.workflow_run_changed();

CREATE FUNCTION cairn.outbox_event_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('cairn:' || TG_TABLE_SCHEMA, 'sql|o');
  RETURN NULL;
END $$;
CREATE TRIGGER outbox_event_inserted AFTER INSERT ON cairn.outbox_event
  FOR EACH ROW WHEN (NOT NEW.by_engine) EXECUTE FUNCTION cairn.outbox_event_inserted();
