-- Where chats came from that were taken in, and what of them did not come along: a list in JSON, read and written whole.

CREATE TABLE chat_sources (
    chat_id           UUID NOT NULL PRIMARY KEY REFERENCES chats (id) ON DELETE CASCADE,
    format            TEXT NOT NULL,
    file              TEXT NOT NULL,
    imported_at       TIMESTAMPTZ NOT NULL,
    differences       TEXT NOT NULL
);
