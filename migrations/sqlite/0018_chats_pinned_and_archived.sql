-- Chats that stand before the others in the list, and chats that it leaves out.

ALTER TABLE chats ADD COLUMN pinned_at TEXT;
ALTER TABLE chats ADD COLUMN archived_at TEXT;

CREATE INDEX chats_listed ON chats (owner_id, updated_at, id) WHERE deleted_at IS NULL AND archived_at IS NULL;
CREATE INDEX chats_archived ON chats (owner_id, updated_at, id) WHERE deleted_at IS NULL AND archived_at IS NOT NULL;
CREATE INDEX chats_pinned ON chats (owner_id, pinned_at, id) WHERE pinned_at IS NOT NULL;
