-- A deletion waits for transactions that are indexing texts, and the next ones wait for its end: an entry that is added
-- while its row is being deleted would stay for ever (store/search/word_index.rs). The number is the key of the lock.
CREATE OR REPLACE FUNCTION search_forget() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(8391739299164941924);
    DELETE FROM search_entries WHERE item_id = OLD.id;
    RETURN NULL;
END
$$;
-- Such entries of earlier deletions.
DELETE FROM search_entries e WHERE
    NOT EXISTS (SELECT 1 FROM chats c WHERE c.id = e.item_id)
    AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.id = e.item_id)
    AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.id = e.item_id);
