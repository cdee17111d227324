-- What was sent lies apart from what is known of the call. It may be as long as its chat: a row of a call is written again
-- when the call ends, and what stands behind a long column is found by reading past it.

CREATE TABLE generation_requests (
    generation_id UUID NOT NULL PRIMARY KEY REFERENCES generations (id) ON DELETE CASCADE,
    manifest      JSONB NOT NULL,
    body          BYTEA NOT NULL
);
INSERT INTO generation_requests (generation_id, manifest, body)
    SELECT id, request_manifest, request_body FROM generations;
-- A column that is dropped stays on the disk where its row is not written again.
UPDATE generations SET request_body = '', request_manifest = '{}';
ALTER TABLE generations DROP COLUMN request_body;
ALTER TABLE generations DROP COLUMN request_manifest;
