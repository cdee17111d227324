-- Imports, and what each of them created, so that it can be listed and undone.
CREATE TABLE imports (
    id          UUID NOT NULL PRIMARY KEY,
    owner_id    UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    state       TEXT NOT NULL CHECK (state IN ('running', 'finished', 'stopped', 'interrupted', 'undone')),
    -- The report in JSON, with the first chats and differences; read and written whole.
    report      TEXT NOT NULL,
    started_at  TIMESTAMPTZ NOT NULL,
    -- The time at which the report was last stored: a sign of life while the import runs.
    reported_at TIMESTAMPTZ NOT NULL,
    ended_at    TIMESTAMPTZ,
    undone_at   TIMESTAMPTZ
);
CREATE INDEX imports_of_owner ON imports (owner_id, id);
CREATE INDEX imports_running ON imports (id) WHERE state = 'running';

-- The turns of a chat that an import created, from the first ord to the last. The first is 0 if the chat is new.
CREATE TABLE import_chats (
    import_id UUID NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
    chat_id   UUID NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    first_ord BIGINT NOT NULL CHECK (first_ord >= 0),
    last_ord  BIGINT NOT NULL CHECK (last_ord >= first_ord),
    PRIMARY KEY (import_id, chat_id, first_ord)
);
CREATE INDEX import_chats_of_chat ON import_chats (chat_id);

-- The documents that an import created, with their title and number of versions then.
CREATE TABLE import_documents (
    import_id   UUID NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
    document_id UUID NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    versions    BIGINT NOT NULL CHECK (versions >= 1),
    title       TEXT NOT NULL,
    -- The deletion of the document that undid the import. No reference: deletions of documents have no row.
    deletion_id UUID,
    PRIMARY KEY (import_id, document_id)
);
CREATE INDEX import_documents_of_document ON import_documents (document_id);

-- The deletions that undid an import: Trash lists them as one.
CREATE TABLE import_deletions (
    deletion_id UUID NOT NULL PRIMARY KEY REFERENCES deletions (id) ON DELETE CASCADE,
    import_id   UUID NOT NULL REFERENCES imports (id) ON DELETE CASCADE
);
CREATE INDEX import_deletions_of_import ON import_deletions (import_id);
