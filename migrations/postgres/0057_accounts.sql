-- Accounts. The local owner becomes the owner. Nobody can sign in to an account without a password.
ALTER TABLE users ADD COLUMN name_key TEXT;
ALTER TABLE users ADD COLUMN role TEXT NOT NULL DEFAULT 'user' CHECK (role IN ('owner', 'admin', 'user'));
ALTER TABLE users ADD COLUMN password TEXT;
-- Rises with each change that ends sessions and tokens: those of a lower number are not valid.
ALTER TABLE users ADD COLUMN auth_rev BIGINT NOT NULL DEFAULT 0 CHECK (auth_rev >= 0);
ALTER TABLE users ADD COLUMN disabled_at TIMESTAMPTZ;
UPDATE users SET role = 'owner' WHERE is_local_owner;
-- The name as it is compared: two names that look alike are one.
CREATE UNIQUE INDEX users_name_key ON users (name_key);

-- Browsers that are signed in. Only the SHA-256 of what their cookie has is stored.
CREATE TABLE sessions (
    id         UUID NOT NULL PRIMARY KEY,
    owner_id   UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash       BYTEA NOT NULL UNIQUE CHECK (length(hash) = 32),
    auth_rev   BIGINT NOT NULL CHECK (auth_rev >= 0),
    created_at TIMESTAMPTZ NOT NULL,
    seen_at    TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    ip         TEXT,
    agent      TEXT
);
CREATE INDEX sessions_owner_id ON sessions (owner_id);

-- Credentials of programs, of which only the SHA-256 is stored. The scopes are words with spaces between them.
CREATE TABLE api_tokens (
    id           UUID NOT NULL PRIMARY KEY,
    owner_id     UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash         BYTEA NOT NULL UNIQUE CHECK (length(hash) = 32),
    auth_rev     BIGINT NOT NULL CHECK (auth_rev >= 0),
    name         TEXT NOT NULL,
    scopes       TEXT NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    expires_at   TIMESTAMPTZ NOT NULL,
    last_used_at TIMESTAMPTZ
);
CREATE INDEX api_tokens_owner_id ON api_tokens (owner_id);

-- Invitations. Each makes one account with its role.
CREATE TABLE invites (
    id         UUID NOT NULL PRIMARY KEY,
    hash       BYTEA NOT NULL UNIQUE CHECK (length(hash) = 32),
    role       TEXT NOT NULL CHECK (role IN ('admin', 'user')),
    -- Null for an invitation from the command line.
    made_by    UUID REFERENCES users (id) ON DELETE CASCADE,
    created_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    used_at    TIMESTAMPTZ,
    -- The account stays named here when it is deleted.
    used_by    UUID
);
CREATE INDEX invites_made_by ON invites (made_by);

-- The audit log: who did what, without content. Rows are only inserted, and deleted by age. Accounts stay named when they
-- are deleted.
CREATE TABLE audit (
    id       UUID NOT NULL PRIMARY KEY,
    at       TIMESTAMPTZ NOT NULL,
    -- Null for a stranger, and for the command line, which has no address.
    actor_id UUID,
    token_id UUID,
    ip       TEXT,
    verb     TEXT NOT NULL,
    target   TEXT NOT NULL,
    outcome  TEXT NOT NULL CHECK (outcome IN ('done', 'refused'))
);
