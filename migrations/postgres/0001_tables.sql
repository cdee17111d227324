-- Every table of the model. Ids are UUIDs, times TIMESTAMPTZ, JSON JSONB; JSON whose bytes matter (events, blocks) is TEXT.
-- An applied file is never edited: a change is a new file, with the same name for both databases.

CREATE TABLE users (
    id             UUID NOT NULL PRIMARY KEY,
    name           TEXT NOT NULL,
    is_local_owner BOOLEAN NOT NULL DEFAULT FALSE,
    created_at     TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX users_one_local_owner ON users (is_local_owner) WHERE is_local_owner;

CREATE TABLE chats (
    id                  UUID NOT NULL PRIMARY KEY,
    owner_id            UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    title               TEXT NOT NULL,
    system_prompt       TEXT NOT NULL,
    settings            JSONB NOT NULL,
    default_branch_id   UUID,
    last_viewed_turn_id UUID,
    next_ord            BIGINT NOT NULL DEFAULT 1 CHECK (next_ord >= 1),
    rev                 BIGINT NOT NULL DEFAULT 0 CHECK (rev >= 0),
    created_at          TIMESTAMPTZ NOT NULL,
    updated_at          TIMESTAMPTZ NOT NULL,
    deleted_at          TIMESTAMPTZ,
    deletion_id         UUID,
    CHECK ((deleted_at IS NULL) = (deletion_id IS NULL))
);
CREATE INDEX chats_of_owner ON chats (owner_id, updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX chats_default_branch ON chats (default_branch_id);
CREATE INDEX chats_last_viewed ON chats (last_viewed_turn_id);

CREATE TABLE branches (
    id               UUID NOT NULL PRIMARY KEY,
    chat_id          UUID NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    name             TEXT NOT NULL,
    provider         TEXT NOT NULL CHECK (provider <> ''),
    model            TEXT NOT NULL CHECK (model <> ''),
    parent_branch_id UUID REFERENCES branches (id) ON DELETE SET NULL,
    fork_turn_id     UUID,
    head_turn_id     UUID,
    origin           TEXT NOT NULL
        CHECK (origin IN ('root', 'fork', 'edit', 'regenerate', 'model_switch', 'concurrent', 'import')),
    provider_state   JSONB NOT NULL,
    label            TEXT,
    pinned           BOOLEAN NOT NULL DEFAULT FALSE,
    created_at       TIMESTAMPTZ NOT NULL,
    deleted_at       TIMESTAMPTZ,
    deletion_id      UUID,
    CHECK ((deleted_at IS NULL) = (deletion_id IS NULL))
);
CREATE INDEX branches_of_chat ON branches (chat_id, created_at, id);
CREATE INDEX branches_parent ON branches (parent_branch_id);
CREATE INDEX branches_fork ON branches (fork_turn_id);
CREATE INDEX branches_head ON branches (head_turn_id);

-- The lock: a branch keeps its provider and model for life.
CREATE FUNCTION keep_branch_lock() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.provider <> OLD.provider OR NEW.model <> OLD.model THEN
        RAISE EXCEPTION 'a branch keeps its provider and model';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER branches_keep_their_lock
BEFORE UPDATE OF provider, model ON branches
FOR EACH ROW EXECUTE FUNCTION keep_branch_lock();

CREATE TABLE exchanges (
    id                UUID NOT NULL PRIMARY KEY,
    owner_id          UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat_id           UUID NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    branch_id         UUID NOT NULL REFERENCES branches (id) ON DELETE CASCADE,
    user_turn_id      UUID,
    kind              TEXT NOT NULL CHECK (kind IN ('send', 'edit', 'regenerate', 'continue', 'import')),
    is_thinking_mode  BOOLEAN NOT NULL,
    params            JSONB NOT NULL,
    client_request_id TEXT,
    request_hash      BYTEA,
    created_at        TIMESTAMPTZ NOT NULL,
    UNIQUE (owner_id, client_request_id)
);
CREATE INDEX exchanges_of_chat ON exchanges (chat_id);
CREATE INDEX exchanges_of_branch ON exchanges (branch_id);
CREATE INDEX exchanges_of_user_turn ON exchanges (user_turn_id);

CREATE TABLE turns (
    id                 UUID NOT NULL PRIMARY KEY,
    chat_id            UUID NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    ord                BIGINT NOT NULL CHECK (ord >= 1),
    depth              BIGINT NOT NULL CHECK (depth >= 0),
    branch_id          UUID NOT NULL REFERENCES branches (id) ON DELETE CASCADE,
    exchange_id        UUID NOT NULL REFERENCES exchanges (id) ON DELETE CASCADE,
    prev_turn_id       UUID,
    role               TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'system')),
    status             TEXT NOT NULL
        CHECK (status IN ('pending', 'streaming', 'waiting_subagents', 'complete', 'cancelled', 'error')),
    provider_used      TEXT,
    model_used         TEXT,
    input_tokens       BIGINT CHECK (input_tokens >= 0),
    output_tokens      BIGINT CHECK (output_tokens >= 0),
    cache_read_tokens  BIGINT CHECK (cache_read_tokens >= 0),
    cache_write_tokens BIGINT CHECK (cache_write_tokens >= 0),
    reasoning_tokens   BIGINT CHECK (reasoning_tokens >= 0),
    content_text       TEXT NOT NULL,
    error              JSONB,
    last_event_seq     BIGINT NOT NULL DEFAULT 0 CHECK (last_event_seq >= 0),
    lease_owner        UUID,
    lease_until        TIMESTAMPTZ,
    created_at         TIMESTAMPTZ NOT NULL,
    started_at         TIMESTAMPTZ,
    completed_at       TIMESTAMPTZ,
    deleted_at         TIMESTAMPTZ,
    deletion_id        UUID,
    UNIQUE (chat_id, ord),
    UNIQUE (chat_id, id),
    -- A turn hangs on a turn of its own chat.
    FOREIGN KEY (chat_id, prev_turn_id) REFERENCES turns (chat_id, id) ON DELETE CASCADE,
    CHECK (prev_turn_id IS NULL OR prev_turn_id <> id),
    CHECK ((prev_turn_id IS NULL) = (depth = 0)),
    CHECK ((status IN ('complete', 'cancelled', 'error')) = (completed_at IS NOT NULL)),
    CHECK (role = 'assistant' OR status = 'complete'),
    CHECK ((deleted_at IS NULL) = (deletion_id IS NULL))
);
CREATE INDEX turns_children ON turns (prev_turn_id, created_at);
CREATE INDEX turns_of_chat ON turns (chat_id, deleted_at);
CREATE INDEX turns_of_branch ON turns (branch_id);
CREATE INDEX turns_of_exchange ON turns (exchange_id);
CREATE INDEX turns_roots ON turns (chat_id, deleted_at, created_at) WHERE prev_turn_id IS NULL;
CREATE INDEX turns_unfinished ON turns (chat_id, deleted_at) WHERE status IN ('pending', 'streaming', 'waiting_subagents');
-- An exchange has at most one reply.
CREATE UNIQUE INDEX turns_one_reply ON turns (exchange_id) WHERE role = 'assistant';

