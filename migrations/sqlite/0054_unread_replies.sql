-- Replies that ended and were not read since: which chats are unread is the same on every device of a person. The chat is
-- that of the reply. Replies that ended before this migration count as read.
CREATE TABLE unread_replies (
    owner_id BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat_id  BLOB NOT NULL CHECK (length(chat_id) = 16),
    turn_id  BLOB NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    PRIMARY KEY (owner_id, chat_id, turn_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX unread_replies_turn ON unread_replies (turn_id);
