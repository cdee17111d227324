-- Every table of the model. Ids are UUIDs as 16 bytes, times RFC 3339 text in UTC, JSON text.
-- An applied file is never edited: a change is a new file, with the same name for both databases.

CREATE TABLE users (
    id             BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    name           TEXT NOT NULL,
    is_local_owner INTEGER NOT NULL DEFAULT 0 CHECK (is_local_owner IN (0, 1)),
    created_at     TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX users_one_local_owner ON users (is_local_owner) WHERE is_local_owner = 1;

CREATE TABLE chats (
    id                  BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id            BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    title               TEXT NOT NULL,
    system_prompt       TEXT NOT NULL,
    settings            TEXT NOT NULL CHECK (json_valid(settings)),
    default_branch_id   BLOB REFERENCES branches (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
    last_viewed_turn_id BLOB REFERENCES turns (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
    next_ord            INTEGER NOT NULL DEFAULT 1 CHECK (next_ord >= 1),
    rev                 INTEGER NOT NULL DEFAULT 0 CHECK (rev >= 0),
    created_at          TEXT NOT NULL,
    updated_at          TEXT NOT NULL,
    deleted_at          TEXT,
    deletion_id         BLOB,
    CHECK ((deleted_at IS NULL) = (deletion_id IS NULL))
) STRICT;
CREATE INDEX chats_of_owner ON chats (owner_id, updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX chats_default_branch ON chats (default_branch_id);
CREATE INDEX chats_last_viewed ON chats (last_viewed_turn_id);

CREATE TABLE branches (
    id               BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    chat_id          BLOB NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    name             TEXT NOT NULL,
    provider         TEXT NOT NULL CHECK (provider <> ''),
    model            TEXT NOT NULL CHECK (model <> ''),
    parent_branch_id BLOB REFERENCES branches (id) ON DELETE SET NULL,
    fork_turn_id     BLOB REFERENCES turns (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
    head_turn_id     BLOB REFERENCES turns (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
    origin           TEXT NOT NULL
        CHECK (origin IN ('root', 'fork', 'edit', 'regenerate', 'model_switch', 'concurrent', 'import')),
    provider_state   TEXT NOT NULL CHECK (json_valid(provider_state)),
    label            TEXT,
    pinned           INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    created_at       TEXT NOT NULL,
    deleted_at       TEXT,
    deletion_id      BLOB,
    CHECK ((deleted_at IS NULL) = (deletion_id IS NULL))
) STRICT;
CREATE INDEX branches_of_chat ON branches (chat_id, created_at, id);
CREATE INDEX branches_parent ON branches (parent_branch_id);
CREATE INDEX branches_fork ON branches (fork_turn_id);
CREATE INDEX branches_head ON branches (head_turn_id);

-- The lock: a branch keeps its provider and model for life.
CREATE TRIGGER branches_keep_their_lock
BEFORE UPDATE OF provider, model ON branches
WHEN NEW.provider <> OLD.provider OR NEW.model <> OLD.model
BEGIN
    SELECT RAISE(ABORT, 'a branch keeps its provider and model');
END;

CREATE TABLE exchanges (
    id                BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id          BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat_id           BLOB NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    branch_id         BLOB NOT NULL REFERENCES branches (id) ON DELETE CASCADE,
    user_turn_id      BLOB REFERENCES turns (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
    kind              TEXT NOT NULL CHECK (kind IN ('send', 'edit', 'regenerate', 'continue', 'import')),
    is_thinking_mode  INTEGER NOT NULL CHECK (is_thinking_mode IN (0, 1)),
    params            TEXT NOT NULL CHECK (json_valid(params)),
    client_request_id TEXT,
    request_hash      BLOB,
    created_at        TEXT NOT NULL,
    UNIQUE (owner_id, client_request_id)
) STRICT;
CREATE INDEX exchanges_of_chat ON exchanges (chat_id);
CREATE INDEX exchanges_of_branch ON exchanges (branch_id);
CREATE INDEX exchanges_of_user_turn ON exchanges (user_turn_id);

CREATE TABLE turns (
    id                 BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    chat_id            BLOB NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    ord                INTEGER NOT NULL CHECK (ord >= 1),
    depth              INTEGER NOT NULL CHECK (depth >= 0),
    branch_id          BLOB NOT NULL REFERENCES branches (id) ON DELETE CASCADE,
    exchange_id        BLOB NOT NULL REFERENCES exchanges (id) ON DELETE CASCADE,
    prev_turn_id       BLOB,
    role               TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'system')),
    status             TEXT NOT NULL
        CHECK (status IN ('pending', 'streaming', 'waiting_subagents', 'complete', 'cancelled', 'error')),
    provider_used      TEXT,
    model_used         TEXT,
    input_tokens       INTEGER CHECK (input_tokens >= 0),
    output_tokens      INTEGER CHECK (output_tokens >= 0),
    cache_read_tokens  INTEGER CHECK (cache_read_tokens >= 0),
    cache_write_tokens INTEGER CHECK (cache_write_tokens >= 0),
    reasoning_tokens   INTEGER CHECK (reasoning_tokens >= 0),
    content_text       TEXT NOT NULL,
    error              TEXT CHECK (error IS NULL OR json_valid(error)),
    last_event_seq     INTEGER NOT NULL DEFAULT 0 CHECK (last_event_seq >= 0),
    lease_owner        BLOB,
    lease_until        TEXT,
    created_at         TEXT NOT NULL,
    started_at         TEXT,
    completed_at       TEXT,
    deleted_at         TEXT,
    deletion_id        BLOB,
    UNIQUE (chat_id, ord),
    UNIQUE (chat_id, id),
    -- A turn hangs on a turn of its own chat.
    FOREIGN KEY (chat_id, prev_turn_id) REFERENCES turns (chat_id, id) ON DELETE CASCADE,
    CHECK (prev_turn_id IS NULL OR prev_turn_id <> id),
    CHECK ((prev_turn_id IS NULL) = (depth = 0)),
    CHECK ((status IN ('complete', 'cancelled', 'error')) = (completed_at IS NOT NULL)),
    CHECK (role = 'assistant' OR status = 'complete'),
    CHECK ((deleted_at IS NULL) = (deletion_id IS NULL))
) STRICT;
CREATE INDEX turns_children ON turns (prev_turn_id, created_at);
CREATE INDEX turns_of_chat ON turns (chat_id, deleted_at);
CREATE INDEX turns_of_branch ON turns (branch_id);
CREATE INDEX turns_of_exchange ON turns (exchange_id);
CREATE INDEX turns_roots ON turns (chat_id, deleted_at, created_at) WHERE prev_turn_id IS NULL;
CREATE INDEX turns_unfinished ON turns (chat_id, deleted_at) WHERE status IN ('pending', 'streaming', 'waiting_subagents');
-- An exchange has at most one reply.
CREATE UNIQUE INDEX turns_one_reply ON turns (exchange_id) WHERE role = 'assistant';

CREATE TABLE generations (
    id                 BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    turn_id            BLOB NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    step               INTEGER NOT NULL CHECK (step >= 0),
    provider           TEXT NOT NULL,
    model_requested    TEXT NOT NULL,
    model_returned     TEXT,
    request_body       BLOB NOT NULL,
    request_manifest   TEXT NOT NULL CHECK (json_valid(request_manifest)),
    -- The response as it came, zstd compressed; sha256 and length are those of the original.
    raw_response       BLOB,
    raw_sha256         BLOB CHECK (length(raw_sha256) = 32),
    raw_bytes          INTEGER CHECK (raw_bytes >= 0),
    raw_kind           TEXT NOT NULL
        CHECK (raw_kind IN ('sse_events', 'chunks', 'stream_and_response', 'response', 'none')),
    raw_complete       INTEGER NOT NULL DEFAULT 0 CHECK (raw_complete IN (0, 1)),
    status             TEXT NOT NULL CHECK (status IN ('running', 'complete', 'cancelled', 'error')),
    stop_reason        TEXT,
    input_tokens       INTEGER CHECK (input_tokens >= 0),
    output_tokens      INTEGER CHECK (output_tokens >= 0),
    cache_read_tokens  INTEGER CHECK (cache_read_tokens >= 0),
    cache_write_tokens INTEGER CHECK (cache_write_tokens >= 0),
    reasoning_tokens   INTEGER CHECK (reasoning_tokens >= 0),
    cost_micros        INTEGER,
    error              TEXT CHECK (error IS NULL OR json_valid(error)),
    first_token_at     TEXT,
    started_at         TEXT NOT NULL,
    ended_at           TEXT,
    UNIQUE (turn_id, step),
    CHECK ((status = 'running') = (ended_at IS NULL)),
    CHECK ((raw_response IS NULL) = (raw_sha256 IS NULL)),
    CHECK ((raw_response IS NULL) = (raw_bytes IS NULL))
) STRICT;
CREATE INDEX generations_running ON generations (id) WHERE status = 'running';

-- A response while it arrives; emptied into generations.raw_response at its end.
CREATE TABLE generation_chunks (
    generation_id BLOB NOT NULL REFERENCES generations (id) ON DELETE CASCADE,
    n             INTEGER NOT NULL CHECK (n >= 0),
    bytes         BLOB NOT NULL,
    PRIMARY KEY (generation_id, n)
) STRICT;

CREATE TABLE turn_blocks (
    id              BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    turn_id         BLOB NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    chat_id         BLOB NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    seq             INTEGER NOT NULL CHECK (seq >= 0),
    chat_seq        INTEGER NOT NULL CHECK (chat_seq >= 0),
    block_type      TEXT NOT NULL CHECK (block_type <> ''),
    author          TEXT NOT NULL CHECK (author IN ('user', 'assistant', 'system', 'tool')),
    state           TEXT NOT NULL CHECK (state IN ('open', 'done', 'failed', 'aborted')),
    content         TEXT NOT NULL CHECK (json_valid(content)),
    parent_block_id BLOB REFERENCES turn_blocks (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
    generation_id   BLOB REFERENCES generations (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
    metadata        TEXT NOT NULL CHECK (json_valid(metadata)),
    created_at      TEXT NOT NULL,
    updated_at      TEXT NOT NULL,
    UNIQUE (turn_id, seq),
    UNIQUE (chat_id, chat_seq)
) STRICT;
CREATE INDEX turn_blocks_parent ON turn_blocks (parent_block_id);
CREATE INDEX turn_blocks_of_generation ON turn_blocks (generation_id);

-- The journal.
CREATE TABLE turn_events (
    turn_id BLOB NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    seq     INTEGER NOT NULL CHECK (seq >= 1),
    event   TEXT NOT NULL,
    PRIMARY KEY (turn_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE documents (
    id          BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id    BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    title       TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind <> ''),
    rev         INTEGER NOT NULL DEFAULT 0 CHECK (rev >= 0),
    created_at  TEXT NOT NULL,
    updated_at  TEXT NOT NULL,
    deleted_at  TEXT,
    deletion_id BLOB,
    CHECK ((deleted_at IS NULL) = (deletion_id IS NULL))
) STRICT;
CREATE INDEX documents_of_owner ON documents (owner_id, updated_at);

CREATE TABLE document_versions (
    document_id       BLOB NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    version_timestamp TEXT NOT NULL,
    content           TEXT NOT NULL,
    PRIMARY KEY (document_id, version_timestamp)
) STRICT;

-- Content addressed: `sha256` in lower-case hex; the bytes are here or in a file.
CREATE TABLE blobs (
    sha256     TEXT NOT NULL PRIMARY KEY CHECK (length(sha256) = 64),
    mime       TEXT NOT NULL,
    byte_count INTEGER NOT NULL CHECK (byte_count >= 0),
    bytes      BLOB,
    path       TEXT,
    created_at TEXT NOT NULL,
    CHECK ((bytes IS NULL) <> (path IS NULL))
) STRICT;

CREATE TABLE providers (
    id         BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id   BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    slug       TEXT NOT NULL CHECK (slug <> ''),
    name       TEXT NOT NULL,
    kind       TEXT NOT NULL CHECK (kind <> ''),
    base_url   TEXT,
    sealed_key BLOB,
    settings   TEXT NOT NULL CHECK (json_valid(settings)),
    is_enabled INTEGER NOT NULL DEFAULT 1 CHECK (is_enabled IN (0, 1)),
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (owner_id, slug)
) STRICT;

CREATE TABLE settings (
    owner_id   BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    key        TEXT NOT NULL CHECK (key <> ''),
    value      TEXT NOT NULL CHECK (json_valid(value)),
    updated_at TEXT NOT NULL,
    PRIMARY KEY (owner_id, key)
) STRICT, WITHOUT ROWID;

-- Unsent text, per chat and one for the chat that does not exist yet (chat_id null). A sent draft stays as an empty
-- row, so that its revision keeps rising.
CREATE TABLE drafts (
    owner_id   BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat_id    BLOB REFERENCES chats (id) ON DELETE CASCADE,
    text       TEXT NOT NULL,
    provider   TEXT,
    model      TEXT,
    thinking   TEXT CHECK (thinking IS NULL OR json_valid(thinking)),
    rev        INTEGER NOT NULL CHECK (rev >= 1),
    updated_at TEXT NOT NULL,
    CHECK ((provider IS NULL) = (model IS NULL))
) STRICT;
CREATE UNIQUE INDEX drafts_of_chat ON drafts (owner_id, chat_id) WHERE chat_id IS NOT NULL;
CREATE UNIQUE INDEX drafts_of_new_chat ON drafts (owner_id) WHERE chat_id IS NULL;
CREATE INDEX drafts_chat ON drafts (chat_id);
