-- Messages that a person has queued after a reply, to be sent in order once it is complete. A sent one keeps its row
-- without its content, so that its id still leads to the message that it became.
CREATE TABLE queued_messages (
    id            BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    owner_id      BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat_id       BLOB NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    after_turn_id BLOB NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    ord           INTEGER NOT NULL CHECK (ord >= 0),
    -- The message to send. Text, because its bytes are compared.
    request       TEXT,
    -- Why the server could not send it; nothing is sent by itself until that is cleared.
    refusal       TEXT,
    turn_id       BLOB REFERENCES turns (id) ON DELETE CASCADE,
    created_at    TEXT NOT NULL,
    updated_at    TEXT NOT NULL,
    CHECK ((request IS NULL) = (turn_id IS NOT NULL)),
    CHECK (refusal IS NULL OR turn_id IS NULL)
) STRICT;
CREATE INDEX queued_messages_after ON queued_messages (after_turn_id, owner_id, ord);
CREATE INDEX queued_messages_turn ON queued_messages (turn_id);
CREATE INDEX queued_messages_chat ON queued_messages (chat_id, owner_id);
CREATE INDEX queued_messages_owner ON queued_messages (owner_id);
CREATE INDEX queued_messages_waiting ON queued_messages (created_at) WHERE turn_id IS NULL;
