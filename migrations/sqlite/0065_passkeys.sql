-- Passkeys: public keys with which people sign in. A credential belongs to one account.
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
CREATE INDEX passkeys_owner_id ON passkeys (owner_id);
