-- The permission for all tools of a server. The one of a tool counts before it.
CREATE TABLE server_policies (
    owner_id   BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    server     TEXT NOT NULL CHECK (server <> ''),
    policy     TEXT NOT NULL CHECK (policy IN ('ask', 'allow', 'never')),
    -- The tools that were allowed, by name, each with the hash of its description.
    seen       TEXT NOT NULL CHECK (json_valid(seen)),
    created_at TEXT NOT NULL,
    PRIMARY KEY (owner_id, server)
) STRICT;
