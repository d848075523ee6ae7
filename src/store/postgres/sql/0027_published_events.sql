-- Retention finds published events by their time, however many wait for their sinks.
CREATE INDEX outbox_event_published ON cairn.outbox_event (published_at) WHERE published_at IS NOT NULL;
