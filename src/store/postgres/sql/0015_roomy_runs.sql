-- A run is written three times: submitted, leased, ended. Large batches are leased and ended at the same time, and while a
-- lease is under way nobody can remove the versions that others replaced, so a page has room for all three of every row:
-- no end goes to another page, with an entry in every index. Pages that exist are filled as they are.
ALTER TABLE cairn.workflow_run SET (fillfactor = 30);
