-- The bytes of a turn with its blocks, its calls, their requests and their raw bodies. They are counted after its end, so
-- that commits of a streaming reply cost no more; null is not counted yet. The journal and the pieces of a body that still
-- arrives are temporary and not part of the number.
ALTER TABLE turns ADD COLUMN stored_bytes BIGINT;
CREATE INDEX turns_uncounted ON turns (id) WHERE stored_bytes IS NULL AND completed_at IS NOT NULL;
CREATE INDEX turns_stored_bytes ON turns (chat_id, stored_bytes);
