-- What was sent lies apart from what is known of the call. It may be as long as its chat: a row of a call is written again
-- when the call ends, and what stands behind a long column is found by reading past it.

CREATE TABLE generation_requests (
    generation_id BLOB NOT NULL PRIMARY KEY REFERENCES generations (id) ON DELETE CASCADE,
    body          BLOB NOT NULL,
    manifest      TEXT NOT NULL CHECK (json_valid(manifest))
) STRICT;
INSERT INTO generation_requests (generation_id, body, manifest)
    SELECT id, request_body, request_manifest FROM generations;
ALTER TABLE generations DROP COLUMN request_body;
ALTER TABLE generations DROP COLUMN request_manifest;