CREATE TABLE generations (
    id                 UUID NOT NULL PRIMARY KEY,
    turn_id            UUID NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    step               BIGINT NOT NULL CHECK (step >= 0),
    provider           TEXT NOT NULL,
    model_requested    TEXT NOT NULL,
    model_returned     TEXT,
    request_body       BYTEA NOT NULL,
    request_manifest   JSONB NOT NULL,
    -- The response as it came, zstd compressed; sha256 and length are those of the original.
    raw_response       BYTEA,
    raw_sha256         BYTEA CHECK (length(raw_sha256) = 32),
    raw_bytes          BIGINT CHECK (raw_bytes >= 0),
    raw_kind           TEXT NOT NULL
        CHECK (raw_kind IN ('sse_events', 'chunks', 'stream_and_response', 'response', 'none')),
    raw_complete       BOOLEAN NOT NULL DEFAULT FALSE,
    status             TEXT NOT NULL CHECK (status IN ('running', 'complete', 'cancelled', 'error')),
    stop_reason        TEXT,
    input_tokens       BIGINT CHECK (input_tokens >= 0),
    output_tokens      BIGINT CHECK (output_tokens >= 0),
    cache_read_tokens  BIGINT CHECK (cache_read_tokens >= 0),
    cache_write_tokens BIGINT CHECK (cache_write_tokens >= 0),
    reasoning_tokens   BIGINT CHECK (reasoning_tokens >= 0),
    cost_micros        BIGINT,
    error              JSONB,
    first_token_at     TIMESTAMPTZ,
    started_at         TIMESTAMPTZ NOT NULL,
    ended_at           TIMESTAMPTZ,
    UNIQUE (turn_id, step),
    CHECK ((status = 'running') = (ended_at IS NULL)),
    CHECK ((raw_response IS NULL) = (raw_sha256 IS NULL)),
    CHECK ((raw_response IS NULL) = (raw_bytes IS NULL))
);
CREATE INDEX generations_running ON generations (id) WHERE status = 'running';

-- A response while it arrives; emptied into generations.raw_response at its end.
CREATE TABLE generation_chunks (
    generation_id UUID NOT NULL REFERENCES generations (id) ON DELETE CASCADE,
    n             BIGINT NOT NULL CHECK (n >= 0),
    bytes         BYTEA NOT NULL,
    PRIMARY KEY (generation_id, n)
);

