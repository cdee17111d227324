-- Tools: servers that people connected, what each server offered last, what was said about a tool once and for all,
-- which tools a chat offers, and blobs that blocks name.

-- Servers that are programs stand in the configuration file alone; these are reached over HTTP.
CREATE TABLE tool_servers (
    id             UUID NOT NULL PRIMARY KEY,
    owner_id       UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    slug           TEXT NOT NULL CHECK (slug <> ''),
    name           TEXT NOT NULL,
    url            TEXT NOT NULL,
    -- The values of its headers, for this server's key alone.
    sealed_headers BYTEA,
    settings       JSONB NOT NULL,
    is_enabled     BOOLEAN NOT NULL,
    created_at     TIMESTAMPTZ NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL,
    UNIQUE (owner_id, slug)
);

-- What a server offered last, whoever configured it: offered while it is down, and shown in settings.
CREATE TABLE tool_listings (
    owner_id  UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    server    TEXT NOT NULL,
    tools     JSONB NOT NULL,
    listed_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (owner_id, server)
);

-- An answer that lasts, in one chat or in all (no chat). It holds for the schema that was seen; none means any.
CREATE TABLE tool_policies (
    id          UUID NOT NULL PRIMARY KEY,
    owner_id    UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat_id     UUID REFERENCES chats (id) ON DELETE CASCADE,
    -- Empty for what Turnleaf runs itself.
    server      TEXT NOT NULL,
    tool        TEXT NOT NULL CHECK (tool <> ''),
    policy      TEXT NOT NULL CHECK (policy IN ('ask', 'allow', 'never')),
    schema_hash TEXT,
    created_at  TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX tool_policies_always ON tool_policies (owner_id, server, tool) WHERE chat_id IS NULL;
CREATE UNIQUE INDEX tool_policies_of_chat ON tool_policies (chat_id, server, tool) WHERE chat_id IS NOT NULL;

CREATE TABLE chat_tools (
    chat_id UUID NOT NULL PRIMARY KEY REFERENCES chats (id) ON DELETE CASCADE,
    choice  JSONB NOT NULL
);

CREATE TABLE block_blobs (
    block_id UUID NOT NULL REFERENCES turn_blocks (id) ON DELETE CASCADE,
    sha256   TEXT NOT NULL REFERENCES blobs (sha256),
    PRIMARY KEY (block_id, sha256)
);
CREATE INDEX block_blobs_of_blob ON block_blobs (sha256);
