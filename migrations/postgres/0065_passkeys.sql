-- Passkeys: public keys with which people sign in. A credential belongs to one account.
CREATE TABLE passkeys (
    id            UUID NOT NULL PRIMARY KEY,
    owner_id      UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    credential_id BYTEA NOT NULL UNIQUE CHECK (length(credential_id) BETWEEN 1 AND 1023),
    name          TEXT NOT NULL,
    -- COSE.
    public_key    BYTEA NOT NULL,
    algorithm     BIGINT NOT NULL,
    -- The signatures that the authenticator has counted; 0 for one that does not count.
    sign_count    BIGINT NOT NULL CHECK (sign_count >= 0),
    is_backed_up  BOOLEAN NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL,
    last_used_at  TIMESTAMPTZ
);
CREATE INDEX passkeys_owner_id ON passkeys (owner_id);
