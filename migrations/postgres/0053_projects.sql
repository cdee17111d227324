-- Projects: groups of chats. A new chat copies the instructions, which are its system prompt then, and remembers the
-- version that it copied. A deleted project leaves its chats, which are in no project then.
CREATE TABLE projects (
    id           UUID NOT NULL PRIMARY KEY,
    owner_id     UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name         TEXT NOT NULL,
    color        TEXT NOT NULL,
    instructions TEXT NOT NULL,
    -- The model of new chats; both or none.
    provider     TEXT,
    model        TEXT,
    -- Rises with every change of the instructions.
    version      BIGINT NOT NULL CHECK (version >= 1),
    created_at   TIMESTAMPTZ NOT NULL,
    updated_at   TIMESTAMPTZ NOT NULL
);
CREATE INDEX projects_owner ON projects (owner_id);

ALTER TABLE chats ADD COLUMN project_id UUID REFERENCES projects (id) ON DELETE SET NULL;
ALTER TABLE chats ADD COLUMN project_version BIGINT;
CREATE INDEX chats_project ON chats (project_id, owner_id, updated_at, id) WHERE project_id IS NOT NULL;
