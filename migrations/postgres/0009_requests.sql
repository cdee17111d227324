-- Requests that made something and must not make it twice: what a client called them, what they asked, what was made.
-- Exchanges remember their own. Rows are forgotten after a day.
CREATE TABLE requests (
    owner_id          UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    client_request_id TEXT NOT NULL,
    request_hash      BYTEA NOT NULL,
    made_id           TEXT NOT NULL,
    created_at        TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (owner_id, client_request_id)
);
CREATE INDEX requests_by_age ON requests (created_at);
