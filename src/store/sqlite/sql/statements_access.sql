-- name: put_api_key
INSERT INTO wf_api_keys (id, secret_hash, subject, roles, scope, note, created_at, expires_at, revoked_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT (id) DO UPDATE SET secret_hash = ?2, subject = ?3, roles = ?4, scope = ?5, note = ?6, expires_at = ?8, revoked_at = ?9
-- name: find_api_key
SELECT id, secret_hash, subject, roles, scope, note, created_at, expires_at, revoked_at FROM wf_api_keys WHERE secret_hash = ?1
-- name: list_api_keys
SELECT id, secret_hash, subject, roles, scope, note, created_at, expires_at, revoked_at FROM wf_api_keys ORDER BY id
-- name: revoke_api_key
UPDATE wf_api_keys SET revoked_at = coalesce(revoked_at, ?2) WHERE id = ?1
-- name: put_token_user
INSERT INTO wf_token_users (account, person, roles, task_roles, seen_at) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (account) DO UPDATE SET person = ?2, roles = ?3, task_roles = ?4, seen_at = ?5
WHERE person <> ?2 OR roles <> ?3 OR task_roles <> ?4 OR seen_at < ?6
-- name: find_token_users
SELECT account, person, roles, task_roles FROM wf_token_users WHERE person = ?1 ORDER BY account
-- name: oldest_token_users
SELECT account FROM wf_token_users WHERE seen_at < ?1 ORDER BY seen_at LIMIT ?2
-- name: remove_token_user
DELETE FROM wf_token_users WHERE account = ?1 AND seen_at < ?2
-- name: last_audit
SELECT sequence, hash FROM wf_audit ORDER BY sequence DESC LIMIT 1
-- name: insert_audit
INSERT INTO wf_audit (sequence, at, who, what, resource, why, origin, details, previous_hash, hash)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
-- name: retire_audit
-- Sequences have no gaps. The last row stays.
DELETE FROM wf_audit WHERE sequence <= ?1 AND sequence < (SELECT min(sequence) FROM wf_audit) + ?2
  AND sequence < (SELECT max(sequence) FROM wf_audit)
-- name: list_audit
SELECT sequence, at, who, what, resource, why, origin, details, previous_hash, hash FROM wf_audit WHERE sequence > ?1 ORDER BY sequence LIMIT ?2
