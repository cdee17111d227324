-- Groups of accounts. Names are compared by the server, as those of accounts are.
CREATE TABLE account_groups (
    id         UUID NOT NULL PRIMARY KEY,
    name       TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE group_members (
    group_id UUID NOT NULL REFERENCES account_groups (id) ON DELETE CASCADE,
    user_id  UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (group_id, user_id)
);
CREATE INDEX group_members_user ON group_members (user_id);

-- Rules: a model of a shared provider or a tool server is for these people. A target without a rule has its default.
CREATE TABLE access_rules (
    id         UUID NOT NULL PRIMARY KEY,
    kind       TEXT NOT NULL CHECK (kind IN ('provider', 'model', 'tool_server')),
    -- The id of the provider or of the tool server.
    target     TEXT NOT NULL,
    -- Empty for all but models.
    model      TEXT NOT NULL,
    -- Everybody, or only those with a grant.
    audience   TEXT NOT NULL CHECK (audience IN ('everybody', 'listed')),
    changed_at TIMESTAMPTZ NOT NULL,
    UNIQUE (kind, target, model)
);

-- The groups and accounts that a rule lists.
CREATE TABLE access_grants (
    id       UUID NOT NULL PRIMARY KEY,
    rule_id  UUID NOT NULL REFERENCES access_rules (id) ON DELETE CASCADE,
    group_id UUID REFERENCES account_groups (id) ON DELETE CASCADE,
    user_id  UUID REFERENCES users (id) ON DELETE CASCADE,
    CHECK ((group_id IS NULL) <> (user_id IS NULL))
);
CREATE INDEX access_grants_rule ON access_grants (rule_id);
CREATE INDEX access_grants_group ON access_grants (group_id);
CREATE INDEX access_grants_user ON access_grants (user_id);
