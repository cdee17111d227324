-- What was written but is not in the search index yet. The index follows in transactions of its own, because those that
-- store a message are waited for.
CREATE TABLE search_queue (
    kind    TEXT NOT NULL CHECK (kind IN ('chat', 'document', 'turn')),
    item_id BLOB NOT NULL CHECK (length(item_id) = 16),
    PRIMARY KEY (kind, item_id)
) STRICT, WITHOUT ROWID;
