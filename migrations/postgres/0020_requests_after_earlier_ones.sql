-- A request is stored as what it has that an earlier one of its path has not: each message of a long chat sends the chat
-- again, and all of them together were as long as its square. `body_head` bytes of the base stand before what is stored
-- and `body_tail` behind it; the same of the manifest. A base is whole. It is of a turn above, or of this one, and a turn
-- never goes before those below it: where it goes all the same, nothing could be read of what was stored after it.

ALTER TABLE generation_requests
    ADD COLUMN base_id UUID REFERENCES generation_requests (generation_id) ON DELETE CASCADE,
    ADD COLUMN body_head BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN body_tail BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN manifest_head BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN manifest_tail BIGINT NOT NULL DEFAULT 0,
    ALTER COLUMN manifest TYPE BYTEA USING convert_to(manifest::text, 'UTF8');
CREATE INDEX generation_requests_base ON generation_requests (base_id) WHERE base_id IS NOT NULL;
