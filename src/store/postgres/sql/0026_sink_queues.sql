-- Each sink of the outbox has a queue. The first event of a subject says when it is due; the later ones wait for it.
DROP INDEX cairn.outbox_event_held;
ALTER TABLE cairn.outbox_event DROP COLUMN held_until, DROP COLUMN postponed, ADD COLUMN assigned boolean NOT NULL DEFAULT false;
CREATE INDEX outbox_event_new ON cairn.outbox_event (n) WHERE published_at IS NULL AND NOT assigned;
CREATE TABLE cairn.wf_outbox_queue (
  event bigint NOT NULL,
  sink text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  due timestamptz,
  attempts integer NOT NULL DEFAULT 0,
  PRIMARY KEY (event, sink)
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX wf_outbox_queue_subject ON cairn.wf_outbox_queue (sink, subject, event);
CREATE INDEX wf_outbox_queue_new ON cairn.wf_outbox_queue (sink, due, event) WHERE attempts = 0 AND due IS NOT NULL;
CREATE INDEX wf_outbox_queue_retries ON cairn.wf_outbox_queue (sink, due, event) WHERE attempts > 0 AND due IS NOT NULL;
-- For the next time that anything is due; its condition keeps the planner from using it for the queue of one sink.
CREATE INDEX wf_outbox_queue_due ON cairn.wf_outbox_queue (due) WHERE due IS NOT NULL AND attempts + 0 >= 0;
