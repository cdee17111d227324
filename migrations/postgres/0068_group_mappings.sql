-- The groups that a service names for a person were a list in the row of the identity, which no query can join. Now each
-- is a row, with the issuer as the configuration writes it: a service may write its own in another way.
CREATE TABLE identity_groups (
    identity_id UUID NOT NULL REFERENCES identities (id) ON DELETE CASCADE,
    issuer      TEXT NOT NULL,
    name        TEXT NOT NULL,
    PRIMARY KEY (identity_id, name)
);
CREATE INDEX identity_groups_name ON identity_groups (issuer, name);
-- A list that is damaged, or that this version cannot have written, names nothing.
INSERT INTO identity_groups (identity_id, issuer, name)
SELECT DISTINCT i.id,
    CASE WHEN i.issuer LIKE '%://%' AND i.issuer NOT LIKE '%://%/%' THEN i.issuer || '/' ELSE i.issuer END, g.name
FROM identities i CROSS JOIN LATERAL jsonb_array_elements_text(
    CASE WHEN i.group_names ~ '^\[("([^"\\[:cntrl:]]|\\["\\])*"(,"([^"\\[:cntrl:]]|\\["\\])*")*)?\]$'
        THEN i.group_names::jsonb ELSE '[]'::jsonb END) AS g (name);
ALTER TABLE identities DROP COLUMN group_names;

-- The groups elsewhere whose people are members of a group here. Who is one follows from these rows and those above.
CREATE TABLE group_mappings (
    id            UUID NOT NULL PRIMARY KEY,
    group_id      UUID NOT NULL REFERENCES account_groups (id) ON DELETE CASCADE,
    issuer        TEXT NOT NULL,
    external_name TEXT NOT NULL,
    UNIQUE (issuer, external_name, group_id)
);
CREATE INDEX group_mappings_group ON group_mappings (group_id);
