-- The rows of a batch go to the end of the audit trail in one call: whoever would have to know the last hash before he can send
-- his rows waits for an answer first, and keeps the end of the chain from everybody else meanwhile.
-- `hashed` is what a row's hash covers between its number and the hash before (audit_chain.h).
CREATE TYPE cairn.wf_audit_row AS (
  at timestamptz, who text, what text, resource text, why text, origin text, details text, hashed text);
CREATE FUNCTION cairn.wf_append_audit(given cairn.wf_audit_row[], chain bigint) RETURNS void LANGUAGE plpgsql AS $$
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
