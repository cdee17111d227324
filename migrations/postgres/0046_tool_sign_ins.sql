-- The clients of this server at authorization servers of tool servers.
CREATE TABLE oauth_clients (
    server_id     UUID NOT NULL REFERENCES tool_servers (id) ON DELETE CASCADE,
    owner_id      UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    issuer        TEXT NOT NULL CHECK (issuer <> ''),
    -- The client's id and secret, for this server and issuer alone.
    sealed_client BYTEA NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (server_id, issuer)
);

-- The tokens of a person for a tool server.
CREATE TABLE tool_tokens (
    server_id     UUID NOT NULL PRIMARY KEY REFERENCES tool_servers (id) ON DELETE CASCADE,
    owner_id      UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- The tokens with what renews them, for the origin of this server alone.
    sealed_tokens BYTEA NOT NULL,
    -- Rises with each renewal, so that two renewals do not overwrite each other.
    version       BIGINT NOT NULL CHECK (version > 0),
    updated_at    TIMESTAMPTZ NOT NULL
);

-- Sign-ins that have begun. Each answer is accepted once.
CREATE TABLE tool_sign_ins (
    id             UUID NOT NULL PRIMARY KEY,
    server_id      UUID NOT NULL UNIQUE REFERENCES tool_servers (id) ON DELETE CASCADE,
    owner_id       UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    state_hash     TEXT NOT NULL UNIQUE CHECK (state_hash <> ''),
    sealed_request BYTEA NOT NULL,
    expires_at     TIMESTAMPTZ NOT NULL
);

CREATE INDEX oauth_clients_owner_id ON oauth_clients (owner_id);
CREATE INDEX tool_tokens_owner_id ON tool_tokens (owner_id);
CREATE INDEX tool_sign_ins_owner_id ON tool_sign_ins (owner_id);
