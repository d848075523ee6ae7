-- The schema of a PostgreSQL store.
-- version: 37
--
-- A new store gets this file and then every migration (sql/migrations), in one transaction. The first release freezes it:
-- later changes are migrations. The store replaces the schema name `cairn` with its own.
--
-- Conventions
--  * `n` is the row's own number and the key of most tables. A short key keeps what one commit writes small. The public id
--    is stored once, in a unique index. Columns `instance`, `target` and `event` of type bigint hold an `n`.
--  * Keys are compared byte by byte (COLLATE "C"), whatever the language of the database: with another collation each
--    comparison on the way through an index calls the C library.
--  * Columns with JSON are jsonb where programs read them, and text where only the engine does.
--  * Queues and tables with many updates are vacuumed early and without a cost delay, because their dead rows slow down
--    every scan. `fillfactor` leaves room on a page, so that an update stays on its page and writes no index.
--  * Every table has a replica identity (a primary key, or a unique index that is named as such). Otherwise a publication
--    for all tables would make every change of its rows fail.
--  * Every function pins `search_path`: it must not run an operator or function from a schema that others can write to.
--  * Other programs may read all tables and may write `workflow_run`, `workflow_event` and `outbox_event` with plain SQL.
--    The columns `turns` and `by_engine` tell the engine's writes from theirs. Triggers do for them what the engine does
--    for itself. Only their writes make the database notify the nodes, because a NOTIFY in every commit costs most of the
--    commit rate.


-- Definitions ---------------------------------------------------------------------------------------------------------

-- Deployed workflow definitions. Deploying inserts a row, retiring sets `retired_at`; nothing else changes.
CREATE TABLE cairn.wf_definitions (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,  -- the greatest one that is not retired is the default version
  name text NOT NULL,
  version text NOT NULL,
  digest text NOT NULL,     -- of `canonical`: a version cannot be deployed again with other content
  canonical text NOT NULL,  -- the definition in canonical JSON
  deployed_at timestamptz NOT NULL,
  retired_at timestamptz,   -- no new starts since then; running instances continue
  UNIQUE (name, version)
);


-- Instances -----------------------------------------------------------------------------------------------------------

-- Nodes take numbers for new instances from here before they commit, so that one batch can carry everything about them.
CREATE SEQUENCE cairn.wf_instance_number AS bigint;

-- What people and programs see of an instance: its status and its dates. A commit writes it together with
-- wf_runtime_states. Read it through the view wf_instances, which has the state too.
CREATE TABLE cairn.wf_instances_base (
  n bigint PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  definition text NOT NULL,
  definition_version text NOT NULL,
  digest text NOT NULL,
  status text NOT NULL,
  reference_key text,      -- the business key that the starter gave, e.g. an order number
  reference_parts jsonb,   -- further searchable values
  parent text COLLATE "C", -- id of the instance that started it
  error jsonb,             -- the failure, if it failed or is suspended
  started_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  ended_at timestamptz,    -- set exactly if the status is final
  deleted_at timestamptz,  -- hidden from lists by an operator
  delete_reason text
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.2);
-- Lists by reference.
CREATE INDEX wf_instances_reference ON cairn.wf_instances_base (reference_key) WHERE reference_key IS NOT NULL;
-- Lists of children, and retention of whole trees.
CREATE INDEX wf_instances_parent ON cairn.wf_instances_base (parent) WHERE parent IS NOT NULL;
-- An instance is stored as running only if a commit ended in the middle of its work. A restart continues these.
CREATE INDEX wf_instances_running ON cairn.wf_instances_base (n) WHERE status = 'running';
-- Retention finds instances that ended long ago.
CREATE INDEX wf_instances_ended ON cairn.wf_instances_base (ended_at) WHERE ended_at IS NOT NULL;
-- Operators count and list these without a scan of all instances.
CREATE INDEX wf_instances_troubled ON cairn.wf_instances_base (status) WHERE status IN ('suspended', 'failed');
-- Metrics count the open instances of each definition. The condition is not `ended_at IS NULL`, because updates have that
-- condition: in a store without open instances the planner would scan this index to find the instances of an update.
CREATE INDEX wf_instances_open ON cairn.wf_instances_base (definition, status)
  WHERE status NOT IN ('completed', 'failed', 'cancelled');

-- The state from which an instance continues. `n` is the instance's. Every commit of the instance rewrites the row. No
-- column that changes is in an index, and pages have room for the next version of their rows: nearly every update stays
-- on its page.
CREATE TABLE cairn.wf_runtime_states (
  n bigint PRIMARY KEY,
  state_version bigint NOT NULL,    -- a commit must name the one that it continues from
  schema_version integer NOT NULL,  -- the format of `snapshot`
  -- Copies from the snapshot, for reports with plain SQL. The engine does not read them.
  waiting_kind text,                -- the first wait: its kind, token and due time
  waiting_token text,
  waiting_until timestamptz,
  active_task text,                 -- id of the first open task
  resume_pointer text,              -- the place in the definition where the first strand is
  last_signal text,
  last_error_code text,
  last_error text,
  last_executed_by text,            -- the node that wrote the row, and when
  last_executed_on timestamptz NOT NULL,
  snapshot text NOT NULL            -- the encoded Snapshot (instance/snapshot.h), without large values (wf_pieces)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);

