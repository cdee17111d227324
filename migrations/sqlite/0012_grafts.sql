-- Grafts: the messages of a path asked again on another branch, one after the other. A step and its exchange are one
-- transaction, so what is stored here is always what was asked.

CREATE TABLE grafts (
    id                BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id          BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat_id           BLOB NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    branch_id         BLOB NOT NULL REFERENCES branches (id) ON DELETE CASCADE,
    from_turn_id      BLOB REFERENCES turns (id) ON DELETE SET NULL,
    leaf_turn_id      BLOB REFERENCES turns (id) ON DELETE SET NULL,
    -- The ids of the old path's messages, in order.
    messages          TEXT NOT NULL CHECK (json_valid(messages)),
    asked             INTEGER NOT NULL CHECK (asked >= 0),
    exchange_id       BLOB REFERENCES exchanges (id) ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
    status            TEXT NOT NULL CHECK (status IN ('running', 'paused', 'done', 'cancelled')),
    reason            TEXT CHECK (reason IN ('reply_failed', 'reply_stopped', 'server_restarted', 'limit_reached',
        'model_unavailable', 'busy', 'gone', 'refused', 'internal')),
    detail            TEXT,
    params            TEXT NOT NULL CHECK (json_valid(params)),
    created_at        TEXT NOT NULL,
    updated_at        TEXT NOT NULL,
    CHECK ((status = 'paused') = (reason IS NOT NULL))
) STRICT;
CREATE INDEX grafts_of_chat ON grafts (chat_id, created_at);
CREATE INDEX grafts_of_branch ON grafts (branch_id);
CREATE INDEX grafts_from ON grafts (from_turn_id);
CREATE INDEX grafts_leaf ON grafts (leaf_turn_id);
CREATE INDEX grafts_exchange ON grafts (exchange_id);
CREATE INDEX grafts_running ON grafts (created_at) WHERE status = 'running';
