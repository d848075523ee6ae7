-- Each sink of the outbox has a queue. The first event of a subject says when it is due; the later ones wait for it.
ALTER TABLE outbox_event ADD COLUMN assigned INTEGER NOT NULL DEFAULT 0;
CREATE INDEX outbox_event_new ON outbox_event (n) WHERE published_at IS NULL AND assigned = 0;
CREATE TABLE outbox_queue (
  event INTEGER NOT NULL,
  sink TEXT NOT NULL,
  subject TEXT NOT NULL,
  due INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (event, sink)
) STRICT, WITHOUT ROWID;
CREATE INDEX outbox_queue_subject ON outbox_queue (sink, subject, event);
CREATE INDEX outbox_queue_new ON outbox_queue (sink, due, event) WHERE attempts = 0 AND due IS NOT NULL;
CREATE INDEX outbox_queue_retries ON outbox_queue (sink, due, event) WHERE attempts > 0 AND due IS NOT NULL;
CREATE INDEX outbox_queue_due ON outbox_queue (due) WHERE attempts > 0 AND due IS NOT NULL;
