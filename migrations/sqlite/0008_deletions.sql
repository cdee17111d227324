-- What was deleted together and can come back together: one row for each deletion, until it is restored or purged.

CREATE TABLE deletions (
    id                  BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id            BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat_id             BLOB NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    kind                TEXT NOT NULL CHECK (kind IN ('chat', 'branch', 'turn', 'prune')),
    -- The chat, the branch or the turn that was deleted; of a prune the turn that was kept.
    root_id             BLOB NOT NULL CHECK (length(root_id) = 16),
    -- Its title, name or first words.
    title               TEXT NOT NULL,
    turns               INTEGER NOT NULL CHECK (turns >= 0),
    branches            INTEGER NOT NULL CHECK (branches >= 0),
    -- Where the reader was, if that went too. No reference: it may be purged first.
    last_viewed_turn_id BLOB,
    created_at          TEXT NOT NULL,
    -- From here on it cannot come back, and its rows go bit by bit.
    purging_since       TEXT
) STRICT;
CREATE INDEX deletions_of_owner ON deletions (owner_id, id) WHERE purging_since IS NULL;
CREATE INDEX deletions_of_chat ON deletions (chat_id);
CREATE INDEX deletions_old ON deletions (created_at) WHERE purging_since IS NULL;
CREATE INDEX deletions_purging ON deletions (id) WHERE purging_since IS NOT NULL;

CREATE INDEX turns_of_deletion ON turns (deletion_id) WHERE deletion_id IS NOT NULL;
CREATE INDEX branches_of_deletion ON branches (deletion_id) WHERE deletion_id IS NOT NULL;
CREATE INDEX chats_of_deletion ON chats (deletion_id) WHERE deletion_id IS NOT NULL;
-- For the collection of blobs that no block names any more.
CREATE INDEX turn_blocks_images ON turn_blocks (turn_id) WHERE block_type = 'image';
CREATE INDEX blobs_by_age ON blobs (created_at);

INSERT INTO deletions (id, owner_id, chat_id, kind, root_id, title, turns, branches, created_at)
SELECT c.deletion_id, c.owner_id, c.id, 'chat', c.id, c.title,
    (SELECT COUNT(*) FROM turns t WHERE t.deletion_id = c.deletion_id),
    (SELECT COUNT(*) FROM branches b WHERE b.deletion_id = c.deletion_id), c.deleted_at
FROM chats c WHERE c.deletion_id IS NOT NULL;
