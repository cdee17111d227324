-- Live shares: a branch that accounts and groups read while it grows. Nothing that is shown is stored; what a reader gets
-- is read from the branch each time. A share that ends is deleted.
CREATE TABLE branch_shares (
    id         UUID NOT NULL PRIMARY KEY,
    owner_id   UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    branch_id  UUID NOT NULL REFERENCES branches (id) ON DELETE CASCADE,
    -- The parts besides messages and replies, as JSON.
    parts      TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL
);
CREATE INDEX branch_shares_owner ON branch_shares (owner_id, id);
CREATE INDEX branch_shares_branch ON branch_shares (branch_id);

-- The accounts and groups that read a branch.
CREATE TABLE branch_share_readers (
    id       UUID NOT NULL PRIMARY KEY,
    share_id UUID NOT NULL REFERENCES branch_shares (id) ON DELETE CASCADE,
    group_id UUID REFERENCES account_groups (id) ON DELETE CASCADE,
    user_id  UUID REFERENCES users (id) ON DELETE CASCADE,
    CHECK ((group_id IS NULL) <> (user_id IS NULL))
);
CREATE INDEX branch_share_readers_share ON branch_share_readers (share_id);
CREATE INDEX branch_share_readers_group ON branch_share_readers (group_id);
CREATE INDEX branch_share_readers_user ON branch_share_readers (user_id);
