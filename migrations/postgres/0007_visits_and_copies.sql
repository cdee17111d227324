-- When the end of a branch was last shown or added to: of what is below a version, the end that was read last is shown.
ALTER TABLE branches ADD COLUMN visited_at TIMESTAMPTZ;
UPDATE branches SET visited_at = (SELECT t.created_at FROM turns t WHERE t.id = branches.head_turn_id);
UPDATE branches SET visited_at = (SELECT c.updated_at FROM chats c WHERE c.id = branches.chat_id)
WHERE id IN (SELECT t.branch_id FROM chats c JOIN turns t ON t.id = c.last_viewed_turn_id);

-- The reply up to which a chat is a copy of another one.
ALTER TABLE chats ADD COLUMN copied_from_turn_id UUID REFERENCES turns (id) ON DELETE SET NULL;
CREATE INDEX chats_copied_from ON chats (copied_from_turn_id) WHERE copied_from_turn_id IS NOT NULL;

-- A call that came along with a copy of its reply, for its bytes: it was not made and not paid again.
ALTER TABLE generations ADD COLUMN is_copy BOOLEAN NOT NULL DEFAULT FALSE;
