-- What was sent lies apart from what is known of the call. It may be as long as its chat: a row of a call is written again
-- when the call ends, and what stands behind a long column is found by reading past it.

CREATE TABLE generation_requests (
    generation_id BLOB NOT NULL PRIMARY KEY REFERENCES generations (id) ON DELETE CASCADE,
    manifest      TEXT NOT NULL CHECK (json_valid(manifest)),
    body          BLOB NOT NULL
) STRICT;
INSERT INTO generation_requests (generation_id, manifest, body)
    SELECT id, request_manifest, request_body FROM generations;
ALTER TABLE generations DROP COLUMN request_body;
ALTER TABLE generations DROP COLUMN request_manifest;
