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
  type text NOT NULL,
  limit_key text NOT NULL,
  at timestamptz NOT NULL
);
CREATE INDEX wf_run_leases_at ON cairn.wf_run_leases (type, limit_key, at);

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
