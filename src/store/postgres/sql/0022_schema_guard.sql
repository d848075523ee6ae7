-- A newer schema ends every writer. The next commit of a node that is still running finds its row gone, asks for a new
-- one, and is told there that the schema is not its own any more (add_writer).
CREATE FUNCTION cairn.wf_end_writers() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  DELETE FROM cairn.wf_writers;
  RETURN NULL;
END $$;
CREATE TRIGGER wf_schema_changed AFTER UPDATE OF version ON cairn.wf_schema
  FOR EACH ROW WHEN (NEW.version > OLD.version) EXECUTE FUNCTION cairn.wf_end_writers();
