-- Requests for the title of a chat, which a person has asked for. They belong to the reply at the end of the path that was
-- sent, and go with it. Request, manifest and response are zstd compressed; sha256 and length are those of the originals.
CREATE TABLE title_requests (
    id                 UUID NOT NULL PRIMARY KEY,
    owner_id           UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat_id            UUID NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    turn_id            UUID NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    provider           TEXT NOT NULL,
    api                TEXT NOT NULL,
    model_requested    TEXT NOT NULL,
    model_returned     TEXT,
    body               BYTEA NOT NULL,
    body_sha256        BYTEA NOT NULL CHECK (length(body_sha256) = 32),
    body_bytes         BIGINT NOT NULL CHECK (body_bytes >= 0),
    manifest           BYTEA NOT NULL,
    manifest_bytes     BIGINT NOT NULL CHECK (manifest_bytes >= 0),
    raw_response       BYTEA,
    raw_sha256         BYTEA CHECK (length(raw_sha256) = 32),
    raw_bytes          BIGINT CHECK (raw_bytes >= 0),
    raw_complete       BOOLEAN NOT NULL DEFAULT FALSE,
    status             TEXT NOT NULL CHECK (status IN ('running', 'complete', 'cancelled', 'error')),
    stop_reason        TEXT,
    input_tokens       BIGINT CHECK (input_tokens >= 0),
    output_tokens      BIGINT CHECK (output_tokens >= 0),
    cache_read_tokens  BIGINT CHECK (cache_read_tokens >= 0),
    cache_write_tokens BIGINT CHECK (cache_write_tokens >= 0),
    reasoning_tokens   BIGINT CHECK (reasoning_tokens >= 0),
    cost_micros        BIGINT,
    cost_basis         TEXT CHECK (cost_basis IN ('reported', 'configured', 'listed', 'refused')),
    price_version      TEXT,
    error              JSONB,
    -- The suggested title; null if the request has failed.
    title              TEXT,
    first_token_at     TIMESTAMPTZ,
    started_at         TIMESTAMPTZ NOT NULL,
    ended_at           TIMESTAMPTZ,
    CHECK ((status = 'running') = (ended_at IS NULL)),
    CHECK ((raw_response IS NULL) = (raw_sha256 IS NULL)),
    CHECK ((raw_response IS NULL) = (raw_bytes IS NULL))
);
CREATE INDEX title_requests_turn ON title_requests (turn_id);
CREATE INDEX title_requests_chat ON title_requests (chat_id, owner_id);
CREATE INDEX title_requests_owner ON title_requests (owner_id);
CREATE INDEX title_requests_started ON title_requests (started_at);
-- One at a time.
CREATE UNIQUE INDEX title_requests_running ON title_requests (chat_id) WHERE status = 'running';
