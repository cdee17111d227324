-- Generated: the result of all files of `sqlite/`, for new databases (src/store/database/migrate.rs).

CREATE TABLE _sqlx_migrations (
    version BIGINT PRIMARY KEY,
    description TEXT NOT NULL,
    installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    success BOOLEAN NOT NULL,
    checksum BLOB NOT NULL,
    execution_time BIGINT NOT NULL
);
CREATE TABLE access_grants (
    id       BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    rule_id  BLOB NOT NULL REFERENCES access_rules (id) ON DELETE CASCADE,
    group_id BLOB REFERENCES account_groups (id) ON DELETE CASCADE,
    user_id  BLOB REFERENCES users (id) ON DELETE CASCADE,
    CHECK ((group_id IS NULL) <> (user_id IS NULL))
) STRICT;
CREATE TABLE access_rules (
    id         BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    kind       TEXT NOT NULL CHECK (kind IN ('provider', 'model', 'tool_server')),
    -- The id of the provider or of the tool server.
    target     TEXT NOT NULL,
    -- Empty for all but models.
    model      TEXT NOT NULL,
    -- Everybody, or only those with a grant.
    audience   TEXT NOT NULL CHECK (audience IN ('everybody', 'listed')),
    changed_at TEXT NOT NULL,
    UNIQUE (kind, target, model)
) STRICT;
CREATE TABLE account_groups (
    id         BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    name       TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
CREATE TABLE api_tokens (
    id           BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id     BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash         BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    auth_rev     INTEGER NOT NULL CHECK (auth_rev >= 0),
    name         TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    expires_at   TEXT NOT NULL,
    last_used_at TEXT
) STRICT;
CREATE TABLE audit (
    id       BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    at       TEXT NOT NULL,
    -- Null for a stranger, and for the command line, which has no address.
    actor_id BLOB,
    token_id BLOB,
    ip       TEXT,
    verb     TEXT NOT NULL,
    target   TEXT NOT NULL,
    outcome  TEXT NOT NULL CHECK (outcome IN ('done', 'refused'))
) STRICT;
CREATE TABLE blob_forms (
    sha256 TEXT NOT NULL REFERENCES blobs (sha256) ON DELETE CASCADE,
    form   TEXT NOT NULL CHECK (form IN ('thumbnail', 'model')),
    is_in  TEXT NOT NULL REFERENCES blobs (sha256),
    width  INTEGER NOT NULL,
    height INTEGER NOT NULL,
    PRIMARY KEY (sha256, form)
) STRICT;
CREATE TABLE blobs (
    sha256     TEXT NOT NULL PRIMARY KEY CHECK (length(sha256) = 64),
    mime       TEXT NOT NULL,
    byte_count INTEGER NOT NULL CHECK (byte_count >= 0),
    bytes      BLOB,
    path       TEXT,
    created_at TEXT NOT NULL,
    CHECK ((bytes IS NULL) <> (path IS NULL))
) STRICT;
CREATE TABLE block_blobs (
    block_id BLOB NOT NULL REFERENCES turn_blocks (id) ON DELETE CASCADE,
    sha256   TEXT NOT NULL REFERENCES blobs (sha256),
    PRIMARY KEY (block_id, sha256)
) STRICT;
CREATE TABLE block_documents (
    block_id          BLOB NOT NULL REFERENCES turn_blocks (id) ON DELETE CASCADE,
    document_id       BLOB NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    version_timestamp TEXT NOT NULL,
    PRIMARY KEY (block_id, document_id)
) STRICT;
CREATE TABLE branch_share_readers (
    id       BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    share_id BLOB NOT NULL REFERENCES branch_shares (id) ON DELETE CASCADE,
    group_id BLOB REFERENCES account_groups (id) ON DELETE CASCADE,
    user_id  BLOB REFERENCES users (id) ON DELETE CASCADE,
    CHECK ((group_id IS NULL) <> (user_id IS NULL))
) STRICT;
CREATE TABLE branch_shares (
    id         BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id   BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    branch_id  BLOB NOT NULL REFERENCES branches (id) ON DELETE CASCADE,
    -- The parts besides messages and replies, as JSON.
    parts      TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;
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
    deletion_id      BLOB, system_prompt TEXT NOT NULL DEFAULT '', tools TEXT CHECK (tools IS NULL OR json_valid(tools)), policy TEXT NOT NULL DEFAULT 'exact'
    CHECK (policy IN ('exact', 'signatures_only', 'omit_completed')), visited_at TEXT, tool_count INTEGER GENERATED ALWAYS AS (json_array_length(tools)) VIRTUAL, server_instructions TEXT,
    CHECK ((deleted_at IS NULL) = (deletion_id IS NULL))
) STRICT;
CREATE TABLE "budgets" (
    id       BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id BLOB REFERENCES users (id) ON DELETE CASCADE,
    group_id BLOB REFERENCES account_groups (id) ON DELETE CASCADE,
    kind     TEXT NOT NULL CHECK (kind IN
        ('day_cost', 'day_tokens', 'day_requests', 'month_cost', 'month_tokens', 'month_requests')),
    most     INTEGER NOT NULL CHECK (most >= 0),
    CHECK (owner_id IS NULL OR group_id IS NULL)
) STRICT;
CREATE TABLE chat_sources (
    chat_id           BLOB NOT NULL PRIMARY KEY REFERENCES chats (id) ON DELETE CASCADE,
    format            TEXT NOT NULL,
    file              TEXT NOT NULL,
    imported_at       TEXT NOT NULL,
    differences       TEXT NOT NULL CHECK (json_valid(differences))
) STRICT;
CREATE TABLE chat_tools (
    chat_id BLOB NOT NULL PRIMARY KEY REFERENCES chats (id) ON DELETE CASCADE,
    choice  TEXT NOT NULL CHECK (json_valid(choice))
) STRICT;
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
    deletion_id         BLOB, copied_from_turn_id BLOB REFERENCES turns (id) ON DELETE SET NULL, pinned_at TEXT, archived_at TEXT, epoch BLOB, project_id BLOB REFERENCES projects (id) ON DELETE SET NULL, project_version INTEGER,
    CHECK ((deleted_at IS NULL) = (deletion_id IS NULL))
) STRICT;
CREATE TABLE deletions (
    id                  BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id            BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat_id             BLOB NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    kind                TEXT NOT NULL CHECK (kind IN ('chat', 'branch', 'turn', 'prune')),
    -- The chat, the branch or the turn that was deleted; of a prune the turn that was kept.
    root_id             BLOB NOT NULL CHECK (length(root_id) = 16),
    -- Its title, name or first words.
    title               TEXT NOT NULL,
    turns               INTEGER NOT NULL CHECK (turns >= 0),
    branches            INTEGER NOT NULL CHECK (branches >= 0),
    -- Where the reader was, if that went too. No reference: it may be purged first.
    last_viewed_turn_id BLOB,
    created_at          TEXT NOT NULL,
    -- From here on it cannot come back, and its rows go bit by bit.
    purging_since       TEXT
) STRICT;
CREATE TABLE document_versions (
    document_id       BLOB NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    version_timestamp TEXT NOT NULL,
    content           TEXT NOT NULL, origin TEXT REFERENCES blobs (sha256), mime TEXT NOT NULL DEFAULT 'text/markdown', byte_count INTEGER NOT NULL DEFAULT 0, char_count INTEGER NOT NULL DEFAULT 0, line_count INTEGER NOT NULL DEFAULT 0, notes TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (document_id, version_timestamp)
) STRICT;
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
CREATE TABLE drafts (
    owner_id   BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat_id    BLOB REFERENCES chats (id) ON DELETE CASCADE,
    text       TEXT NOT NULL,
    provider   TEXT,
    model      TEXT,
    thinking   TEXT CHECK (thinking IS NULL OR json_valid(thinking)),
    rev        INTEGER NOT NULL CHECK (rev >= 1),
    updated_at TEXT NOT NULL, attachments TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(attachments)),
    CHECK ((provider IS NULL) = (model IS NULL))
) STRICT;
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
    created_at        TEXT NOT NULL, not_sent TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(not_sent)), token_id BLOB,
    UNIQUE (owner_id, client_request_id)
) STRICT;
CREATE TABLE generation_chunks (
    generation_id BLOB NOT NULL REFERENCES generations (id) ON DELETE CASCADE,
    n             INTEGER NOT NULL CHECK (n >= 0),
    bytes         BLOB NOT NULL, length INTEGER CHECK (length >= 0),
    PRIMARY KEY (generation_id, n)
) STRICT;
CREATE TABLE "generation_requests" (
    generation_id BLOB NOT NULL PRIMARY KEY REFERENCES generations (id) ON DELETE CASCADE,
    base_id       BLOB REFERENCES "generation_requests" (generation_id) ON DELETE CASCADE,
    body_head     INTEGER NOT NULL DEFAULT 0,
    body_tail     INTEGER NOT NULL DEFAULT 0,
    manifest_head INTEGER NOT NULL DEFAULT 0,
    manifest_tail INTEGER NOT NULL DEFAULT 0,
    manifest      BLOB NOT NULL,
    body          BLOB NOT NULL
) STRICT;
CREATE TABLE generations (
    id                 BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    turn_id            BLOB NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    step               INTEGER NOT NULL CHECK (step >= 0),
    provider           TEXT NOT NULL,
    model_requested    TEXT NOT NULL,
    model_returned     TEXT,
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
    ended_at           TEXT, cost_basis TEXT
    CHECK (cost_basis IN ('reported', 'configured', 'listed', 'refused')), price_version TEXT, api TEXT, is_copy INTEGER NOT NULL DEFAULT 0 CHECK (is_copy IN (0, 1)),
    UNIQUE (turn_id, step),
    CHECK ((status = 'running') = (ended_at IS NULL)),
    CHECK ((raw_response IS NULL) = (raw_sha256 IS NULL)),
    CHECK ((raw_response IS NULL) = (raw_bytes IS NULL))
) STRICT;
CREATE TABLE grafts (
    id                BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id          BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat_id           BLOB NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    branch_id         BLOB NOT NULL REFERENCES branches (id) ON DELETE CASCADE,
    from_turn_id      BLOB REFERENCES turns (id) ON DELETE SET NULL,
    leaf_turn_id      BLOB REFERENCES turns (id) ON DELETE SET NULL,
    -- The ids of the old path's messages, in order.
    messages          TEXT NOT NULL CHECK (json_valid(messages)),
    asked             INTEGER NOT NULL CHECK (asked >= 0),
    exchange_id       BLOB REFERENCES exchanges (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
    status            TEXT NOT NULL CHECK (status IN ('running', 'paused', 'done', 'cancelled')),
    reason            TEXT CHECK (reason IN ('reply_failed', 'reply_stopped', 'server_restarted', 'limit_reached',
        'model_unavailable', 'busy', 'gone', 'refused', 'internal')),
    detail            TEXT,
    params            TEXT NOT NULL CHECK (json_valid(params)),
    created_at        TEXT NOT NULL,
    updated_at        TEXT NOT NULL,
    CHECK ((status = 'paused') = (reason IS NOT NULL))
) STRICT;
CREATE TABLE group_mappings (
    id            BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    group_id      BLOB NOT NULL REFERENCES account_groups (id) ON DELETE CASCADE,
    issuer        TEXT NOT NULL,
    external_name TEXT NOT NULL,
    UNIQUE (issuer, external_name, group_id)
) STRICT;
CREATE TABLE group_members (
    group_id BLOB NOT NULL REFERENCES account_groups (id) ON DELETE CASCADE,
    user_id  BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (group_id, user_id)
) STRICT;
CREATE TABLE "identities" (
    id           BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id     BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    issuer       TEXT NOT NULL,
    subject      TEXT NOT NULL,
    email        TEXT,
    created_at   TEXT NOT NULL,
    last_used_at TEXT NOT NULL,
    UNIQUE (issuer, subject)
) STRICT;
CREATE TABLE identity_groups (
    identity_id BLOB NOT NULL REFERENCES "identities" (id) ON DELETE CASCADE,
    issuer      TEXT NOT NULL,
    name        TEXT NOT NULL,
    PRIMARY KEY (identity_id, name)
) STRICT;
CREATE TABLE identity_sign_ins (
    id             BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    state_hash     BLOB NOT NULL UNIQUE CHECK (length(state_hash) = 32),
    browser_hash   BLOB NOT NULL CHECK (length(browser_hash) = 32),
    -- The account that is linked. Null for a person who signs in.
    owner_id       BLOB REFERENCES users (id) ON DELETE CASCADE,
    sealed_request BLOB NOT NULL,
    expires_at     TEXT NOT NULL
) STRICT;
CREATE TABLE import_chats (
    import_id BLOB NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
    chat_id   BLOB NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    first_ord INTEGER NOT NULL CHECK (first_ord >= 0),
    last_ord  INTEGER NOT NULL CHECK (last_ord >= first_ord),
    PRIMARY KEY (import_id, chat_id, first_ord)
) STRICT;
CREATE TABLE import_deletions (
    deletion_id BLOB NOT NULL PRIMARY KEY REFERENCES deletions (id) ON DELETE CASCADE,
    import_id   BLOB NOT NULL REFERENCES imports (id) ON DELETE CASCADE
) STRICT;
CREATE TABLE import_documents (
    import_id   BLOB NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
    document_id BLOB NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    versions    INTEGER NOT NULL CHECK (versions >= 1),
    title       TEXT NOT NULL,
    -- The deletion of the document that undid the import. No reference: deletions of documents have no row.
    deletion_id BLOB CHECK (deletion_id IS NULL OR length(deletion_id) = 16),
    PRIMARY KEY (import_id, document_id)
) STRICT;
CREATE TABLE import_reports (
    import_id BLOB NOT NULL PRIMARY KEY REFERENCES imports (id) ON DELETE CASCADE,
    -- The report in JSON, with the first chats and differences; read and written whole.
    report    TEXT NOT NULL CHECK (json_valid(report))
) STRICT;
CREATE TABLE imports (
    id          BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id    BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    state       TEXT NOT NULL CHECK (state IN ('running', 'finished', 'stopped', 'interrupted', 'undone')),
    -- The report in JSON, with the first chats and differences; read and written whole.
    summary      TEXT NOT NULL CHECK (json_valid(summary)),
    started_at  TEXT NOT NULL,
    -- The time at which the report was last stored: a sign of life while the import runs.
    reported_at TEXT NOT NULL,
    ended_at    TEXT,
    undone_at   TEXT
) STRICT;
CREATE TABLE invites (
    id         BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    hash       BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    role       TEXT NOT NULL CHECK (role IN ('admin', 'user')),
    -- Null for an invitation from the command line.
    made_by    BLOB REFERENCES users (id) ON DELETE CASCADE,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    used_at    TEXT,
    -- The account stays named here when it is deleted.
    used_by    BLOB
) STRICT;
CREATE TABLE ledger (
    id                 BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id           BLOB REFERENCES users (id) ON DELETE SET NULL,
    chat_id            BLOB,
    token_id           BLOB,
    provider           TEXT NOT NULL,
    model              TEXT NOT NULL,
    status             TEXT NOT NULL CHECK (status IN ('complete', 'cancelled', 'error')),
    started_at         TEXT NOT NULL,
    input_tokens       INTEGER CHECK (input_tokens >= 0),
    output_tokens      INTEGER CHECK (output_tokens >= 0),
    cache_read_tokens  INTEGER CHECK (cache_read_tokens >= 0),
    cache_write_tokens INTEGER CHECK (cache_write_tokens >= 0),
    reasoning_tokens   INTEGER CHECK (reasoning_tokens >= 0),
    cost_micros        INTEGER CHECK (cost_micros >= 0),
    cost_basis         TEXT CHECK (cost_basis IN ('reported', 'configured', 'listed', 'refused')),
    -- The part of budgets that the call uses up: an estimate where the provider reported nothing.
    counted_tokens     INTEGER NOT NULL CHECK (counted_tokens >= 0),
    counted_micros     INTEGER NOT NULL CHECK (counted_micros >= 0)
) STRICT;
CREATE TABLE oauth_clients (
    server_id     BLOB NOT NULL REFERENCES tool_servers (id) ON DELETE CASCADE,
    owner_id      BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    issuer        TEXT NOT NULL CHECK (issuer <> ''),
    -- The client's id and secret, for this server and issuer alone.
    sealed_client BLOB NOT NULL,
    created_at    TEXT NOT NULL,
    PRIMARY KEY (server_id, issuer)
) STRICT;
CREATE TABLE passkeys (
    id            BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id      BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    credential_id BLOB NOT NULL UNIQUE CHECK (length(credential_id) BETWEEN 1 AND 1023),
    name          TEXT NOT NULL,
    -- COSE.
    public_key    BLOB NOT NULL,
    algorithm     INTEGER NOT NULL,
    -- The signatures that the authenticator has counted; 0 for one that does not count.
    sign_count    INTEGER NOT NULL CHECK (sign_count >= 0),
    is_backed_up  INTEGER NOT NULL CHECK (is_backed_up IN (0, 1)),
    created_at    TEXT NOT NULL,
    last_used_at  TEXT
) STRICT;
CREATE TABLE projects (
    id           BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id     BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name         TEXT NOT NULL,
    color        TEXT NOT NULL,
    instructions TEXT NOT NULL,
    -- The model of new chats; both or none.
    provider     TEXT,
    model        TEXT,
    -- Rises with every change of the instructions.
    version      INTEGER NOT NULL CHECK (version >= 1),
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL
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
CREATE TABLE quarantine (
    id          BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    table_name  TEXT NOT NULL CHECK (table_name <> ''),
    -- Empty for a whole row, whose bytes are then a JSON object of its columns in hexadecimal.
    column_name TEXT NOT NULL,
    row_key     TEXT NOT NULL,
    bytes       BLOB NOT NULL,
    reason      TEXT NOT NULL,
    chat_id     BLOB REFERENCES chats (id) ON DELETE CASCADE,
    document_id BLOB REFERENCES documents (id) ON DELETE CASCADE,
    created_at  TEXT NOT NULL
, owner_id BLOB REFERENCES users (id) ON DELETE CASCADE, turn_id BLOB REFERENCES turns (id) ON DELETE CASCADE) STRICT;
CREATE TABLE queued_messages (
    id            BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id      BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat_id       BLOB NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    after_turn_id BLOB NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    ord           INTEGER NOT NULL CHECK (ord >= 0),
    -- The message to send. Text, because its bytes are compared.
    request       TEXT,
    -- Why the server could not send it; nothing is sent by itself until that is cleared.
    refusal       TEXT,
    turn_id       BLOB REFERENCES turns (id) ON DELETE CASCADE,
    created_at    TEXT NOT NULL,
    updated_at    TEXT NOT NULL,
    CHECK ((request IS NULL) = (turn_id IS NOT NULL)),
    CHECK (refusal IS NULL OR turn_id IS NULL)
) STRICT;
CREATE TABLE recovery_codes (
    id         BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id   BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash       BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    created_at TEXT NOT NULL
) STRICT;
CREATE TABLE requests (
    owner_id          BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    client_request_id TEXT NOT NULL,
    request_hash      BLOB NOT NULL,
    made_id           TEXT NOT NULL,
    created_at        TEXT NOT NULL,
    PRIMARY KEY (owner_id, client_request_id)
) STRICT;
CREATE TABLE search_entries (
    id       INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    kind     TEXT NOT NULL CHECK (kind IN ('chat', 'document', 'turn')),
    item_id  BLOB NOT NULL UNIQUE CHECK (length(item_id) = 16),
    owner_id BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- Of what was indexed and how.
    digest   INTEGER NOT NULL,
    parts    INTEGER NOT NULL CHECK (parts BETWEEN 1 AND 1024)
) STRICT;
CREATE TABLE search_progress (
    kind     TEXT NOT NULL PRIMARY KEY CHECK (kind IN ('chat', 'document', 'turn')),
    rules    INTEGER NOT NULL,
    after_id BLOB NOT NULL,
    is_done  INTEGER NOT NULL CHECK (is_done IN (0, 1))
) STRICT;
CREATE TABLE search_queue (
    kind    TEXT NOT NULL CHECK (kind IN ('chat', 'document', 'turn')),
    item_id BLOB NOT NULL CHECK (length(item_id) = 16),
    PRIMARY KEY (kind, item_id)
) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE search_words USING fts5 (
    words, content = '', contentless_delete = 1, detail = 'none', tokenize = 'ascii'
);
CREATE TABLE second_factors (
    owner_id      BLOB NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    sealed_secret BLOB NOT NULL,
    -- The number of the last interval of 30 seconds whose code was used.
    last_step     INTEGER NOT NULL DEFAULT 0 CHECK (last_step >= 0),
    created_at    TEXT NOT NULL,
    -- Null until the first code was entered.
    confirmed_at  TEXT
) STRICT;
CREATE TABLE server_policies (
    owner_id   BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    server     TEXT NOT NULL CHECK (server <> ''),
    policy     TEXT NOT NULL CHECK (policy IN ('ask', 'allow', 'never')),
    -- The tools that were allowed, by name, each with the hash of its description.
    seen       TEXT NOT NULL CHECK (json_valid(seen)),
    created_at TEXT NOT NULL,
    PRIMARY KEY (owner_id, server)
) STRICT;
CREATE TABLE serving_claim (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    epoch INTEGER NOT NULL
);
CREATE TABLE sessions (
    id         BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id   BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash       BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    auth_rev   INTEGER NOT NULL CHECK (auth_rev >= 0),
    created_at TEXT NOT NULL,
    seen_at    TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    ip         TEXT,
    agent      TEXT
, password_at TEXT, began_with TEXT NOT NULL DEFAULT 'password'
    CHECK (began_with IN ('password', 'passkey', 'identity'))) STRICT;
CREATE TABLE settings (
    owner_id   BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    key        TEXT NOT NULL CHECK (key <> ''),
    value      TEXT NOT NULL CHECK (json_valid(value)),
    updated_at TEXT NOT NULL,
    PRIMARY KEY (owner_id, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE share_blobs (
    share_id BLOB NOT NULL REFERENCES shares (id) ON DELETE CASCADE,
    sha256   TEXT NOT NULL REFERENCES blobs (sha256),
    PRIMARY KEY (share_id, sha256)
) STRICT;
CREATE TABLE shares (
    id              BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    hash            BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    owner_id        BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat_id         BLOB NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    leaf_id         BLOB NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    audience        TEXT NOT NULL CHECK (audience IN ('link', 'signed_in')),
    -- The parts besides messages and replies, as JSON.
    parts           TEXT NOT NULL,
    snapshot        BLOB NOT NULL,
    snapshot_sha256 BLOB NOT NULL CHECK (length(snapshot_sha256) = 32),
    snapshot_bytes  INTEGER NOT NULL CHECK (snapshot_bytes >= 0),
    created_at      TEXT NOT NULL,
    expires_at      TEXT NOT NULL,
    revoked_at      TEXT,
    last_access_at  TEXT
, turns BLOB, turns_sha256 BLOB CHECK (length(turns_sha256) = 32), turns_bytes INTEGER CHECK (turns_bytes >= 0)) STRICT;
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
    ended_at           TEXT, token_id BLOB,
    CHECK ((status = 'running') = (ended_at IS NULL)),
    CHECK ((raw_response IS NULL) = (raw_sha256 IS NULL)),
    CHECK ((raw_response IS NULL) = (raw_bytes IS NULL))
) STRICT;
CREATE TABLE tool_listings (
    owner_id  BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    server    TEXT NOT NULL,
    tools     TEXT NOT NULL CHECK (json_valid(tools)),
    listed_at TEXT NOT NULL, instructions TEXT NOT NULL DEFAULT '', offers_instructions INTEGER NOT NULL DEFAULT 1 CHECK (offers_instructions IN (0, 1)),
    PRIMARY KEY (owner_id, server)
) STRICT;
CREATE TABLE tool_policies (
    id          BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id    BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat_id     BLOB REFERENCES chats (id) ON DELETE CASCADE,
    -- Empty for what Turnleaf runs itself.
    server      TEXT NOT NULL,
    tool        TEXT NOT NULL CHECK (tool <> ''),
    policy      TEXT NOT NULL CHECK (policy IN ('ask', 'allow', 'never')),
    schema_hash TEXT,
    created_at  TEXT NOT NULL
, scope TEXT NOT NULL DEFAULT '') STRICT;
CREATE TABLE tool_servers (
    id             BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id       BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    slug           TEXT NOT NULL CHECK (slug <> ''),
    name           TEXT NOT NULL,
    url            TEXT NOT NULL,
    -- The values of its headers, for this server's key alone.
    sealed_headers BLOB,
    settings       TEXT NOT NULL CHECK (json_valid(settings)),
    is_enabled     INTEGER NOT NULL CHECK (is_enabled IN (0, 1)),
    created_at     TEXT NOT NULL,
    updated_at     TEXT NOT NULL,
    UNIQUE (owner_id, slug)
) STRICT;
CREATE TABLE tool_sign_ins (
    id             BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    server_id      BLOB NOT NULL UNIQUE REFERENCES tool_servers (id) ON DELETE CASCADE,
    owner_id       BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    state_hash     TEXT NOT NULL UNIQUE CHECK (state_hash <> ''),
    sealed_request BLOB NOT NULL,
    expires_at     TEXT NOT NULL
) STRICT;
CREATE TABLE tool_tokens (
    server_id     BLOB NOT NULL PRIMARY KEY REFERENCES tool_servers (id) ON DELETE CASCADE,
    owner_id      BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- The tokens with what renews them, for the origin of this server alone.
    sealed_tokens BLOB NOT NULL,
    -- Rises with each renewal, so that two renewals do not overwrite each other.
    version       INTEGER NOT NULL CHECK (version > 0),
    updated_at    TEXT NOT NULL
) STRICT;
CREATE TABLE trusted_tools (
    owner_id    BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    server      TEXT NOT NULL CHECK (server <> ''),
    tool        TEXT NOT NULL CHECK (tool <> ''),
    schema_hash TEXT NOT NULL,
    PRIMARY KEY (owner_id, server, tool)
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
CREATE TABLE turn_events (
    turn_id BLOB NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    seq     INTEGER NOT NULL CHECK (seq >= 1),
    event   TEXT NOT NULL,
    PRIMARY KEY (turn_id, seq)
) STRICT, WITHOUT ROWID;
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
    deletion_id        BLOB, cost_micros INTEGER CHECK (cost_micros >= 0), is_cost_estimated INTEGER CHECK (is_cost_estimated IN (0, 1)), context_tokens INTEGER CHECK (context_tokens >= 0), stored_bytes INTEGER,
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
CREATE TABLE unread_replies (
    owner_id BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat_id  BLOB NOT NULL CHECK (length(chat_id) = 16),
    turn_id  BLOB NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    PRIMARY KEY (owner_id, chat_id, turn_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE uploads (
    id         BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id   BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    sha256     TEXT NOT NULL REFERENCES blobs (sha256),
    name       TEXT NOT NULL,
    -- 'image' or 'file'.
    kind       TEXT NOT NULL CHECK (kind IN ('image', 'file')),
    width      INTEGER,
    height     INTEGER,
    created_at TEXT NOT NULL
) STRICT;
CREATE TABLE users (
    id             BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    name           TEXT NOT NULL,
    is_local_owner INTEGER NOT NULL DEFAULT 0 CHECK (is_local_owner IN (0, 1)),
    created_at     TEXT NOT NULL
, name_key TEXT, role TEXT NOT NULL DEFAULT 'user' CHECK (role IN ('owner', 'admin', 'user')), password TEXT, auth_rev INTEGER NOT NULL DEFAULT 0 CHECK (auth_rev >= 0), disabled_at TEXT, deleted_at TEXT, password_expires_at TEXT) STRICT;
CREATE TABLE view_calls (
    id        BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id  BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    block_id  BLOB NOT NULL REFERENCES turn_blocks (id) ON DELETE CASCADE,
    -- The tool's name at its server.
    tool      TEXT NOT NULL,
    -- JSON.
    arguments TEXT NOT NULL,
    began_at  TEXT NOT NULL,
    -- Null while the call runs, and if its end is unknown.
    outcome   TEXT CHECK (outcome IN ('done', 'failed')),
    result    TEXT,
    ended_at  TEXT
) STRICT;
CREATE INDEX access_grants_group ON access_grants (group_id);
CREATE INDEX access_grants_rule ON access_grants (rule_id);
CREATE INDEX access_grants_user ON access_grants (user_id);
CREATE INDEX api_tokens_owner_id ON api_tokens (owner_id);
CREATE INDEX blob_forms_in ON blob_forms (is_in);
CREATE INDEX blobs_by_age ON blobs (created_at);
CREATE INDEX block_blobs_of_blob ON block_blobs (sha256);
CREATE INDEX block_documents_of_document ON block_documents (document_id);
CREATE INDEX branch_share_readers_group ON branch_share_readers (group_id);
CREATE INDEX branch_share_readers_share ON branch_share_readers (share_id);
CREATE INDEX branch_share_readers_user ON branch_share_readers (user_id);
CREATE INDEX branch_shares_branch ON branch_shares (branch_id);
CREATE INDEX branch_shares_owner ON branch_shares (owner_id, id);
CREATE INDEX branches_fork ON branches (fork_turn_id);
CREATE INDEX branches_head ON branches (head_turn_id);
CREATE INDEX branches_of_chat ON branches (chat_id, created_at, id);
CREATE INDEX branches_of_deletion ON branches (deletion_id) WHERE deletion_id IS NOT NULL;
CREATE INDEX branches_parent ON branches (parent_branch_id);
CREATE UNIQUE INDEX budgets_default ON budgets (kind) WHERE owner_id IS NULL AND group_id IS NULL;
CREATE UNIQUE INDEX budgets_group ON budgets (group_id, kind) WHERE group_id IS NOT NULL;
CREATE UNIQUE INDEX budgets_owner ON budgets (owner_id, kind) WHERE owner_id IS NOT NULL;
CREATE INDEX chats_archived ON chats (owner_id, updated_at, id) WHERE deleted_at IS NULL AND archived_at IS NOT NULL;
CREATE INDEX chats_copied_from ON chats (copied_from_turn_id) WHERE copied_from_turn_id IS NOT NULL;
CREATE INDEX chats_default_branch ON chats (default_branch_id);
CREATE INDEX chats_last_viewed ON chats (last_viewed_turn_id);
CREATE INDEX chats_listed ON chats (owner_id, updated_at, id) WHERE deleted_at IS NULL AND archived_at IS NULL;
CREATE INDEX chats_of_deletion ON chats (deletion_id) WHERE deletion_id IS NOT NULL;
CREATE INDEX chats_of_owner ON chats (owner_id, updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX chats_pinned ON chats (owner_id, pinned_at, id) WHERE pinned_at IS NOT NULL;
CREATE INDEX chats_project ON chats (project_id, owner_id, updated_at, id) WHERE project_id IS NOT NULL;
CREATE INDEX deletions_of_chat ON deletions (chat_id);
CREATE INDEX deletions_of_owner ON deletions (owner_id, id) WHERE purging_since IS NULL;
CREATE INDEX deletions_old ON deletions (created_at) WHERE purging_since IS NULL;
CREATE INDEX deletions_purging ON deletions (id) WHERE purging_since IS NOT NULL;
CREATE INDEX document_versions_of_origin ON document_versions (origin) WHERE origin IS NOT NULL;
CREATE INDEX documents_deleted ON documents (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX documents_of_owner ON documents (owner_id, updated_at);
CREATE INDEX drafts_chat ON drafts (chat_id);
CREATE UNIQUE INDEX drafts_of_chat ON drafts (owner_id, chat_id) WHERE chat_id IS NOT NULL;
CREATE UNIQUE INDEX drafts_of_new_chat ON drafts (owner_id) WHERE chat_id IS NULL;
CREATE INDEX exchanges_of_branch ON exchanges (branch_id);
CREATE INDEX exchanges_of_chat ON exchanges (chat_id);
CREATE INDEX exchanges_of_user_turn ON exchanges (user_turn_id);
CREATE INDEX generation_requests_base ON generation_requests (base_id) WHERE base_id IS NOT NULL;
CREATE INDEX generations_running ON generations (id) WHERE status = 'running';
CREATE INDEX generations_started ON generations (started_at);
CREATE INDEX grafts_exchange ON grafts (exchange_id);
CREATE INDEX grafts_from ON grafts (from_turn_id);
CREATE INDEX grafts_leaf ON grafts (leaf_turn_id);
CREATE INDEX grafts_of_branch ON grafts (branch_id);
CREATE INDEX grafts_of_chat ON grafts (chat_id, created_at);
CREATE INDEX grafts_running ON grafts (created_at) WHERE status = 'running';
CREATE INDEX group_mappings_group ON group_mappings (group_id);
CREATE INDEX group_members_user ON group_members (user_id);
CREATE INDEX identities_owner_id ON identities (owner_id);
CREATE INDEX identity_groups_name ON identity_groups (issuer, name);
CREATE INDEX identity_sign_ins_owner_id ON identity_sign_ins (owner_id);
CREATE INDEX import_chats_of_chat ON import_chats (chat_id);
CREATE INDEX import_deletions_of_import ON import_deletions (import_id);
CREATE INDEX import_documents_of_document ON import_documents (document_id);
CREATE INDEX imports_of_owner ON imports (owner_id, id);
CREATE INDEX imports_running ON imports (id) WHERE state = 'running';
CREATE INDEX invites_made_by ON invites (made_by);
CREATE INDEX ledger_owner ON ledger (owner_id, started_at);
CREATE INDEX ledger_started ON ledger (started_at);
CREATE INDEX oauth_clients_owner_id ON oauth_clients (owner_id);
CREATE INDEX passkeys_owner_id ON passkeys (owner_id);
CREATE INDEX projects_owner ON projects (owner_id);
CREATE INDEX quarantine_of_chat ON quarantine (chat_id);
CREATE INDEX quarantine_of_document ON quarantine (document_id);
CREATE INDEX quarantine_of_owner ON quarantine (owner_id);
CREATE INDEX quarantine_of_turn ON quarantine (turn_id);
CREATE INDEX queued_messages_after ON queued_messages (after_turn_id, owner_id, ord);
CREATE INDEX queued_messages_chat ON queued_messages (chat_id, owner_id);
CREATE INDEX queued_messages_owner ON queued_messages (owner_id);
CREATE INDEX queued_messages_turn ON queued_messages (turn_id);
CREATE INDEX queued_messages_waiting ON queued_messages (created_at) WHERE turn_id IS NULL;
CREATE INDEX recovery_codes_owner_id ON recovery_codes (owner_id);
CREATE INDEX requests_by_age ON requests (created_at);
CREATE INDEX search_entries_of_owner ON search_entries (owner_id);
CREATE INDEX sessions_owner_id ON sessions (owner_id);
CREATE INDEX share_blobs_of_blob ON share_blobs (sha256);
CREATE INDEX shares_chat ON shares (chat_id);
CREATE INDEX shares_leaf ON shares (leaf_id);
CREATE INDEX shares_owner ON shares (owner_id, id);
CREATE INDEX title_requests_chat ON title_requests (chat_id, owner_id);
CREATE INDEX title_requests_owner ON title_requests (owner_id);
CREATE UNIQUE INDEX title_requests_running ON title_requests (chat_id) WHERE status = 'running';
CREATE INDEX title_requests_started ON title_requests (started_at);
CREATE INDEX title_requests_turn ON title_requests (turn_id);
CREATE UNIQUE INDEX tool_policies_always ON tool_policies (owner_id, server, tool, scope) WHERE chat_id IS NULL;
CREATE UNIQUE INDEX tool_policies_of_chat ON tool_policies (chat_id, server, tool, scope) WHERE chat_id IS NOT NULL;
CREATE INDEX tool_sign_ins_owner_id ON tool_sign_ins (owner_id);
CREATE INDEX tool_tokens_owner_id ON tool_tokens (owner_id);
CREATE INDEX turn_blocks_images ON turn_blocks (turn_id) WHERE block_type = 'image';
CREATE INDEX turn_blocks_of_generation ON turn_blocks (generation_id);
CREATE INDEX turn_blocks_parent ON turn_blocks (parent_block_id);
CREATE INDEX turns_children ON turns (prev_turn_id, created_at);
CREATE INDEX turns_of_branch_by_depth ON turns (branch_id, depth);
CREATE INDEX turns_of_chat ON turns (chat_id, deleted_at);
CREATE INDEX turns_of_deletion ON turns (deletion_id) WHERE deletion_id IS NOT NULL;
CREATE INDEX turns_of_exchange ON turns (exchange_id);
CREATE UNIQUE INDEX turns_one_reply ON turns (exchange_id) WHERE role = 'assistant';
CREATE INDEX turns_roots ON turns (chat_id, deleted_at, created_at) WHERE prev_turn_id IS NULL;
CREATE INDEX turns_stored_bytes ON turns (chat_id, stored_bytes);
CREATE INDEX turns_uncounted ON turns (id) WHERE stored_bytes IS NULL AND completed_at IS NOT NULL;
CREATE INDEX turns_unfinished ON turns (chat_id, deleted_at) WHERE status IN ('pending', 'streaming', 'waiting_subagents');
CREATE INDEX unread_replies_turn ON unread_replies (turn_id);
CREATE INDEX uploads_of_blob ON uploads (sha256);
CREATE INDEX uploads_of_owner ON uploads (owner_id, created_at);
CREATE UNIQUE INDEX users_name_key ON users (name_key);
CREATE UNIQUE INDEX users_one_local_owner ON users (is_local_owner) WHERE is_local_owner = 1;
CREATE INDEX view_calls_block_id ON view_calls (block_id, owner_id);
CREATE INDEX view_calls_owner_id ON view_calls (owner_id);
CREATE TRIGGER branches_keep_their_lock
BEFORE UPDATE OF provider, model ON branches
WHEN NEW.provider <> OLD.provider OR NEW.model <> OLD.model
BEGIN
    SELECT RAISE(ABORT, 'a branch keeps its provider and model');
END;
CREATE TRIGGER search_forgets_chats AFTER DELETE ON chats BEGIN
    DELETE FROM search_entries WHERE item_id = OLD.id;
END;
CREATE TRIGGER search_forgets_documents AFTER DELETE ON documents BEGIN
    DELETE FROM search_entries WHERE item_id = OLD.id;
END;
CREATE TRIGGER search_forgets_turns AFTER DELETE ON turns BEGIN
    DELETE FROM search_entries WHERE item_id = OLD.id;
END;
CREATE TRIGGER search_forgets_words AFTER DELETE ON search_entries BEGIN
    DELETE FROM search_words WHERE rowid >= OLD.id * 1024 AND rowid < OLD.id * 1024 + OLD.parts;
END;
INSERT INTO search_progress (kind, rules, after_id, is_done) VALUES ('chat', 1, X'00000000000000000000000000000000', 1);
INSERT INTO search_progress (kind, rules, after_id, is_done) VALUES ('document', 1, X'00000000000000000000000000000000', 1);
INSERT INTO search_progress (kind, rules, after_id, is_done) VALUES ('turn', 1, X'00000000000000000000000000000000', 1);
INSERT INTO serving_claim (id, epoch) VALUES (1, 0);
INSERT INTO sqlite_sequence (name, seq) VALUES ('search_entries', 4294967296);
