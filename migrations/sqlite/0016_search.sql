-- The index of what can be searched for: titles of chats, what turns say, documents. An entry is one thing; its words lie
-- in one or more rows of `search_words`, numbered entry * 1024 + part. Words are our own keys (store/search/keys.rs), so
-- that both databases find the same. What is deleted for ever leaves the index by itself.

CREATE TABLE search_entries (
    id       INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind     TEXT NOT NULL CHECK (kind IN ('chat', 'document', 'turn')),
    item_id  BLOB NOT NULL UNIQUE CHECK (length(item_id) = 16),
    owner_id BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- Of what was indexed and how.
    digest   INTEGER NOT NULL,
    parts    INTEGER NOT NULL CHECK (parts BETWEEN 1 AND 1024)
) STRICT;
CREATE INDEX search_entries_of_owner ON search_entries (owner_id);
-- Numbers below are for what is older than the index.
INSERT INTO sqlite_sequence (name, seq) VALUES ('search_entries', 4294967296);

CREATE VIRTUAL TABLE search_words USING fts5 (
    words, content = '', contentless_delete = 1, detail = 'none', tokenize = 'ascii'
);

CREATE TRIGGER search_forgets_words AFTER DELETE ON search_entries BEGIN
    DELETE FROM search_words WHERE rowid >= OLD.id * 1024 AND rowid < OLD.id * 1024 + OLD.parts;
END;
CREATE TRIGGER search_forgets_chats AFTER DELETE ON chats BEGIN
    DELETE FROM search_entries WHERE item_id = OLD.id;
END;
CREATE TRIGGER search_forgets_turns AFTER DELETE ON turns BEGIN
    DELETE FROM search_entries WHERE item_id = OLD.id;
END;
CREATE TRIGGER search_forgets_documents AFTER DELETE ON documents BEGIN
    DELETE FROM search_entries WHERE item_id = OLD.id;
END;

-- How far the indexing of older rows is: everything of the kind up to this id is indexed by these rules.
CREATE TABLE search_progress (
    kind     TEXT NOT NULL PRIMARY KEY CHECK (kind IN ('chat', 'document', 'turn')),
    rules    INTEGER NOT NULL,
    after_id BLOB NOT NULL,
    is_done  INTEGER NOT NULL CHECK (is_done IN (0, 1))
) STRICT;
INSERT INTO search_progress (kind, rules, after_id, is_done) VALUES
    ('chat', 1, zeroblob(16), NOT EXISTS (SELECT 1 FROM chats)),
    ('document', 1, zeroblob(16), NOT EXISTS (SELECT 1 FROM documents)),
    ('turn', 1, zeroblob(16), NOT EXISTS (SELECT 1 FROM turns));
