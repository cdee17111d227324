-- Whom people are at identity providers, and at a proxy that names them. An account is found by both the issuer and the
-- subject, never by the address, which is shown only.
CREATE TABLE identities (
    id           UUID NOT NULL PRIMARY KEY,
    owner_id     UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    issuer       TEXT NOT NULL,
    subject      TEXT NOT NULL,
    email        TEXT,
    -- The groups that were named at the last sign-in, as JSON.
    group_names  TEXT NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL,
    last_used_at TIMESTAMPTZ NOT NULL,
    UNIQUE (issuer, subject)
);
CREATE INDEX identities_owner_id ON identities (owner_id);

-- Sign-ins at identity providers that have begun. Each is named by the hash of its state, counts in the browser that has
-- the other secret, and goes with its answer.
CREATE TABLE identity_sign_ins (
    id             UUID NOT NULL PRIMARY KEY,
    state_hash     BYTEA NOT NULL UNIQUE CHECK (length(state_hash) = 32),
    browser_hash   BYTEA NOT NULL CHECK (length(browser_hash) = 32),
    -- The account that is linked. Null for a person who signs in.
    owner_id       UUID REFERENCES users (id) ON DELETE CASCADE,
    sealed_request BYTEA NOT NULL,
    expires_at     TIMESTAMPTZ NOT NULL
);
CREATE INDEX identity_sign_ins_owner_id ON identity_sign_ins (owner_id);
