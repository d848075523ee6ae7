-- name: insert_document
INSERT INTO wf_documents (kind, id, owner, body, version, changed_at) VALUES (?1, ?2, ?3, ?4, 1, ?5) ON CONFLICT DO NOTHING
-- name: update_document
UPDATE wf_documents SET owner = ?3, body = ?4, version = version + 1, changed_at = ?5 WHERE kind = ?1 AND id = ?2 AND version = ?6
-- name: find_document
SELECT kind, id, owner, body, version, changed_at FROM wf_documents WHERE kind = ?1 AND id = ?2
-- name: list_documents
SELECT kind, id, owner, body, version, changed_at FROM wf_documents WHERE kind = ?1 AND id > ?2 ORDER BY id LIMIT ?3
-- name: list_documents_of_owner
SELECT kind, id, owner, body, version, changed_at FROM wf_documents WHERE kind = ?1 AND owner = ?4 AND id > ?2 ORDER BY id LIMIT ?3
-- name: remove_document
DELETE FROM wf_documents WHERE kind = ?1 AND id = ?2
