-- When the password was entered last in a session. What is dangerous asks for it again some minutes later.
ALTER TABLE sessions ADD COLUMN password_at TIMESTAMPTZ;

-- Second factors: the secret of an authenticator app, encrypted. It counts from its confirmation on.
CREATE TABLE second_factors (
    owner_id      UUID NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    sealed_secret BYTEA NOT NULL,
    -- The number of the last interval of 30 seconds whose code was used.
    last_step     BIGINT NOT NULL DEFAULT 0 CHECK (last_step >= 0),
    created_at    TIMESTAMPTZ NOT NULL,
    -- Null until the first code was entered.
    confirmed_at  TIMESTAMPTZ
);

-- Recovery codes that were not used yet. Only their SHA-256 is stored.
CREATE TABLE recovery_codes (
    id         UUID NOT NULL PRIMARY KEY,
    owner_id   UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash       BYTEA NOT NULL UNIQUE CHECK (length(hash) = 32),
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX recovery_codes_owner_id ON recovery_codes (owner_id);
