-- Replies that ended and were not read since: which chats are unread is the same on every device of a person. The chat is
-- that of the reply. Replies that ended before this migration count as read.
CREATE TABLE unread_replies (
    owner_id UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    chat_id  UUID NOT NULL,
    turn_id  UUID NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    PRIMARY KEY (owner_id, chat_id, turn_id)
);
CREATE INDEX unread_replies_turn ON unread_replies (turn_id);
