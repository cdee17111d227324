-- The groups that a service names for a person were a list in the row of the identity, which no query can join. Now each
-- is a row, with the issuer as the configuration writes it: a service may write its own in another way.
CREATE TABLE identities_2 (
    id           BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id     BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    issuer       TEXT NOT NULL,
    subject      TEXT NOT NULL,
    email        TEXT,
    created_at   TEXT NOT NULL,
    last_used_at TEXT NOT NULL,
    UNIQUE (issuer, subject)
) STRICT;
INSERT INTO identities_2 (id, owner_id, issuer, subject, email, created_at, last_used_at)
SELECT id, owner_id, issuer, subject, email, created_at, last_used_at FROM identities;

CREATE TABLE identity_groups (
    identity_id BLOB NOT NULL REFERENCES identities_2 (id) ON DELETE CASCADE,
    issuer      TEXT NOT NULL,
    name        TEXT NOT NULL,
    PRIMARY KEY (identity_id, name)
) STRICT;
CREATE INDEX identity_groups_name ON identity_groups (issuer, name);
INSERT INTO identity_groups (identity_id, issuer, name)
SELECT DISTINCT i.id,
    CASE WHEN i.issuer LIKE '%://%' AND i.issuer NOT LIKE '%://%/%' THEN i.issuer || '/' ELSE i.issuer END, g.value
FROM identities i, json_each(CASE WHEN json_valid(i.group_names) THEN i.group_names ELSE '[]' END) g
WHERE g.type = 'text';
DROP TABLE identities;
ALTER TABLE identities_2 RENAME TO identities;
CREATE INDEX identities_owner_id ON identities (owner_id);

-- The groups elsewhere whose people are members of a group here. Who is one follows from these rows and those above.
CREATE TABLE group_mappings (
    id            BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    group_id      BLOB NOT NULL REFERENCES account_groups (id) ON DELETE CASCADE,
    issuer        TEXT NOT NULL,
    external_name TEXT NOT NULL,
    UNIQUE (issuer, external_name, group_id)
) STRICT;
CREATE INDEX group_mappings_group ON group_mappings (group_id);
