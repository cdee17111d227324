-- How a tool that the configuration file trusts described itself when it was first seen: it runs unasked as long as it does.
CREATE TABLE trusted_tools (
    owner_id    UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    server      TEXT NOT NULL CHECK (server <> ''),
    tool        TEXT NOT NULL CHECK (tool <> ''),
    schema_hash TEXT NOT NULL,
    PRIMARY KEY (owner_id, server, tool)
);