-- Large values apart from their snapshots (docs/adr/0010). A snapshot has {"$piece": hash} in their place, and so has a
-- piece for pieces inside it. Each is written once, however many versions and instances use it.
CREATE TABLE cairn.wf_pieces (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hash text COLLATE "C" NOT NULL UNIQUE,  -- SHA-256 of `body`, hexadecimal
  body text NOT NULL                      -- JSON
) WITH (autovacuum_vacuum_scale_factor = 0.05);
-- Which instances use which pieces, also those inside others. A commit that adds a use locks the piece (FOR KEY SHARE). The
-- commit that removes the last use removes the piece (wf_remove_pieces).
CREATE TABLE cairn.wf_piece_uses (
  instance bigint NOT NULL,
  piece bigint NOT NULL,
  PRIMARY KEY (instance, piece)
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX wf_piece_uses_piece ON cairn.wf_piece_uses (piece);
-- Pieces that another transaction had locked when a commit removed one of their uses. Retention looks at them again.
CREATE TABLE cairn.wf_piece_q (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hash text COLLATE "C" NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);

-- Removes those of the pieces that no instance uses, and answers how many. It waits for no lock. A piece that another
-- transaction has locked is about to be used, or that transaction removes a use too: it goes into wf_piece_q. Each
-- statement sees what was committed before it began, so uses are looked for after the locks were taken.
CREATE FUNCTION cairn.wf_remove_pieces(hashes text[]) RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  ours bigint[];
  removed bigint;
BEGIN
  ours := ARRAY(SELECT p.n FROM cairn.wf_pieces p WHERE p.hash = ANY (hashes) FOR UPDATE SKIP LOCKED);
  DELETE FROM cairn.wf_pieces p WHERE p.n = ANY (ours)
    AND NOT EXISTS (SELECT 1 FROM cairn.wf_piece_uses u WHERE u.piece = p.n OFFSET 0);
  GET DIAGNOSTICS removed = ROW_COUNT;
  INSERT INTO cairn.wf_piece_q (hash) SELECT p.hash FROM cairn.wf_pieces p WHERE p.hash = ANY (hashes) AND p.n <> ALL (ours);
  RETURN removed;
END $$;
-- Ends the uses of these instances, except those of the kept pieces.
CREATE FUNCTION cairn.wf_end_piece_uses(instances bigint[], kept text[]) RETURNS void LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  hashes text[];
BEGIN
  WITH gone AS (
    DELETE FROM cairn.wf_piece_uses u WHERE u.instance = ANY (instances)
      AND NOT EXISTS (SELECT 1 FROM cairn.wf_pieces p WHERE p.n = u.piece AND p.hash = ANY (kept) OFFSET 0)
    RETURNING u.piece)
  SELECT array_agg(DISTINCT p.hash) INTO hashes FROM gone g
    CROSS JOIN LATERAL (SELECT hash FROM cairn.wf_pieces WHERE n = g.piece OFFSET 0) p;
  IF hashes IS NOT NULL THEN
    PERFORM cairn.wf_remove_pieces(hashes);
  END IF;
END $$;
-- Looks again at `most` entries of wf_piece_q.
CREATE FUNCTION cairn.wf_collect_pieces(most bigint) RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  taken bigint[];
  hashes text[];
BEGIN
  taken := ARRAY(SELECT q.n FROM cairn.wf_piece_q q ORDER BY q.n LIMIT most FOR UPDATE SKIP LOCKED);
  hashes := ARRAY(SELECT DISTINCT q.hash FROM cairn.wf_piece_q q WHERE q.n = ANY (taken));
  DELETE FROM cairn.wf_piece_q q WHERE q.n = ANY (taken);
  RETURN cairn.wf_remove_pieces(hashes);
END $$;

-- Waits that the store must find by a signal's name or by a due time. All other waits are only in the snapshot. The view
-- wf_waits has them all.
CREATE TABLE cairn.wf_waits_base (
  instance bigint NOT NULL,
  token text COLLATE "C" NOT NULL,  -- names the wait within its instance
  kind text NOT NULL,               -- signal, timer and others with a due time
  step text NOT NULL,
  strand bigint NOT NULL,
  since timestamptz NOT NULL,
  until timestamptz,                -- its due time, if it has a timer
  name text COLLATE "C" NOT NULL,   -- signal: its name
  key text COLLATE "C",             -- signal: the expected key; NULL: any
  target text NOT NULL,
  PRIMARY KEY (instance, token)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
-- A signal finds the instances that wait for it.
CREATE INDEX wf_waits_signal ON cairn.wf_waits_base (name, key) WHERE kind = 'signal';

-- The history of each instance, appended by its commits. Only read for one instance, hence the key. The view
-- wf_execution_log adds input, duration and trace.
CREATE TABLE cairn.wf_execution_log_base (
  n bigint GENERATED ALWAYS AS IDENTITY,
  instance bigint NOT NULL,
  state_version bigint NOT NULL,  -- the one that the commit made
  kind text NOT NULL,
  step text NOT NULL,
  at timestamptz NOT NULL,
  actor text NOT NULL,
  attempt integer NOT NULL,
  details jsonb,
  visit text COLLATE "C",  -- all entries of one visit of a step have the same (LogEntry in instance/advance.h)
  PRIMARY KEY (instance, n)
);

-- Signals that an instance has accepted, by their id: a repeated signal is recognized.
CREATE TABLE cairn.wf_inbox (
  instance bigint NOT NULL,
  signal text NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (instance, signal)
);

-- Answers to requests with an idempotency key: the same request gets the same answer. `request_hash` detects the same
-- key with another request.
CREATE TABLE cairn.wf_idempotency_keys (
  scope text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  request_hash text NOT NULL,
  answer text NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (scope, key)
);
-- Retention finds old keys.
CREATE INDEX wf_idempotency_keys_at ON cairn.wf_idempotency_keys (at);


-- Tasks ---------------------------------------------------------------------------------------------------------------

-- Work for people. A commit of the instance opens and closes tasks; users assign and release them (change_task).
CREATE TABLE cairn.wf_tasks (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  instance bigint NOT NULL,
  instance_id text NOT NULL,
  token text NOT NULL,      -- the wait that its end completes
  step text NOT NULL,
  name text NOT NULL,
  title text NOT NULL,
  status text NOT NULL,
  state_version bigint NOT NULL,  -- grows with each change of the row; a client may require the one that it has seen
  roles text[] NOT NULL,    -- who may do it; empty: every user
  exclude text[] NOT NULL,  -- users who may not, e.g. the one who did the step before
  payload jsonb,
  form jsonb,
  priority bigint NOT NULL,
  due timestamptz,          -- for sorting and display only
  deadline timestamptz,     -- when the steps of the task's deadline run
  assignee text,
  reference_key text,       -- copied from the instance
  reference_parts jsonb,
  created_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  completed_by text,
  completed_at timestamptz,
  completion jsonb,         -- what the user entered
  managers text[] NOT NULL DEFAULT '{}'  -- roles that may take it from its assignee
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
-- The inbox, in the order in which it is shown.
CREATE INDEX wf_tasks_inbox ON cairn.wf_tasks (priority DESC, n) WHERE status IN ('open', 'assigned');
CREATE INDEX wf_tasks_instance ON cairn.wf_tasks (instance);

-- The history of each task. Only read for one task, hence the key.
CREATE TABLE cairn.wf_task_events (
  n bigint GENERATED ALWAYS AS IDENTITY,
  task text COLLATE "C" NOT NULL,  -- its id
  kind text NOT NULL,
  at timestamptz NOT NULL,
  actor text NOT NULL,
  details jsonb,
  PRIMARY KEY (task, n)
);


-- Queues --------------------------------------------------------------------------------------------------------------
-- The commit that processes an item removes it. Which items a node has taken is only in its memory: after a crash all are
-- available. Two nodes may take the same item, but only one of their commits finds it.

-- Messages to one instance (`target`), in the order of `n`. A row without `target` is a signal that no instance waits for
-- yet; the first wait for it takes it.
CREATE TABLE cairn.wf_signal_q (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  target bigint,
  kind text NOT NULL,     -- signal, child_finished, cancel, run_finished
  name text COLLATE "C",  -- signal: its name and key
  key text COLLATE "C",
  body text NOT NULL,
  at timestamptz NOT NULL,
  expires_at timestamptz  -- of a kept signal that does not stay for ever
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
-- The messages of one instance.
CREATE INDEX wf_signal_q_target ON cairn.wf_signal_q (target) WHERE target IS NOT NULL;
-- A new wait finds kept signals.
CREATE INDEX wf_signal_q_kept ON cairn.wf_signal_q (name, key) WHERE target IS NULL;
-- Kept signals become dead letters.
CREATE INDEX wf_signal_q_expiry ON cairn.wf_signal_q (expires_at) WHERE target IS NULL AND expires_at IS NOT NULL;

-- Timers, in the order in which they are due. `token` names the wait of the instance.
CREATE TABLE cairn.wf_timer_q (
  due timestamptz NOT NULL,
  instance bigint NOT NULL,
  token text COLLATE "C" NOT NULL,
  PRIMARY KEY (due, instance, token)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
-- The timers of one instance: people list them, and retention removes them.
CREATE INDEX wf_timer_q_instance ON cairn.wf_timer_q (instance);

-- Dead letters: items that the engine could not process. An operator replays or discards them.
CREATE TABLE cairn.wf_dlq_q (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  instance text,           -- its id, if the item had one
  kind text NOT NULL,      -- of the envelope: message, timer, run, start
  envelope text NOT NULL,  -- JSON: the whole item, enough to replay it
  reason text NOT NULL,
  node text NOT NULL,
  at timestamptz NOT NULL
);


-- Runs ----------------------------------------------------------------------------------------------------------------

-- Jobs for workers: calls of instances, and runs that programs submit on their own. Workers lease, extend and end them.
-- Programs may insert, lease and end runs with plain SQL; the defaults make a row complete.
--
-- A run is written three times: submitted, leased, ended. Large batches are leased and ended at the same time, and while a
-- lease is in progress the server cannot remove the versions that others replaced. So a page has room for three versions
-- of every row (fillfactor 30). No column that a lease or a success changes is in an index or in the condition of one:
-- both updates write no index.
CREATE TABLE cairn.workflow_run (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  given_id text,                            -- the submitter's id if that is no UUID; `id` is derived from it
  type text COLLATE "C" NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'leased', 'succeeded', 'failed', 'cancelled')),
  priority bigint NOT NULL DEFAULT 0,       -- greater first
  idempotency_key text COLLATE "C" UNIQUE,  -- submitting again with the same key answers the first run
  call_key text,                            -- the key of a call, in its place: unique within its instance
  payload jsonb,
  result jsonb,
  error jsonb,                              -- the failure that ended it, or the last one before a retry
  last_error text,                          -- the same in one line
  attempt integer NOT NULL DEFAULT 0,       -- attempts so far; the current one too, unless it is `uncounted`
  max_attempts integer NOT NULL DEFAULT 3,
  run_at timestamptz NOT NULL DEFAULT now(),  -- not leased before
  lease_until timestamptz,
  leased_by text,                           -- worker, user and account (store/lease_holder.h)
  fence bigint NOT NULL DEFAULT 0,          -- grows with each lease; a write of a worker must match it
  leases integer NOT NULL DEFAULT 0,        -- all leases, also released ones
  backoff_ms bigint NOT NULL DEFAULT 1000,  -- retries: first delay, factor, greatest delay, random part
  factor double precision NOT NULL DEFAULT 2,
  cap_ms bigint NOT NULL DEFAULT 300000,
  jitter double precision NOT NULL DEFAULT 0.5,
  timeout_ms bigint,                        -- of each attempt
  instance text COLLATE "C",                -- id of the instance that waits for its end; NULL: none
  token text,                               -- the wait of that instance
  step text,
  limit_key text COLLATE "C" NOT NULL DEFAULT '',  -- limits of its type count by this key; empty: by the type alone
  turns bigint NOT NULL DEFAULT 0,          -- the engine adds one with each of its changes
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  delete_reason text,
  attempt_until timestamptz,                -- when the current attempt times out; only set while leased
  -- Leases with plain SQL. A node counts an attempt when it leases the run. A program counts it when the attempt has
  -- failed, so its attempt is added to `attempt` when its lease ends or expires.
  sql_worker text,                          -- the session's cairn.worker, or empty; NULL: a node leased the run
  uncounted boolean NOT NULL DEFAULT false, -- the current attempt is not in `attempt` yet
  troubled boolean NOT NULL DEFAULT false   -- failed or cancelled
) WITH (fillfactor = 30, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX workflow_run_instance ON cairn.workflow_run (instance) WHERE instance IS NOT NULL;
-- Operators look for these among many that succeeded. Runs that succeed never enter it.
CREATE INDEX workflow_run_troubled ON cairn.workflow_run (n) WHERE troubled;
-- Programs that search this table for runs to lease need one index more (docs/operations/postgresql.md). It is not here,
-- because its condition on `status` would make every lease and every end write all indexes.

-- The runs that may be leased: pending ones, and those whose lease has expired (`lapsed`). A transaction that adds or
-- removes a row has the run locked. A run that starts later is sorted behind all that are ready (`later`). A node moves it
-- when its time has come. So no lease compares times, and none reads past runs that cannot start yet.
CREATE TABLE cairn.wf_run_q (
  type text COLLATE "C" NOT NULL,
  priority bigint NOT NULL,
  run_at timestamptz NOT NULL,
  n bigint NOT NULL,   -- the run's
  run uuid NOT NULL,
  later boolean NOT NULL,
  lapsed boolean NOT NULL,
  limit_key text COLLATE "C" NOT NULL DEFAULT ''
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
-- The order of leasing.
CREATE UNIQUE INDEX wf_run_q_order ON cairn.wf_run_q (later, type, priority DESC, run_at, n);
ALTER TABLE cairn.wf_run_q REPLICA IDENTITY USING INDEX wf_run_q_order;
-- Runs whose time has come, and the next time.
CREATE INDEX wf_run_q_later ON cairn.wf_run_q (run_at) WHERE later;
-- Expired leases.
CREATE INDEX wf_run_q_lapsed ON cairn.wf_run_q (n) WHERE lapsed;
-- Limits that count for each key: the first run of a key is found however many others wait before it.
CREATE INDEX wf_run_q_keys ON cairn.wf_run_q (type, limit_key, priority DESC, run_at, n) WHERE limit_key <> '' AND NOT later;

-- When to look at leased runs again. Runs that were leased together share a row. At its time a node puts the runs whose
-- lease has expired into wf_run_q, and writes a new row for leases that were extended. The node that leased them removes
-- the row earlier if all of its runs have ended.
CREATE TABLE cairn.wf_lease_q (
  id bigint PRIMARY KEY DEFAULT (random() * 9e18)::bigint,
  at timestamptz NOT NULL,
  type text COLLATE "C" NOT NULL,
  runs uuid[] NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
-- Random ids do not compress.
ALTER TABLE cairn.wf_lease_q ALTER COLUMN runs SET STORAGE EXTERNAL;
CREATE INDEX wf_lease_q_at ON cairn.wf_lease_q (at);
-- The live leases of a type, for its limits.
CREATE INDEX wf_lease_q_type ON cairn.wf_lease_q (type);

-- The audit trail of each run: created, leased, retried and so on. Only read for one run, hence the key. Not written with
-- `?run_events=off`. Other programs may add events of any type.
CREATE TABLE cairn.workflow_event (
  id bigint GENERATED BY DEFAULT AS IDENTITY,
  workflow_id uuid NOT NULL,  -- the run
  event_type text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  attempt integer NOT NULL DEFAULT 0,
  actor text NOT NULL DEFAULT '',
  data jsonb,
  PRIMARY KEY (workflow_id, id)
);

-- Settings and limits of run types, set by operators. NULL keeps what the run or the worker specifies.
CREATE TABLE cairn.wf_run_types (
  type text PRIMARY KEY,
  lease_ms bigint,
  max_attempts integer,
  backoff_ms bigint,
  cap_ms bigint,
  paused boolean NOT NULL DEFAULT false,  -- not leased
  concurrency integer,                    -- leases at the same time, for each limit key
  rate integer,                           -- leases in each window, for each limit key
  rate_window_ms bigint NOT NULL DEFAULT 1000,
  limit_key text NOT NULL DEFAULT ''      -- an expression over the payload, evaluated when a run is created; empty: none
);

-- When runs of a type with a rate were leased. Leasing removes rows that are older than the window.
CREATE TABLE cairn.wf_run_leases (
  n bigint GENERATED ALWAYS AS IDENTITY,
  type text COLLATE "C" NOT NULL,
  limit_key text COLLATE "C" NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (type, limit_key, at, n)
);


-- Runs and plain SQL --------------------------------------------------------------------------------------------------
-- The functions of these triggers run with the rights of their owner: a program needs rights on the three tables that it
-- uses, and none on the queues.

-- Guards updates of `workflow_run` by other programs.
--  * A finished run stays finished. A run must be leased before it can end.
--  * A program that leases gets a fence and a timeout for its attempt like every worker. Leasing an expired lease again is
--    a new lease, even under the same name.
--  * Only the holder of a lease reports its end, if the holder is known: a node, or a session that ran
--    `SET cairn.worker = 'NAME'`. All other sessions are alike to the database.
--  * Each attempt is counted once, whether the program adds one to `attempt` or not. A run without attempts left fails.
CREATE FUNCTION cairn.workflow_run_guard() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  -- Written in two parts, because the store replaces the schema name in this file.
  worker constant text := nullif(current_setting('cairn' || '.worker', true), '');
  holder constant text := coalesce(nullif(OLD.sql_worker, ''), OLD.leased_by);
  used constant integer := OLD.attempt + OLD.uncounted::integer;  -- attempts, with the current one
  spent constant boolean := used >= NEW.max_attempts AND (OLD.status = 'pending' OR coalesce(OLD.lease_until <= now(), false));
  problem text;
BEGIN
  IF OLD.status IN ('succeeded', 'failed', 'cancelled')
     AND (NEW.status <> OLD.status OR (NEW.result, NEW.error, NEW.last_error) IS DISTINCT FROM (OLD.result, OLD.error, OLD.last_error)) THEN
    RAISE EXCEPTION 'run % is % and stays so', OLD.id, OLD.status USING ERRCODE = 'check_violation';
  END IF;
  IF NEW.turns <> OLD.turns THEN
    -- A node ends or takes over a lease that a program had.
    IF NEW.status <> 'leased' OR NEW.fence <> OLD.fence THEN
      NEW.attempt := NEW.attempt + NEW.uncounted::integer;
      NEW.uncounted := false;
      NEW.sql_worker := NULL;
    END IF;
    RETURN NEW;
  END IF;
  IF NEW.deleted_at IS NOT NULL AND OLD.deleted_at IS NULL AND OLD.instance IS NOT NULL AND OLD.status IN ('pending', 'leased') THEN
    RAISE EXCEPTION 'instance % waits for run %: cancel the run instead of deleting it', OLD.instance, OLD.id
      USING ERRCODE = 'check_violation';
  END IF;
  IF OLD.status = 'pending' AND NEW.status IN ('succeeded', 'failed') AND NOT spent THEN
    RAISE EXCEPTION 'run % is pending: lease it before it can be %', OLD.id, NEW.status USING ERRCODE = 'check_violation';
  END IF;
  IF NEW.status = 'leased' AND NEW.fence = OLD.fence
     AND (OLD.status <> 'leased' OR NEW.leased_by IS DISTINCT FROM OLD.leased_by OR (OLD.lease_until <= now() AND NEW.lease_until > now())) THEN
    IF NEW.deleted_at IS NOT NULL THEN
      RAISE EXCEPTION 'run % is deleted and cannot be leased', OLD.id USING ERRCODE = 'check_violation';
    END IF;
    IF spent THEN
      -- It ends here and is not leased. Otherwise it would be the first one that each program finds, until a node ends it.
      IF OLD.status = 'leased' THEN
        problem := format('its worker %s did not report back before the lease ended, %s of %s attempts', coalesce(holder, ''), used, NEW.max_attempts);
        UPDATE cairn.workflow_run SET status = 'failed', last_error = 'lease_expired: ' || problem,
          error = jsonb_build_object('class', 'timeout', 'code', 'lease_expired', 'message', problem) WHERE n = OLD.n;
      ELSE
        UPDATE cairn.workflow_run SET status = 'failed' WHERE n = OLD.n;  -- with the error of its last attempt
      END IF;
      RETURN NULL;
    END IF;
    NEW.fence := OLD.fence + 1;
    NEW.leases := OLD.leases + 1;
    NEW.sql_worker := coalesce(worker, '');
    -- Some programs add the attempt when they lease.
    NEW.uncounted := NEW.attempt <= OLD.attempt;
    NEW.attempt := used + (NOT NEW.uncounted)::integer;
    NEW.attempt_until := clock_timestamp() + NEW.timeout_ms * interval '1 millisecond';
  END IF;
  IF OLD.status = 'leased' AND NEW.status <> 'leased' THEN
    IF NEW.status <> 'cancelled' AND (OLD.sql_worker IS DISTINCT FROM '' OR worker IS NOT NULL) AND worker IS DISTINCT FROM holder
       AND NOT (spent AND NEW.status = 'failed') THEN
      RAISE EXCEPTION 'lease_lost: run % is leased by %, and this report is of another worker', OLD.id, holder
        USING ERRCODE = 'object_not_in_prerequisite_state',
          HINT = 'A session with a lease of its own names itself: SET ' || 'cairn' || '.worker = ''NAME''.';
    END IF;
    -- A program that returns a run and adds nothing gives it back without an attempt.
    IF NEW.status <> 'pending' OR NEW.attempt > OLD.attempt THEN
      NEW.attempt := used;
    END IF;
    IF NEW.status = 'pending' AND NEW.attempt >= NEW.max_attempts THEN
      NEW.status := 'failed';
      NEW.run_at := OLD.run_at;
    END IF;
    IF NEW.status <> 'cancelled' THEN
      NEW.lease_until := NULL;
      NEW.leased_by := NULL;
      NEW.sql_worker := NULL;
    END IF;
    NEW.uncounted := false;
    NEW.attempt_until := NULL;
  END IF;
  NEW.troubled := NEW.status IN ('failed', 'cancelled');
  RETURN NEW;
END $$;
CREATE TRIGGER workflow_run_guard BEFORE UPDATE OF status, leased_by, deleted_at ON cairn.workflow_run
  FOR EACH ROW WHEN (OLD.turns = NEW.turns OR OLD.sql_worker IS NOT NULL OR OLD.status IN ('succeeded', 'failed', 'cancelled'))
  EXECUTE FUNCTION cairn.workflow_run_guard();

-- Every update by another program sets `updated_at`, a heartbeat too.
CREATE FUNCTION cairn.workflow_run_touched() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  NEW.updated_at := now();
  RETURN NEW;
END $$;
CREATE TRIGGER workflow_run_touched BEFORE UPDATE ON cairn.workflow_run
  FOR EACH ROW WHEN (OLD.turns = NEW.turns AND OLD.updated_at = NEW.updated_at) EXECUTE FUNCTION cairn.workflow_run_touched();

-- After a program changed a run with plain SQL: updates the queue and the leases and notifies the nodes. It writes the
-- event, the dead letter and the message to the instance that waits for the run. The text after `|` is for nodes: r runs,
-- m messages, o outbox.
CREATE FUNCTION cairn.workflow_run_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
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
  ELSIF NEW.status = 'leased' AND NEW.lease_until IS NOT NULL AND NEW.deleted_at IS NULL
        AND (TG_OP = 'INSERT' OR from_queue OR OLD.status <> 'leased' OR OLD.lease_until IS NULL OR NEW.lease_until < OLD.lease_until
          OR OLD.deleted_at IS NOT NULL) THEN
    INSERT INTO cairn.wf_lease_q (at, type, runs) VALUES (least(NEW.lease_until, NEW.attempt_until), NEW.type, ARRAY[NEW.id]);
  END IF;
  IF TG_OP = 'INSERT' THEN
    IF (NEW.status IN ('failed', 'cancelled') AND NOT NEW.troubled) OR NEW.status = 'leased' THEN
      UPDATE cairn.workflow_run SET troubled = NEW.status <> 'leased', sql_worker = CASE NEW.status WHEN 'leased' THEN '' END WHERE id = NEW.id;
    END IF;
    INSERT INTO cairn.workflow_event (workflow_id, event_type, attempt, actor) VALUES (NEW.id, 'created', 0, session_user);
  ELSIF NEW.status IS DISTINCT FROM OLD.status OR (NEW.status = 'leased' AND NEW.fence > OLD.fence) THEN
    INSERT INTO cairn.workflow_event (workflow_id, event_type, attempt, actor, data)
    VALUES (NEW.id, CASE WHEN NEW.status <> 'pending' THEN NEW.status
      WHEN NEW.attempt > OLD.attempt OR NEW.last_error IS DISTINCT FROM OLD.last_error THEN 'retried' ELSE 'released' END,
      NEW.attempt + NEW.uncounted::integer, coalesce(NEW.leased_by, OLD.leased_by, session_user),
      CASE WHEN NEW.status IN ('failed', 'pending') THEN NEW.error END);
    IF NEW.status = 'failed' AND NEW.attempt >= NEW.max_attempts THEN
      INSERT INTO cairn.wf_dlq_q (instance, kind, envelope, reason, node, at)
      VALUES (NEW.instance, 'run', jsonb_build_object('run', coalesce(NEW.given_id, NEW.id::text), 'type', NEW.type, 'payload', NEW.payload)::text,
        coalesce(NEW.error ->> 'message', NEW.last_error, 'the run failed'), session_user, now());
    END IF;
    IF NEW.status IN ('succeeded', 'failed', 'cancelled') AND NEW.instance IS NOT NULL THEN
      INSERT INTO cairn.wf_signal_q (target, kind, body, at)
      SELECT i.n, 'run_finished', jsonb_build_object('token', NEW.token, 'result', NEW.result, 'failure',
        CASE NEW.status
          WHEN 'succeeded' THEN NULL
          WHEN 'cancelled' THEN jsonb_build_object('class', 'business', 'code', 'cancelled', 'message',
            'the run was cancelled', 'attempt', greatest(NEW.attempt, 1), 'step', coalesce(NEW.step, ''), 'at', '')
          ELSE jsonb_build_object('class', CASE NEW.error ->> 'code' WHEN 'lease_expired' THEN 'timeout' ELSE 'transport' END,
            'code', coalesce(NEW.error ->> 'code', 'failed'), 'message',
            coalesce(NEW.error ->> 'message', NEW.last_error, 'the run failed'), 'details', NEW.error -> 'details',
            'attempt', greatest(NEW.attempt, 1), 'step', coalesce(NEW.step, ''), 'at', '')
        END)::text, now()
      FROM cairn.wf_instances_base i WHERE i.id = NEW.instance;
      what := 'rm';
    END IF;
  END IF;
  PERFORM pg_notify('cairn:' || TG_TABLE_SCHEMA, 'sql|' || what);
  -- No one would lease it: it ends at once.
  IF NEW.status = 'pending' AND NEW.attempt >= NEW.max_attempts AND NEW.deleted_at IS NULL THEN
    UPDATE cairn.workflow_run SET status = 'failed', error = coalesce(NEW.error, jsonb_build_object('class', 'transport', 'code', 'no_attempts',
      'message', format('the run has no attempt left: %s of %s', NEW.attempt, NEW.max_attempts))) WHERE n = NEW.n;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER workflow_run_inserted AFTER INSERT ON cairn.workflow_run
  FOR EACH ROW WHEN (NEW.turns = 0) EXECUTE FUNCTION cairn.workflow_run_changed();
CREATE TRIGGER workflow_run_updated
  AFTER UPDATE OF status, leased_by, lease_until, type, priority, run_at, limit_key, deleted_at, attempt, max_attempts ON cairn.workflow_run
  FOR EACH ROW WHEN (OLD.turns = NEW.turns) EXECUTE FUNCTION cairn.workflow_run_changed();
CREATE TRIGGER workflow_run_deleted AFTER DELETE ON cairn.workflow_run
  FOR EACH ROW WHEN (OLD.status IN ('pending', 'leased')) EXECUTE FUNCTION cairn.workflow_run_changed();

-- For programs that lease with plain SQL: the most urgent runs of a type. It locks no entries of other types.
CREATE FUNCTION cairn.ready_runs(of_type text, wanted integer DEFAULT 100) RETURNS SETOF uuid LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  -- Those whose time has come and that no node has moved yet.
  UPDATE cairn.wf_run_q SET later = false WHERE ctid = ANY (ARRAY(
    SELECT q.ctid FROM cairn.wf_run_q q WHERE q.later AND q.run_at <= now() AND q.type = of_type
    ORDER BY q.run_at LIMIT 1000 FOR UPDATE SKIP LOCKED));
  RETURN QUERY SELECT q.run FROM cairn.wf_run_q q WHERE NOT q.later AND q.type = of_type
    ORDER BY q.priority DESC, q.run_at, q.n LIMIT wanted;
END $$;


-- Schedules -----------------------------------------------------------------------------------------------------------

-- What starts by the clock. `put_schedule` writes a row; firing moves `next_at`.
CREATE TABLE cairn.wf_schedules (
  name text PRIMARY KEY,
  state_version bigint NOT NULL,  -- grows with each change; a writer must match it
  spec text NOT NULL,       -- JSON: cron or interval, zone, overlap, what to start (schedule/spec.h)
  paused boolean NOT NULL,
  next_at timestamptz,      -- NULL: it never fires again
  last_at timestamptz,      -- every time up to here was fired, skipped or dropped
  last text,                -- JSON: what it started last
  queued text,              -- JSON: firings that wait for the previous one
  held_until timestamptz,   -- a node has taken it; other nodes leave it alone until then
  created_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL
);
CREATE INDEX wf_schedules_due ON cairn.wf_schedules (next_at) WHERE NOT paused AND next_at IS NOT NULL;


-- Outbox --------------------------------------------------------------------------------------------------------------

-- Events for other systems. Commits append them (`emit` steps and life-cycle events), and other programs may do so with
-- plain SQL. The dispatcher of cairn delivers them to its sinks. Other programs may publish events too: they lock rows
-- without `published_at` and set it afterwards. Each event has one dispatcher: ours takes no locked row and sets
-- `published_at` when it takes one. Ids grow, but a transaction that took its id earlier may commit later.
CREATE TABLE cairn.outbox_event (
  id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,  -- the sequence
  aggregate_id text COLLATE "C" NOT NULL DEFAULT '',  -- the subject; events of one subject are delivered in order
  event_type text NOT NULL,
  payload jsonb,                            -- the data of the event
  published_at timestamptz,                 -- when a dispatcher took it; NULL: none has
  event_id text NOT NULL DEFAULT gen_random_uuid()::text,  -- the id of the CloudEvent
  instance text COLLATE "C" NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT now(),
  delivered_at timestamptz,                 -- no sink of cairn has to get it any more
  by_engine boolean NOT NULL DEFAULT false,
  assigned boolean NOT NULL DEFAULT false   -- our dispatcher has put it into the queue of every sink that wants it
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
-- Events that some sink has still to get.
CREATE INDEX outbox_event_waiting ON cairn.outbox_event (id) WHERE delivered_at IS NULL;
-- Events that no dispatcher has taken: for ours, and for programs. Events that no sink wants stay unpublished, so ours must
-- not walk the second index: its statements ask for `assigned`, never for `published_at`.
CREATE INDEX outbox_event_new ON cairn.outbox_event (id) WHERE delivered_at IS NULL AND NOT assigned;
CREATE INDEX outbox_event_unpublished ON cairn.outbox_event (id) WHERE published_at IS NULL;
CREATE INDEX outbox_event_instance ON cairn.outbox_event (instance);
-- Retention finds delivered events by their time, however many wait for their sinks.
CREATE INDEX outbox_event_delivered ON cairn.outbox_event (delivered_at) WHERE delivered_at IS NOT NULL;

-- An event that a program inserted with plain SQL notifies the nodes.
CREATE FUNCTION cairn.outbox_event_inserted() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM pg_notify('cairn:' || TG_TABLE_SCHEMA, 'sql|o');
  RETURN NULL;
END $$;
CREATE TRIGGER outbox_event_inserted AFTER INSERT ON cairn.outbox_event
  FOR EACH ROW WHEN (NOT NEW.by_engine) EXECUTE FUNCTION cairn.outbox_event_inserted();

-- A program has published an event: no sink of cairn gets it.
CREATE FUNCTION cairn.outbox_event_published() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  NEW.delivered_at := NEW.published_at;
  RETURN NEW;
END $$;
CREATE TRIGGER outbox_event_published BEFORE INSERT OR UPDATE OF published_at ON cairn.outbox_event
  FOR EACH ROW WHEN (NEW.published_at IS NOT NULL AND NEW.delivered_at IS NULL AND NOT NEW.assigned)
  EXECUTE FUNCTION cairn.outbox_event_published();

-- A program that removes old published events leaves those that a sink has still to get.
CREATE FUNCTION cairn.outbox_event_kept() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN NULL;
END $$;
CREATE TRIGGER outbox_event_kept BEFORE DELETE ON cairn.outbox_event
  FOR EACH ROW WHEN (OLD.assigned AND OLD.delivered_at IS NULL) EXECUTE FUNCTION cairn.outbox_event_kept();

-- The queue of each sink. Only the first event of a subject has a due time. The later ones wait for it (NULL), so the
-- order within a subject is kept. A claim moves `due` to the end of the claim.
CREATE TABLE cairn.wf_outbox_queue (
  event bigint NOT NULL,
  sink text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  due timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  PRIMARY KEY (event, sink)
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
-- The events of a subject in order.
CREATE INDEX wf_outbox_queue_subject ON cairn.wf_outbox_queue (sink, subject, event);
-- New events and retries are claimed separately, so that retries cannot crowd out new events.
CREATE INDEX wf_outbox_queue_new ON cairn.wf_outbox_queue (sink, due, event) WHERE attempts = 0 AND due IS NOT NULL;
CREATE INDEX wf_outbox_queue_retries ON cairn.wf_outbox_queue (sink, due, event) WHERE attempts > 0 AND due IS NOT NULL;
-- The next due time of any sink. Its condition keeps the planner from using it for the queue of one sink.
CREATE INDEX wf_outbox_queue_due ON cairn.wf_outbox_queue (due) WHERE due IS NOT NULL AND attempts + 0 >= 0;

-- The log of deliveries. An entry with an empty sink means that an operator sent the event again: entries before it no
-- longer count.
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


-- Access --------------------------------------------------------------------------------------------------------------

-- API keys. Only the hash of the secret is stored.
CREATE TABLE cairn.wf_api_keys (
  id text PRIMARY KEY,
  secret_hash text NOT NULL UNIQUE,  -- SHA-256, hexadecimal; a request finds its key by it
  subject text NOT NULL,             -- the user that acts with the key
  roles text[] NOT NULL,
  scope text,                        -- JSON: limits within the roles; NULL: none
  note text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz
);

-- The roles of people who use tokens: those of the last token that a node accepted from each account.
CREATE TABLE cairn.wf_token_users (
  account text COLLATE "C" PRIMARY KEY,  -- issuer and subject
  person text COLLATE "C" NOT NULL,
  roles text[] NOT NULL,                 -- of cairn
  task_roles text[] NOT NULL,            -- in human tasks
  seen_at timestamptz NOT NULL           -- when a token of the account was accepted last, to a day
);
CREATE INDEX wf_token_users_person ON cairn.wf_token_users (person);
-- Retention finds accounts that are no longer used.
CREATE INDEX wf_token_users_seen ON cairn.wf_token_users (seen_at);

-- The audit trail. Each row's hash covers the hash of the row before (store/audit_chain.h), so a removed or changed row
-- shows. Rows are only appended, without gaps.
CREATE TABLE cairn.wf_audit (
  sequence bigint PRIMARY KEY,
  at timestamptz NOT NULL,
  who text NOT NULL,
  what text NOT NULL,      -- the operation, e.g. instance.cancel
  resource text NOT NULL,  -- its id
  why text NOT NULL,       -- the reason that the user gave
  origin text NOT NULL,    -- address and request id
  details text,
  previous_hash text NOT NULL,
  hash text NOT NULL
);

-- Appends the rows of a batch to the audit trail in one call. If a node had to know the last hash before it can send its
-- rows, it would wait for an answer first and block the end of the chain for all others meanwhile. `hashed` is the part of
-- a row that its hash covers between its number and the hash before (audit_chain.h). `chain` is the key of the lock.
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


-- Reports -------------------------------------------------------------------------------------------------------------
-- Views for people and for reporting tools. They show what the commits write anyway (snapshots, tasks, runs, the log), so
-- they cost no write. No statement of a node reads them. docs/operations/postgresql.md describes every column. Columns
-- that come from a snapshot are computed when they are selected, so a report should name its columns.

-- JSON that cannot be read is NULL, so that one damaged row does not end a report.
CREATE FUNCTION cairn.wf_json(given text) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN given::jsonb;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
  RETURN NULL;
END $$;

-- The payload of a run without the trace that it carries (instance/carried_trace.h).
CREATE FUNCTION cairn.wf_untraced(payload jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS
$$ SELECT CASE WHEN jsonb_typeof(payload) <> 'object' THEN payload
  WHEN payload ?& ARRAY['$traceparent', '$value'] AND payload - '$traceparent' - '$value' = '{}' THEN payload -> '$value'
  ELSE payload - '$traceparent' END $$;

CREATE VIEW cairn.wf_instances AS
SELECT i.n, i.id, i.definition, i.definition_version, i.digest, i.status, i.reference_key, i.reference_parts, i.parent, i.error, i.started_at,
  i.changed_at, i.ended_at, i.deleted_at, i.delete_reason,
  i.reference_key AS correlation_id,
  (SELECT s.state_version FROM cairn.wf_runtime_states s WHERE s.n = i.n) AS state_version,
  (SELECT coalesce(w.j #>> '{snapshot,engine,waits,0,step}', w.j #>> '{snapshot,engine,error,step}')
   FROM (SELECT cairn.wf_json(s.snapshot) AS j FROM cairn.wf_runtime_states s WHERE s.n = i.n OFFSET 0) w) AS current_step,
  (SELECT s.resume_pointer FROM cairn.wf_runtime_states s WHERE s.n = i.n) AS current_place,
  (SELECT cairn.wf_json(s.snapshot) #> '{snapshot,business,input}' FROM cairn.wf_runtime_states s WHERE s.n = i.n) AS input,
  (SELECT cairn.wf_json(s.snapshot) #> '{snapshot,business,state}' FROM cairn.wf_runtime_states s WHERE s.n = i.n) AS state,
  (SELECT cairn.wf_json(s.snapshot) #> '{snapshot,business,output}' FROM cairn.wf_runtime_states s WHERE s.n = i.n) AS output,
  (SELECT substr(cairn.wf_json(s.snapshot) #>> '{snapshot,engine,trace}', 4, 32) FROM cairn.wf_runtime_states s WHERE s.n = i.n) AS trace_id
FROM cairn.wf_instances_base i;

-- Every open wait. A wait that is over has no row: its visit is in wf_activities.
CREATE VIEW cairn.wf_waits AS
SELECT i.n AS instance, i.id AS instance_id, w.j ->> 'token' AS token, w.j ->> 'kind' AS kind, w.j ->> 'step' AS step,
  (w.j ->> 'strand')::bigint AS strand, date_trunc('milliseconds', (w.j ->> 'since')::timestamptz) AS since,
  CASE w.j ->> 'kind' WHEN 'task' THEN (SELECT coalesce(t.deadline, t.due) FROM cairn.wf_tasks t WHERE t.id = w.j ->> 'target')
    ELSE (SELECT b.until FROM cairn.wf_waits_base b WHERE b.instance = i.n AND b.token = w.j ->> 'token') END AS due,
  w.j ->> 'name' AS name, w.j ->> 'key' AS key, w.j ->> 'target' AS target,
  CASE w.j ->> 'kind'
    WHEN 'task' THEN (SELECT t.payload FROM cairn.wf_tasks t WHERE t.id = w.j ->> 'target')
    WHEN 'run' THEN (SELECT cairn.wf_untraced(r.payload) FROM cairn.workflow_run r WHERE r.id = CASE WHEN w.j ->> 'target' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN (w.j ->> 'target')::uuid END)
    WHEN 'subworkflow' THEN (SELECT c.input FROM cairn.wf_instances c WHERE c.id = w.j ->> 'target') END AS payload
FROM cairn.wf_instances_base i JOIN cairn.wf_runtime_states s ON s.n = i.n
CROSS JOIN LATERAL jsonb_array_elements(coalesce(cairn.wf_json(s.snapshot) #> '{snapshot,engine,waits}', '[]')) AS w (j)
WHERE i.ended_at IS NULL AND s.waiting_kind IS NOT NULL;

CREATE VIEW cairn.wf_execution_log AS
SELECT l.n, l.instance, l.state_version, l.kind, l.step, l.at, l.actor, l.attempt, l.details, l.visit,
  (SELECT i.id FROM cairn.wf_instances_base i WHERE i.n = l.instance) AS instance_id,
  CASE WHEN l.visit IS NOT NULL THEN coalesce(
      (SELECT t.payload FROM cairn.wf_tasks t WHERE t.id = l.visit),
      (SELECT cairn.wf_untraced(r.payload) FROM cairn.workflow_run r
       WHERE r.id = CASE WHEN l.visit ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN l.visit::uuid END),
      (SELECT c.input FROM cairn.wf_instances c WHERE c.id = l.visit),
      l.details -> 'waits')
    WHEN l.step = '' AND l.kind = 'started' THEN (SELECT i.input FROM cairn.wf_instances i WHERE i.n = l.instance) END AS input,
  CASE WHEN l.visit IS NOT NULL AND l.kind <> 'started' THEN
    (SELECT (extract(epoch FROM l.at - b.at) * 1000)::bigint FROM cairn.wf_execution_log_base b
     WHERE b.instance = l.instance AND b.n < l.n AND b.visit = l.visit AND b.kind = 'started' ORDER BY b.n DESC LIMIT 1) END AS duration_ms,
  (SELECT i.trace_id FROM cairn.wf_instances i WHERE i.n = l.instance) AS trace_id
FROM cairn.wf_execution_log_base l;

-- A row for each visit of a step that waited, called or failed. `l` is its first entry in the log, `e` says how the step
-- ended, and `f` is its last failure. The row of a task, run or child has the visit as its id.
CREATE VIEW cairn.wf_activities AS
SELECT i.id AS instance_id, l.instance, i.definition, i.definition_version, l.step, l.visit,
  CASE WHEN t.n IS NOT NULL THEN 'task' WHEN r.n IS NOT NULL THEN 'call' WHEN c.n IS NOT NULL THEN 'subworkflow'
    ELSE l.details #>> '{waits,0,kind}' END AS kind,
  CASE WHEN e.n IS NOT NULL THEN e.kind
    WHEN f.n IS NOT NULL OR l.kind = 'faulted' THEN 'failed'
    WHEN t.status IN ('open', 'assigned') OR r.status IN ('pending', 'leased') OR (c.n IS NOT NULL AND c.ended_at IS NULL)
      OR EXISTS (SELECT 1 FROM cairn.wf_waits_base w WHERE w.instance = l.instance AND w.token = l.visit) THEN 'waiting'
    WHEN position('"visit":"' || l.visit || '"' IN s.snapshot) > 0 THEN 'running'
    ELSE coalesce(t.status, CASE r.status WHEN 'succeeded' THEN 'completed' ELSE r.status END, 'cancelled') END AS status,
  greatest(l.attempt, e.attempt, f.attempt, r.attempt) AS attempt,
  coalesce(t.payload, cairn.wf_untraced(r.payload), CASE WHEN c.n IS NOT NULL THEN (SELECT v.input FROM cairn.wf_instances v WHERE v.n = c.n) END,
    l.details -> 'waits') AS input,
  coalesce(t.completion, r.result, CASE WHEN c.n IS NOT NULL THEN (SELECT v.output FROM cairn.wf_instances v WHERE v.n = c.n) END,
    e.details -> 'result') AS result,
  coalesce(r.last_error, CASE WHEN f.n IS NOT NULL OR l.kind = 'faulted' THEN
    (coalesce(f.details, l.details) ->> 'code') || coalesce(': ' || (coalesce(f.details, l.details) ->> 'message'), '') END) AS last_error,
  l.at AS started_at,
  coalesce(e.at, f.at, CASE WHEN l.kind = 'faulted' THEN l.at END,
    CASE WHEN t.status NOT IN ('open', 'assigned') THEN t.changed_at END,
    CASE WHEN r.status NOT IN ('pending', 'leased') THEN r.updated_at END, c.ended_at, i.ended_at) AS completed_at,
  coalesce(t.completed_by, e.actor, f.actor, l.actor) AS actor
FROM cairn.wf_execution_log_base l
JOIN cairn.wf_instances_base i ON i.n = l.instance
LEFT JOIN cairn.wf_runtime_states s ON s.n = l.instance
LEFT JOIN cairn.wf_tasks t ON t.id = l.visit
LEFT JOIN cairn.workflow_run r ON r.id = CASE WHEN l.visit ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN l.visit::uuid END
LEFT JOIN cairn.wf_instances_base c ON c.id = l.visit
LEFT JOIN LATERAL (SELECT x.n, x.kind, x.at, x.actor, x.attempt, x.details FROM cairn.wf_execution_log_base x
  WHERE l.kind = 'started' AND x.instance = l.instance AND x.n > l.n AND x.visit = l.visit AND x.kind IN ('completed', 'skipped')
  ORDER BY x.n LIMIT 1) e ON true
LEFT JOIN LATERAL (SELECT x.n, x.at, x.actor, x.attempt, x.details FROM cairn.wf_execution_log_base x
  WHERE l.kind = 'started' AND x.instance = l.instance AND x.n > l.n AND x.n < coalesce(e.n, 9223372036854775807) AND x.visit = l.visit
    AND x.kind = 'faulted' ORDER BY x.n DESC LIMIT 1) f ON true
-- A step that failed before it waited has a place as its visit.
WHERE l.visit IS NOT NULL AND (l.kind = 'started' OR l.kind = 'faulted' AND l.visit LIKE '%[%');


-- Rows of a batch -----------------------------------------------------------------------------------------------------
-- A batch sends its rows as one array of rows for each table. The server reads these in less than half the time that it
-- needs for one array per column. The order of the fields is that of the C++ code that sends them (commit_writes.cc,
-- postgres_runs.cc).

CREATE TYPE cairn.wf_instance_row AS (
  n bigint, id text, definition text, definition_version text, digest text, status text, reference_key text, reference_parts jsonb, parent text,
  error jsonb, started_at timestamptz, changed_at timestamptz, ended_at timestamptz);
CREATE TYPE cairn.wf_state_row AS (
  n bigint, state_version bigint, from_state_version bigint, schema_version integer, waiting_kind text, waiting_token text, waiting_until timestamptz, active_task text,
  resume_pointer text, last_signal text, last_error_code text, last_error text, last_executed_by text, snapshot text);
CREATE TYPE cairn.wf_wait_row AS (
  instance bigint, token text, kind text, step text, strand bigint, since timestamptz, until timestamptz, name text, key text, target text);
CREATE TYPE cairn.wf_log_row AS (
  instance bigint, state_version bigint, kind text, step text, at timestamptz, actor text, attempt integer, details jsonb, visit text);
CREATE TYPE cairn.wf_run_row AS (
  id uuid, given_id text, type text, status text, priority bigint, idempotency_key text, payload jsonb, attempt integer, max_attempts integer,
  run_at timestamptz, lease_until timestamptz, leased_by text, fence bigint, leases integer, backoff_ms bigint, factor double precision,
  cap_ms bigint, jitter double precision, timeout_ms bigint, instance text, token text, step text, limit_key text);
CREATE TYPE cairn.wf_run_end_row AS (id uuid, fence bigint, status text, result jsonb, error jsonb, last_error text);
CREATE TYPE cairn.wf_run_event_row AS (
  workflow_id uuid, event_type text, created_at timestamptz, attempt integer, actor text, data jsonb);
CREATE TYPE cairn.wf_job_row AS (
  id uuid, given_id text, type text, priority bigint, idempotency_key text, payload jsonb, max_attempts integer, run_at timestamptz,
  backoff_ms bigint, factor double precision, cap_ms bigint, jitter double precision, timeout_ms bigint, limit_key text);


-- The store itself ----------------------------------------------------------------------------------------------------

-- The version of the schema, in one row. The store sets it when this file and all migrations have run.
CREATE TABLE cairn.wf_schema (
  version integer NOT NULL,
  single boolean PRIMARY KEY DEFAULT true CHECK (single)
);
INSERT INTO cairn.wf_schema (version) VALUES (0);

-- One row for each connection that writes. Its number moves with each transaction. If the answer to a commit was lost, the
-- node looks the number up, and removes the row to stop a transaction that is still in progress.
CREATE TABLE cairn.wf_writers (
  id text PRIMARY KEY,
  number bigint NOT NULL,
  at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- A newer schema ends every writer. The next commit of a running node does not find its row. The node asks for a new one
-- and learns that the schema is newer than its own (add_writer).
CREATE FUNCTION cairn.wf_end_writers() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  DELETE FROM cairn.wf_writers;
  RETURN NULL;
END $$;
CREATE TRIGGER wf_schema_changed AFTER UPDATE OF version ON cairn.wf_schema
  FOR EACH ROW WHEN (NEW.version > OLD.version) EXECUTE FUNCTION cairn.wf_end_writers();

-- Locks with one owner at a time, e.g. for retention. The fence grows with each new owner.
CREATE TABLE cairn.wf_host_locks (
  name text PRIMARY KEY,
  owner text NOT NULL,  -- empty: free
  fence bigint NOT NULL,
  until timestamptz NOT NULL
);