CREATE TABLE turn_blocks (
    id              UUID NOT NULL PRIMARY KEY,
    turn_id         UUID NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    chat_id         UUID NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    seq             BIGINT NOT NULL CHECK (seq >= 0),
    chat_seq        BIGINT NOT NULL CHECK (chat_seq >= 0),
    block_type      TEXT NOT NULL CHECK (block_type <> ''),
    author          TEXT NOT NULL CHECK (author IN ('user', 'assistant', 'system', 'tool')),
    state           TEXT NOT NULL CHECK (state IN ('open', 'done', 'failed', 'aborted')),
    content         TEXT NOT NULL CHECK (CAST(content AS JSON) IS NOT NULL),
    parent_block_id UUID REFERENCES turn_blocks (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
    generation_id   UUID REFERENCES generations (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
    metadata        TEXT NOT NULL CHECK (CAST(metadata AS JSON) IS NOT NULL),
    created_at      TIMESTAMPTZ NOT NULL,
    updated_at      TIMESTAMPTZ NOT NULL,
    UNIQUE (turn_id, seq),
    UNIQUE (chat_id, chat_seq)
);
CREATE INDEX turn_blocks_parent ON turn_blocks (parent_block_id);
CREATE INDEX turn_blocks_of_generation ON turn_blocks (generation_id);

-- The journal.
CREATE TABLE turn_events (
    turn_id UUID NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    seq     BIGINT NOT NULL CHECK (seq >= 1),
    event   TEXT NOT NULL,
    PRIMARY KEY (turn_id, seq)
);

CREATE TABLE documents (
    id          UUID NOT NULL PRIMARY KEY,
    owner_id    UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    title       TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind <> ''),
    rev         BIGINT NOT NULL DEFAULT 0 CHECK (rev >= 0),
    created_at  TIMESTAMPTZ NOT NULL,
    updated_at  TIMESTAMPTZ NOT NULL,
    deleted_at  TIMESTAMPTZ,
    deletion_id UUID,
    CHECK ((deleted_at IS NULL) = (deletion_id IS NULL))
);
CREATE INDEX documents_of_owner ON documents (owner_id, updated_at);

CREATE TABLE document_versions (
    document_id       UUID NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    version_timestamp TIMESTAMPTZ NOT NULL,
    content           TEXT NOT NULL,
    PRIMARY KEY (document_id, version_timestamp)
);

-- Content addressed: `sha256` in lower-case hex; the bytes are here or in a file.
CREATE TABLE blobs (
    sha256     TEXT NOT NULL PRIMARY KEY CHECK (length(sha256) = 64),
    mime       TEXT NOT NULL,
    byte_count BIGINT NOT NULL CHECK (byte_count >= 0),
    bytes      BYTEA,
    path       TEXT,
    created_at TIMESTAMPTZ NOT NULL,
    CHECK ((bytes IS NULL) <> (path IS NULL))
);

CREATE TABLE providers (
    id         UUID NOT NULL PRIMARY KEY,
    owner_id   UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    slug       TEXT NOT NULL CHECK (slug <> ''),
    name       TEXT NOT NULL,
    kind       TEXT NOT NULL CHECK (kind <> ''),
    base_url   TEXT,
    sealed_key BYTEA,
    settings   JSONB NOT NULL,
    is_enabled BOOLEAN NOT NULL DEFAULT TRUE,
    created_at TIMESTAMPTZ NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    UNIQUE (owner_id, slug)
);

CREATE TABLE settings (
    owner_id   UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    key        TEXT NOT NULL CHECK (key <> ''),
    value      JSONB NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (owner_id, key)
);

-- Unsent text, per chat and one for the chat that does not exist yet (chat_id null). A sent draft stays as an empty
-- row, so that its revision keeps rising.
CREATE TABLE drafts (
    owner_id   UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat_id    UUID REFERENCES chats (id) ON DELETE CASCADE,
    text       TEXT NOT NULL,
    provider   TEXT,
    model      TEXT,
    thinking   JSONB,
    rev        BIGINT NOT NULL CHECK (rev >= 1),
    updated_at TIMESTAMPTZ NOT NULL,
    CHECK ((provider IS NULL) = (model IS NULL))
);
CREATE UNIQUE INDEX drafts_of_chat ON drafts (owner_id, chat_id) WHERE chat_id IS NOT NULL;
CREATE UNIQUE INDEX drafts_of_new_chat ON drafts (owner_id) WHERE chat_id IS NULL;
CREATE INDEX drafts_chat ON drafts (chat_id);

-- References that point ahead.
ALTER TABLE chats ADD FOREIGN KEY (default_branch_id) REFERENCES branches (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE chats ADD FOREIGN KEY (last_viewed_turn_id) REFERENCES turns (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE branches ADD FOREIGN KEY (fork_turn_id) REFERENCES turns (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE branches ADD FOREIGN KEY (head_turn_id) REFERENCES turns (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE exchanges ADD FOREIGN KEY (user_turn_id) REFERENCES turns (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;
