-- Tools: servers that people connected, what each server offered last, what was said about a tool once and for all,
-- which tools a chat offers, and blobs that blocks name.

-- Servers that are programs stand in the configuration file alone; these are reached over HTTP.
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

-- What a server offered last, whoever configured it: offered while it is down, and shown in settings.
CREATE TABLE tool_listings (
    owner_id  BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    server    TEXT NOT NULL,
    tools     TEXT NOT NULL CHECK (json_valid(tools)),
    listed_at TEXT NOT NULL,
    PRIMARY KEY (owner_id, server)
) STRICT;

-- An answer that lasts, in one chat or in all (no chat). It holds for the schema that was seen; none means any.
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
) STRICT;
CREATE UNIQUE INDEX tool_policies_always ON tool_policies (owner_id, server, tool) WHERE chat_id IS NULL;
CREATE UNIQUE INDEX tool_policies_of_chat ON tool_policies (chat_id, server, tool) WHERE chat_id IS NOT NULL;

CREATE TABLE chat_tools (
    chat_id BLOB NOT NULL PRIMARY KEY REFERENCES chats (id) ON DELETE CASCADE,
    choice  TEXT NOT NULL CHECK (json_valid(choice))
) STRICT;

CREATE TABLE block_blobs (
    block_id BLOB NOT NULL REFERENCES turn_blocks (id) ON DELETE CASCADE,
    sha256   TEXT NOT NULL REFERENCES blobs (sha256),
    PRIMARY KEY (block_id, sha256)
) STRICT;
CREATE INDEX block_blobs_of_blob ON block_blobs (sha256);
