-- The next lease is under way while the runs of the last one end, and as long as it is, what those leases replaced cannot
-- be removed from a page: it must hold every one of its rows three times. Else the end goes to another page, with an entry
-- in every index.
ALTER TABLE cairn.workflow_run SET (fillfactor = 30);
