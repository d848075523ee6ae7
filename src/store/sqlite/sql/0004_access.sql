-- Credentials: only the hash of a key's secret is kept.
CREATE TABLE wf_api_keys (
  id TEXT PRIMARY KEY,
  secret_hash TEXT NOT NULL UNIQUE,
  subject TEXT NOT NULL,
  roles TEXT NOT NULL,
  scope TEXT,
  note TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT;

-- The audit trail: appended, never changed.
CREATE TABLE wf_audit (
  sequence INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  who TEXT NOT NULL,
  what TEXT NOT NULL,
  resource TEXT NOT NULL,
  why TEXT NOT NULL,
  origin TEXT NOT NULL,
  details TEXT,
  previous_hash TEXT NOT NULL,
  hash TEXT NOT NULL
) STRICT;
CREATE TRIGGER wf_audit_is_not_changed BEFORE UPDATE ON wf_audit
BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
CREATE TRIGGER wf_audit_is_not_removed BEFORE DELETE ON wf_audit
BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
