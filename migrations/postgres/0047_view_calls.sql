-- The calls of tools by views of tool servers. A call goes with the block of the result's call, whose view made it.
CREATE TABLE view_calls (
    id        UUID NOT NULL PRIMARY KEY,
    owner_id  UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    block_id  UUID NOT NULL REFERENCES turn_blocks (id) ON DELETE CASCADE,
    -- The tool's name at its server.
    tool      TEXT NOT NULL,
    -- JSON.
    arguments TEXT NOT NULL,
    began_at  TIMESTAMPTZ NOT NULL,
    -- Null while the call runs, and if its end is unknown.
    outcome   TEXT CHECK (outcome IN ('done', 'failed')),
    result    TEXT,
    ended_at  TIMESTAMPTZ
);

CREATE INDEX view_calls_block_id ON view_calls (block_id, owner_id);
CREATE INDEX view_calls_owner_id ON view_calls (owner_id);
