-- Requests for the title of a chat, which a person has asked for. They belong to the reply at the end of the path that was
-- sent, and go with it. Request, manifest and response are zstd compressed; sha256 and length are those of the originals.
CREATE TABLE title_requests (
    id                 BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id           BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat_id            BLOB NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    turn_id            BLOB NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    provider           TEXT NOT NULL,
    api                TEXT NOT NULL,
    model_requested    TEXT NOT NULL,
    model_returned     TEXT,
    body               BLOB NOT NULL,
    body_sha256        BLOB NOT NULL CHECK (length(body_sha256) = 32),
    body_bytes         INTEGER NOT NULL CHECK (body_bytes >= 0),
    manifest           BLOB NOT NULL,
    manifest_bytes     INTEGER NOT NULL CHECK (manifest_bytes >= 0),
    raw_response       BLOB,
    raw_sha256         BLOB CHECK (length(raw_sha256) = 32),
    raw_bytes          INTEGER CHECK (raw_bytes >= 0),
    raw_complete       INTEGER NOT NULL DEFAULT 0 CHECK (raw_complete IN (0, 1)),
    status             TEXT NOT NULL CHECK (status IN ('running', 'complete', 'cancelled', 'error')),
    stop_reason        TEXT,
    input_tokens       INTEGER CHECK (input_tokens >= 0),
    output_tokens      INTEGER CHECK (output_tokens >= 0),
    cache_read_tokens  INTEGER CHECK (cache_read_tokens >= 0),
    cache_write_tokens INTEGER CHECK (cache_write_tokens >= 0),
    reasoning_tokens   INTEGER CHECK (reasoning_tokens >= 0),
    cost_micros        INTEGER,
    cost_basis         TEXT CHECK (cost_basis IN ('reported', 'configured', 'listed', 'refused')),
    price_version      TEXT,
    error              TEXT CHECK (error IS NULL OR json_valid(error)),
    -- The suggested title; null if the request has failed.
    title              TEXT,
    first_token_at     TEXT,
    started_at         TEXT NOT NULL,
    ended_at           TEXT,
    CHECK ((status = 'running') = (ended_at IS NULL)),
    CHECK ((raw_response IS NULL) = (raw_sha256 IS NULL)),
    CHECK ((raw_response IS NULL) = (raw_bytes IS NULL))
) STRICT;
CREATE INDEX title_requests_turn ON title_requests (turn_id);
CREATE INDEX title_requests_chat ON title_requests (chat_id, owner_id);
CREATE INDEX title_requests_owner ON title_requests (owner_id);
CREATE INDEX title_requests_started ON title_requests (started_at);
-- One at a time.
CREATE UNIQUE INDEX title_requests_running ON title_requests (chat_id) WHERE status = 'running';
