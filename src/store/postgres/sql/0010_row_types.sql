-- What a batch writes travels as rows, an array of them for each table: the server takes those apart in less than half
-- the time that it needs for as many arrays as the table has columns. Their order is that of the C++ that sends them
-- (commit_writes.cc, run_rows.cc).
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
  id uuid, given_id text, type text, status text, priority integer, idempotency_key text, payload jsonb, attempt integer, max_attempts integer,
  run_at timestamptz, lease_until timestamptz, leased_by text, fence bigint, leases integer, backoff_ms bigint, factor double precision,
  cap_ms bigint, jitter double precision, timeout_ms bigint, instance text, token text, step text, limit_key text);
CREATE TYPE cairn.wf_run_end_row AS (id uuid, fence bigint, status text, result jsonb, error jsonb, last_error text);
CREATE TYPE cairn.wf_run_event_row AS (run_id uuid, kind text, at timestamptz, attempt integer, actor text, details jsonb);
CREATE TYPE cairn.wf_job_row AS (
  id uuid, given_id text, type text, priority integer, idempotency_key text, payload jsonb, max_attempts integer, run_at timestamptz,
  backoff_ms bigint, factor double precision, cap_ms bigint, jitter double precision, timeout_ms bigint, limit_key text);
