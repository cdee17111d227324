-- A budget of a group bounds each member of it that has none of its own, and requests are counted beside cost and tokens.
CREATE TABLE budgets_2 (
    id       BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id BLOB REFERENCES users (id) ON DELETE CASCADE,
    group_id BLOB REFERENCES account_groups (id) ON DELETE CASCADE,
    kind     TEXT NOT NULL CHECK (kind IN
        ('day_cost', 'day_tokens', 'day_requests', 'month_cost', 'month_tokens', 'month_requests')),
    most     INTEGER NOT NULL CHECK (most >= 0),
    CHECK (owner_id IS NULL OR group_id IS NULL)
) STRICT;
INSERT INTO budgets_2 (id, owner_id, kind, most) SELECT id, owner_id, kind, most FROM budgets;
DROP TABLE budgets;
ALTER TABLE budgets_2 RENAME TO budgets;
CREATE UNIQUE INDEX budgets_default ON budgets (kind) WHERE owner_id IS NULL AND group_id IS NULL;
CREATE UNIQUE INDEX budgets_owner ON budgets (owner_id, kind) WHERE owner_id IS NOT NULL;
CREATE UNIQUE INDEX budgets_group ON budgets (group_id, kind) WHERE group_id IS NOT NULL;
