-- Every page of the file carries a checksum (page_file.h). Another program that writes with SQL of its own makes pages
-- with wrong ones; triggers count what it does (migrate.cc), so that it is not taken for damage.
CREATE TABLE wf_foreign_changes (
  changes INTEGER NOT NULL,  -- by other programs, three for each row
  seen INTEGER NOT NULL,     -- of these, when this store was opened last
  cookie INTEGER NOT NULL    -- SQLite's number of the schema, then
) STRICT;
INSERT INTO wf_foreign_changes (changes, seen, cookie) VALUES (0, 0, 0);
