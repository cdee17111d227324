-- A request is stored as what it has that an earlier one of its path has not: each message of a long chat sends the chat
-- again, and all of them together were as long as its square. `body_head` bytes of the base stand before what is stored
-- and `body_tail` behind it; the same of the manifest. A base is whole. It is of a turn above, or of this one, and a turn
-- never goes before those below it: where it goes all the same, nothing could be read of what was stored after it.

CREATE TABLE generation_requests_2 (
    generation_id BLOB NOT NULL PRIMARY KEY REFERENCES generations (id) ON DELETE CASCADE,
    base_id       BLOB REFERENCES generation_requests_2 (generation_id) ON DELETE CASCADE,
    body_head     INTEGER NOT NULL DEFAULT 0,
    body_tail     INTEGER NOT NULL DEFAULT 0,
    manifest_head INTEGER NOT NULL DEFAULT 0,
    manifest_tail INTEGER NOT NULL DEFAULT 0,
    manifest      BLOB NOT NULL,
    body          BLOB NOT NULL
) STRICT;
INSERT INTO generation_requests_2 (generation_id, manifest, body)
    SELECT generation_id, CAST(manifest AS BLOB), body FROM generation_requests;
DROP TABLE generation_requests;
ALTER TABLE generation_requests_2 RENAME TO generation_requests;
CREATE INDEX generation_requests_base ON generation_requests (base_id) WHERE base_id IS NOT NULL;
