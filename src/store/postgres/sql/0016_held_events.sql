-- Which events are held is asked for as such, and no longer by subject: one index less to keep for each event, and one
-- that no other question can take for its own.
DROP INDEX cairn.outbox_event_subject;
DROP INDEX cairn.outbox_event_held;
CREATE INDEX outbox_event_held ON cairn.outbox_event (held_until) WHERE held_until IS NOT NULL;
