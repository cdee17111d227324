-- When the password was entered last in a session. What is dangerous asks for it again some minutes later.
ALTER TABLE sessions ADD COLUMN password_at TEXT;

-- Second factors: the secret of an authenticator app, encrypted. It counts from its confirmation on.
CREATE TABLE second_factors (
    owner_id      BLOB NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    sealed_secret BLOB NOT NULL,
    -- The number of the last interval of 30 seconds whose code was used.
    last_step     INTEGER NOT NULL DEFAULT 0 CHECK (last_step >= 0),
    created_at    TEXT NOT NULL,
    -- Null until the first code was entered.
    confirmed_at  TEXT
) STRICT;

-- Recovery codes that were not used yet. Only their SHA-256 is stored.
CREATE TABLE recovery_codes (
    id         BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id   BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash       BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    created_at TEXT NOT NULL
) STRICT;
CREATE INDEX recovery_codes_owner_id ON recovery_codes (owner_id);
