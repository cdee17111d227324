-- A budget of a group bounds each member of it that has none of its own, and requests are counted beside cost and tokens.
ALTER TABLE budgets
    ADD COLUMN group_id UUID REFERENCES account_groups (id) ON DELETE CASCADE,
    DROP CONSTRAINT IF EXISTS budgets_kind_check,
    ADD CONSTRAINT budgets_kind_check CHECK (kind IN
        ('day_cost', 'day_tokens', 'day_requests', 'month_cost', 'month_tokens', 'month_requests')),
    ADD CHECK (owner_id IS NULL OR group_id IS NULL);
DROP INDEX budgets_default;
CREATE UNIQUE INDEX budgets_default ON budgets (kind) WHERE owner_id IS NULL AND group_id IS NULL;
CREATE UNIQUE INDEX budgets_group ON budgets (group_id, kind) WHERE group_id IS NOT NULL;
